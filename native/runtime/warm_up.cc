#include "runtime/warm_up.h"

#include <cmath>
#include <vector>

namespace parley::runtime {
namespace {

constexpr size_t kFrames = 3;  // of each text: prompts of different lengths are what is new

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

// Rounds of these together; each that is not a size's first is told to `times`.
void SpeakTogether(FrameModel& model, const Generations& generations, RoundTimes* times) {
  std::vector<Generation*> live;
  size_t rows = 0;
  for (const auto& one : generations) {
    model.Begin(*one, kFrames + 1);
    live.push_back(one.get());
    rows += one->PromptLeft();
  }
  model.Prefill(live.data(), live.size(), rows);
  std::vector<float> samples(live.size() * model.FrameSamples());
  for (size_t n = 0; n < kFrames; n++) {
    std::vector<FrameResult> results(live.size());
    std::vector<FrameModel::DecodeJob> jobs;
    const Clock::time_point began = Clock::now();
    model.Step(live.data(), live.size(), results.data());
    std::vector<Generation*> going_on;
    for (size_t i = 0; i < live.size(); i++) {
      if (results[i] != FrameResult::kFrame) continue;
      jobs.push_back({live[i], 1, samples.data() + jobs.size() * model.FrameSamples()});
      going_on.push_back(live[i]);
    }
    if (!jobs.empty()) model.Decode(jobs.data(), jobs.size());
    if (n > 0) times->Did(live.size(), Clock::now() - began);
    live = std::move(going_on);
    if (live.empty()) return;
  }
}

// False with `problem` set where it is refused.
bool Speak(FrameModel& model, const SpeechRequest& request, size_t count, RoundTimes* times, std::string* problem) {
  std::shared_ptr<Voice> voice;
  if (!FindVoice(model, request, &voice, problem)) return false;
  Generations generations;
  size_t bytes = 0;
  for (size_t n = 0; n < count; n++) {
    Refusal refusal;
    auto generation = model.Read(request, voice, &refusal);
    if (generation == nullptr) return *problem = refusal.problem, false;
    bytes += model.BytesOf(*generation, kFrames + 1);
    const bool fits = generation->PromptRows() + kFrames <= model.MostPositions() && bytes + model.VoiceBytes() <= model.FreeBytes();
    if (!fits) return true;
    generations.push_back(std::move(generation));
  }
  SpeakTogether(model, generations, times);
  return true;
}

SpeechRequest RequestFor(const FrameModel& model, const char* text) {
  SpeechRequest request;
  request.text = text;
  if (!model.facts().speakers.empty()) request.speaker = model.facts().speakers.front();
  if (model.facts().model_type == "base") request.recording = Buzz();
  return request;
}

}  // namespace

bool WarmUp(FrameModel& model, size_t max_streams, RoundTimes* times, std::string* problem) {
  size_t spoken = 0;
  for (const char* const text : kTexts) {
    std::string refusal;
    if (Speak(model, RequestFor(model, text), 1, times, &refusal)) spoken++;
    else if (problem->empty()) *problem = "warming up: " + refusal;
  }
  std::string refusal;
  // The largest first: what needs the most memory finds its place, and what is remembered of smaller ones stays true.
  std::vector<size_t> sizes = model.WarmBatches(max_streams);
  for (auto size = sizes.rbegin(); size != sizes.rend(); size++) {
    if (spoken > 0) Speak(model, RequestFor(model, kTexts[0]), *size, times, &refusal);
  }
  while (model.ForgetVoice()) {
  }
  return spoken > 0;
}

}  // namespace parley::runtime
