#include "model/shared/encoder_convolutions.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace parley::model {
namespace {

// In the format of the file; as the file has it where there is one tap.
Convolution Load(Weights& weights, const NamedTensors& tensors, bool biased) {
  const Tensor& tensor = tensors["weight"];
  const auto out = static_cast<size_t>(tensor.shape[0]), in = static_cast<size_t>(tensor.shape[1]);
  Convolution convolution;
  convolution.channels = in;
  convolution.taps = static_cast<size_t>(tensor.shape[2]);
  if (convolution.taps == 1) {
    convolution.weights = weights.Of(tensor);
  } else {
    const std::vector<float> packed = PackConvolution(ToFloats(tensor).data(), out, in, convolution.taps);
    convolution.weights = weights.Packed(packed, out, in * convolution.taps, FormatOf(tensor));
  }
  if (biased) convolution.bias = weights.Floats(tensors["bias"]);
  return convolution;
}

}  // namespace

SameConvolution::SameConvolution(Weights& weights, const NamedTensors& tensors, size_t dilation)
    : convolution_(Load(weights, tensors, true)) {
  convolution_.dilation = dilation;
}

size_t SameConvolution::PaddedFloats() const {
  return convolution_.History() == 0 ? 0 : (convolution_.History() + Right() + 1) * convolution_.channels;
}

// Returns the start of the inputs for the results [first, last): in x, or in `padded` if reflection is
// needed. The results lie before Left(), or from rows - Right() on, or between.
const float* SameConvolution::Reflected(SpeechKernels& kernels, const float* x, size_t rows, size_t first,
                                        size_t last, float* padded) const {
  const size_t channels = convolution_.channels;
  const size_t before = Left() - std::min(Left(), first), after = Right() - std::min(Right(), rows - last);
  size_t from = first - std::min(Left(), first);
  if (before + after == 0) return x + from * channels;
  const size_t inputs = from, to = std::min(rows, last + Right());
  if (after > 0) from = std::min(from, rows - 1 - after);  // as far back as is reflected
  kernels.Pad(x + from * channels, to - from, channels, before, after, Padding::kReflect, padded);
  return padded + (inputs - from) * channels;
}

void SameConvolution::Apply(SpeechKernels& kernels, const float* x, size_t rows, size_t first, size_t count,
                            float* padded, float* y) const {
  const size_t end = first + count, right = std::max(Left(), rows - std::min(rows, Right()));
  for (size_t last = first; first < end; first = last) {
    last = std::min(end, first < Left() ? Left() : first < right ? right : rows);
    const float* const inputs = Reflected(kernels, x, rows, first, last, padded);
    kernels.Multiply(convolution_.weights, WindowsOf(convolution_, inputs, last - first),
                     {convolution_.bias, nullptr, false}, y + first * outputs());
  }
}

StreamedConvolution::StreamedConvolution(Weights& weights, const NamedTensors& tensors,
                                         const StreamedShape& shape)
    : convolution_(Load(weights, tensors, shape.biased)), padding_(shape.padding) {
  convolution_.stride = shape.stride;
  convolution_.dilation = shape.dilation;
  if (convolution_.History() + 1 < shape.stride)
    throw std::invalid_argument("a strided convolution skips inputs");
}

void StreamedConvolution::Begin(SpeechKernels& kernels, const float* x, ConvolutionTail* tail) const {
  float* const past = tail->floats_.Floats(RoomBefore());  // zeroed
  tail->begun_ = true;
  if (padding_ != Padding::kReplicate) return;
  for (size_t i = 0; i < History(); i++) kernels.Copy(past + i * channels(), x, channels() * sizeof(float));
}

void StreamedConvolution::PadEnd(SpeechKernels& kernels, float* x, size_t rows) const {
  const std::vector<float> zeros(channels());
  for (size_t i = rows; i < OutputRows(rows) * stride(); i++) {
    const size_t bytes = channels() * sizeof(float);
    if (padding_ == Padding::kReplicate) kernels.Copy(x + i * channels(), x + (rows - 1) * channels(), bytes);
    else kernels.Upload(x + i * channels(), zeros.data(), bytes);
  }
  kernels.Wait();  // for `zeros`
}

void StreamedConvolution::Apply(SpeechKernels& kernels, float* x, size_t rows, ConvolutionTail* tail,
                                bool add, float* y) const {
  if (rows == 0) return;
  if (!tail->begun_) Begin(kernels, x, tail);
  if (rows % stride() != 0) PadEnd(kernels, x, rows);
  float* const first = x - RoomBefore();
  if (History() > 0) {
    kernels.Copy(first, tail->floats_.Floats(RoomBefore()), TailBytes());
    kernels.Copy(tail->floats_.Floats(RoomBefore()), first + rows * channels(), TailBytes());
  }
  kernels.Multiply(convolution_.weights, WindowsOf(convolution_, first, OutputRows(rows)),
                   {convolution_.bias, nullptr, add}, y);
}

WaveConvolution::WaveConvolution(Weights& weights, const NamedTensors& tensors)
    : outputs_(static_cast<size_t>(tensors["weight"].shape[0])),
      taps_(static_cast<size_t>(tensors["weight"].shape[2])),
      weights_(weights.Floats(PackDepthwise(ToFloats(tensors["weight"]).data(), outputs_, taps_))),
      bias_(weights.Floats(tensors["bias"])) {}

void WaveConvolution::Apply(SpeechKernels& kernels, const float* samples, size_t count, float* repeated,
                            ConvolutionTail* tail, float* y) const {
  std::vector<float> host;
  host.reserve(count * outputs_);
  for (size_t t = 0; t < count; t++) host.insert(host.end(), outputs_, samples[t]);
  kernels.Upload(repeated, host.data(), host.size() * sizeof(float));
  kernels.Wait();  // for `host`
  const Stretch stretch = {repeated, count, tail->floats_.Floats(RoomBefore())};
  kernels.ConvolveDepthwise(weights_, bias_, outputs_, taps_, &stretch, 1, y);
}

}  // namespace parley::model
