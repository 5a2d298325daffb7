// The hot loops over a vector type: included once by each variant's file, after it
// has defined, without external linkage,
//
//   Vec                      kWidth floats; Load from float, Bf16, F16; LoadFirst; Store; All
//   Fused Added Multiplied Subtracted Divided Max Min Round PowerOfTwo
//   Total(const Vec*)        the tree over the 16 lanes in kParts vectors
//   kTallRows                rows at once against one vector
//   kWideRows, kWideColumns  rows at once against at most that many vectors
//   kSums                    sums that the registers hold beside what is loaded
//
// Nothing of the standard library is called here: the linker could keep a copy
// that was compiled for this processor and give it to others.
#ifndef PARLEY_KERNELS_CPU_VECTOR_LOOPS_H_
#define PARLEY_KERNELS_CPU_VECTOR_LOOPS_H_

#include <immintrin.h>

#include "kernels/cpu/product_loops.h"
#include "kernels/cpu/variant.h"
#include "kernels/number_formats.h"

namespace parley::cpu {

namespace {

// The next four functions round vectors to 16 bits, as variant.h defines it, eight floats at a time (AVX2).

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

namespace {

// scores[j] = e^(scores[j] - largest); their sum in 16 lanes.
float ExpAndSum(float* scores, size_t count, float largest) {
  Vec sums[kParts];
  for (Vec& sum : sums) sum = Vec::All(0);
  const Vec offset = Vec::All(largest);
  size_t j = 0;
  for (; count - j >= kLanes; j += kLanes) {
    for (size_t part = 0; part < kParts; part++) {
      float* at = scores + j + part * Vec::kWidth;
      const Vec weight = Exp(Subtracted(Vec::Load(at), offset));
      weight.Store(at);
      sums[part] = Added(weight, sums[part]);
    }
  }
  if (j < count) {
    Part<float> rest(scores + j, count - j);
    for (size_t i = 0; i < count - j; i++) {
      rest.values[i] = scores[j + i] = Exp(Scalar{scores[j + i] - largest}).value;
    }
    for (size_t part = 0; part < kParts; part++) {
      sums[part] = Added(Vec::Load(rest.values + part * Vec::kWidth), sums[part]);
    }
  }
  return Total(sums);
}

template <class Value>
const Value* Wrapped(const HeadAttention& h, const Value* start, size_t j) {
  return start + (h.first + j) % h.capacity * h.row;
}

template <class Value>
float Scores(const HeadAttention& h) {
  const auto* keys = static_cast<const Value*>(h.keys);
  const Vectors shape = {h.query, 1, h.head_dim, h.head_dim, 1, 0};
  float largest = -__builtin_inff();
  for (size_t j = 0; j < h.count;) {
    float totals[4][1];
    const size_t at = (h.first + j) % h.capacity;
    size_t done = 4;
    if (h.count - j >= 4 && h.capacity - at >= 4) {
      Dots<4, 1, Value>({keys + at * h.row, h.row, h.query, 0, true}, shape, totals);
    } else {
      Dots<1, 1, Value>({keys + at * h.row, 0, h.query, 0, true}, shape, totals);
      done = 1;
    }
    for (size_t i = 0; i < done; i++, j++) {
      h.scores[j] = totals[i][0] * h.scale;
      largest = h.scores[j] > largest ? h.scores[j] : largest;
    }
  }
  return largest;
}

// N vectors of the output from dimension d on.
template <size_t N, class Value>
void Mix(const HeadAttention& h, size_t d, float share) {
  const auto* values = static_cast<const Value*>(h.values);
  Vec sums[N];
  PARLEY_UNROLL for (size_t i = 0; i < N; i++) sums[i] = Vec::All(0);
  size_t at = h.first % h.capacity;
  for (size_t j = 0; j < h.count; j++) {
    const Vec weight = Vec::All(h.scores[j]);
    const Value* value = values + at * h.row + d;
    PARLEY_UNROLL for (size_t i = 0; i < N; i++) sums[i] =
        Fused(weight, Vec::Load(value + i * Vec::kWidth), sums[i]);
    at = at + 1 == h.capacity ? 0 : at + 1;
  }
  PARLEY_UNROLL for (size_t i = 0; i < N; i++) Multiplied(sums[i], Vec::All(share))
      .Store(h.output + d + i * Vec::kWidth);
}

template <class Value>
void MixRest(const HeadAttention& h, size_t d, float share) {
  const auto* values = static_cast<const Value*>(h.values);
  const size_t count = h.head_dim - d;
  Vec sums[kParts];
  for (Vec& sum : sums) sum = Vec::All(0);
  for (size_t j = 0; j < h.count; j++) {
    const Part<Value> value(Wrapped(h, values, j) + d, count);
    for (size_t part = 0; part < kParts; part++) {
      sums[part] = Fused(Vec::All(h.scores[j]), Vec::Load(value.values + part * Vec::kWidth), sums[part]);
    }
  }
  float result[kLanes];
  for (size_t part = 0; part < kParts; part++) {
    Multiplied(sums[part], Vec::All(share)).Store(result + part * Vec::kWidth);
  }
  for (size_t i = 0; i < count; i++) h.output[d + i] = result[i];
}

template <class Value>
void AttendAs(const HeadAttention& h) {
  const float largest = Scores<Value>(h);
  const float share = 1.0f / ExpAndSum(h.scores, h.count, largest);
  size_t d = 0;
  for (; h.head_dim - d >= 8 * Vec::kWidth; d += 8 * Vec::kWidth) Mix<8, Value>(h, d, share);
  for (; h.head_dim - d >= kLanes; d += kLanes) Mix<kParts, Value>(h, d, share);
  if (d < h.head_dim) MixRest<Value>(h, d, share);
}

void Attend(const HeadAttention& head) {
  switch (head.format) {
    case Format::kF32:
      return AttendAs<float>(head);
    case Format::kF16:
      return AttendAs<F16>(head);
    case Format::kBf16:
      return AttendAs<Bf16>(head);
    case Format::kInt8:
    case Format::kFp8:
      return;  // rejected by the caller
  }
}

float Sum(const float* x, size_t count) {
  Vec sums[kParts];
  for (Vec& sum : sums) sum = Vec::All(0);
  size_t i = 0;
  for (; count - i >= kLanes; i += kLanes) {
    for (size_t part = 0; part < kParts; part++)
      sums[part] = Added(Vec::Load(x + i + part * Vec::kWidth), sums[part]);
  }
  const Part<float> rest(x + i, count - i);
  for (size_t part = 0; part < kParts; part++) {
    sums[part] = Added(Vec::Load(rest.values + part * Vec::kWidth), sums[part]);
  }
  return Total(sums);
}

float SumSquares(const float* x, float offset, size_t count) {
  Vec sums[kParts];
  for (Vec& sum : sums) sum = Vec::All(0);
  size_t i = 0;
  for (; count - i >= kLanes; i += kLanes) {
    for (size_t part = 0; part < kParts; part++) {
      const Vec v = Subtracted(Vec::Load(x + i + part * Vec::kWidth), Vec::All(offset));
      sums[part] = Fused(v, v, sums[part]);
    }
  }
  Part<float> rest(x + i, count - i);
  for (size_t n = 0; n < count - i; n++) rest.values[n] -= offset;
  for (size_t part = 0; part < kParts; part++) {
    const Vec v = Vec::Load(rest.values + part * Vec::kWidth);
    sums[part] = Fused(v, v, sums[part]);
  }
  return Total(sums);
}

void SiluMultiply(float* gate, const float* up, size_t count) {
  size_t i = 0;
  for (; count - i >= Vec::kWidth; i += Vec::kWidth) {
    Multiplied(Silu(Vec::Load(gate + i)), Vec::Load(up + i)).Store(gate + i);
  }
  for (; i < count; i++) gate[i] = Silu(Scalar{gate[i]}).value * up[i];
}

template <Vec (*kOfMany)(Vec), Scalar (*kOfOne)(Scalar)>
void ApplyInPlace(float* x, size_t count) {
  size_t i = 0;
  for (; count - i >= Vec::kWidth; i += Vec::kWidth) kOfMany(Vec::Load(x + i)).Store(x + i);
  for (; i < count; i++) x[i] = kOfOne(Scalar{x[i]}).value;
}
constexpr auto SiluInPlace = ApplyInPlace<Silu<Vec>, Silu<Scalar>>;
constexpr auto GeluTanhInPlace = ApplyInPlace<GeluTanh<Vec>, GeluTanh<Scalar>>;
constexpr auto EluInPlace = ApplyInPlace<Elu<Vec>, Elu<Scalar>>;

void Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels, float* y) {
  for (size_t t = 0; t < rows; t++, x += channels, y += channels) {
    size_t c = 0;
    for (; channels - c >= Vec::kWidth; c += Vec::kWidth) {
      const Vec in = Vec::Load(x + c);
      const Vec wave = SineSquared(Multiplied(in, Vec::Load(a + c)));
      Fused(wave, Vec::Load(b + c), in).Store(y + c);
    }
    for (; c < channels; c++) y[c] = __builtin_fmaf(SineSquared(Scalar{x[c] * a[c]}).value, b[c], x[c]);
  }
}

void Depthwise(const float* w, const float* bias, size_t channels, size_t taps, const float* x, size_t count,
               float* y) {
  for (size_t t = 0; t < count; t++) {
    const float* window = x + t * channels;
    size_t c = 0;
    for (; channels - c >= Vec::kWidth; c += Vec::kWidth) {
      Vec sum = bias ? Vec::Load(bias + c) : Vec::All(0);
      for (size_t j = 0; j < taps; j++)
        sum = Fused(Vec::Load(w + j * channels + c), Vec::Load(window + j * channels + c), sum);
      sum.Store(y + t * channels + c);
    }
    for (; c < channels; c++) {
      float sum = bias ? bias[c] : 0;
      for (size_t j = 0; j < taps; j++)
        sum = __builtin_fmaf(w[j * channels + c], window[j * channels + c], sum);
      y[t * channels + c] = sum;
    }
  }
}

}  // namespace

}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_VECTOR_LOOPS_H_
