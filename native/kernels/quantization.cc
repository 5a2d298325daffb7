#include "kernels/quantization.h"

#include <cmath>
#include <stdexcept>

#include "kernels/number_formats.h"

namespace parley {
namespace {

template <class Value>
void QuantizeRow(const Value* row, size_t columns, int8_t* values, float* scale) {
  float largest = 0;
  for (size_t k = 0; k < columns; k++) {
    const float weight = ToFloat(row[k]);
    if (!std::isfinite(weight)) throw std::invalid_argument("a weight to quantize is not finite");
    largest = std::fmax(largest, std::fabs(weight));
  }
  *scale = largest / 127.0f;
  for (size_t k = 0; k < columns; k++) {
    // Double: a scale of subnormal size must not overflow the quotient.
    const double quotient = *scale == 0 ? 0 : static_cast<double>(ToFloat(row[k])) / *scale;
    values[k] = static_cast<int8_t>(std::fmin(127.0, std::fmax(-127.0, std::nearbyint(quotient))));
  }
}

template <class Value>
QuantizedMatrix QuantizeRows(const Matrix& matrix) {
  QuantizedMatrix result{std::vector<int8_t>(matrix.rows * matrix.columns), std::vector<float>(matrix.rows),
                         matrix.rows, matrix.columns};
  const auto* values = static_cast<const Value*>(matrix.values);
  for (size_t r = 0; r < matrix.rows; r++) {
    const size_t start = r * matrix.columns;
    QuantizeRow(values + start, matrix.columns, result.values.data() + start, &result.scales[r]);
  }
  return result;
}

}  // namespace

QuantizedMatrix Quantize(const Matrix& matrix) {
  switch (matrix.format) {
    case Format::kF32: return QuantizeRows<float>(matrix);
    case Format::kF16: return QuantizeRows<F16>(matrix);
    case Format::kBf16: return QuantizeRows<Bf16>(matrix);
    case Format::kInt8: break;
  }
  throw std::invalid_argument("the matrix is quantized already");
}

}  // namespace parley
