// AVX-512 (F, BW, DQ, VL): one register holds the 16 lanes.
//
// Its BF16 products are left aside: they take rounded inputs, where here inputs of such weights stay
// float32 and every variant gives the same bits. VNNI would make one instruction of two for 8-bit weights; a
// product of few vectors waits for memory, not for arithmetic.
#include <immintrin.h>

#include "kernels/cpu/lane_math.h"
#include "kernels/cpu/variant.h"
#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

struct Vec {
  static constexpr size_t kWidth = 16;
  __m512 v;

  static Vec All(float value) { return {_mm512_set1_ps(value)}; }
  static Vec Load(const float* from) { return {_mm512_loadu_ps(from)}; }
  // So many, then zeros; nothing is read after them.
  static Vec LoadFirst(const float* from, size_t count) {
    return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from)};
  }
  static Vec Load(const Bf16* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
  }
  static Vec Load(const F16* from) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  // Converts through f16, which has the same numbers 2^8 times smaller, subnormal ones too.
  static Vec Load(const Fp8* from) {
    const __m256i codes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    const __m256i magnitude = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x7f)), 7);
    const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x80)), 8);
    return {_mm512_mul_ps(_mm512_cvtph_ps(_mm256_or_si256(magnitude, sign)), _mm512_set1_ps(256))};
  }
  void Store(float* to) const { _mm512_storeu_ps(to, v); }
};

inline Vec Fused(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline Vec Added(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Vec Multiplied(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Vec Subtracted(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Vec Divided(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
inline Vec Max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }
inline Vec Min(Vec a, Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
inline Vec Round(Vec a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }

inline Vec PowerOfTwo(Vec n) {
  const __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23))};
}

inline float Total(const Vec* parts) {
  const __m256 low = _mm512_castps512_ps256(parts->v);
  const __m256 high = _mm512_extractf32x8_ps(parts->v, 1);
  const __m256 eight = _mm256_add_ps(low, high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

struct Ints {
  static constexpr size_t kWidth = 32;
  __m512i v;

  static Ints Zero() { return {_mm512_setzero_si512()}; }
  static Ints Load(const int16_t* from) { return {_mm512_loadu_si512(from)}; }
  static Ints Load(const int8_t* from) {
    return {_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  // So many, then zeros; nothing is read after them.
  static Ints LoadFirst(const int8_t* from, size_t count) {
    return {_mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(static_cast<__mmask32>((1u << count) - 1), from))};
  }
};

// Left alone, the compiler pairs much ahead of adding it, or loads what it has, and registers do not last.
inline Ints Held(Ints a) {
  asm("" : "+v"(a.v));
  return a;
}

inline Ints Paired(Ints a, Ints b, Ints sum) {
  return Held({_mm512_add_epi32(sum.v, _mm512_madd_epi16(a.v, b.v))});
}

inline __m256i Halved(Ints a) {
  return _mm256_add_epi32(_mm512_castsi512_si256(a.v), _mm512_extracti64x4_epi64(a.v, 1));
}

inline __m128i Four(Ints a, Ints b, Ints c, Ints d) {
  const __m256i ab = _mm256_hadd_epi32(Halved(a), Halved(b)), cd = _mm256_hadd_epi32(Halved(c), Halved(d));
  const __m256i sums = _mm256_hadd_epi32(ab, cd);
  return _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

// Sums take 8 of the 32 registers (8 rows, one vector) or 16 (4 rows, four vectors); the others hold
// operands.
constexpr size_t kTallRows = 8;
constexpr size_t kWideRows = 4;
constexpr size_t kWideColumns = 4;
constexpr size_t kSums = 24;
// Many vectors: 24 sums (two registers of rows, twelve vectors), the two registers of rows and one input.
constexpr size_t kPanelVectors = 12;
// Integer products: 16 sums of four rows and four vectors, and the operand pairs.
constexpr size_t kIntTallRows = 8;
constexpr size_t kIntWideRows = 4;

}  // namespace
}  // namespace parley::cpu

#include "kernels/cpu/panel_product.h"
#include "kernels/cpu/vector_loops.h"

namespace parley::cpu {

extern const Variant kAvx512;
const Variant kAvx512 = {"avx512",   MultiplyMany, RoundVectors, RoomFor,     Attend,
                         Sum,        SumSquares,   SiluMultiply, SiluInPlace, GeluTanhInPlace,
                         EluInPlace, Snake,        Depthwise};

}  // namespace parley::cpu
