#include "model/speaker_encoder.h"

#include <algorithm>
#include <string>

namespace parley::model {
namespace {

LogMelShape ShapeOf(const SpeakerEncoderConfig& config) {
  LogMelShape shape;
  shape.sample_rate = static_cast<size_t>(config.sample_rate);
  shape.bands = static_cast<size_t>(config.mel_bands);
  return shape;
}

const SpeakerEncoderConfig& ConfigOf(const Checkpoint& checkpoint) { return *checkpoint.config().speaker_encoder; }

NamedTensors TensorsOf(const Checkpoint& checkpoint) {
  return NamedTensors::OfModel(checkpoint).Under("speaker_encoder");
}

}  // namespace

SpeakerEncoder::SpeakerEncoder(Kernels& kernels, Weights& weights, const Checkpoint& checkpoint)
    : kernels_(kernels),
      shape_(ShapeOf(ConfigOf(checkpoint))),
      mel_(shape_),
      channels_(static_cast<size_t>(ConfigOf(checkpoint).channels.front())),
      joined_(static_cast<size_t>(ConfigOf(checkpoint).channels.back())),
      first_(weights, TensorsOf(checkpoint).Under("blocks.0.conv"),
             static_cast<size_t>(ConfigOf(checkpoint).dilations.front())),
      join_(weights, TensorsOf(checkpoint).Under("mfa.conv"),
            static_cast<size_t>(ConfigOf(checkpoint).dilations.back())),
      pool_(weights, TensorsOf(checkpoint).Under("asp"), joined_),
      project_(weights, TensorsOf(checkpoint).Under("fc")) {
  const SpeakerEncoderConfig& config = ConfigOf(checkpoint);
  for (size_t n = 1; n + 1 < config.channels.size(); n++) {
    blocks_.emplace_back(weights, TensorsOf(checkpoint).Under("blocks", n), channels_,
                         static_cast<size_t>(config.res2net_scale), static_cast<size_t>(config.dilations[n]));
  }
}

size_t SpeakerEncoder::min_samples() const {
  size_t moments = std::max(first_.MinRows(), join_.MinRows());
  for (const Res2NetBlock& block : blocks_) moments = std::max(moments, block.MinRows());
  const size_t margin = (shape_.window - shape_.hop) / 2;  // that the spectrum reflects
  return std::max(margin + 1, (moments - 1) * shape_.hop + shape_.window - 2 * margin);
}

SpeakerEncoder::Places SpeakerEncoder::PlacesOf(size_t moments) const {
  const size_t wide = moments * joined_, mel = moments * shape_.bands;
  size_t block = mel + first_.PaddedFloats(moments);
  for (const Res2NetBlock& one : blocks_) block = std::max(block, one.WorkFloats(moments));
  Places at;
  at.x = at.features = 0;
  at.block = at.mel = moments * channels_;
  at.padded = at.mel + mel;
  at.joined = at.pool = std::max(at.block + block, wide);
  at.joined_padded = at.joined + std::max(wide, pool_.WorkFloats(moments));
  at.statistics = at.joined_padded + join_.PaddedFloats(moments);
  at.vector = at.statistics + 2 * joined_;
  at.total = at.vector + project_.outputs();
  return at;
}

SpeakerEncoder::Run::Run(SpeakerEncoder& encoder, const std::vector<float>& samples)
    : encoder_(encoder), samples_(samples), moments_(encoder.mel_.FramesOf(samples.size())), work_(encoder.kernels_) {}

bool SpeakerEncoder::Run::Advance() {
  const size_t blocks = encoder_.blocks_.size(), stage = stage_;
  if (stage > blocks + 2) return false;
  float* const work = work_.Floats(encoder_.WorkFloats(moments_));
  if (stage == 0) encoder_.Listen(samples_, moments_, work);
  else if (stage <= blocks) encoder_.ApplyBlock(stage - 1, moments_, work);
  else if (stage == blocks + 1) encoder_.Join(moments_, work);
  else encoder_.Pool(moments_, work, &vector_);
  stage_++;
  return true;
}

void SpeakerEncoder::Listen(const std::vector<float>& samples, size_t moments, float* work) {
  const Places at = PlacesOf(moments);
  const std::vector<float> mel = mel_.Of(samples.data(), samples.size());
  kernels_.Upload(work + at.mel, mel.data(), mel.size() * sizeof(float));
  kernels_.Wait();  // for `mel`
  first_.Apply(kernels_, work + at.mel, moments, work + at.padded, work + at.x);
  kernels_.Activate(Activation::kRelu, work + at.x, moments * channels_);
  Show(tap_, "blocks.0", work + at.x, moments, channels_);
}

void SpeakerEncoder::ApplyBlock(size_t n, size_t moments, float* work) {
  const Places at = PlacesOf(moments);
  blocks_[n].Apply(kernels_, work + at.x, moments, work + at.block);
  kernels_.CopyColumns(work + at.x, channels_, 0, work + at.joined, joined_, n * channels_, channels_, moments);
  Show(tap_, "blocks." + std::to_string(n + 1), work + at.x, moments, channels_);
}

void SpeakerEncoder::Join(size_t moments, float* work) {
  const Places at = PlacesOf(moments);
  join_.Apply(kernels_, work + at.joined, moments, work + at.joined_padded, work + at.features);
  kernels_.Activate(Activation::kRelu, work + at.features, moments * joined_);
  Show(tap_, "mfa", work + at.features, moments, joined_);
}

void SpeakerEncoder::Pool(size_t moments, float* work, std::vector<float>* vector) {
  const Places at = PlacesOf(moments);
  pool_.Apply(kernels_, work + at.features, moments, work + at.pool, work + at.statistics);
  Show(tap_, "asp", work + at.statistics, 1, 2 * joined_);
  project_.Apply(kernels_, work + at.statistics, 1, nullptr, work + at.vector);
  vector->resize(project_.outputs());
  kernels_.Download(vector->data(), work + at.vector, vector->size() * sizeof(float));
  kernels_.Wait();
}

}  // namespace parley::model
