#include "runtime/warm_up.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "model/speech/embeddings.h"

namespace parley::runtime {
namespace {

constexpr size_t kWarmOnProcessors = 4;
constexpr size_t kFrames = 3;      // per text: the new cases are prompts of different lengths
constexpr size_t kRehearsals = 6;  // frames of each before those, where rounds are remembered
static_assert(1 + kRehearsals + kFrames <= kMostWarmFrames);

// Rounds of all streams; each but the first is recorded in `times`.
void Measure(WarmSpeech* all, size_t rounds, MeasuredTimes* times) {
  for (size_t n = 0; n < rounds && all->Live() > 0; n++) {
    const size_t count = all->Live();
    const Clock::time_point began = Clock::now();
    all->Step();
    const Clock::time_point stepped = Clock::now();
    all->Decode();
    if (n == 0) continue;
    times->steps.Record(count, stepped - began);
    times->rounds.Record(count, Clock::now() - began);
    all->Pause();
  }
}

// Sizes of the groups that join later, one after the other: small, so that most of `count` streams speak
// already.
std::vector<size_t> JoinsOf(size_t count) {
  std::vector<size_t> joins;
  size_t later = 0;
  for (const size_t some : {1u, 4u, 16u, 64u}) {
    if (some > 1 && 4 * (later + some) > count) break;
    if (count > 1) joins.push_back(some), later += some;
  }
  return joins;
}

// Rehearses a server's work with `count` streams, for a backend that records it: groups join, and chunks have
// one, two and four frames.
void Rehearse(WarmSpeech* all, size_t count) {
  const std::vector<size_t> joins = JoinsOf(count);
  all->Join(count - std::accumulate(joins.begin(), joins.end(), size_t{0}));
  all->Step();
  all->Decode();
  for (size_t n = 0; n < kRehearsals; n++) {
    if (n < joins.size()) all->Join(joins[n]);
    all->Step();
    if (n == 1 || n + 1 == kRehearsals) all->Decode();
    all->Pause();
  }
}

// The first speaker with whom the model reads a text: the file of one voice may be damaged, and the others
// speak. Empty for a model without speakers.
std::string FindWarmSpeaker(FrameModel& model) {
  const std::vector<std::string>& speakers = model.facts().speakers;
  for (const std::string& speaker : speakers) {
    if (model.Read(WarmRequest(model, kWarmTexts[0], speaker), nullptr)) return speaker;
  }
  return speakers.empty() ? "" : speakers.front();
}

// The generations of a request, with its voice.
Result<Generations> Prepare(FrameModel& model, const SpeechRequest& request, size_t count) {
  const auto voice = FindWarmVoice(model, request);
  if (!voice) return voice.reason();
  return MakeGenerations(model, request, *voice, count);
}

Result<> Speak(FrameModel& model, const SpeechRequest& request, size_t count, bool rehearses,
               MeasuredTimes* times) {
  auto generations = Prepare(model, request, count);
  if (!generations) return generations.reason();
  if (generations->empty()) return Done{};
  WarmSpeech all(model, std::move(*generations));
  if (rehearses) Rehearse(&all, count);
  all.Join(count);
  Measure(&all, kFrames, times);
  return Done{};
}

// Prompts alone, as many together as are computed at once.
void Begin(FrameModel& model, const SpeechRequest& request, size_t count) {
  auto generations = Prepare(model, request, count);
  if (!generations || generations->empty()) return;
  if (generations->size() * generations->front()->PromptRows() > model::kPromptPieceApart) return;
  const WarmSpeech all(model, std::move(*generations));
}

// The model rehearses during its life, and stops also if an exception ends it.
class Rehearsal {
 public:
  explicit Rehearsal(FrameModel& model) : model_(model), is_remembered_(model.Rehearse(true)) {}
  ~Rehearsal() { model_.Rehearse(false); }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  bool is_remembered() const { return is_remembered_; }

 private:
  FrameModel& model_;
  const bool is_remembered_;
};

}  // namespace

std::vector<size_t> WarmBatchesOf(const Kernels& kernels, size_t most) {
  std::vector<size_t> sizes;
  const size_t last = kernels.AnswersAtOnce() ? kWarmOnProcessors : SIZE_MAX;
  for (size_t size = 1; size <= most && size <= last; size *= 2) {
    sizes.push_back(size);
    const size_t between = size / 2 * 3;
    if (!kernels.AnswersAtOnce() && size > 1 && between <= most) sizes.push_back(between);
  }
  // The largest batch's memory is taken now, once.
  if (!kernels.AnswersAtOnce() && most > 0 && sizes.back() < most) sizes.push_back(most);
  return sizes;
}

Result<MeasuredTimes> WarmUp(FrameModel& model, size_t max_streams) {
  MeasuredTimes times;
  const Rehearsal rehearsal(model);
  const bool rehearses = rehearsal.is_remembered();
  const std::vector<size_t> sizes = model.WarmBatches(max_streams);
  const std::string speaker = FindWarmSpeaker(model);
  std::optional<Problem> first;
  size_t spoken = 0;
  // The largest first: what needs the most memory finds its place, and what is remembered of smaller ones
  // stays true.
  for (auto size = sizes.rbegin(); size != sizes.rend(); size++) {
    if (!Speak(model, WarmRequest(model, kWarmTexts[kWarmOfBatches], speaker), *size, rehearses, &times))
      break;
  }
  for (const char* const text : kWarmTexts) {
    const Result<> said = Speak(model, WarmRequest(model, text, speaker), 1, rehearses, &times);
    if (said) spoken++;
    else if (!first) first = said.reason();
    for (auto size = sizes.rbegin(); rehearses && size != sizes.rend(); size++)
      Begin(model, WarmRequest(model, text, speaker), *size);
  }
  while (model.ForgetVoice()) {
  }
  if (spoken == 0) return Problem{"warming up: " + first->text};
  return times;
}

namespace {

// Three seconds of a buzz: enough of a voice for what encodes recordings.
std::shared_ptr<const Recording> Buzz() {
  constexpr double kPi = 3.14159265358979323846;
  auto recording = std::make_shared<Recording>();
  recording->hash = "warm-up";
  recording->text = "Hello.";
  for (size_t n = 0; n < 3 * recording->rate; n++) {
    const double phase = 2 * kPi * 140 * static_cast<double>(n) / recording->rate;
    const double sample = 0.2 * std::sin(phase) + 0.1 * std::sin(2 * phase) + 0.1 * std::sin(7 * phase);
    recording->samples.push_back(static_cast<float>(sample));
  }
  return recording;
}

}  // namespace

SpeechRequest WarmRequest(const FrameModel& model, const char* text, const std::string& speaker) {
  SpeechRequest request;
  request.text = text;
  request.speaker = speaker;
  if (speaker.empty() && model.facts().takes_recording) request.recording = Buzz();
  return request;
}

Result<std::shared_ptr<Voice>> FindWarmVoice(FrameModel& model, const SpeechRequest& request) {
  if (request.recording == nullptr) return nullptr;
  Result<std::shared_ptr<Voice>> found = nullptr;
  while (found && *found == nullptr) {
    found = model.FindVoice(request.recording, true);
    model.Pause();
  }
  return found;
}

Result<Generations> MakeGenerations(FrameModel& model, const SpeechRequest& request,
                                    const std::shared_ptr<Voice>& voice, size_t count) {
  Generations made;
  size_t bytes = 0;
  for (size_t n = 0; n < count; n++) {
    auto read = model.Read(request, voice);
    if (!read) return Problem{read.reason().problem};
    std::unique_ptr<Generation> generation = std::move(*read);
    bytes += model.BytesOf(*generation, kMostWarmFrames + 1);
    if (generation->PromptRows() + kMostWarmFrames > model.MostPositions() ||
        bytes + model.VoiceBytes() > model.FreeBytes())
      return Generations{};
    made.push_back(std::move(generation));
  }
  return made;
}

WarmSpeech::WarmSpeech(FrameModel& model, Generations generations)
    : model_(model), generations_(std::move(generations)) {
  std::vector<Generation*> all;
  size_t rows = 0;
  for (const auto& one : generations_) {
    model.Begin(*one, kMostWarmFrames + 1);
    all.push_back(one.get());
    rows += one->PromptLeft();
  }
  model.Prefill(all.data(), all.size(), rows);
  model.Pause();
  samples_.resize(all.size() * model.FrameSamples() * kMostWarmFrames);
}

void WarmSpeech::Join(size_t count) {
  for (; count > 0 && joined_ < generations_.size(); count--)
    live_.push_back({generations_[joined_++].get(), 0});
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
