#include "runtime/warm_up.h"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "model/prompt_piece.h"

namespace parley::runtime {
namespace {

constexpr size_t kFrames = 3;      // of each text: prompts of different lengths are what is new
constexpr size_t kRehearsals = 6;  // frames of each before those, where rounds are remembered
constexpr size_t kMostFrames = 1 + kRehearsals + kFrames;
constexpr size_t kOfBatches = 1;   // the text that many speak: longer than kMostFrames

constexpr const char* kTexts[] = {
    "Hello.",
    "Good morning, and thank you for calling. How can I help you today?",
    "Your order left our warehouse this morning and will reach you tomorrow between nine and twelve. You will get a "
    "message with the name of the driver and a link where you can follow the delivery. If nobody is at home, the "
    "parcel will be left with a neighbour, or at the shop at the corner of your street.",
    "\u4f60\u597d\u3002",
    "\u65e9\u4e0a\u597d\uff0c\u611f\u8c22\u60a8\u7684\u6765\u7535\u3002\u8bf7\u95ee\u6709\u4ec0\u4e48\u53ef\u4ee5"
    "\u5e2e\u60a8\uff1f",
};

// Two seconds of a buzz: enough of a voice for what encodes recordings.
std::shared_ptr<const Recording> Buzz() {
  constexpr double kPi = 3.14159265358979323846;
  auto recording = std::make_shared<Recording>();
  recording->hash = "warm-up";
  recording->text = "Hello.";
  for (size_t n = 0; n < 2 * recording->rate; n++) {
    const double phase = 2 * kPi * 140 * static_cast<double>(n) / recording->rate;
    const double sample = 0.2 * std::sin(phase) + 0.1 * std::sin(2 * phase) + 0.1 * std::sin(7 * phase);
    recording->samples.push_back(static_cast<float>(sample));
  }
  return recording;
}

bool FindVoice(FrameModel& model, const SpeechRequest& request, std::shared_ptr<Voice>* voice,
               std::string* problem) {
  if (request.recording == nullptr) return true;
  VoiceResult found = VoiceResult::kWorking;
  while (found == VoiceResult::kWorking) found = model.FindVoice(request.recording, true, voice, problem);
  return found == VoiceResult::kReady;
}

using Generations = std::vector<std::unique_ptr<Generation>>;

// Some who speak together, begun and with their prompts computed.
class Together {
 public:
  Together(FrameModel& model, Generations generations) : model_(model), generations_(std::move(generations)) {
    std::vector<Generation*> all;
    size_t rows = 0;
    for (const auto& one : generations_) {
      model.Begin(*one, kMostFrames + 1);
      all.push_back(one.get());
      rows += one->PromptLeft();
    }
    model.Prefill(all.data(), all.size(), rows);
    samples_.resize(all.size() * model.FrameSamples() * kMostFrames);
  }

  // So many more take part from now on.
  void Join(size_t count) {
    for (; count > 0 && joined_ < generations_.size(); count--) live_.push_back({generations_[joined_++].get(), 0});
  }

  // A frame of each.
  void Step() {
    if (live_.empty()) return;
    std::vector<Generation*> all;
    for (const Speaking& one : live_) all.push_back(one.generation);
    std::vector<FrameResult> results(all.size());
    model_.Step(all.data(), all.size(), results.data());
    std::vector<Speaking> going_on;
    for (size_t i = 0; i < live_.size(); i++) {
      if (results[i] == FrameResult::kFrame) going_on.push_back({live_[i].generation, live_[i].undecoded + 1});
    }
    live_ = std::move(going_on);
  }

  // All frames that were made.
  void Decode() {
    std::vector<FrameModel::DecodeJob> jobs;
    float* at = samples_.data();
    for (Speaking& one : live_) {
      if (one.undecoded == 0) continue;
      jobs.push_back({one.generation, one.undecoded, at});
      at += std::exchange(one.undecoded, 0) * model_.FrameSamples();
    }
    if (!jobs.empty()) model_.Decode(jobs.data(), jobs.size());
  }

  // Rounds of all; each but the first is told to `times`.
  void Measure(size_t rounds, MeasuredTimes* times) {
    for (size_t n = 0; n < rounds && !live_.empty(); n++) {
      const size_t count = live_.size();
      const Clock::time_point began = Clock::now();
      Step();
      const Clock::time_point stepped = Clock::now();
      Decode();
      if (n == 0) continue;
      times->steps.Did(count, stepped - began);
      times->rounds.Did(count, Clock::now() - began);
    }
  }

 private:
  struct Speaking {
    Generation* generation;
    size_t undecoded;  // frames
  };

  FrameModel& model_;
  const Generations generations_;
  size_t joined_ = 0;
  std::vector<Speaking> live_;
  std::vector<float> samples_;
};

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
void Rehearse(Together* all, size_t count) {
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

// So many of a request; none where there is no room for them. False: it is refused, with `problem` set.
bool Make(FrameModel& model, const SpeechRequest& request, size_t count, Generations* made, std::string* problem) {
  std::shared_ptr<Voice> voice;
  if (!FindVoice(model, request, &voice, problem)) return false;
  size_t bytes = 0;
  for (size_t n = 0; n < count; n++) {
    Refusal refusal;
    auto generation = model.Read(request, voice, &refusal);
    if (generation == nullptr) return *problem = refusal.problem, false;
    bytes += model.BytesOf(*generation, kMostFrames + 1);
    if (generation->PromptRows() + kMostFrames > model.MostPositions() || bytes + model.VoiceBytes() > model.FreeBytes()) return made->clear(), true;
    made->push_back(std::move(generation));
  }
  return true;
}

// False with `problem` set where it is refused.
bool Speak(FrameModel& model, const SpeechRequest& request, size_t count, bool rehearses, MeasuredTimes* times, std::string* problem) {
  Generations generations;
  if (!Make(model, request, count, &generations, problem)) return false;
  if (generations.empty()) return true;
  Together all(model, std::move(generations));
  if (rehearses) Rehearse(&all, count);
  all.Join(count);
  all.Measure(kFrames, times);
  return true;
}

// Prompts alone, as many together as are computed at once.
void Begin(FrameModel& model, const SpeechRequest& request, size_t count) {
  Generations generations;
  std::string problem;
  if (!Make(model, request, count, &generations, &problem) || generations.empty()) return;
  if (generations.size() * generations.front()->PromptRows() > model::kPromptPieceApart) return;
  const Together all(model, std::move(generations));
}

SpeechRequest RequestFor(const FrameModel& model, const char* text) {
  SpeechRequest request;
  request.text = text;
  if (!model.facts().speakers.empty()) request.speaker = model.facts().speakers.front();
  if (model.facts().model_type == "base") request.recording = Buzz();
  return request;
}

}  // namespace

bool WarmUp(FrameModel& model, size_t max_streams, MeasuredTimes* times, std::string* problem) {
  std::string refusal;
  const bool rehearses = model.Rehearse(true);
  const std::vector<size_t> sizes = model.WarmBatches(max_streams);
  size_t spoken = 0;
  // The largest first: what needs the most memory finds its place, and what is remembered of smaller ones stays true.
  for (auto size = sizes.rbegin(); size != sizes.rend(); size++) {
    if (Speak(model, RequestFor(model, kTexts[kOfBatches]), *size, rehearses, times, &refusal)) continue;
    break;
  }
  for (const char* const text : kTexts) {
    std::string why;
    if (Speak(model, RequestFor(model, text), 1, rehearses, times, &why)) spoken++;
    else if (problem->empty()) *problem = "warming up: " + why;
    for (auto size = sizes.rbegin(); rehearses && size != sizes.rend(); size++) Begin(model, RequestFor(model, text), *size);
  }
  while (model.ForgetVoice()) {
  }
  model.Rehearse(false);
  return spoken > 0;
}

}  // namespace parley::runtime
