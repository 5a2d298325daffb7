// AVX2 with FMA and F16C: two registers hold the 16 lanes.
#include <immintrin.h>

#include "kernels/cpu/lane_math.h"
#include "kernels/cpu/variant.h"
#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

struct Vec {
  static constexpr size_t kWidth = 8;
  __m256 v;

  static Vec All(float value) { return {_mm256_set1_ps(value)}; }
  static Vec Load(const float* from) { return {_mm256_loadu_ps(from)}; }
  // So many, then zeros; nothing is read after them.
  static Vec LoadFirst(const float* from, size_t count) {
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return {_mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), places))};
  }
  static Vec Load(const Bf16* from) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16))};
  }
  static Vec Load(const F16* from) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
  }
  static Vec Load(const int8_t* from) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes))};
  }
  void Store(float* to) const { _mm256_storeu_ps(to, v); }
};

inline Vec Fused(Vec a, Vec b, Vec c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
inline Vec Added(Vec a, Vec b) { return {_mm256_add_ps(a.v, b.v)}; }
inline Vec Multiplied(Vec a, Vec b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline Vec Subtracted(Vec a, Vec b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline Vec Divided(Vec a, Vec b) { return {_mm256_div_ps(a.v, b.v)}; }
inline Vec Max(Vec a, Vec b) { return {_mm256_max_ps(a.v, b.v)}; }
inline Vec Min(Vec a, Vec b) { return {_mm256_min_ps(a.v, b.v)}; }
inline Vec Round(Vec a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }

inline Vec PowerOfTwo(Vec n) {
  const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n.v), _mm256_set1_epi32(127));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23))};
}

inline float Total(const Vec* parts) {
  const __m256 eight = _mm256_add_ps(parts[0].v, parts[1].v);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Of 16 registers 12 hold sums: of three rows and two vectors all lanes, of three rows and four vectors
// half of them.
constexpr size_t kTallRows = 4;
constexpr size_t kWideRows = 3;
constexpr size_t kWideColumns = 4;
constexpr size_t kSums = 12;
// Of many vectors: 12 sums of two registers of rows and six vectors, the two registers and an input.
constexpr size_t kPanelVectors = 6;

}  // namespace
}  // namespace parley::cpu

#include "kernels/cpu/panel_product.h"
#include "kernels/cpu/vector_loops.h"

namespace parley::cpu {

extern const Variant kAvx2;
const Variant kAvx2 = {"avx2", MultiplyMany, RoomFor, Attend, Sum, SumSquares, SiluMultiply, Snake, Depthwise};

}  // namespace parley::cpu
