#include "model/speech/speaker_encoder.h"

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

SpeakerEncoder::SpeakerEncoder(Kernels& kernels, Weights& weights, const Checkpoint& checkpoint, size_t piece_cost)
    : kernels_(kernels),
      piece_cost_(piece_cost),
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
  size_t block = mel + first_.PaddedFloats();
  for (const Res2NetBlock& one : blocks_) block = std::max(block, one.WorkFloats(moments));
  Places at;
  at.x = at.features = 0;
  at.block = at.mel = moments * channels_;
  at.padded = at.mel + mel;
  at.joined = at.pool = std::max(at.block + block, wide);
  at.joined_padded = at.joined + std::max(wide, pool_.WorkFloats(moments));
  at.statistics = at.joined_padded + join_.PaddedFloats();
  at.vector = at.statistics + 2 * joined_;
  at.total = at.vector + project_.outputs();
  return at;
}

SpeakerEncoder::Run::Run(SpeakerEncoder& encoder, const std::vector<float>& samples)
    : encoder_(encoder), samples_(samples), moments_(encoder.mel_.FramesOf(samples.size())), work_(encoder.kernels_) {
  encoder.Plan(this);
}

void SpeakerEncoder::Plan(Run* run) {
  const size_t moments = run->moments_;
  const Places at = PlacesOf(moments);
  float* const work = run->work_.Floats(at.total);
  PlanMel(run, work + at.mel);
  PlanTdnn(first_, work + at.mel, work + at.padded, work + at.x, run);
  PlanToShow("blocks.0", work + at.x, moments, channels_, run);
  for (size_t n = 0; n < blocks_.size(); n++) PlanBlock(n, at, work, run);
  PlanTdnn(join_, work + at.joined, work + at.joined_padded, work + at.features, run);
  PlanToShow("mfa", work + at.features, moments, joined_, run);
  pool_.Plan(kernels_, work + at.features, moments, work + at.pool, work + at.statistics, &run->stages_);
  PlanToShow("asp", work + at.statistics, 1, 2 * joined_, run);
  PlanProjection(work + at.statistics, work + at.vector, run);
}

void SpeakerEncoder::PlanMel(Run* run, float* mel) {
  run->stages_.Add(run->moments_, shape_.window * kSpectrumCost, [=](size_t first, size_t count) {
    run->mel_.resize(count * shape_.bands);
    mel_.Of(run->samples_.data(), run->samples_.size(), first, count, run->mel_.data());
    kernels_.Upload(mel + first * shape_.bands, run->mel_.data(), run->mel_.size() * sizeof(float));
    kernels_.Wait();  // for what is on the host
  });
}

void SpeakerEncoder::PlanTdnn(const SameConvolution& tdnn, const float* x, float* padded, float* y, Run* run) {
  const size_t rows = run->moments_, width = tdnn.outputs();
  run->stages_.Add(rows, tdnn.CostOfRow() + width * kValueCost, [=, &tdnn](size_t first, size_t count) {
    tdnn.Apply(kernels_, x, rows, first, count, padded, y);
    kernels_.Activate(Activation::kRelu, y + first * width, count * width);
  });
}

void SpeakerEncoder::PlanBlock(size_t n, const Places& at, float* work, Run* run) {
  float *const x = work + at.x, *const joined = work + at.joined;
  blocks_[n].Plan(kernels_, x, run->moments_, work + at.block, &run->stages_);
  run->stages_.Add(run->moments_, channels_ * kValueCost, [=](size_t first, size_t count) {
    const float* const rows = x + first * channels_;
    kernels_.CopyColumns(rows, channels_, 0, joined + first * joined_, joined_, n * channels_, channels_, count);
  });
  PlanToShow("blocks." + std::to_string(n + 1), x, run->moments_, channels_, run);
}

void SpeakerEncoder::PlanProjection(const float* statistics, float* projected, Run* run) {
  run->stages_.Add(project_.CostOfRow(), [=] {
    project_.Apply(kernels_, statistics, projected);
    run->vector_.resize(project_.outputs());
    kernels_.Download(run->vector_.data(), projected, run->vector_.size() * sizeof(float));
    kernels_.Wait();
  });
}

void SpeakerEncoder::PlanToShow(const std::string& stage, const float* values, size_t rows, size_t channels, Run* run) {
  run->stages_.Add(0, [=] { Show(tap_, stage, values, rows, channels); });
}

}  // namespace parley::model
