// AVX2 with FMA and F16C: two registers hold the 16 lanes.
#include <immintrin.h>

#include "kernels/cpu/eight_lanes.h"
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
  static Vec Load(const Fp8* from) { return {Eight(from)}; }
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

struct Ints {
  static constexpr size_t kWidth = 16;
  __m256i v;

  static Ints Zero() { return {_mm256_setzero_si256()}; }
  static Ints Load(const int16_t* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
  }
  static Ints Load(const int8_t* from) {
    return {_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
  }
  // So many, then zeros; nothing is read after them.
  static Ints LoadFirst(const int8_t* from, size_t count) {
    alignas(16) int8_t values[kWidth] = {};
    for (size_t i = 0; i < count; i++) values[i] = from[i];
    return Load(values);
  }
};

// Left alone, the compiler pairs much ahead of adding it, or loads what it has, and registers do not last.
inline Ints Held(Ints a) {
  asm("" : "+x"(a.v));
  return a;
}

inline Ints Paired(Ints a, Ints b, Ints sum) {
  return Held({_mm256_add_epi32(sum.v, _mm256_madd_epi16(a.v, b.v))});
}

inline __m128i Four(Ints a, Ints b, Ints c, Ints d) {
  const __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(a.v, b.v), _mm256_hadd_epi32(c.v, d.v));
  return _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

// 12 of the 16 registers hold sums: three rows by two vectors with all lanes, or three rows by four vectors
// with half of the lanes at a time.
constexpr size_t kTallRows = 4;
constexpr size_t kWideRows = 3;
constexpr size_t kWideColumns = 4;
constexpr size_t kSums = 12;
// Many vectors: 12 sums (two registers of rows, six vectors), the two registers of rows and one input.
constexpr size_t kPanelVectors = 6;
// Integer products: 8 sums of two rows and four vectors, because the multiplication of pairs needs a register
// too.
constexpr size_t kIntTallRows = 4;
constexpr size_t kIntWideRows = 2;

}  // namespace
}  // namespace parley::cpu

#include "kernels/cpu/panel_product.h"
#include "kernels/cpu/vector_loops.h"

namespace parley::cpu {

extern const Variant kAvx2;
const Variant kAvx2 = {"avx2",       MultiplyMany, RoundVectors,    RoomFor,    Attend, Sum,      SumSquares,
                       SiluMultiply, SiluInPlace,  GeluTanhInPlace, EluInPlace, Snake,  Depthwise};

}  // namespace parley::cpu
