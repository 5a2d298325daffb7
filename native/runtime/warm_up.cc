#include "runtime/warm_up.h"

#include <numeric>
#include <utility>
#include <vector>

#include "model/speech/prompt_piece.h"
#include "runtime/warm_speech.h"

namespace parley::runtime {
namespace {

constexpr size_t kFrames = 3;      // of each text: prompts of different lengths are what is new
constexpr size_t kRehearsals = 6;  // frames of each before those, where rounds are remembered
static_assert(1 + kRehearsals + kFrames <= kMostWarmFrames);

// Rounds of all; each but the first is told to `times`.
void Measure(WarmSpeech* all, size_t rounds, MeasuredTimes* times) {
  for (size_t n = 0; n < rounds && all->Live() > 0; n++) {
    const size_t count = all->Live();
    const Clock::time_point began = Clock::now();
    all->Step();
    const Clock::time_point stepped = Clock::now();
    all->Decode();
    if (n == 0) continue;
    times->steps.Did(count, stepped - began);
    times->rounds.Did(count, Clock::now() - began);
  }
}

// Those who join later, one group after the other: few, so that the others are nearly all of so many.
std::vector<size_t> JoinsOf(size_t count) {
  std::vector<size_t> joins;
  size_t later = 0;
  for (const size_t some : {1u, 4u, 16u, 64u}) {
    if (some > 1 && 4 * (later + some) > count) break;
    if (count > 1) joins.push_back(some), later += some;
  }
  return joins;
}

// What a server does with so many, for a backend that remembers it: some join the others, chunks of one, two and four frames.
void Rehearse(WarmSpeech* all, size_t count) {
  const std::vector<size_t> joins = JoinsOf(count);
  all->Join(count - std::accumulate(joins.begin(), joins.end(), size_t{0}));
  all->Step();
  all->Decode();
  for (size_t n = 0; n < kRehearsals; n++) {
    if (n < joins.size()) all->Join(joins[n]);
    all->Step();
    if (n == 1 || n + 1 == kRehearsals) all->Decode();
  }
}

// False with `problem` set where it is refused.
bool Speak(FrameModel& model, const SpeechRequest& request, size_t count, bool rehearses, MeasuredTimes* times, std::string* problem) {
  std::shared_ptr<Voice> voice;
  Generations generations;
  if (!FindWarmVoice(model, request, &voice, problem) || !MakeGenerations(model, request, voice, count, &generations, problem)) return false;
  if (generations.empty()) return true;
  WarmSpeech all(model, std::move(generations));
  if (rehearses) Rehearse(&all, count);
  all.Join(count);
  Measure(&all, kFrames, times);
  return true;
}

// Prompts alone, as many together as are computed at once.
void Begin(FrameModel& model, const SpeechRequest& request, size_t count) {
  std::shared_ptr<Voice> voice;
  Generations generations;
  std::string problem;
  if (!FindWarmVoice(model, request, &voice, &problem)) return;
  if (!MakeGenerations(model, request, voice, count, &generations, &problem) || generations.empty()) return;
  if (generations.size() * generations.front()->PromptRows() > model::kPromptPieceApart) return;
  const WarmSpeech all(model, std::move(generations));
}

}  // namespace

bool WarmUp(FrameModel& model, size_t max_streams, MeasuredTimes* times, std::string* problem) {
  std::string refusal;
  const bool rehearses = model.Rehearse(true);
  const std::vector<size_t> sizes = model.WarmBatches(max_streams);
  size_t spoken = 0;
  // The largest first: what needs the most memory finds its place, and what is remembered of smaller ones stays true.
  for (auto size = sizes.rbegin(); size != sizes.rend(); size++) {
    if (Speak(model, WarmRequest(model, kWarmTexts[kWarmOfBatches]), *size, rehearses, times, &refusal)) continue;
    break;
  }
  for (const char* const text : kWarmTexts) {
    std::string why;
    if (Speak(model, WarmRequest(model, text), 1, rehearses, times, &why)) spoken++;
    else if (problem->empty()) *problem = "warming up: " + why;
    for (auto size = sizes.rbegin(); rehearses && size != sizes.rend(); size++) Begin(model, WarmRequest(model, text), *size);
  }
  while (model.ForgetVoice()) {
  }
  model.Rehearse(false);
  return spoken > 0;
}

}  // namespace parley::runtime
