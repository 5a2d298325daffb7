#include "runtime/stream.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace parley::runtime {
namespace {

// Sound ahead of a listener with whom held frames stay held: enough time to decode those that are due.
constexpr Clock::duration kLongEnough = std::chrono::seconds(2);
// A listener with less sound than this does not wait for the next prompt to hear what is made.
constexpr Clock::duration kShort = std::chrono::milliseconds(500);

}  // namespace

Stream::Stream(Arrival arrival, const FrameModel& model)
    : id_(arrival.id),
      request_(std::move(arrival.request)),
      sink_(std::move(arrival.sink)),
      model_(model),
      started_(arrival.at),
      due_(request_.due) {}

void Stream::WasRead(std::unique_ptr<Generation> generation) {
  generation_ = std::move(generation);
  request_.text.clear();
  request_.text.shrink_to_fit();
  for (MoreText& more : std::exchange(unread_, {})) AddText(std::move(more));
}

void Stream::AddText(MoreText more) {
  if (generation_ == nullptr) return unread_.push_back(std::move(more));
  if (generation_->TextEnded()) return;
  const auto added = generation_->AddText(more.text, more.last);
  if (!added) EndWith(added.reason().outcome, added.reason().problem);
}

void Stream::Begun(const TokenBudget& budget, size_t bytes, Clock::time_point now) {
  budget_ = budget;
  bytes_ = bytes;
  queue_ms_ = Milliseconds(now - started_);
}

Clock::duration Stream::Ahead(Clock::time_point now) const {
  if (due_ == Clock::time_point::max()) return Clock::duration::max();
  return std::max(due_ - now, Clock::duration::zero());
}

size_t Stream::RoomInFrames() {
  try {
    const size_t room = sink_->Room() / model_.FrameSamples();
    most_room_ = std::max(most_room_, room);
    return room;
  } catch (const std::exception& error) {
    SinkThrew(error);
    return 0;
  }
}

Stream::Turn Stream::NextTurn(Clock::time_point now, Clock::duration frame) {
  if (!ending_ && generation_->PromptLeft() > 0) return Turn::kPrefill;
  const size_t room = ending_ && undecoded_ == 0 ? 0 : RoomInFrames();
  if (ending_ && undecoded_ == 0) return Turn::kFinished;
  const bool starved = generation_->Starved();
  // Small chunks take longer to make in all. A reader gets them only where frames are made in real time.
  const bool by_pace =
      live() || static_cast<uint64_t>(frame / std::chrono::nanoseconds(1)) * model_.facts().sample_rate <=
                    model_.FrameSamples() * 1'000'000'000;
  const Clock::duration ahead = by_pace ? Ahead(now) : Clock::duration::max();
  // A chunk is half of the sink at most: else the sink had to be dry before the next one fits.
  const size_t chunk = std::min(ramp_.Size(ahead, frame), std::max(most_room_ / 2, size_t{1}));
  const size_t ready = ending_ ? undecoded_ : undecoded_ - KeptFrames(now);
  if (ready == 0) return starved || room < chunk ? Turn::kPark : Turn::kStep;
  if (room == 0) return Turn::kPark;
  if (!ending_ && !starved && ready < std::min(chunk, room)) return Turn::kStep;
  to_decode_ = std::min({ready, room, ChunkRamp::kMost});
  return Turn::kDecode;
}

bool Stream::HasSoundBeforePrompt(Clock::time_point now) {
  if (ending_ || generation_->PromptLeft() == 0 || Ahead(now) >= kShort) return false;
  const size_t ready = undecoded_ - KeptFrames(now);
  const size_t room = ready == 0 ? 0 : RoomInFrames();
  to_decode_ = std::min({ready, room, ChunkRamp::kMost});
  return to_decode_ > 0;
}

// Frames that may be taken back are kept as long as nobody misses them: for the client of a whole file or a
// reader with sound ahead always, for a live listener before a sentence that follows another one. What a live
// listener hears at once cannot be made again without repeating words: it only counts in ChunkFigures.
size_t Stream::KeptFrames(Clock::time_point now) const {
  const bool can_wait = request_.whole || (Ahead(now) >= kLongEnough && (Silent() || !live()));
  return can_wait ? generation_->Held() : 0;
}

void Stream::SetWaits(bool waits) {
  if (waits == waits_ || gone()) return;
  waits_ = waits;
  try {
    sink_->Waits(waits);
  } catch (const std::exception& error) {
    SinkThrew(error);
  }
}

void Stream::Stepped(FrameResult result, uint64_t step) {
  last_step_ = step;
  if (result == FrameResult::kNone) return;
  if (result == FrameResult::kAgain) {
    frames_ -= generation_->TakenBack();
    undecoded_ -= generation_->TakenBack();
    return;
  }
  if (result == FrameResult::kEnd) return EndWith(Outcome::kDone, "");
  if (result == FrameResult::kBudget) return OutOfDraws();
  if (result == FrameResult::kBroken) return EndWith(Outcome::kFailed, kLogitsNotFinite);
  frames_++;
  undecoded_++;
  // A text that came bit by bit is measured when it is whole.
  if (budget_.by_text && generation_->TextEnded() &&
      frames_ + 1 >= GenerousDraws(request_.language, generation_->TextTokens())) {
    OutOfDraws();
  }
}

void Stream::OutOfDraws() {
  const std::string after = "no end after " + std::to_string(frames_) + " frames";
  if (budget_.requested) return EndWith(Outcome::kBudget, after + ", the max_new_tokens of the request");
  const std::string of_text = " of a text of " + std::to_string(generation_->TextTokens()) + " tokens";
  if (budget_.by_model) return EndWith(Outcome::kRunaway, after + of_text);
  if (!budget_.by_text) return EndWith(Outcome::kRunaway, after + ", the max_new_tokens of the engine");
  const bool outlived =
      generation_->TextEnded() && frames_ + 1 >= OrdinaryFrames(request_.language, generation_->TextTokens());
  if (outlived) return EndWith(Outcome::kRunaway, after + of_text);
  EndWith(Outcome::kTooLarge, after + of_text + ": there is no room for more");
}

void Stream::Decoded(const float* samples, size_t frames, Clock::time_point now) {
  const size_t count = frames * model_.FrameSamples();
  undecoded_ -= frames;
  if (!IsFinite(samples, count)) {
    undecoded_ = 0;
    return EndWith(Outcome::kFailed, kSoundNotFinite);
  }
  try {
    sink_->Write(samples, count);
  } catch (const std::exception& error) {
    return SinkThrew(error);
  }
  if (samples_ == 0) first_frame_ms_ = Milliseconds(now - started_);
  samples_ += count;
  ramp_.Next();
  if (due_ == Clock::time_point::max()) return;
  due_ = std::max(due_, now) + std::chrono::nanoseconds(count * 1'000'000'000 / model_.facts().sample_rate);
}

void Stream::SinkThrew(const std::exception& error) {
  undecoded_ = 0;
  EndWith(Outcome::kFailed, std::string("the sink threw: ") + error.what());
}

void Stream::EndWith(Outcome outcome, std::string problem) {
  if (!ending_) ending_ = Refusal{outcome, std::move(problem)};
}

EndNotice Stream::End(Outcome outcome, std::string problem, Clock::time_point now) {
  ending_ = Refusal{outcome, std::move(problem)};
  return End(now);
}

EndNotice Stream::End(Clock::time_point now) {
  generation_.reset();
  EndNotice notice;
  notice.sink = std::move(sink_);
  StreamEnd& end = notice.end;
  end.outcome = ending_->outcome;
  end.problem = std::move(ending_->problem);
  end.samples = samples_;
  end.frames = frames_;
  end.queue_ms = queue_ms_;
  end.first_frame_ms = first_frame_ms_;
  end.total_ms = Milliseconds(now - started_);
  return notice;
}

void EndNotice::Notify() {
  try {
    sink->Ended(end);
  } catch (const std::exception&) {
    // The sink was called, and there is no one else to notify.
  }
}

}  // namespace parley::runtime
