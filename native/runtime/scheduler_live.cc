// The live: prompts, frames, sound.
#include <algorithm>

#include "runtime/scheduler.h"

namespace parley::runtime {
namespace {

// What newcomers' prompts may take of a round, in which all others wait; so many rows in any case.
constexpr Clock::duration kPrefillTime = std::chrono::milliseconds(40);
constexpr size_t kLeastPrefillRows = 32;
// The same of decoding.
constexpr Clock::duration kDecodeTime = std::chrono::milliseconds(40);

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

bool Scheduler::Prefill() {
  Some streams = LiveWith(Stream::Turn::kPrefill);
  if (streams.empty()) return false;
  const size_t rows = prefill_rate_.In(kPrefillTime, kLeastPrefillRows);
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
  if (!Guarded(streams, [&] { model_.Step(generations.data(), generations.size(), results.data()); })) return true;
  stats_.steps++;
  stepped_ = streams.size();
  for (size_t n = 0; n < streams.size(); n++) {
    streams[n]->Stepped(results[n]);
    stats_.frames += results[n] == FrameResult::kFrame;
  }
  return true;
}

// First sounds in a call of their own, before the others. Where anybody waits for his next sound, no more
// is decoded at a time than that can wait: what is left comes in the next rounds.
bool Scheduler::Decode() {
  Some all = LiveWith(Stream::Turn::kDecode);
  if (all.empty()) return false;
  const bool hurry = std::any_of(live_.begin(), live_.end(), [](const auto& one) { return one->InHurry(); });
  size_t frames = hurry ? decode_rate_.In(kDecodeTime, 1) : SIZE_MAX;
  const auto silent = std::stable_partition(all.begin(), all.end(), [](Stream* one) { return one->Silent(); });
  frames -= DecodeSome(Some(all.begin(), silent), frames);
  DecodeSome(Some(silent, all.end()), frames);
  return true;
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
