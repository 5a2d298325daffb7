// Norms and rotary positions of the CPU backend.
#include <cmath>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::cpu {

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
