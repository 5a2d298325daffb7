// AVX2 operations on eight floats: loads from every weight format, and an 8 x 8 transpose. For variants with
// AVX2.
#ifndef PARLEY_KERNELS_CPU_EIGHT_LANES_H_
#define PARLEY_KERNELS_CPU_EIGHT_LANES_H_

#include <immintrin.h>

#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

inline __m256 Eight(const float* from) { return _mm256_loadu_ps(from); }
inline __m256 Eight(const Bf16* from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
inline __m256 Eight(const F16* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
// Converts through f16, which has the same numbers 2^8 times smaller, subnormal ones too.
inline __m256 Eight(const Fp8* from) {
  const __m128i codes = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  const __m128i magnitude = _mm_slli_epi16(_mm_and_si128(codes, _mm_set1_epi16(0x7f)), 7);
  const __m128i sign = _mm_slli_epi16(_mm_and_si128(codes, _mm_set1_epi16(0x80)), 8);
  return _mm256_mul_ps(_mm256_cvtph_ps(_mm_or_si128(magnitude, sign)), _mm256_set1_ps(256));
}

// rows[i][j] becomes rows[j][i].
inline __attribute__((always_inline)) void Transpose(__m256* rows) {
  __m256 twos[8], fours[8];
  for (size_t i = 0; i < 8; i += 2) {
    twos[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    twos[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (size_t i = 0; i < 8; i += 4) {
    for (size_t j = 0; j < 2; j++) {
      fours[i + 2 * j] = _mm256_shuffle_ps(twos[i + j], twos[i + j + 2], 0x44);
      fours[i + 2 * j + 1] = _mm256_shuffle_ps(twos[i + j], twos[i + j + 2], 0xee);
    }
  }
  for (size_t i = 0; i < 4; i++) {
    rows[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_EIGHT_LANES_H_
