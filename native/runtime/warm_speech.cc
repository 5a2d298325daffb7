#include "runtime/warm_speech.h"

#include <cmath>
#include <utility>

namespace parley::runtime {
namespace {

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

}  // namespace

SpeechRequest WarmRequest(const FrameModel& model, const char* text) {
  SpeechRequest request;
  request.text = text;
  if (!model.facts().speakers.empty()) request.speaker = model.facts().speakers.front();
  if (model.facts().model_type == "base") request.recording = Buzz();
  return request;
}

bool FindWarmVoice(FrameModel& model, const SpeechRequest& request, std::shared_ptr<Voice>* voice, std::string* problem) {
  if (request.recording == nullptr) return true;
  VoiceResult found = VoiceResult::kWorking;
  while (found == VoiceResult::kWorking) found = model.FindVoice(request.recording, true, voice, problem);
  return found == VoiceResult::kReady;
}

bool MakeGenerations(FrameModel& model, const SpeechRequest& request, const std::shared_ptr<Voice>& voice, size_t count, Generations* made,
                     std::string* problem) {
  size_t bytes = 0;
  for (size_t n = 0; n < count; n++) {
    Refusal refusal;
    auto generation = model.Read(request, voice, &refusal);
    if (generation == nullptr) return *problem = refusal.problem, false;
    bytes += model.BytesOf(*generation, kMostWarmFrames + 1);
    if (generation->PromptRows() + kMostWarmFrames > model.MostPositions() || bytes + model.VoiceBytes() > model.FreeBytes()) return made->clear(), true;
    made->push_back(std::move(generation));
  }
  return true;
}

WarmSpeech::WarmSpeech(FrameModel& model, Generations generations) : model_(model), generations_(std::move(generations)) {
  std::vector<Generation*> all;
  size_t rows = 0;
  for (const auto& one : generations_) {
    model.Begin(*one, kMostWarmFrames + 1);
    all.push_back(one.get());
    rows += one->PromptLeft();
  }
  model.Prefill(all.data(), all.size(), rows);
  samples_.resize(all.size() * model.FrameSamples() * kMostWarmFrames);
}

void WarmSpeech::Join(size_t count) {
  for (; count > 0 && joined_ < generations_.size(); count--) live_.push_back({generations_[joined_++].get(), 0});
}

void WarmSpeech::Step() {
  if (live_.empty()) return;
  std::vector<Generation*> all;
  for (const Speaking& one : live_) all.push_back(one.generation);
  std::vector<FrameResult> results(all.size());
  model_.Step(all.data(), all.size(), results.data());
  std::vector<Speaking> going_on;
  for (size_t i = 0; i < live_.size(); i++) {
    if (results[i] == FrameResult::kBroken) throw NotFinite(kLogitsNotFinite);
    if (results[i] == FrameResult::kFrame) going_on.push_back({live_[i].generation, live_[i].undecoded + 1});
  }
  live_ = std::move(going_on);
}

void WarmSpeech::Decode() {
  std::vector<FrameModel::DecodeJob> jobs;
  float* at = samples_.data();
  for (Speaking& one : live_) {
    if (one.undecoded == 0) continue;
    jobs.push_back({one.generation, one.undecoded, at});
    at += std::exchange(one.undecoded, 0) * model_.FrameSamples();
  }
  if (!jobs.empty()) model_.Decode(jobs.data(), jobs.size());
  const auto count = static_cast<size_t>(at - samples_.data());
  if (!IsFinite(samples_.data(), count)) throw NotFinite(kSoundNotFinite);
}

}  // namespace parley::runtime
