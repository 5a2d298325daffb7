#include "model/speech/voice_encoder.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "model/speech/codec_encoder.h"
#include "model/speech/speaker_encoder.h"

namespace parley::model {

struct VoiceEncoder::Parts {
  Parts(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint)
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

VoiceEncoder::VoiceEncoder(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint) {
  if (checkpoint.config().type != ModelType::kBase)
    throw std::invalid_argument("only a Base model has encoders");
  parts_ = std::make_unique<Parts>(kernels, checkpoint);
}
VoiceEncoder::~VoiceEncoder() = default;

size_t VoiceEncoder::sample_rate() const { return parts_->codec.sample_rate(); }
size_t VoiceEncoder::min_samples() const { return parts_->speaker.min_samples(); }
size_t VoiceEncoder::code_groups() const { return parts_->codec.code_groups(); }
size_t VoiceEncoder::FramesOf(size_t samples) const { return parts_->codec.FramesOf(samples); }
size_t VoiceEncoder::WeightBytes() const {
  return parts_->weights.OwnBytes() + parts_->weights.MappedBytes();
}

size_t VoiceEncoder::WorkBytes(size_t samples) const {
  return std::max(parts_->speaker.WorkBytes(samples), parts_->codec.WorkBytes(samples));
}

std::unique_ptr<Preparation> VoiceEncoder::Prepare(const std::vector<float>& recording, uint32_t rate) const {
  return std::make_unique<Preparation>(Rules(static_cast<uint32_t>(sample_rate()), min_samples()), recording,
                                       rate);
}

bool VoiceEncoder::Prepare(const std::vector<float>& recording, uint32_t rate, std::vector<float>* samples,
                           std::string* problem) const {
  const auto preparation = Prepare(recording, rate);
  while (preparation->Advance()) continue;
  if (!preparation->problem().empty()) return *problem = preparation->problem(), false;
  *samples = preparation->TakeSamples();
  return true;
}

bool VoiceEncoder::Validate(const std::vector<float>& samples, std::string* problem) const {
  const auto preparation = Prepare(samples, static_cast<uint32_t>(sample_rate()));
  while (preparation->Advance()) continue;
  if (!preparation->problem().empty()) *problem = preparation->problem();
  return preparation->problem().empty();
}

std::unique_ptr<VoiceEncoding> VoiceEncoder::Begin(std::vector<float> samples, bool with_codes,
                                                   std::string* problem) {
  if (!Validate(samples, problem)) return nullptr;
  std::unique_ptr<VoiceEncoding> encoding(new VoiceEncoding(std::move(samples)));
  encoding->runs_->speaker.emplace(parts_->speaker, encoding->samples_);
  if (with_codes) encoding->runs_->next = &parts_->codec;
  return encoding;
}

bool VoiceEncoder::Speaker(const std::vector<float>& samples, std::vector<float>* vector,
                           std::string* problem) {
  const auto encoding = Begin(samples, false, problem);
  if (encoding == nullptr) return false;
  while (encoding->Advance()) continue;
  *vector = encoding->speaker();
  return true;
}

bool VoiceEncoder::Codes(const std::vector<float>& samples, std::vector<int32_t>* codes,
                         std::string* problem) {
  if (!Validate(samples, problem)) return false;
  CodecEncoder::Run run(parts_->codec, samples);
  while (run.Advance()) continue;
  *codes = run.codes();
  return true;
}

}  // namespace parley::model
