// Number formats of weights and caches that are shorter than a float, with conversions to and from float.
//
// bf16 is the upper half of a float; f16 is IEEE binary16. Both conversions to 16 bits round to nearest, ties
// to even, and keep infinities and NaN.
//
// fp8 is E4M3: a sign, four bits of exponent (bias 7), three of fraction; up to 448, subnormal below 2^-6,
// down to 2^-9. It has no infinities, and one NaN of either sign. No weight is NaN, so loops over weights may
// read it as 480.
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

struct Fp8 {
  uint8_t bits;
};

constexpr float kLargestFp8 = 448;

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

inline float ToFloat(Fp8 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x80) << 24, magnitude = value.bits & 0x7f;
  if (magnitude == 0x7f) return formats::FromBits(sign | 0x7fc00000);
  if (magnitude >= 8) return formats::FromBits(sign | ((magnitude << 20) + (120u << 23)));
  return formats::FromBits(sign | formats::BitsOf(static_cast<float>(magnitude) * 0.001953125f));  // 2^-9
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

// To the nearest, ties to even; what lies beyond the largest becomes that. Without branches: loops over it
// become wide.
inline Fp8 ToFp8(float value) {
  const uint32_t bits = formats::BitsOf(value), magnitude = bits & 0x7fffffff;
  const uint32_t rounded = ((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - (120u << 3);
  // Below 2^-6 numbers are 2^-9 apart, as floats are from 2^14 on: their last bits are the code.
  const uint32_t small = formats::BitsOf(formats::FromBits(magnitude) + 16384.0f) - 0x46800000;
  const uint32_t any = magnitude < 0x3c800000 ? small : rounded, code = any < 0x7e ? any : 0x7e;
  return {static_cast<uint8_t>((bits >> 24 & 0x80) | (magnitude > 0x7f800000 ? 0x7f : code))};
}

}  // namespace parley

#endif  // PARLEY_KERNELS_NUMBER_FORMATS_H_
