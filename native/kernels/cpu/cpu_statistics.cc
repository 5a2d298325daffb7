// Sums over time and nearest rows of the CPU backend: the encoders' operations.
// They run once per voice, and are summed in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::cpu {
namespace {

constexpr size_t kVectors = 64;  // that share a reading of a codebook

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

// The row of the table nearest to v, the first of equals. The distance to all rows is estimated from the
// product r v in f32, as |r|^2 / 2 - r v, and judged in double for the rows alone which by the
// bounds of the estimates may be the nearest.
size_t Nearest(const Matrix& table, const float* norms, const float* products, const float* v, float norm) {
  // Error bound of an estimate per unit of |r|^2 + |v|^2, for sums in 16 lanes and their reduction tree.
  const float unit = static_cast<float>(table.columns / 16 + 8) * 0x1p-23f;
  float most = std::numeric_limits<float>::infinity();  // that the estimate of the nearest can be
  for (size_t r = 0; r < table.rows; r++) {
    most = std::min(most, norms[r] / 2 - products[r] + unit * (norms[r] + norm));
  }
  size_t best = table.rows;
  double least = 0;
  for (size_t r = 0; r < table.rows; r++) {
    if (norms[r] / 2 - products[r] - unit * (norms[r] + norm) > most) continue;  // NaN goes on
    const double distance =
        Distance(static_cast<const float*>(table.values) + r * table.columns, v, table.columns);
    if (best < table.rows && !(distance < least)) continue;
    least = distance;
    best = r;
  }
  return best;
}

}  // namespace

// Row by row, as the signal lies, with a sum for every channel.
void CpuKernels::Statistics(const float* x, const float* weights, size_t rows, size_t channels, size_t stride,
                            float floor, float* mean, float* deviation) {
  Require(rows > 0, "statistics over no time");
  Require(stride >= channels, "the rows of a signal overlap");
  const double even = 1.0 / static_cast<double>(rows);
  std::vector<double> sums(channels), squares(deviation == nullptr ? 0 : channels);
  const auto weight = [&](size_t i) { return weights ? static_cast<double>(weights[i]) : even; };
  for (size_t t = 0; t < rows; t++) {
    for (size_t c = 0, i = t * stride; c < channels; c++, i++) sums[c] += weight(i) * x[i];
  }
  for (size_t c = 0; c < channels; c++) mean[c] = static_cast<float>(sums[c]);
  if (deviation == nullptr) return;
  for (size_t t = 0; t < rows; t++) {
    for (size_t c = 0, i = t * stride; c < channels; c++, i++) {
      const double off = x[i] - sums[c];
      squares[c] += weight(i) * off * off;
    }
  }
  for (size_t c = 0; c < channels; c++) {
    deviation[c] = static_cast<float>(std::sqrt(std::max(squares[c], static_cast<double>(floor))));
  }
}

void CpuKernels::SoftmaxOverTime(float* x, size_t rows, size_t channels, size_t stride) {
  Require(stride >= channels, "the rows of a signal overlap");
  std::vector<double> largest(channels, -std::numeric_limits<double>::infinity()), sums(channels);
  for (size_t t = 0; t < rows; t++) {
    for (size_t c = 0; c < channels; c++) largest[c] = std::max<double>(largest[c], x[t * stride + c]);
  }
  for (size_t t = 0; t < rows; t++) {
    for (size_t c = 0; c < channels; c++) sums[c] += std::exp(x[t * stride + c] - largest[c]);
  }
  Split(rows, 1, rows * channels * 16, [&](size_t first, size_t last) {
    for (size_t t = first; t < last; t++) {
      for (size_t c = 0; c < channels; c++) {
        float& value = x[t * stride + c];
        value = static_cast<float>(std::exp(value - largest[c]) / sums[c]);
      }
    }
  });
}

void CpuKernels::TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) {
  Require(table.format == Format::kF32 && table.rows > 0 && table.rows <= INT32_MAX,
          "a codebook is a table of f32");
  const auto* rows = static_cast<const float*>(table.values);
  const size_t width = table.columns;
  std::vector<float> norms(table.rows), products(std::min(count, kVectors) * table.rows);
  Split(table.rows, 1, table.Bytes() / 32, [&](size_t first, size_t last) {
    for (size_t r = first; r < last; r++) norms[r] = variant_.sum_squares(rows + r * width, 0, width);
  });
  for (size_t done = 0; done < count; done += kVectors) {
    const size_t some = std::min(kVectors, count - done);
    Multiply(table, Rows(x + done * width, some, width), {}, products.data());
    Split(some, 1, some * table.rows, [&](size_t first, size_t last) {
      for (size_t n = first; n < last; n++) {
        float* const v = x + (done + n) * width;
        const size_t best = Nearest(table, norms.data(), products.data() + n * table.rows, v,
                                    variant_.sum_squares(v, 0, width));
        ids[done + n] = static_cast<int32_t>(best);
        for (size_t i = 0; i < width; i++) v[i] -= rows[best * width + i];
      }
    });
  }
}

}  // namespace parley::cpu
