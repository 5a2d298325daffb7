#include "model/speech/seanet_encoder.h"

#include <algorithm>
#include <utility>

namespace parley::model {
namespace {

// The list of layers counts activations too: a stage is a residual unit, an activation and a convolution.
constexpr size_t kLayersOfStage = 3;

NamedTensors Layer(const NamedTensors& tensors, size_t n) { return tensors.Under("layers", n); }

}  // namespace

SeanetEncoder::SeanetEncoder(Kernels& kernels, Weights& weights, const NamedTensors& tensors,
                             const CodecEncoderConfig& config)
    : kernels_(kernels),
      first_(weights, Layer(tensors, 0).Under("conv")),
      last_(weights, Layer(tensors, kLayersOfStage * config.ratios.size() + 2).Under("conv")),
      signal_(kernels),
      copy_(kernels),
      narrow_(kernels) {
  size_t place = 1;
  for (const int64_t ratio : config.ratios) {
    const auto stride = static_cast<size_t>(ratio);
    stages_.push_back({StreamedConvolution(weights, Layer(tensors, place).Under("block.1.conv")),
                       StreamedConvolution(weights, Layer(tensors, place).Under("block.3.conv")),
                       StreamedConvolution(weights, Layer(tensors, place + 2).Under("conv"), stride)});
    place += kLayersOfStage;
    hop_ *= stride;
  }
  before_ = first_.RoomBefore();
  for (const StreamedConvolution* const one : Convolutions()) {
    before_ = std::max(before_, one->RoomBefore());
    after_ = std::max(after_, one->RoomAfter());
  }
}

SeanetEncoder::State::State(const SeanetEncoder& encoder) {
  for (size_t n = 0; n < encoder.Convolutions().size() + 1; n++) tails_.emplace_back(encoder.kernels_);
}

std::vector<const StreamedConvolution*> SeanetEncoder::Convolutions() const {
  std::vector<const StreamedConvolution*> all;
  for (const Stage& stage : stages_) all.insert(all.end(), {&stage.narrow, &stage.widen, &stage.down});
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
  size_t rows = count, place = 0;
  first_.Apply(kernels_, samples, count, other, &*tail++, x);
  Show(tap_, "layers.0", x, rows, first_.outputs());
  for (const Stage& stage : stages_) {
    const size_t channels = stage.down.channels(), inner = stage.narrow.outputs();
    kernels_.Copy(other, x, rows * channels * sizeof(float));
    kernels_.Activate(Activation::kElu, other, rows * channels);
    stage.narrow.Apply(kernels_, other, rows, &*tail++, false, narrow);
    kernels_.Activate(Activation::kElu, narrow, rows * inner);
    stage.widen.Apply(kernels_, narrow, rows, &*tail++, true, x);
    Show(tap_, "layers." + std::to_string(place + 1), x, rows, channels);
    kernels_.Activate(Activation::kElu, x, rows * channels);
    stage.down.Apply(kernels_, x, rows, &*tail++, false, other);
    std::swap(x, other);
    rows = stage.down.OutputRows(rows);
    place += kLayersOfStage;
    Show(tap_, "layers." + std::to_string(place), x, rows, stage.down.outputs());
  }
  kernels_.Activate(Activation::kElu, x, rows * last_.channels());
  last_.Apply(kernels_, x, rows, &*tail, false, other);
  Show(tap_, "layers." + std::to_string(place + 2), other, rows, last_.outputs());
  return other;
}

}  // namespace parley::model
