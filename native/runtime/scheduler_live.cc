// The live: prompts, frames, sound.
#include <algorithm>

#include "runtime/scheduler.h"

namespace parley::runtime {
namespace {

// What newcomers' prompts may take of a round, in which all others wait. Fewer rows than these do not pay: they wait for a
// round that has time for them, but not for more than so many.
constexpr Clock::duration kPrefillTime = std::chrono::milliseconds(40);
constexpr size_t kLeastPrefillRows = 32;
constexpr size_t kRoundsPutOff = 4;
// The same of decoding.
constexpr Clock::duration kDecodeTime = std::chrono::milliseconds(40);

// Kept of the time before somebody's next sound: estimates are not exact.
constexpr Clock::duration kReserve = std::chrono::milliseconds(3);

// Whoever has less sound than so many frames is given his next one in a round that takes long, too.
constexpr size_t kFramesToWait = 5;

// A listener with less sound than this may run dry.
constexpr Clock::duration kSafe = std::chrono::milliseconds(500);

std::vector<Generation*> GenerationsOf(const std::vector<Stream*>& streams) {
  std::vector<Generation*> generations;
  for (Stream* const stream : streams) generations.push_back(stream->generation());
  return generations;
}

}  // namespace

Scheduler::Some Scheduler::LiveWith(Stream::Turn turn) {
  Some some;
  const Clock::time_point now = options_.now();
  for (const auto& stream : live_) {
    if (!stream->gone() && stream->NextTurn(now, round_rate_.Each()) == turn) some.push_back(stream.get());
  }
  return some;
}

// How long the listener who has least has sound, of those who can be given more. For ever where there is none.
Clock::duration Scheduler::LeastAhead() {
  const Clock::time_point now = options_.now();
  Clock::duration least = Clock::duration::max();
  for (const auto& stream : live_) {
    if (stream->gone() || stream->Silent() || !stream->InHurry() || stream->Ahead(now) >= least) continue;
    const Stream::Turn turn = stream->NextTurn(now, round_rate_.Each());
    if (turn == Stream::Turn::kStep || turn == Stream::Turn::kDecode) least = stream->Ahead(now);
  }
  return least;
}

// Of those whom somebody listens to, whose sound cannot wait for another round.
size_t Scheduler::Bare() const {
  const Clock::time_point now = options_.now();
  const Clock::duration frames = static_cast<Clock::rep>(kFramesToWait) * Frame();
  return static_cast<size_t>(std::count_if(live_.begin(), live_.end(), [&](const auto& one) { return !one->gone() && one->Ahead(now) < frames; }));
}

Clock::duration Scheduler::WithSwing(Clock::duration time) const {
  return std::chrono::duration_cast<Clock::duration>(time * (1 + swing_.Share()));
}

// Of newcomers' prompts, in the time before somebody would miss sound: whoever's is whole steps and is decoded with the others.
size_t Scheduler::RowsToSpare(const Some& newcomers) {
  const Clock::duration ahead = LeastAhead();
  const size_t most = prefill_rate_.In(kPrefillTime, kLeastPrefillRows);
  if (ahead == Clock::duration::max()) return most;
  size_t rows = 0, together = LiveWith(Stream::Turn::kStep).size();
  for (const Stream* const newcomer : newcomers) {
    const Clock::duration spare = ahead - kReserve - WithSwing(WorkOf(together + 1));
    const size_t fitting = spare > Clock::duration::zero() ? std::min(most, prefill_rate_.In(spare, 0)) : 0;
    const size_t left = newcomer->generation()->PromptLeft();
    if (rows + left > fitting) return std::max(rows, fitting);
    rows += left;
    together++;
  }
  return rows;
}

bool Scheduler::Prefill() {
  Some streams = LiveWith(Stream::Turn::kPrefill);
  if (streams.empty()) return false;
  size_t rows = RowsToSpare(streams);
  if (rows < std::min(kLeastPrefillRows, streams.front()->generation()->PromptLeft())) {
    if (rounds_put_off_++ < kRoundsPutOff) return false;
    rows = kLeastPrefillRows;
  }
  rounds_put_off_ = 0;
  // Only those whose turn comes: a mistake is not the others' end.
  size_t taken = 0, count = 0;
  while (count < streams.size() && taken < rows) taken += streams[count++]->generation()->PromptLeft();
  streams.resize(count);
  const std::vector<Generation*> generations = GenerationsOf(streams);
  const Clock::time_point began = options_.now();
  Guarded(streams, [&] { model_.Prefill(generations.data(), generations.size(), rows); });
  prefill_rate_.Did(std::min(taken, rows), options_.now() - began);
  return true;
}

// While a listener may run dry, those who are in no hurry give way, but not for ever.
Scheduler::Some Scheduler::StreamsToStep() {
  Some streams = LiveWith(Stream::Turn::kStep);
  const Clock::time_point now = options_.now();
  const auto hurried = std::stable_partition(streams.begin(), streams.end(), [](Stream* s) { return s->InHurry(); });
  const bool short_of_sound =
      std::any_of(streams.begin(), hurried, [&](Stream* one) { return one->Ahead(now) < kSafe; });
  if (!short_of_sound || rounds_given_way_ == kRoundsGivenWay) {
    rounds_given_way_ = 0;
  } else if (hurried != streams.end()) {
    rounds_given_way_++;
    streams.erase(hurried, streams.end());
  }
  if (streams.size() > options_.max_batch) streams.resize(options_.max_batch);
  return streams;
}

bool Scheduler::Step() {
  const Some streams = StreamsToStep();
  if (streams.empty()) return false;
  const std::vector<Generation*> generations = GenerationsOf(streams);
  std::vector<FrameResult> results(streams.size());
  const Clock::time_point began = options_.now();
  if (!Guarded(streams, [&] { model_.Step(generations.data(), generations.size(), results.data()); })) return true;
  stats_.steps++;
  stepped_ = streams.size();
  const Clock::duration took = options_.now() - began;
  swing_.Did(took, step_times_.Of(stepped_), Frame());
  step_times_.Did(stepped_, took);
  for (size_t n = 0; n < streams.size(); n++) {
    streams[n]->Stepped(results[n]);
    stats_.frames += results[n] == FrameResult::kFrame;
  }
  return true;
}

// First sounds, and those of listeners who would run dry meanwhile, in a call of their own, before the others. Where anybody waits
// for his next sound, no more is decoded at a time than that can wait: what is left comes in the next rounds.
bool Scheduler::Decode() {
  Some all = LiveWith(Stream::Turn::kDecode);
  if (all.empty()) return false;
  const bool hurry = std::any_of(live_.begin(), live_.end(), [](const auto& one) { return one->InHurry(); });
  const size_t most = hurry ? decode_rate_.In(kDecodeTime, 1) : SIZE_MAX;
  const Clock::time_point now = options_.now();
  const Clock::duration whole = WithSwing(static_cast<Clock::rep>(std::min(FramesOf(all), most)) * decode_rate_.Each());
  const auto urgent = std::stable_partition(all.begin(), all.end(), [&](Stream* one) {
    return one->Silent() || (hurry && one->Ahead(now) < whole + kReserve);
  });
  DecodeSome(Some(all.begin(), urgent), most);
  DecodeSome(Some(urgent, all.end()), hurry ? FramesToSpare() : SIZE_MAX);
  return true;
}

size_t Scheduler::FramesOf(const Some& streams) {
  size_t frames = 0;
  for (const Stream* const stream : streams) frames += stream->undecoded();
  return frames;
}

// What can be decoded before the next step is due.
size_t Scheduler::FramesToSpare() {
  const Clock::duration next = WithSwing(step_times_.Of(stepped_) + other_rate_.Each());
  const Clock::duration spare = std::max(LeastAhead() - kReserve - next, Clock::duration::zero());
  return decode_rate_.In(std::min<Clock::duration>(kDecodeTime, spare), LeastDecoded(stepped_));
}

size_t Scheduler::DecodeSome(Some streams, size_t most) {
  std::vector<FrameModel::DecodeJob> jobs;
  size_t frames = 0;
  for (Stream* const stream : streams) {
    const size_t some = std::min(stream->undecoded(), most - frames);
    if (some == 0) break;
    jobs.push_back({stream->generation(), some, nullptr});
    frames += some;
  }
  if (frames == 0) return 0;
  streams.resize(jobs.size());
  samples_.resize(frames * model_.FrameSamples());
  float* samples = samples_.data();
  for (FrameModel::DecodeJob& job : jobs) {
    job.samples = samples;
    samples += job.frames * model_.FrameSamples();
  }
  const Clock::time_point began = options_.now();
  if (!Guarded(streams, [&] { model_.Decode(jobs.data(), jobs.size()); })) return frames;
  const Clock::time_point now = options_.now();
  decode_rate_.Did(frames, now - began);
  for (size_t n = 0; n < streams.size(); n++) streams[n]->Decoded(jobs[n].samples, jobs[n].frames, now);
  return frames;
}

}  // namespace parley::runtime
