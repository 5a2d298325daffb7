// Quantises weights to 8 bits, integers or fp8: symmetric, one scale per row (output channel).
#ifndef PARLEY_KERNELS_QUANTIZATION_H_
#define PARLEY_KERNELS_QUANTIZATION_H_

#include <cstdint>
#include <vector>

#include "kernels/matrix.h"

namespace parley {

// Owns what `ViewOf` shows.
struct QuantizedMatrix {
  Format format = Format::kInt8;
  std::vector<int8_t> values;  // [rows, columns]: of kInt8 -127..127; of kFp8 the bits of Fp8
  std::vector<float>
      scales;  // [rows]: largest magnitude of the row / 127, of kFp8 / 448; 0 for a row of zeros
  size_t rows = 0;
  size_t columns = 0;
};

// To kInt8 or kFp8. Rounds to nearest, ties to even: of kInt8 no weight is off by more than half a scale (and
// a rounding), of kFp8 by no more than a sixteenth of itself, or where it is below 2^-6 scales by 2^-10 of
// one. Throws std::invalid_argument when a weight is not finite, or when the matrix is already of 8 bits.
QuantizedMatrix Quantize(const Matrix& matrix, Format format);

inline Matrix ViewOf(const QuantizedMatrix& matrix) {
  return {matrix.format, matrix.values.data(), matrix.scales.data(), matrix.rows, matrix.columns};
}

}  // namespace parley

#endif  // PARLEY_KERNELS_QUANTIZATION_H_
