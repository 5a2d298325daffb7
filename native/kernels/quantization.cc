#include "kernels/quantization.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernels/number_formats.h"

namespace parley {
namespace {

// To the nearest whole number, ties to even, for all that is far below 2^51: what lies behind
// the point does not fit beside this summand.
double ToWhole(double value) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  return value + kShift - kShift;
}

template <class Value>
void QuantizeRow(const Value* row, size_t columns, int8_t* values, float* scale) {
  float largest = 0;
  bool finite = true;
  for (size_t k = 0; k < columns; k++) {
    const float magnitude = std::fabs(ToFloat(row[k]));
    finite = finite && magnitude <= std::numeric_limits<float>::max();  // NaN is not
    largest = magnitude > largest ? magnitude : largest;
  }
  if (!finite) throw std::invalid_argument("a weight to quantize is not finite");
  *scale = largest / 127.0f;
  // Double: a scale of subnormal size must not overflow the quotient.
  const double unit = *scale == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(*scale);
  for (size_t k = 0; k < columns; k++) {
    const double whole = ToWhole(static_cast<double>(ToFloat(row[k])) / unit);
    values[k] = static_cast<int8_t>(whole > 127 ? 127 : whole < -127 ? -127 : whole);
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
