// Weights to 8 bits: symmetric, one scale per row (output channel).
#ifndef PARLEY_KERNELS_QUANTIZATION_H_
#define PARLEY_KERNELS_QUANTIZATION_H_

#include <cstdint>
#include <vector>

#include "kernels/matrix.h"

namespace parley {

// Owns what `Int8View` shows.
struct QuantizedMatrix {
  std::vector<int8_t> values;  // [rows, columns], -127..127
  std::vector<float> scales;   // [rows]: largest magnitude of the row / 127; 0 for a row of zeros
  size_t rows = 0;
  size_t columns = 0;
};

// Rounds to nearest, ties to even, so that no weight is off by more than half a
// scale (and a rounding). Throws std::invalid_argument when a weight is not
// finite, or when the matrix is already of 8 bits.
QuantizedMatrix Quantize(const Matrix& matrix);

inline Matrix Int8View(const QuantizedMatrix& matrix) {
  return {Format::kInt8, matrix.values.data(), matrix.scales.data(), matrix.rows, matrix.columns};
}

}  // namespace parley

#endif  // PARLEY_KERNELS_QUANTIZATION_H_
