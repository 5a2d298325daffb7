#include "kernels/quantization.h"

#include <cstdint>
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

// The body of a loop that is compiled for more than one processor.
#define PARLEY_BODY inline __attribute__((always_inline))

// Magnitudes, as whole numbers, are in the order of their values, and what is not finite comes after all: a
// loop without branches, which the compiler makes wide, as it does the next.
template <class Value>
PARLEY_BODY float LargestOf(const Value* row, size_t columns) {
  int32_t largest = 0;
  for (size_t k = 0; k < columns; k++) {
    const auto magnitude = static_cast<int32_t>(formats::BitsOf(ToFloat(row[k])) & 0x7fffffff);
    largest = magnitude > largest ? magnitude : largest;
  }
  return formats::FromBits(static_cast<uint32_t>(largest));
}

template <class Value>
PARLEY_BODY void RoundAll(const Value* row, size_t columns, double unit, int8_t* values) {
  for (size_t k = 0; k < columns; k++) {
    const double whole = ToWhole(static_cast<double>(ToFloat(row[k])) / unit);
    const double most = whole > 127 ? 127 : whole, value = most < -127 ? -127 : most;
    values[k] = static_cast<int8_t>(static_cast<int32_t>(value));
  }
}

// fp8: rounds the quotient to nearest, as a float. A float's range exceeds any quotient within one row.
template <class Value>
PARLEY_BODY void RoundAllToFp8(const Value* row, size_t columns, float unit, int8_t* values) {
  for (size_t k = 0; k < columns; k++) values[k] = static_cast<int8_t>(ToFp8(ToFloat(row[k]) / unit).bits);
}

// Returns the scale; it is not finite where a weight is not.
template <Format kTo, class Value>
PARLEY_BODY float RowOf(const Value* row, size_t columns, int8_t* values) {
  const float largest = LargestOf(row, columns),
              scale = largest / (kTo == Format::kFp8 ? kLargestFp8 : 127.0f);
  if (!(largest <= std::numeric_limits<float>::max())) return largest;
  if (kTo == Format::kFp8) {
    RoundAllToFp8(row, columns, scale == 0 ? std::numeric_limits<float>::infinity() : scale, values);
  } else {
    // Double: a scale of subnormal size must not overflow the quotient.
    RoundAll(row, columns, scale == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(scale),
             values);
  }
  return scale;
}

#if defined(__x86_64__)
template <Format kTo, class Value>
__attribute__((target("avx2"))) float WideRow(const Value* row, size_t columns, int8_t* values) {
  return RowOf<kTo>(row, columns, values);
}
bool IsWide() { return __builtin_cpu_supports("avx2"); }
#else
template <Format kTo, class Value>
float WideRow(const Value* row, size_t columns, int8_t* values) {
  return RowOf<kTo>(row, columns, values);
}
bool IsWide() { return false; }
#endif

template <Format kTo, class Value>
QuantizedMatrix QuantizeRows(const Matrix& matrix) {
  QuantizedMatrix result{kTo, std::vector<int8_t>(matrix.rows * matrix.columns),
                         std::vector<float>(matrix.rows), matrix.rows, matrix.columns};
  const auto* values = static_cast<const Value*>(matrix.values);
  const auto of = IsWide() ? WideRow<kTo, Value> : RowOf<kTo, Value>;
  for (size_t r = 0; r < matrix.rows; r++) {
    const size_t start = r * matrix.columns;
    result.scales[r] = of(values + start, matrix.columns, result.values.data() + start);
    if (!(result.scales[r] <= std::numeric_limits<float>::max()))
      throw std::invalid_argument("a weight to quantize is not finite");
  }
  return result;
}

template <class Value>
QuantizedMatrix QuantizeTo(const Matrix& matrix, Format format) {
  if (format == Format::kInt8) return QuantizeRows<Format::kInt8, Value>(matrix);
  if (format == Format::kFp8) return QuantizeRows<Format::kFp8, Value>(matrix);
  throw std::invalid_argument("a matrix is quantized to 8 bits");
}

}  // namespace

QuantizedMatrix Quantize(const Matrix& matrix, Format format) {
  switch (matrix.format) {
    case Format::kF32:
      return QuantizeTo<float>(matrix, format);
    case Format::kF16:
      return QuantizeTo<F16>(matrix, format);
    case Format::kBf16:
      return QuantizeTo<Bf16>(matrix, format);
    case Format::kInt8:
    case Format::kFp8:
      break;
  }
  throw std::invalid_argument("the matrix is quantized already");
}

}  // namespace parley
