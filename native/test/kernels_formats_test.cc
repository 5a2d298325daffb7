// Numbers of 8 bits: every code, and every place where rounding decides.
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/number_formats.h"
#include "test/check.h"

namespace parley::test {
namespace {

constexpr uint8_t kLargest = 0x7e, kNan = 0x7f, kSign = 0x80;

// As the format is defined: (-1)^s 2^(e - 7) (1 + f / 8), of e = 0 2^-6 f / 8.
double Defined(uint8_t code) {
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
    else CHECK_EQ(static_cast<double>(value), Defined(static_cast<uint8_t>(code)));
  }
  CHECK_EQ(ToFloat(Fp8{kLargest}), kLargestFp8);
}

void EveryCodeComesBack() {
  for (int code = 0; code < 256; code++) CHECK_EQ(int{Code(ToFloat(Fp8{static_cast<uint8_t>(code)}))}, code);
}

// Between two neighbours the middle goes to the even one, and what is next to it to the nearer one.
void TheNearestIsTakenAndOfTwoTheEvenOne() {
  for (uint8_t code = 0; code < kLargest; code++) {
    const auto middle = static_cast<float>((Defined(code) + Defined(static_cast<uint8_t>(code + 1))) / 2);
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

TEST_GROUP(kernels_formats) {
  using namespace parley::test;
  return Run({
      {"every code is what the format says", EveryCodeIsWhatTheFormatSays},
      {"every code comes back", EveryCodeComesBack},
      {"the nearest is taken, and of two the even one", TheNearestIsTakenAndOfTwoTheEvenOne},
      {"what is too large or too small stays within the format",
       WhatIsTooLargeOrTooSmallStaysWithinTheFormat},
  });
}
