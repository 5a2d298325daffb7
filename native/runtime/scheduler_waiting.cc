// The waiting: whose request is read, who gets a place.
#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/scheduler.h"

namespace parley::runtime {
namespace {

// Of a frame's time that rounds may take in the mean: what listeners have ahead must grow.
constexpr double kUsable = 0.86;

constexpr size_t kReadsARound = 8;  // requests whose text is tokenized: some 100 microseconds each

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
  Refusal refusal;
  std::shared_ptr<Voice> voice;
  if (request.recording != nullptr) {
    VoiceResult found = model_.FindVoice(request.recording, false, &voice, &refusal.problem);
    if (found == VoiceResult::kWorking && !voice_worked_ && MayWork(stream)) {
      voice_worked_ = true;
      found = model_.FindVoice(request.recording, true, &voice, &refusal.problem);
    }
    if (stream.gone() || found == VoiceResult::kWorking) return;
    if (found == VoiceResult::kRefused) return End(stream, Outcome::kBadRequest, std::move(refusal.problem));
  }
  auto generation = model_.Read(request, std::move(voice), &refusal);
  if (generation == nullptr) return End(stream, refusal.outcome, std::move(refusal.problem));
  stream.WasRead(std::move(generation));
}

// Encoding takes memory, too. False: not yet, or never; then the stream has ended.
bool Scheduler::MayWork(Stream& stream) {
  const size_t bytes = model_.WorkBytesOf(*stream.request().recording);
  if (FindMemory(bytes)) return true;
  if (live_.empty() || bytes > options_.memory_bytes) End(stream, Outcome::kTooLarge, TooMuch(bytes));
  return false;
}

std::string Scheduler::TooMuch(size_t bytes) const {
  return "it takes " + std::to_string(bytes) + " bytes of memory; " + std::to_string(options_.memory_bytes) +
         " are the most";
}

bool Scheduler::Admit() {
  size_t admitted = 0;
  bool no_place = false;
  live_.reserve(live_.size() + waiting_.size());  // nobody is lost between the two for want of memory
  for (auto& stream : waiting_) {
    Admission admission = Admission::kNotYet;
    const bool good = Guarded({stream.get()}, [&] { admission = AdmitOne(*stream); });
    if (!good || admission == Admission::kNotYet) continue;
    if (admission == Admission::kNoPlace) {
      no_place = true;
      break;
    }
    admitted++;
    live_.push_back(std::move(stream));
  }
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), nullptr), waiting_.end());
  DropGone();
  Sort();
  if (no_place) RefuseSurplus();
  return admitted > 0;
}

Scheduler::Admission Scheduler::AdmitOne(Stream& stream) {
  if (stream.ending()) return EndAsSaid(stream), Admission::kNotYet;
  Generation* const generation = stream.generation();
  if (generation == nullptr || !generation->Ready()) return Admission::kNotYet;
  TokenBudget budget;
  std::string problem;
  if (!FindBudget(BudgetOf(stream), &budget, &problem)) {
    return End(stream, Outcome::kTooLarge, std::move(problem)), Admission::kNotYet;
  }
  const size_t bytes = model_.BytesOf(*generation, budget.draws);
  if (bytes > options_.memory_bytes) return End(stream, Outcome::kTooLarge, TooMuch(bytes)), Admission::kNotYet;
  if (live_.size() >= options_.max_streams || (options_.keeps_pace && !KeepsPace(stream))) return Admission::kNoPlace;
  if (!FindMemory(bytes)) {
    if (!live_.empty() || voice_worked_) return Admission::kNoPlace;
    return End(stream, Outcome::kTooLarge, "voices that are in use leave too little memory"), Admission::kNotYet;
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
  return question;
}

// By forgetting voices that nobody uses, where that is enough.
bool Scheduler::FindMemory(size_t bytes) {
  if (stream_bytes_ + bytes > options_.memory_bytes) return false;
  while (stream_bytes_ + bytes + model_.VoiceBytes() > options_.memory_bytes) {
    if (!model_.ForgetVoice()) return false;
  }
  return true;
}

Clock::duration Scheduler::Frame() const {
  const auto rate = static_cast<Clock::rep>(model_.facts().sample_rate);
  return std::chrono::nanoseconds(static_cast<Clock::rep>(model_.FrameSamples()) * 1'000'000'000 / rate);
}

// A step of so many and their frames in the codec. Rounds that put decoding off for somebody's next sound are short: what was put
// off is counted by its frames.
Clock::duration Scheduler::WorkOf(size_t streams) const {
  const Clock::duration decoding = static_cast<Clock::rep>(streams) * decode_rate_.Each();
  return std::max(round_times_.Of(streams), step_times_.Of(streams) + decoding);
}

// How long it takes until each of so many has a frame more, in the mean.
Clock::duration Scheduler::RoundOf(size_t streams) const {
  const size_t together = std::min(streams, options_.max_batch);
  if (together == 0) return Clock::duration::zero();
  const Clock::duration round = WorkOf(together) + other_rate_.Each();
  return std::chrono::duration_cast<Clock::duration>(round * (static_cast<double>(streams) / static_cast<double>(together)));
}

// What of WorkOf cannot be put off when it takes long. `bare` of the streams have too little sound to wait for more; the others' can wait,
// but for what is decoded in any case.
Clock::duration Scheduler::LeastWorkOf(size_t streams, size_t bare) const {
  const Clock::duration work = WorkOf(streams), step = step_times_.Of(streams);
  if (step == Clock::duration::zero()) return work;
  return std::min(work, step + static_cast<Clock::rep>(std::max(bare, LeastDecoded(streams))) * decode_rate_.Each());
}

// Whether all who are listened to still get a frame in a frame's time when this one is live, in the mean and, for those who
// have just begun and have nothing kept, in a round that takes long. Those who are in no hurry give way: they count as the
// part of the rounds that they are in.
bool Scheduler::KeepsPace(const Stream& newcomer) const {
  const Clock::duration frame = Frame();
  size_t hurried = newcomer.InHurry() ? 1 : 0, others = 1 - hurried, listened_to = 0;
  for (const auto& stream : live_) {
    if (stream->gone()) continue;
    listened_to += stream->InHurry() ? 1 : 0;
    ++(stream->InHurry() ? hurried : others);
  }
  if (listened_to == 0) return true;
  const size_t together = hurried + (others + kRoundsGivenWay) / (kRoundsGivenWay + 1);
  const Clock::duration round = RoundOf(together);
  const Clock::duration least = together > options_.max_batch ? round : LeastWorkOf(together, Bare() + 1) + other_rate_.Each();
  return round <= std::chrono::duration_cast<Clock::duration>(kUsable * frame) && WithSwing(least) <= frame;
}

// Too many wait for memory: those who came last do so in vain.
void Scheduler::RefuseSurplus() {
  while (waiting_.size() > options_.max_waiting) {
    const auto last = std::max_element(waiting_.begin(), waiting_.end(),
                                       [](const auto& a, const auto& b) { return a->id() < b->id(); });
    End(**last, Outcome::kBusy, "too many streams are live and waiting");
    DropGone();
  }
}

}  // namespace parley::runtime
