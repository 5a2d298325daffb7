#include "model/speech/decoder_block.h"

#include <algorithm>

namespace parley::model {
namespace {

// Of the residual units: the architecture's, no configuration has them.
constexpr size_t kDilations[] = {1, 3, 9};

}  // namespace

DecoderBlock::DecoderBlock(Weights& weights, const NamedTensors& tensors, size_t rate, Format format, TailPlan* plan)
    : rate_(rate),
      snake_(SnakeWeights::Load(weights, tensors.Under("block.0"))),
      expansion_(CausalLayer::LoadTransposed(weights, tensors.Under("block.1.conv"), rate, format, plan)) {
  size_t place = 2;
  for (const size_t dilation : kDilations) {
    const NamedTensors unit = tensors.Under("block", place++);
    units_.push_back({SnakeWeights::Load(weights, unit.Under("act1")),
                      CausalLayer::Load(weights, unit.Under("conv1.conv"), dilation, format, plan),
                      SnakeWeights::Load(weights, unit.Under("act2")),
                      weights.Of(unit["conv2.conv.weight"], format), weights.Floats(unit["conv2.conv.bias"])});
  }
}

size_t DecoderBlock::history() const {
  size_t rows = 0;
  for (const Unit& unit : units_) rows += unit.dilated.History();
  return rows;
}

size_t DecoderBlock::Floats(const CodecPass& pass, size_t before) const {
  size_t most = expansion_.InputFloats(pass, before);
  for (const Unit& unit : units_) most = std::max(most, unit.dilated.InputFloats(pass, before * rate_));
  return most;
}

void DecoderBlock::Expand(Kernels& kernels, CodecPass& pass, size_t before, const float* x, float* y,
                          float* spare) const {
  expansion_.Run(kernels, pass, before, snake_, x, spare, y);
}

void DecoderBlock::AddUnit(Kernels& kernels, CodecPass& pass, const Unit& unit, size_t rate, float* x, float* y,
                           float* spare) const {
  const std::vector<Stretch>& streams = unit.dilated.StreamsOf(pass, rate, spare);
  kernels.AddResidual({{unit.first_snake.a, unit.first_snake.b}, unit.dilated.convolution(), {unit.second_snake.a, unit.second_snake.b},
                       unit.pointwise, unit.pointwise_bias},
                      streams.data(), streams.size(), pass.Rows(rate), y, x);
}

void DecoderBlock::Run(Kernels& kernels, CodecPass& pass, size_t before, float* x, float* y, float* spare) const {
  Expand(kernels, pass, before, x, y, spare);
  for (const Unit& unit : units_) AddUnit(kernels, pass, unit, before * rate_, x, y, spare);
}

}  // namespace parley::model
