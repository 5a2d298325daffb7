// Reads the requests of waiting streams, and admits streams by deadline when memory and the pace of the live
// listeners leave room. No stream is refused because others wait: see the head of scheduler.h.
#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/scheduler.h"

namespace parley::runtime {
namespace {

constexpr char kOthersHaveIt[] = "other models leave too little memory";
constexpr size_t kReadsARound = 8;  // requests whose text is tokenized: some 100 microseconds each

bool IsNotReady(const Result<std::shared_ptr<Voice>>& found) { return found && *found == nullptr; }

}  // namespace

bool Scheduler::ReadWaiting() {
  voice_worked_ = false;
  const bool voices_wanted = std::any_of(waiting_.begin(), waiting_.end(), [](const auto& one) {
    return one->generation() == nullptr && one->request().recording != nullptr;
  });
  if (!voices_wanted) model_.DropWork();
  size_t reads = 0;
  for (const auto& stream : waiting_) {
    if (stream->generation() != nullptr) continue;
    if (reads == kReadsARound) break;
    Guarded({stream.get()}, [&] { Read(*stream); });
    if (stream->gone() || stream->generation() != nullptr) reads++;
  }
  DropGone();
  return reads > 0 || voice_worked_;
}

void Scheduler::Read(Stream& stream) {
  const SpeechRequest& request = stream.request();
  std::shared_ptr<Voice> voice;
  if (request.recording != nullptr) {
    auto found = model_.FindVoice(request.recording, false);
    bool worked = false;
    if (IsNotReady(found) && !voice_worked_ && MayWork(stream)) {
      voice_worked_ = worked = true;
      found = model_.FindVoice(request.recording, true);
    }
    stream.SetWaits(IsNotReady(found) && !worked);
    if (stream.gone() || IsNotReady(found)) return;
    if (!found) return End(stream, Outcome::kBadRequest, found.problem());
    voice = std::move(*found);
  }
  auto read = model_.Read(request, std::move(voice));
  if (!read) return End(stream, read.reason().outcome, read.reason().problem);
  stream.WasRead(std::move(*read));
}

// Encoding needs memory, too. False if there is none now; a stream that never gets it has ended.
bool Scheduler::MayWork(Stream& stream) {
  const size_t bytes = model_.WorkBytesOf(*stream.request().recording);
  if (FindMemory(bytes)) return true;
  if (bytes > options_.memory_bytes) End(stream, Outcome::kTooLarge, TooMuch(bytes));
  else if (live_.empty() && DeviceLacks(bytes, 0)) End(stream, Outcome::kOutOfMemory, kOthersHaveIt);
  else if (live_.empty()) End(stream, Outcome::kTooLarge, TooMuch(bytes));
  return false;
}

std::string Scheduler::TooMuch(size_t bytes) const {
  return "it takes " + std::to_string(bytes) + " bytes of memory; " + std::to_string(options_.memory_bytes) +
         " are the most";
}

bool Scheduler::Admit() {
  size_t admitted = 0;
  bool no_place = false;
  // Allocated first, so that no stream is lost between the two lists for lack of memory.
  live_.reserve(live_.size() + waiting_.size());
  const size_t early = PutOverdueFirst();
  for (size_t n = 0; n < waiting_.size() && !no_place; n++) {
    std::unique_ptr<Stream>& stream = waiting_[n];
    Admission admission = Admission::kNotYet;
    const bool good = Guarded({stream.get()}, [&] { admission = AdmitOne(*stream); });
    no_place = good && admission == Admission::kNoPlace;
    if (!good || admission != Admission::kLive) continue;
    admitted++;
    last_out_of_order_ = n < early;
    stream->SetWaits(false);
    live_.push_back(std::move(stream));
  }
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), nullptr), waiting_.end());
  DropGone();
  Sort();
  ReportWaits(no_place);
  return admitted > 0;
}

// Puts the first overdue reader or server's prompt before the live listeners, unless the stream that was
// admitted last came first in the same way. Returns the number of streams that were put there.
size_t Scheduler::PutOverdueFirst() {
  const Clock::time_point now = options_.now();
  const auto is_overdue = [now](const auto& one) {
    return !one->live() && !one->gone() && one->generation() != nullptr && one->generation()->Ready() &&
           one->request().overdue <= now;
  };
  if (waiting_.empty() || waiting_.front()->rank() > 0) last_out_of_order_ = false;
  if (last_out_of_order_) return 0;
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), is_overdue);
  if (found == waiting_.end()) return 0;
  std::rotate(waiting_.begin(), found, found + 1);
  return 1;
}

// A stream that could begin waits if others leave it no room. Read reports streams whose voice is not ready.
void Scheduler::ReportWaits(bool no_place) {
  for (const auto& stream : waiting_) {
    const Generation* const generation = stream->generation();
    if (generation != nullptr) stream->SetWaits(no_place && generation->Ready());
  }
}

Scheduler::Admission Scheduler::AdmitOne(Stream& stream) {
  if (stream.ending()) return EndWithReason(stream), Admission::kNotYet;
  Generation* const generation = stream.generation();
  if (generation == nullptr || !generation->Ready()) return Admission::kNotYet;
  const Result<TokenBudget> found = FindBudget(BudgetOf(stream));
  if (!found) {
    End(stream, Outcome::kTooLarge, found.problem());
    return Admission::kNotYet;
  }
  const TokenBudget& budget = *found;
  const size_t bytes = model_.BytesOf(*generation, budget.draws);
  if (bytes > options_.memory_bytes)
    return End(stream, Outcome::kTooLarge, TooMuch(bytes)), Admission::kNotYet;
  if (live_.size() >= options_.max_streams || (options_.keeps_pace && !KeepsPace(stream)))
    return Admission::kNoPlace;
  if (!FindMemory(bytes)) {
    if (!live_.empty() || voice_worked_) return Admission::kNoPlace;
    if (DeviceLacks(bytes, 0)) return End(stream, Outcome::kOutOfMemory, kOthersHaveIt), Admission::kNotYet;
    return End(stream, Outcome::kTooLarge, "voices that are in use leave too little memory"),
           Admission::kNotYet;
  }
  model_.Begin(*generation, budget.draws);
  stream.Begun(budget, bytes, options_.now());
  stream_bytes_ += bytes;
  stats_.begun++;
  return Admission::kLive;
}

BudgetQuestion Scheduler::BudgetOf(const Stream& stream) const {
  const Generation& generation = *stream.generation();
  BudgetQuestion question;
  question.requested = stream.request().max_new_tokens;
  question.configured = options_.max_new_tokens;
  question.language = stream.request().language;
  question.text_tokens = generation.TextTokens();
  question.text_ended = generation.TextEnded();
  question.prompt_rows = generation.PromptRows();
  question.most_positions = model_.MostPositions();
  question.most_draws = model_.MostDraws();
  question.model_frames = generation.MostFrames();
  return question;
}

// Makes room by evicting voices that no generation uses.
bool Scheduler::FindMemory(size_t bytes) {
  if (stream_bytes_ + bytes > options_.memory_bytes || DeviceLacks(bytes, model_.VoiceBytes())) return false;
  while (stream_bytes_ + bytes + model_.VoiceBytes() > options_.memory_bytes || DeviceLacks(bytes, 0)) {
    if (!model_.ForgetVoice()) return false;
  }
  return true;
}

// True if other models have so much of the device that this does not fit, whatever the limit says, and even
// if so many bytes are given back.
bool Scheduler::DeviceLacks(size_t bytes, size_t given_back) const {
  const BackendFigures figures = model_.Figures();
  return figures.memory_total > 0 && bytes > figures.memory_free + given_back;
}

Clock::duration Scheduler::Frame() const {
  const auto rate = static_cast<Clock::rep>(model_.facts().sample_rate);
  return std::chrono::nanoseconds(static_cast<Clock::rep>(model_.FrameSamples()) * 1'000'000'000 / rate);
}

// Time of a step of `streams` streams and of decoding their frames. Rounds that defer decoding measure too
// short, so decoding is also computed from the time of a frame.
Clock::duration Scheduler::WorkOf(size_t streams) const {
  const Clock::duration decoding = static_cast<Clock::rep>(streams) * decode_rate_.Each();
  return std::max(round_times_.Of(streams), step_times_.Of(streams) + decoding);
}

// Average time until each of `streams` streams has another frame.
Clock::duration Scheduler::RoundOf(size_t streams) const {
  const size_t together = std::min(streams, options_.max_batch);
  if (together == 0) return Clock::duration::zero();
  const Clock::duration round = WorkOf(together) + other_rate_.Each();
  return std::chrono::duration_cast<Clock::duration>(
      round * (static_cast<double>(streams) / static_cast<double>(together)));
}

// Part of WorkOf that cannot be deferred when it takes long. `bare` streams have too little audio to wait for
// more. Decoding of the others can wait, except for the minimum that is always decoded.
Clock::duration Scheduler::LeastWorkOf(size_t streams, size_t bare) const {
  const Clock::duration work = WorkOf(streams), step = step_times_.Of(streams);
  if (step == Clock::duration::zero()) return work;
  return std::min(
      work, step + static_cast<Clock::rep>(std::max(bare, LeastDecoded(streams))) * decode_rate_.Each());
}

// True if all live listeners still get a frame in a frame's time when this one is live, in the mean and, for
// those who have just begun and have nothing kept, in a round that takes long. The others step aside:
// StreamsToStep takes as many of them as there is time for, and at least one.
bool Scheduler::KeepsPace(const Stream& newcomer) {
  const Clock::duration frame = Frame();
  size_t listeners = 0, others = newcomer.live() ? 0 : 1;
  for (const auto& stream : live_) {
    if (stream->gone()) continue;
    if (!stream->live()) others = 1;
    else if (IsHeard(*stream)) listeners++;
  }
  if (listeners == 0) return true;
  const size_t together = listeners + (newcomer.live() ? 1 : 0) + others;
  const Clock::duration round = RoundOf(together);
  const Clock::duration least =
      together > options_.max_batch ? round : LeastWorkOf(together, Bare() + 1) + other_rate_.Each();
  return round <= std::chrono::duration_cast<Clock::duration>(kUsable * frame) && WithSwing(least) <= frame;
}

// False for a stream that waits for text or for its reader after all of its sound was played: it has no pace
// to keep.
bool Scheduler::IsHeard(Stream& stream) {
  const Clock::time_point now = options_.now();
  return stream.Ahead(now) > Clock::duration::zero() ||
         stream.NextTurn(now, round_rate_.Each()) != Stream::Turn::kPark;
}

}  // namespace parley::runtime
