// Checks the code formats of weights, and products with weights of 8 bits. Their vectors are rounded to 16
// bits as variant.h says, and sums of groups are exact. Neither the variant nor the other rows of a product
// change a result.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/number_formats.h"
#include "test/check.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

constexpr size_t kGroup = 512;
constexpr float kMost = std::numeric_limits<float>::max();

// The definition once more, in integers and double precision.
float Defined(const StoredMatrix& w, size_t row, const Vectors& x, size_t c) {
  const int8_t* weights = w.bytes.values.data() + row * w.matrix.columns;
  float total = 0;
  for (size_t s = 0; s < x.segments; s++, weights += x.length) {
    const float* const from = x.values + c * x.stride + s * x.segment_stride;
    for (size_t k = 0; k < x.length; k += kGroup) {
      const size_t end = std::min(x.length, k + kGroup);
      float largest = 0;
      for (size_t i = k; i < end; i++) largest = std::max(largest, std::fabs(from[i]));
      const float inverse = largest == 0 ? 0 : 32767 / largest;
      int64_t sum = 0;
      for (size_t i = k; i < end; i++)
        sum += weights[i] * static_cast<int64_t>(std::nearbyint(from[i] * inverse));
      total = std::fma(static_cast<float>(sum), largest / 32767, total);
    }
  }
  return total * w.matrix.scales[row];
}

struct Shape {
  size_t rows, length, segments;
};

void CheckDefined(const StoredMatrix& w, const Vectors& x) {
  std::vector<float> wanted;
  for (size_t c = 0; c < x.count; c++) {
    for (size_t r = 0; r < w.matrix.rows; r++) wanted.push_back(Defined(w, r, x, c));
  }
  for (const cpu::Variant* variant : Variants()) {
    for (const unsigned threads : {1, 2, 3}) {
      std::vector<float> y(wanted.size(), NAN);
      MakeKernels(*variant, threads)->Multiply(w.matrix, x, {}, y.data());
      CHECK(SameBits(y, wanted));
    }
  }
}

// Parts of a register, of a line, of a group; tiles of rows and vectors and what is left of them; blocks of
// both.
void AProductIsWhatItsDefinitionSays() {
  const Shape shapes[] = {{1, 1, 1},   {3, 15, 1},  {5, 33, 3},   {9, 64, 2},    {19, 511, 1},
                          {8, 512, 1}, {2, 513, 2}, {70, 600, 1}, {40, 1400, 1}, {67, 96, 7}};
  for (const Shape& s : shapes) {
    const auto w = MakeMatrix(Format::kInt8, s.rows, s.length * s.segments, s.rows);
    for (const size_t count : {1, 2, 3, 4, 5, 7, 26, 49}) {
      // Segments overlap, nothing is aligned, and what lies beside a vector is not read.
      const size_t stride = s.length + 1, apart = s.length / 2 + 1;
      const auto x = RandomFloats((count - 1) * stride + (s.segments - 1) * apart + s.length, count);
      CheckDefined(*w, {x.data(), count, stride, s.length, s.segments, apart});
    }
  }
}

// Weights and values as large as they can be, all of one sign: sums come as near to 2^31 as they ever do.
void TheLargestSumsAreExact() {
  for (const int8_t weight : {int8_t{-128}, int8_t{127}}) {
    for (const float value : {1.0f, -1.0f, kMost, -1e-30f}) {
      const size_t rows = 11, columns = 2 * kGroup + 7;
      auto w = MakeMatrix(Format::kInt8, rows, columns, 1);
      std::fill(w->bytes.values.begin(), w->bytes.values.end(), weight);
      std::fill(w->bytes.scales.begin(), w->bytes.scales.end(), 1e-4f);
      for (const size_t count : {1, 2, 3, 4, 17}) {
        const std::vector<float> x(count * columns, value);
        CheckDefined(*w, Rows(x.data(), count, columns));
      }
      const std::vector<float> x(columns, value);
      std::vector<float> y(rows);
      MakeKernels()->Multiply(w->matrix, Rows(x.data(), 1, columns), {}, y.data());
      const double wanted = 1e-4 * weight * static_cast<double>(columns) * static_cast<double>(value);
      if (std::fabs(value) < kMost) CHECK(std::fabs(y[0] - wanted) <= 1e-6 * std::fabs(wanted));
    }
  }
}

// Half a unit of its group for every value; the rest are roundings of float32.
double Bound(const StoredMatrix& w, size_t row, const float* x) {
  double bound = 0;
  for (size_t k = 0; k < w.matrix.columns; k += kGroup) {
    double largest = 0, weights = 0, magnitude = 0;
    for (size_t i = k; i < std::min(w.matrix.columns, k + kGroup); i++) {
      largest = std::max(largest, static_cast<double>(std::fabs(x[i])));
      weights += std::fabs(w.At(row, i));
      magnitude += std::fabs(w.At(row, i) * x[i]);
    }
    bound += weights * std::max(largest / 32767, 1.18e-38) * 0.5001 + magnitude * 1e-6;
  }
  return bound;
}

// Values of every size, down to those whose group has nothing that is normal.
void TheErrorIsHalfAUnitOfAGroup() {
  const size_t rows = 13, columns = 5 * kGroup;
  const auto w = MakeMatrix(Format::kInt8, rows, columns, 3);
  auto x = RandomFloats(columns, 4);
  for (size_t i = 0; i < kGroup; i++) {
    x[i] *= 1e4f;
    x[kGroup + i] *= 1e-20f;
    x[2 * kGroup + i] *= 1e-38f;
    x[3 * kGroup + i] = 0;
  }
  x[kGroup / 2] = 3e5f;
  for (size_t first = 0; first <= 4; first++) {
    std::vector<float> some(columns, 0.0f);
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(first * kGroup), x.end(),
              some.begin() + static_cast<std::ptrdiff_t>(first * kGroup));
    for (const cpu::Variant* variant : Variants()) {
      std::vector<float> y(rows);
      MakeKernels(*variant)->Multiply(w->matrix, Rows(some.data(), 1, columns), {}, y.data());
      for (size_t r = 0; r < rows; r++) {
        double wanted = 0;
        for (size_t k = 0; k < columns; k++) wanted += w->At(r, k) * some[k];
        CHECK(std::fabs(y[r] - wanted) <= Bound(*w, r, some.data()) + 1e-45);
      }
    }
  }
  const std::vector<float> zeros(columns);
  std::vector<float> y(rows, NAN);
  MakeKernels()->Multiply(w->matrix, Rows(zeros.data(), 1, columns), {}, y.data());
  CHECK(SameBits(y, std::vector<float>(rows)));
}

// Results are NaN or infinite where float32 gave that, and in no other vector.
void WhatIsNotFiniteMakesItsVectorNaN() {
  const size_t rows = 21, columns = 2 * kGroup + 50, count = 6;
  const auto w = MakeMatrix(Format::kInt8, rows, columns, 5);
  const auto good = RandomFloats(columns * count, 6);
  for (const cpu::Variant* variant : Variants()) {
    std::vector<float> wanted(rows * count), y(rows * count);
    const auto kernels = MakeKernels(*variant);
    kernels->Multiply(w->matrix, Rows(good.data(), count, columns), {}, wanted.data());
    for (const float bad : {NAN, -NAN, INFINITY, -INFINITY}) {
      for (const size_t place : {size_t{0}, kGroup, columns - 1}) {
        std::vector<float> x = good;
        x[4 * columns + place] = bad;
        kernels->Multiply(w->matrix, Rows(x.data(), count, columns), {}, y.data());
        for (size_t i = 0; i < y.size(); i++) CHECK(i / rows == 4 ? std::isnan(y[i]) : y[i] == wanted[i]);
        kernels->MultiplyGated(w->matrix, w->matrix, Rows(x.data() + 4 * columns, 1, columns), y.data());
        for (size_t r = 0; r < rows; r++) CHECK(std::isnan(y[r]));
      }
    }
  }
}

void AVectorsResultDoesNotDependOnItsBatch() {
  const size_t rows = 150, columns = 3 * kGroup + 16, most = 131;
  const auto w = MakeMatrix(Format::kInt8, rows, columns, 7),
             up = MakeMatrix(Format::kInt8, rows, columns, 8);
  const auto x = RandomFloats(columns * most, 9);
  for (const cpu::Variant* variant : Variants()) {
    std::vector<float> alone(rows * most), gated(rows * most);
    const auto kernels = MakeKernels(*variant);
    for (size_t c = 0; c < most; c++) {
      const Vectors one = Rows(x.data() + c * columns, 1, columns);
      kernels->Multiply(w->matrix, one, {}, alone.data() + c * rows);
      kernels->MultiplyGated(w->matrix, up->matrix, one, gated.data() + c * rows);
    }
    for (const size_t count : {2, 3, 4, 6, 15, 16, 24, 25, 47, 131}) {
      for (const unsigned threads : {1, 2}) {
        const auto several = MakeKernels(*variant, threads);
        std::vector<float> y(rows * count), g(rows * count);
        several->Multiply(w->matrix, Rows(x.data(), count, columns), {}, y.data());
        several->MultiplyGated(w->matrix, up->matrix, Rows(x.data(), count, columns), g.data());
        CHECK(std::equal(y.begin(), y.end(), alone.begin()));
        CHECK(std::equal(g.begin(), g.end(), gated.begin()));
      }
    }
  }
}

// --- numbers of 8 bits: every code, and every place where rounding decides

constexpr uint8_t kLargest = 0x7e, kNan = 0x7f, kSign = 0x80;

// Value by the definition of the format: (-1)^s 2^(e - 7) (1 + f / 8), of e = 0 2^-6 f / 8.
double ValueOfCode(uint8_t code) {
  const int exponent = code >> 3 & 15, fraction = code & 7;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return code & kSign ? -magnitude : magnitude;
}

float Negated(float value, bool negative) { return negative ? -value : value; }

uint8_t Code(float value) { return ToFp8(value).bits; }

void EveryCodeIsWhatTheFormatSays() {
  for (int code = 0; code < 256; code++) {
    const float value = ToFloat(Fp8{static_cast<uint8_t>(code)});
    CHECK_EQ(std::signbit(value), code >= kSign);
    if ((code & kNan) == kNan) CHECK(std::isnan(value));
    else CHECK_EQ(static_cast<double>(value), ValueOfCode(static_cast<uint8_t>(code)));
  }
  CHECK_EQ(ToFloat(Fp8{kLargest}), kLargestFp8);
}

void EveryCodeComesBack() {
  for (int code = 0; code < 256; code++) CHECK_EQ(int{Code(ToFloat(Fp8{static_cast<uint8_t>(code)}))}, code);
}

// Between two neighbours the middle goes to the even one, and what is next to it to the nearer one.
void TheNearestIsTakenAndOfTwoTheEvenOne() {
  for (uint8_t code = 0; code < kLargest; code++) {
    const auto middle =
        static_cast<float>((ValueOfCode(code) + ValueOfCode(static_cast<uint8_t>(code + 1))) / 2);
    const int even = code % 2 == 0 ? code : code + 1;
    for (const bool negative : {false, true}) {
      const int sign = negative ? kSign : 0;
      CHECK_EQ(int{Code(Negated(middle, negative))}, even | sign);
      CHECK_EQ(int{Code(Negated(std::nextafter(middle, 0.0f), negative))}, code | sign);
      CHECK_EQ(int{Code(Negated(std::nextafter(middle, 1000.0f), negative))}, (code + 1) | sign);
    }
  }
}

void WhatIsTooLargeOrTooSmallStaysWithinTheFormat() {
  const float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  for (const float value : {449.0f, 464.0f, 480.0f, 1e6f, most, INFINITY}) {
    CHECK_EQ(int{Code(value)}, int{kLargest});
    CHECK_EQ(int{Code(-value)}, kLargest | kSign);
  }
  CHECK_EQ(int{Code(least)}, 0);
  CHECK_EQ(int{Code(-least)}, int{kSign});
  CHECK_EQ(int{Code(NAN)} & kNan, int{kNan});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(kernels_rounding) {
  using namespace parley::test;
  return Run({
      {"a product is what its definition says", AProductIsWhatItsDefinitionSays},
      {"the largest sums are exact", TheLargestSumsAreExact},
      {"the error is half a unit of a group", TheErrorIsHalfAUnitOfAGroup},
      {"what is not finite makes its vector NaN", WhatIsNotFiniteMakesItsVectorNaN},
      {"a vector's result does not depend on its batch", AVectorsResultDoesNotDependOnItsBatch},
      {"every code is what the format says", EveryCodeIsWhatTheFormatSays},
      {"every code comes back", EveryCodeComesBack},
      {"the nearest is taken, and of two the even one", TheNearestIsTakenAndOfTwoTheEvenOne},
      {"what is too large or too small stays within the format",
       WhatIsTooLargeOrTooSmallStaysWithinTheFormat},
  });
}
