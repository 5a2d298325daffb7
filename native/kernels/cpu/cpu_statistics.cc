// Sums over time and nearest rows of the CPU backend: the encoders' operations.
// They run once per voice, so they are summed in double and not made fast, TakeNearest
// excepted.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::cpu {
namespace {

// Squared. Eight sums, because one addition after the other would wait for the processor's adder.
double Distance(const float* a, const float* b, size_t width) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= width; i += 8) {
    for (size_t k = 0; k < 8; k++) {
      const double off = static_cast<double>(a[i + k]) - b[i + k];
      sums[k] += off * off;
    }
  }
  for (; i < width; i++) {
    const double off = static_cast<double>(a[i]) - b[i];
    sums[i % 8] += off * off;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

void CpuKernels::Statistics(const float* x, const float* weights, size_t rows, size_t channels, float floor,
                            float* mean, float* deviation) {
  Require(rows > 0, "statistics over no time");
  const double even = 1.0 / static_cast<double>(rows);
  const auto weight = [&](size_t t, size_t c) { return weights ? static_cast<double>(weights[t * channels + c]) : even; };
  for (size_t c = 0; c < channels; c++) {
    double sum = 0;
    for (size_t t = 0; t < rows; t++) sum += weight(t, c) * x[t * channels + c];
    mean[c] = static_cast<float>(sum);
    if (deviation == nullptr) continue;
    double squares = 0;
    for (size_t t = 0; t < rows; t++) {
      const double off = x[t * channels + c] - sum;
      squares += weight(t, c) * off * off;
    }
    deviation[c] = static_cast<float>(std::sqrt(std::max(squares, static_cast<double>(floor))));
  }
}

void CpuKernels::SoftmaxOverTime(float* x, size_t rows, size_t channels) {
  for (size_t c = 0; c < channels; c++) {
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t t = 0; t < rows; t++) largest = std::max<double>(largest, x[t * channels + c]);
    double sum = 0;
    for (size_t t = 0; t < rows; t++) sum += std::exp(x[t * channels + c] - largest);
    for (size_t t = 0; t < rows; t++) {
      float& value = x[t * channels + c];
      value = static_cast<float>(std::exp(value - largest) / sum);
    }
  }
}

// The distance to all rows is estimated as a product in f32, |r|^2 / 2 - r v, and judged in double
// for the rows alone which by the bounds of the estimates may be the nearest.
void CpuKernels::TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) {
  Require(table.format == Format::kF32 && table.rows > 0 && table.rows <= INT32_MAX, "a codebook is a table of f32");
  const auto* rows = static_cast<const float*>(table.values);
  const size_t width = table.columns;
  // Of a sum of `width` products in 16 lanes and their tree, for each unit of |r|^2 + |v|^2.
  const float unit = static_cast<float>(width / 16 + 8) * 0x1p-23f;
  Split(count, 1, count * table.rows * width / 8, [&](size_t first, size_t last) {
    std::vector<float> norms(table.rows), products(table.rows);
    for (size_t r = 0; r < table.rows; r++) norms[r] = variant_.sum_squares(rows + r * width, 0, width);
    for (size_t n = first; n < last; n++) {
      float* v = x + n * width;
      variant_.multiply({table, Rows(v, 1, width), {}, products.data(), table.rows, 0, table.rows});
      const float norm = variant_.sum_squares(v, 0, width);
      float most = std::numeric_limits<float>::infinity();  // that half the nearest distance can be, less |v|^2 / 2
      for (size_t r = 0; r < table.rows; r++) {
        most = std::min(most, norms[r] / 2 - products[r] + unit * (norms[r] + norm));
      }
      size_t best = table.rows;
      double least = 0;
      for (size_t r = 0; r < table.rows; r++) {
        if (norms[r] / 2 - products[r] - unit * (norms[r] + norm) > most) continue;  // NaN goes on
        const double distance = Distance(rows + r * width, v, width);
        if (best < table.rows && !(distance < least)) continue;
        least = distance;
        best = r;
      }
      ids[n] = static_cast<int32_t>(best);
      for (size_t i = 0; i < width; i++) v[i] -= rows[best * width + i];
    }
  });
}

}  // namespace parley::cpu
