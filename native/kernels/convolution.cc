#include "kernels/convolution.h"

#include <algorithm>
#include <stdexcept>

namespace parley {
namespace {

constexpr size_t kLineFloats = 16;

}  // namespace

std::vector<float> PackConvolution(const float* weights, size_t out, size_t in, size_t taps) {
  std::vector<float> packed(out * in * taps);
  for (size_t o = 0; o < out; o++) {
    for (size_t i = 0; i < in; i++) {
      for (size_t j = 0; j < taps; j++) packed[(o * taps + j) * in + i] = weights[(o * in + i) * taps + j];
    }
  }
  return packed;
}

std::vector<float> PackTransposed(const float* weights, size_t in, size_t out, size_t kernel, size_t stride) {
  if (stride == 0 || kernel == 0 || kernel % stride != 0) {
    throw std::invalid_argument("a transposed convolution's kernel is a multiple of its stride");
  }
  const size_t taps = kernel / stride;
  std::vector<float> packed(in * out * kernel);
  // Some inputs at a time, so that lines are written whole.
  for (size_t first = 0; first < in; first += kLineFloats) {
    const size_t end = std::min(in, first + kLineFloats);
    for (size_t o = 0; o < out; o++) {
      for (size_t k = 0; k < kernel; k++) {
        const size_t row = k % stride * out + o;
        const size_t tap = taps - 1 - k / stride;  // the newest input is the last
        float* const to = packed.data() + (row * taps + tap) * in;
        for (size_t i = first; i < end; i++) to[i] = weights[(i * out + o) * kernel + k];
      }
    }
  }
  return packed;
}

std::vector<float> PackDepthwise(const float* weights, size_t channels, size_t taps) {
  std::vector<float> packed(channels * taps);
  for (size_t c = 0; c < channels; c++) {
    for (size_t j = 0; j < taps; j++) packed[j * channels + c] = weights[c * taps + j];
  }
  return packed;
}

std::vector<float> RepeatBias(const float* bias, size_t out, size_t stride) {
  std::vector<float> repeated;
  repeated.reserve(out * stride);
  for (size_t s = 0; s < stride; s++) repeated.insert(repeated.end(), bias, bias + out);
  return repeated;
}

}  // namespace parley
