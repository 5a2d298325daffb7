#include "model/shared/seanet_encoder.h"

#include <algorithm>
#include <utility>

namespace parley::model {

// The list counts activations too: a stage is its residual units, an activation and a convolution.
size_t SeanetEncoder::LastPlace() const {
  return config_.ratios.size() * (static_cast<size_t>(config_.residual_layers) + 2) + 2;
}

SeanetEncoder::SeanetEncoder(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors,
                             const SeanetEncoderConfig& config)
    : kernels_(kernels),
      config_(config),
      first_(weights, tensors.Under(config_.list, 0).Under("conv")),
      last_(weights, tensors.Under(config_.list, LastPlace()).Under("conv")),
      signal_(kernels),
      copy_(kernels),
      narrow_(kernels) {
  size_t place = 1;
  for (const int64_t ratio : config_.ratios) {
    const auto stride = static_cast<size_t>(ratio);
    stages_.push_back(LoadStage(weights, tensors, place, stride));
    place = stages_.back().place + 1;
    hop_ *= stride;
  }
  before_ = first_.RoomBefore();
  for (const StreamedConvolution* const one : Convolutions()) {
    before_ = std::max(before_, one->RoomBefore());
    after_ = std::max(after_, one->RoomAfter());
  }
}

// The stage whose first unit is at `place`.
SeanetEncoder::Stage SeanetEncoder::LoadStage(Weights& weights, const NamedTensors& tensors, size_t place,
                                              size_t stride) const {
  std::vector<Unit> units;
  size_t dilation = 1;
  for (int64_t n = 0; n < config_.residual_layers; n++) {
    const NamedTensors block = tensors.Under(config_.list, place++).Under("block");
    units.push_back({StreamedConvolution(weights, block.Under("1.conv"), StreamedShape{1, dilation}),
                     StreamedConvolution(weights, block.Under("3.conv"))});
    dilation *= static_cast<size_t>(config_.dilation_base);
  }
  place++;
  const NamedTensors down = tensors.Under(config_.list, place).Under("conv");
  return {std::move(units), StreamedConvolution(weights, down, StreamedShape{stride}), place};
}

SeanetEncoder::State::State(const SeanetEncoder& encoder) {
  for (size_t n = 0; n < encoder.Convolutions().size() + 1; n++) tails_.emplace_back(encoder.kernels_);
}

std::vector<const StreamedConvolution*> SeanetEncoder::Convolutions() const {
  std::vector<const StreamedConvolution*> all;
  for (const Stage& stage : stages_) {
    for (const Unit& unit : stage.units) all.insert(all.end(), {&unit.narrow, &unit.widen});
    all.push_back(&stage.down);
  }
  all.push_back(&last_);
  return all;
}

size_t SeanetEncoder::BufferFloats(size_t samples) const {
  size_t rows = samples, most = samples * first_.outputs();
  for (const StreamedConvolution* const one : Convolutions()) {
    rows = one->OutputRows(rows);
    most = std::max(most, rows * one->outputs());
  }
  return before_ + most + after_;
}

size_t SeanetEncoder::WorkBytes(size_t samples) const {
  size_t bytes = 3 * BufferFloats(samples) * sizeof(float) + first_.TailBytes();
  for (const StreamedConvolution* const one : Convolutions()) bytes += one->TailBytes();
  return bytes;
}

const float* SeanetEncoder::Encode(State* state, const float* samples, size_t count) {
  float* x = Buffer(&signal_, count);
  float* other = Buffer(&copy_, count);
  float* const narrow = Buffer(&narrow_, count);
  auto tail = state->tails_.begin();
  size_t rows = count;
  first_.Apply(kernels_, samples, count, other, &*tail++, x);
  ShowPlace(0, x, rows, first_.outputs());
  for (const Stage& stage : stages_) {
    const size_t channels = stage.down.channels();
    for (size_t n = 0; n < stage.units.size(); n++) {
      const Unit& unit = stage.units[n];
      kernels_.Copy(other, x, rows * channels * sizeof(float));
      kernels_.Activate(Activation::kElu, other, rows * channels);
      unit.narrow.Apply(kernels_, other, rows, &*tail++, false, narrow);
      kernels_.Activate(Activation::kElu, narrow, rows * unit.narrow.outputs());
      unit.widen.Apply(kernels_, narrow, rows, &*tail++, true, x);
      ShowPlace(stage.place - 1 - stage.units.size() + n, x, rows, channels);
    }
    kernels_.Activate(Activation::kElu, x, rows * channels);
    stage.down.Apply(kernels_, x, rows, &*tail++, false, other);
    std::swap(x, other);
    rows = stage.down.OutputRows(rows);
    ShowPlace(stage.place, x, rows, stage.down.outputs());
  }
  kernels_.Activate(Activation::kElu, x, rows * last_.channels());
  last_.Apply(kernels_, x, rows, &*tail, false, other);
  ShowPlace(LastPlace(), other, rows, last_.outputs());
  return other;
}

}  // namespace parley::model
