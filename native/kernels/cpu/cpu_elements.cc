// Elementwise operations, norms and rotary positions of the CPU backend.
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

void ActivateAll(const Variant& variant, Activation activation, float* x, size_t count) {
  switch (activation) {
    case Activation::kSilu:
      return variant.silu(x, count);
    case Activation::kGelu:
      return Each(x, count, Gelu);
    case Activation::kGeluTanh:
      return variant.gelu_tanh(x, count);
    case Activation::kElu:
      return variant.elu(x, count);
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
        [&](size_t first, size_t last) { ActivateAll(variant_, activation, x + first, last - first); });
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

void CpuKernels::Modulate(const float* shift, const float* scale, size_t rows, size_t width, size_t stride,
                          float* x) {
  for (size_t r = 0; r < rows; r++, x += width, shift += stride, scale += stride) {
    for (size_t i = 0; i < width; i++) x[i] = x[i] * (1 + scale[i]) + shift[i];
  }
}

void CpuKernels::AddGated(const float* x, const float* gate, size_t rows, size_t width, size_t stride,
                          float* y) {
  for (size_t r = 0; r < rows; r++, x += width, y += width, gate += stride) {
    for (size_t i = 0; i < width; i++) y[i] += gate[i] * x[i];
  }
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

void CpuKernels::RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) {
  Split(rows, 1, rows * width / 4, [&](size_t first, size_t last) {
    for (size_t r = first; r < last; r++) {
      const float* in = x + r * width;
      const float mean = variant_.sum_squares(in, 0, width) / static_cast<float>(width);
      const float factor = 1.0f / std::sqrt(mean + eps);
      for (size_t i = 0; i < width; i++) y[r * width + i] = in[i] * factor * w[i];
    }
  });
}

void CpuKernels::LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width,
                           float eps, float* y) {
  Split(rows, 1, rows * width / 3, [&](size_t first, size_t last) {
    for (size_t r = first; r < last; r++) {
      const float* in = x + r * width;
      const float mean = variant_.sum(in, width) / static_cast<float>(width);
      const float variance = variant_.sum_squares(in, mean, width) / static_cast<float>(width);
      const float factor = 1.0f / std::sqrt(variance + eps);
      for (size_t i = 0; i < width; i++) y[r * width + i] = (in[i] - mean) * factor * w[i] + b[i];
    }
  });
}

// In double: a float has lost the angle's fraction after some thousand positions.
void CpuKernels::Angles(const uint64_t* positions, size_t count, size_t head_dim, double theta,
                        float* angles) {
  Require(head_dim % 2 == 0, "rotary positions need an even head_dim");
  const size_t half = head_dim / 2;
  for (size_t j = 0; j < half; j++) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(j) / static_cast<double>(head_dim));
    for (size_t i = 0; i < count; i++) {
      const double angle = static_cast<double>(positions[i]) * frequency;
      angles[i * head_dim + j] = static_cast<float>(std::cos(angle));
      angles[i * head_dim + half + j] = static_cast<float>(std::sin(angle));
    }
  }
}

void CpuKernels::Rotate(float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) {
  Require(head_dim % 2 == 0, "rotary positions need an even head_dim");
  const size_t half = head_dim / 2;
  for (size_t r = 0; r < rows; r++) {
    const float* cosines = angles + r * head_dim;
    const float* sines = cosines + half;
    for (size_t h = 0; h < heads; h++) {
      float* low = x + (r * heads + h) * head_dim;
      float* high = low + half;
      for (size_t j = 0; j < half; j++) {
        const float a = low[j], b = high[j];
        low[j] = a * cosines[j] - b * sines[j];
        high[j] = b * cosines[j] + a * sines[j];
      }
    }
  }
}

}  // namespace parley::cpu
