#include "kernels/speech_kernels.h"

#include <algorithm>
#include <stdexcept>

namespace parley {

void SpeechKernels::GatherSum(const Matrix* tables, size_t table_count, const Ids& ids, size_t count,
                              bool add, float* y) {
  for (size_t t = 0; t < table_count; t++)
    Gather(tables[t], {ids.values + t, ids.stride}, count, add || t > 0, y);
}

void SpeechKernels::MultiplyNormed(const Matrix& w, const Norm& norm, float* x, size_t rows, size_t every,
                                   const float* bias, float* y) {
  if (rows == 0) return;
  RmsNorm(x, norm.weight, (rows - 1) * every + 1, w.columns, norm.eps, x);
  Multiply(w, {x, rows, every * w.columns, w.columns, 1, 0}, {bias, nullptr, false}, y);
}

void SpeechKernels::MultiplySnaked(const Matrix& w, float* x, const float* a, const float* b, size_t rows,
                                   const Finish& finish, float* y) {
  Snake(x, a, b, rows, w.columns, x);
  Multiply(w, Rows(x, rows, w.columns), finish, y);
}

void SpeechKernels::ConvolveSpread(const float* x, const float* a, const float* b,
                                   const Convolution& convolution, const Stretch* streams, size_t count,
                                   float* y) {
  Spread(x, a, b, convolution.channels, streams, count);
  ConvolveCausal(convolution, streams, count, y);
}

void SpeechKernels::ConvolveClamped(const float* x, const float* a, const float* b,
                                    const Convolution& convolution, const Stretch* streams, size_t count,
                                    float lowest, float highest, float* y) {
  ConvolveSpread(x, a, b, convolution, streams, count, y);
  size_t positions = 0;
  for (size_t s = 0; s < count; s++) positions += streams[s].count;
  Clamp(y, positions * convolution.weights.rows, lowest, highest);
}

void SpeechKernels::AddResidual(const ResidualUnit& unit, const Stretch* streams, size_t count, size_t rows,
                                float* x, float* y) {
  ConvolveSpread(x, unit.first.a, unit.first.b, unit.dilated, streams, count, y);
  MultiplySnaked(unit.pointwise, y, unit.second.a, unit.second.b, rows, {unit.pointwise_bias, nullptr, true},
                 x);
}

void SpeechKernels::ConvolveSpreadDepthwise(const float* x, const float* weights, const float* bias,
                                            size_t channels, size_t taps, const Stretch* streams,
                                            size_t count, float* y) {
  Spread(x, nullptr, nullptr, channels, streams, count);
  ConvolveDepthwise(weights, bias, channels, taps, streams, count, y);
}

void SpeechKernels::Spread(const float* x, const float* a, const float* b, size_t channels,
                           const Stretch* streams, size_t count) {
  for (size_t s = 0; s < count; s++) {
    const size_t values = streams[s].count * channels;
    if (a == nullptr) Copy(streams[s].x, x, values * sizeof(float));
    else Snake(x, a, b, streams[s].count, channels, streams[s].x);
    x += values;
  }
}

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
