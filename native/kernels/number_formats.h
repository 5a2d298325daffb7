// The 16-bit formats of weights and caches, to and from float.
//
// bf16 is the upper half of a float; f16 is IEEE binary16. Both conversions to
// 16 bits round to nearest, ties to even, and keep infinities and NaN.
#ifndef PARLEY_KERNELS_NUMBER_FORMATS_H_
#define PARLEY_KERNELS_NUMBER_FORMATS_H_

#include <cstdint>
#include <cstring>

namespace parley {

struct Bf16 {
  uint16_t bits;
};

struct F16 {
  uint16_t bits;
};

namespace formats {

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace formats

inline float ToFloat(float value) { return value; }
inline float ToFloat(int8_t value) { return static_cast<float>(value); }
inline float ToFloat(Bf16 value) { return formats::FromBits(static_cast<uint32_t>(value.bits) << 16); }

inline float ToFloat(F16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  const uint32_t exponent = value.bits >> 10 & 31;
  const uint32_t fraction = value.bits & 1023;
  if (exponent == 31) return formats::FromBits(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0) return formats::FromBits(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 5.9604644775390625e-8f;  // 2^-24: a subnormal
  return formats::FromBits(sign | formats::BitsOf(small));
}

inline Bf16 ToBf16(float value) {
  const uint32_t bits = formats::BitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>(bits >> 16 | 64)};  // NaN stays one
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline F16 ToF16(float value) {
  const uint32_t bits = formats::BitsOf(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds beyond 65504
  if (magnitude < 0x38800000) {
    // A subnormal: adding a half puts the bits of its fraction at the end, rounded.
    const float shifted = formats::FromBits(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (formats::BitsOf(shifted) - 0x3f000000))};
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return {static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13)};
}

}  // namespace parley

#endif  // PARLEY_KERNELS_NUMBER_FORMATS_H_
