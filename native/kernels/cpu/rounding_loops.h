// Rounds vectors to 16 bits, as variant.h defines it, eight floats at a time. For variants with AVX2.
#ifndef PARLEY_KERNELS_CPU_ROUNDING_LOOPS_H_
#define PARLEY_KERNELS_CPU_ROUNDING_LOOPS_H_

#include <immintrin.h>

#include "kernels/cpu/variant.h"

namespace parley::cpu {
namespace {

// So many of 16 floats, then zeros; nothing is read after them.
inline __m256 EightOf(const float* from, size_t count, size_t first) {
  const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const int left = static_cast<int>(count) - static_cast<int>(first);
  return _mm256_maskload_ps(from + first, _mm256_cmpgt_epi32(_mm256_set1_epi32(left), places));
}

// The largest magnitude: as whole numbers their bits are in order, and what is not finite comes after all.
inline float LargestOf(const float* x, size_t columns) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i largest = _mm256_setzero_si256();
  for (size_t k = 0; k < columns; k += 8) {
    const __m256 eight = columns - k >= 8 ? _mm256_loadu_ps(x + k) : EightOf(x + k, columns - k, 0);
    largest = _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(eight), magnitude));
  }
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return _mm_cvtss_f32(_mm_castsi128_ps(four));
}

inline __m256i SixteenOf(__m256 low, __m256 high, __m256 inverse) {
  const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(low, inverse));
  const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(high, inverse));
  return _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
}

// Fills the whole group; returns its scale.
inline float RoundGroup(const float* x, size_t columns, int16_t* values) {
  const GroupScale scale = ScaleOf(LargestOf(x, columns));
  const __m256 inverse = _mm256_set1_ps(scale.inverse);
  for (size_t k = 0; k < kGroupColumns; k += 16) {
    __m256i sixteen = _mm256_setzero_si256();
    if (scale.inverse != 0 && k + 16 <= columns) {
      sixteen = SixteenOf(_mm256_loadu_ps(x + k), _mm256_loadu_ps(x + k + 8), inverse);
    } else if (scale.inverse != 0 && k < columns) {
      sixteen = SixteenOf(EightOf(x + k, columns - k, 0), EightOf(x + k, columns - k, 8), inverse);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + k), sixteen);
  }
  return scale.scale;
}

void RoundVectors(const Vectors& x, size_t first, size_t last, const RoundedVectors& to) {
  for (size_t c = first; c < last; c++) {
    size_t place = c;
    for (size_t s = 0; s < x.segments; s++) {
      const float* const from = x.values + c * x.stride + s * x.segment_stride;
      for (size_t k = 0; k < x.length; k += kGroupColumns, place += to.count) {
        const size_t columns = x.length - k < kGroupColumns ? x.length - k : kGroupColumns;
        to.scales[place] = RoundGroup(from + k, columns, to.values + place * kGroupColumns);
      }
    }
  }
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_ROUNDING_LOOPS_H_
