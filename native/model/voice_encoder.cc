#include "model/voice_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "model/codec_encoder.h"
#include "model/resampling.h"
#include "model/speaker_encoder.h"

namespace parley::model {
namespace {

std::string Number(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

struct VoiceEncoder::Parts {
  Parts(Kernels& kernels, const Checkpoint& checkpoint)
      : weights(kernels), speaker(kernels, weights, checkpoint), codec(kernels, weights, checkpoint) {}

  Weights weights;
  SpeakerEncoder speaker;
  CodecEncoder codec;
};

// The second begins when the memory of the first is given back.
struct VoiceEncoding::Runs {
  std::optional<SpeakerEncoder::Run> speaker;
  std::optional<CodecEncoder::Run> codec;
  CodecEncoder* next = nullptr;  // or none: codes are not asked for
  std::vector<int32_t> codes;
};

VoiceEncoding::VoiceEncoding(std::vector<float> samples) : samples_(std::move(samples)), runs_(new Runs) {}
VoiceEncoding::~VoiceEncoding() = default;

const std::vector<int32_t>& VoiceEncoding::codes() const { return runs_->codes; }

bool VoiceEncoding::Advance() {
  Runs& runs = *runs_;
  if (runs.speaker) {
    if (runs.speaker->Advance()) return true;
    speaker_ = runs.speaker->vector();
    runs.speaker.reset();
  }
  if (runs.next != nullptr) {
    runs.codec.emplace(*runs.next, samples_);
    runs.next = nullptr;
  }
  if (!runs.codec) return false;
  if (runs.codec->Advance()) return true;
  runs.codes = runs.codec->codes();
  runs.codec.reset();
  return false;
}

VoiceEncoder::VoiceEncoder(Kernels& kernels, const Checkpoint& checkpoint) {
  if (checkpoint.config().type != ModelType::kBase) throw std::invalid_argument("only a Base model has encoders");
  parts_ = std::make_unique<Parts>(kernels, checkpoint);
}
VoiceEncoder::~VoiceEncoder() = default;

size_t VoiceEncoder::sample_rate() const { return parts_->codec.sample_rate(); }
size_t VoiceEncoder::min_samples() const { return parts_->speaker.min_samples(); }
size_t VoiceEncoder::code_groups() const { return parts_->codec.code_groups(); }
size_t VoiceEncoder::FramesOf(size_t samples) const { return parts_->codec.FramesOf(samples); }
size_t VoiceEncoder::WeightBytes() const { return parts_->weights.OwnBytes() + parts_->weights.MappedBytes(); }

size_t VoiceEncoder::WorkBytes(size_t samples) const {
  return std::max(parts_->speaker.WorkBytes(samples), parts_->codec.WorkBytes(samples));
}

bool VoiceEncoder::Judge(const std::vector<float>& recording, uint32_t rate, std::string* problem) const {
  if (recording.empty()) return *problem = "the recording is empty", false;
  if (rate < kMinRate || rate > kMaxRate) {
    *problem = "the recording's sample rate is " + std::to_string(rate) + " Hz; " + std::to_string(kMinRate) + " to " +
               std::to_string(kMaxRate) + " are taken";
    return false;
  }
  const double seconds = static_cast<double>(recording.size()) / rate;
  const double least = static_cast<double>(min_samples()) / static_cast<double>(sample_rate());
  if (recording.size() > kMaxSeconds * rate || ResampledCount(recording.size(), rate, sample_rate()) < min_samples()) {
    *problem = "the recording lasts " + Number("%.3f", seconds) + " s; " + Number("%.3f", least) + " to " +
               std::to_string(kMaxSeconds) + " s are taken";
    return false;
  }
  float peak = 0;
  for (size_t n = 0; n < recording.size(); n++) {
    if (!std::isfinite(recording[n])) {
      return *problem = "the recording's sample " + std::to_string(n) + " is no finite number", false;
    }
    peak = std::max(peak, std::fabs(recording[n]));
  }
  if (peak > kLoudest) {
    return *problem = "the recording's loudest sample is " + Number("%g", peak) + "; full scale is 1", false;
  }
  if (peak < kSilence) return *problem = "the recording is silent", false;
  return true;
}

bool VoiceEncoder::Prepare(const std::vector<float>& recording, uint32_t rate, std::vector<float>* samples,
                           std::string* problem) const {
  if (!Judge(recording, rate, problem)) return false;
  *samples = Resampled(recording, rate, static_cast<uint32_t>(sample_rate()));
  return Judge(*samples, static_cast<uint32_t>(sample_rate()), problem);
}

std::unique_ptr<VoiceEncoding> VoiceEncoder::Begin(std::vector<float> samples, bool with_codes, std::string* problem) {
  if (!Judge(samples, static_cast<uint32_t>(sample_rate()), problem)) return nullptr;
  std::unique_ptr<VoiceEncoding> encoding(new VoiceEncoding(std::move(samples)));
  encoding->runs_->speaker.emplace(parts_->speaker, encoding->samples_);
  if (with_codes) encoding->runs_->next = &parts_->codec;
  return encoding;
}

bool VoiceEncoder::Speaker(const std::vector<float>& samples, std::vector<float>* vector, std::string* problem) {
  const auto encoding = Begin(samples, false, problem);
  if (encoding == nullptr) return false;
  while (encoding->Advance()) continue;
  *vector = encoding->speaker();
  return true;
}

bool VoiceEncoder::Codes(const std::vector<float>& samples, std::vector<int32_t>* codes, std::string* problem) {
  if (!Judge(samples, static_cast<uint32_t>(sample_rate()), problem)) return false;
  CodecEncoder::Run run(parts_->codec, samples);
  while (run.Advance()) continue;
  *codes = run.codes();
  return true;
}

}  // namespace parley::model
