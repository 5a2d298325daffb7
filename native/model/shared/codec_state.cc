#include "model/shared/codec_state.h"

#include <cmath>
#include <vector>

#include "model/files/file.h"

namespace parley::model {
namespace {

size_t Dimension(const Tensor& tensor, size_t n) { return static_cast<size_t>(tensor.shape[n]); }

}  // namespace

CausalLayer CausalLayer::Load(Weights& weights, const NamedTensors& tensors, size_t dilation, Format format,
                              TailPlan* plan) {
  const Tensor& tensor = tensors["weight"];
  const size_t out = Dimension(tensor, 0), in = Dimension(tensor, 1), taps = Dimension(tensor, 2);
  const std::vector<float> packed = PackConvolution(ToFloats(tensor).data(), out, in, taps);
  Convolution convolution;
  convolution.weights = weights.Packed(packed, out, taps * in, FormatFor(tensor, format));
  convolution.bias = weights.Floats(tensors["bias"]);
  convolution.channels = in;
  convolution.taps = taps;
  convolution.dilation = dilation;
  ForgetPages(tensor.data, tensor.bytes);
  return CausalLayer(convolution, plan);
}

CausalLayer CausalLayer::LoadTransposed(Weights& weights, const NamedTensors& tensors, size_t stride,
                                        Format format, TailPlan* plan) {
  const Tensor& tensor = tensors["weight"];
  const size_t in = Dimension(tensor, 0), out = Dimension(tensor, 1), kernel = Dimension(tensor, 2);
  const size_t taps = kernel / stride;
  const std::vector<float> packed = PackTransposed(ToFloats(tensor).data(), in, out, kernel, stride);
  Convolution convolution;
  convolution.weights = weights.Packed(packed, stride * out, taps * in, FormatFor(tensor, format));
  convolution.bias = weights.Floats(RepeatBias(ToFloats(tensors["bias"]).data(), out, stride));
  convolution.channels = in;
  convolution.taps = taps;
  ForgetPages(tensor.data, tensor.bytes);
  return CausalLayer(convolution, plan);
}

void CausalLayer::Run(SpeechKernels& kernels, CodecPass& pass, size_t rate, const SnakeWeights& snake,
                      const float* x, float* spare, float* y) const {
  if (History() == 0 && snake.a == nullptr) {  // its windows are the rows of x as they lie
    return kernels.Multiply(convolution_.weights, Rows(x, pass.Rows(rate), channels()),
                            {convolution_.bias, nullptr, false}, y);
  }
  const std::vector<Stretch>& input = StreamsOf(pass, rate, spare);
  kernels.ConvolveSpread(x, snake.a, snake.b, convolution_, input.data(), input.size(), y);
}

void CausalLayer::RunClamped(SpeechKernels& kernels, CodecPass& pass, size_t rate, const SnakeWeights& snake,
                             const float* x, float* spare, float* y) const {
  const std::vector<Stretch>& input = StreamsOf(pass, rate, spare);
  kernels.ConvolveClamped(x, snake.a, snake.b, convolution_, input.data(), input.size(), -1.0f, 1.0f, y);
}

namespace {

constexpr double kLeastBeta = 1e-9;  // fixed by the architecture: no configuration has it

}  // namespace

SnakeWeights SnakeWeights::Load(Weights& weights, const NamedTensors& tensors) {
  std::vector<float> a = ToFloats(tensors["alpha"]), b = ToFloats(tensors["beta"]);
  for (float& value : a) value = static_cast<float>(std::exp(static_cast<double>(value)));
  for (float& value : b) value = static_cast<float>(1 / (std::exp(static_cast<double>(value)) + kLeastBeta));
  return {weights.Floats(a), weights.Floats(b)};
}

CodecState::CodecState(SpeechKernels& kernels, size_t tail_floats, const TransformerConfig& config,
                       size_t capacity, Format format)
    : kernels_(kernels), tail_floats_(tail_floats), keys_(kernels, config, format, capacity) {
  tails_ = static_cast<float*>(kernels.Allocate(tail_floats * sizeof(float)));
}

CodecState::~CodecState() { kernels_.Free(tails_); }

void CodecState::CopyFrom(const CodecState& other) {
  keys_.CopyFrom(other.keys_, other.keys_.position());
  kernels_.Copy(tails_, other.tails_, tail_floats_ * sizeof(float));
}

void CodecPass::Clear() {
  streams_.clear();
  frames_ = 0;
}

void CodecPass::Add(CodecState* state, size_t frames) {
  streams_.push_back({state, frames, state->tail(0)});
  frames_ += frames;
}

const std::vector<Stretch>& CodecPass::Stretches(size_t rate, size_t history, size_t channels, size_t tail,
                                                 float* signal) {
  stretches_.clear();
  for (const Stream& stream : streams_) {
    float* const x = signal + history * channels;
    stretches_.push_back({x, stream.frames * rate, stream.tails + tail});
    signal = x + stream.frames * rate * channels;
  }
  return stretches_;
}

}  // namespace parley::model
