// The results of eight neighbouring rows side by side: the last steps of the tree over their
// lanes, a third of the work of eight single trees, and what becomes of them. For variants with AVX2.
#ifndef PARLEY_KERNELS_CPU_EIGHT_ROWS_H_
#define PARLEY_KERNELS_CPU_EIGHT_ROWS_H_

#include <immintrin.h>

#include "kernels/cpu/variant.h"

namespace parley::cpu {
namespace {

// halves [8][8], aligned to 32 bytes: of each row lanes i and i+8 have been added. Then
// i and i+4, i and i+2, i and i+1.
inline __m256 TotalsOfEight(const float* halves) {
  __m256 four[4], two[2];
  for (size_t i = 0; i < 4; i++) {
    const __m256 a = _mm256_load_ps(halves + 8 * i), b = _mm256_load_ps(halves + 8 * (i + 4));
    four[i] = _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }
  for (size_t i = 0; i < 2; i++) {
    const __m256d a = _mm256_castps_pd(four[2 * i]), b = _mm256_castps_pd(four[2 * i + 1]);
    two[i] = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
  }
  return _mm256_add_ps(_mm256_shuffle_ps(two[0], two[1], 0x88), _mm256_shuffle_ps(two[0], two[1], 0xdd));
}

// Rows r .. r+7 of vector c.
inline void FinishEight(const Product& p, size_t r, size_t c, const float* halves) {
  __m256 v = TotalsOfEight(halves);
  if (p.w.scales) v = _mm256_mul_ps(v, _mm256_loadu_ps(p.w.scales + r));
  if (p.finish.bias) v = _mm256_add_ps(v, _mm256_loadu_ps(p.finish.bias + r));
  if (p.finish.gain) v = _mm256_mul_ps(v, _mm256_loadu_ps(p.finish.gain + r));
  float* y = p.y + c * p.y_stride + r - p.first;
  _mm256_storeu_ps(y, p.finish.add ? _mm256_add_ps(_mm256_loadu_ps(y), v) : v);
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_EIGHT_ROWS_H_
