#include "model/seanet_encoder.h"

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
  for (const StreamedConvolution* const one : Convolutions()) {
    before_ = std::max(before_, one->RoomBefore());
    after_ = std::max(after_, one->RoomAfter());
  }
}

SeanetEncoder::State::State(const SeanetEncoder& encoder) {
  for (size_t n = 0; n < encoder.Convolutions().size(); n++) tails_.emplace_back(encoder.kernels_);
}

std::vector<const StreamedConvolution*> SeanetEncoder::Convolutions() const {
  std::vector<const StreamedConvolution*> all{&first_};
  for (const Stage& stage : stages_) all.insert(all.end(), {&stage.narrow, &stage.widen, &stage.down});
  all.push_back(&last_);
  return all;
}

size_t SeanetEncoder::BufferFloats(size_t samples) const {
  size_t rows = samples, most = 0;
  for (const StreamedConvolution* const one : Convolutions()) {
    most = std::max(most, rows * one->channels());
    rows = one->OutputRows(rows);
    most = std::max(most, rows * one->outputs());
  }
  return before_ + most + after_;
}

size_t SeanetEncoder::WorkBytes(size_t samples) const {
  size_t bytes = 3 * BufferFloats(samples) * sizeof(float);
  for (const StreamedConvolution* const one : Convolutions()) bytes += one->TailBytes();
  return bytes;
}

const float* SeanetEncoder::Encode(State* state, const float* samples, size_t count) {
  float* x = Buffer(&signal_, count);
  float* other = Buffer(&copy_, count);
  float* const narrow = Buffer(&narrow_, count);
  auto tail = state->tails_.begin();
  const auto apply = [&](const StreamedConvolution& convolution, float* in, size_t rows, bool add, float* out) {
    convolution.Apply(kernels_, in, rows, &*tail++, add, out);
    return convolution.OutputRows(rows);
  };
  kernels_.Upload(other, samples, count * sizeof(float));
  size_t rows = apply(first_, other, count, false, x), place = 0;
  Show(tap_, "layers.0", x, rows, first_.outputs());
  for (const Stage& stage : stages_) {
    const size_t channels = stage.down.channels(), inner = stage.narrow.outputs();
    kernels_.Copy(other, x, rows * channels * sizeof(float));
    kernels_.Activate(Activation::kElu, other, rows * channels);
    apply(stage.narrow, other, rows, false, narrow);
    kernels_.Activate(Activation::kElu, narrow, rows * inner);
    apply(stage.widen, narrow, rows, true, x);
    Show(tap_, "layers." + std::to_string(place + 1), x, rows, channels);
    kernels_.Activate(Activation::kElu, x, rows * channels);
    rows = apply(stage.down, x, rows, false, other);
    std::swap(x, other);
    place += kLayersOfStage;
    Show(tap_, "layers." + std::to_string(place), x, rows, stage.down.outputs());
  }
  kernels_.Activate(Activation::kElu, x, rows * last_.channels());
  rows = apply(last_, x, rows, false, other);
  Show(tap_, "layers." + std::to_string(place + 2), other, rows, last_.outputs());
  kernels_.Wait();  // for `samples`
  return other;
}

}  // namespace parley::model
