// Elementwise operations of the CPU backend.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/lane_math.h"

namespace parley::cpu {
namespace {

float Gelu(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678f)); }

float Sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

template <class Function>
void Each(float* x, size_t count, Function function) {
  for (size_t i = 0; i < count; i++) x[i] = function(x[i]);
}

void ActivateAll(Activation activation, float* x, size_t count) {
  switch (activation) {
    case Activation::kSilu:
      return Each(x, count, [](float v) { return Silu(Scalar{v}).value; });
    case Activation::kGelu:
      return Each(x, count, Gelu);
    case Activation::kElu:
      return Each(x, count, [](float v) { return v > 0 ? v : std::expm1(v); });
    case Activation::kRelu:
      return Each(x, count, [](float v) { return v < 0 ? 0 : v; });  // NaN stays
    case Activation::kTanh:
      return Each(x, count, [](float v) { return std::tanh(v); });
    case Activation::kSigmoid:
      return Each(x, count, Sigmoid);
  }
}

}  // namespace

void CpuKernels::Activate(Activation activation, float* x, size_t count) {
  Split(count, 16, count * 16,
        [&](size_t first, size_t last) { ActivateAll(activation, x + first, last - first); });
}

void CpuKernels::Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels,
                       float* y) {
  Split(rows, 1, rows * channels * 2, [&](size_t first, size_t last) {
    variant_.snake(x + first * channels, a, b, last - first, channels, y + first * channels);
  });
}

void CpuKernels::Add(float* y, const float* x, size_t count) {
  Split(count, 16, count / 4, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; i++) y[i] += x[i];
  });
}

// v - v is 0, or NaN where v is infinite.
void CpuKernels::Clamp(float* x, size_t count, float lowest, float highest) {
  Each(x, count, [=](float v) {
    return v < lowest ? lowest + (v - v) : v > highest ? highest + (v - v) : v;
  });
}

void CpuKernels::AddScaled(float* y, const float* x, const float* gain, size_t rows, size_t channels) {
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < channels; c++) y[r * channels + c] += x[r * channels + c] * gain[c];
  }
}

void CpuKernels::CopyColumns(const float* x, size_t from_width, size_t from, float* y, size_t to_width,
                             size_t to, size_t width, size_t rows) {
  Require(from + width <= from_width && to + width <= to_width, "columns outside the signal");
  for (size_t r = 0; r < rows; r++) {
    std::memmove(y + r * to_width + to, x + r * from_width + from, width * sizeof(float));
  }
}

}  // namespace parley::cpu
