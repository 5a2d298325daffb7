// The reference: what every other variant must give, to the bit. Plain loops, in
// the order that variant.h states.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cpu/lane_math.h"
#include "kernels/cpu/variant.h"
#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

constexpr size_t kLanes = 16;

struct Sums {
  std::array<float, kLanes> lanes{};

  void Add(size_t k, float a, float b) { lanes[k % kLanes] = std::fma(a, b, lanes[k % kLanes]); }

  float Total() const {
    std::array<float, kLanes> tree = lanes;
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; i++) tree[i] += tree[i + half];
    }
    return tree[0];
  }
};

template <class Value>
float Dot(const Value* w, const float* x, const Vectors& shape) {
  Sums sums;
  for (size_t s = 0; s < shape.segments; s++) {
    for (size_t k = 0; k < shape.length; k++) {
      sums.Add(k, ToFloat(w[s * shape.length + k]), x[s * shape.segment_stride + k]);
    }
  }
  return sums.Total();
}

void Finished(const Product& p, size_t r, float v, float* y) {
  if (p.w.scales) v *= p.w.scales[r];
  if (p.finish.bias) v += p.finish.bias[r];
  if (p.finish.gain) v *= p.finish.gain[r];
  *y = p.finish.add ? *y + v : v;
}

template <class Value>
void MultiplyAs(const Product& p) {
  const auto* w = static_cast<const Value*>(p.w.values);
  for (size_t r = p.first; r < p.last; r++) {
    for (size_t c = 0; c < p.x.count; c++) {
      const float v = Dot(w + r * p.w.columns, p.x.values + c * p.x.stride, p.x);
      Finished(p, r, v, p.y + c * p.y_stride + r - p.first);
    }
  }
}

// The bits of a magnitude, as whole numbers, are in its order, and those of what is not finite come after
// all.
float LargestOf(const float* x, size_t columns) {
  uint32_t largest = 0;
  for (size_t k = 0; k < columns; k++) largest = std::max(largest, formats::BitsOf(x[k]) & 0x7fffffff);
  return formats::FromBits(largest);
}

float RoundGroup(const float* x, size_t columns, int16_t* values) {
  const GroupScale scale = ScaleOf(LargestOf(x, columns));
  std::fill(values, values + kGroupColumns, int16_t{0});
  if (scale.inverse == 0) return scale.scale;
  for (size_t k = 0; k < columns; k++) values[k] = static_cast<int16_t>(std::nearbyint(x[k] * scale.inverse));
  return scale.scale;
}

void RoundVectors(const Vectors& x, size_t first, size_t last, const RoundedVectors& to) {
  for (size_t c = first; c < last; c++) {
    size_t place = c;
    for (size_t s = 0; s < x.segments; s++) {
      const float* from = x.values + c * x.stride + s * x.segment_stride;
      for (size_t k = 0; k < x.length; k += kGroupColumns, place += to.count) {
        const size_t columns = std::min(x.length - k, kGroupColumns);
        to.scales[place] = RoundGroup(from + k, columns, to.values + place * kGroupColumns);
      }
    }
  }
}

// Vector c with a row of 8 bits.
float RoundedDot(const int8_t* w, const RoundedVectors& rounded, size_t c, const Vectors& shape) {
  float total = 0;
  size_t place = c;
  for (size_t s = 0; s < shape.segments; s++) {
    for (size_t k = 0; k < shape.length; k += kGroupColumns, place += rounded.count) {
      const int16_t* x = rounded.values + place * kGroupColumns;
      int32_t sum = 0;
      for (size_t i = 0; i < std::min(shape.length - k, kGroupColumns); i++) sum += *w++ * x[i];
      total = std::fma(static_cast<float>(sum), rounded.scales[place], total);
    }
  }
  return total;
}

void MultiplyRounded(const Product& p) {
  const auto* w = static_cast<const int8_t*>(p.w.values);
  for (size_t r = p.first; r < p.last; r++) {
    for (size_t c = 0; c < p.x.count; c++) {
      const float v = RoundedDot(w + r * p.w.columns, p.rounded, c, p.x);
      Finished(p, r, v, p.y + c * p.y_stride + r - p.first);
    }
  }
}

void Multiply(const Product& p) {
  switch (p.w.format) {
    case Format::kF32:
      return MultiplyAs<float>(p);
    case Format::kF16:
      return MultiplyAs<F16>(p);
    case Format::kBf16:
      return MultiplyAs<Bf16>(p);
    case Format::kInt8:
      return MultiplyRounded(p);
    case Format::kFp8:
      return MultiplyAs<Fp8>(p);
  }
}

size_t NoRoom(const Product&) { return 0; }

template <class Value>
void AttendAs(const HeadAttention& h) {
  const auto* keys = static_cast<const Value*>(h.keys);
  const auto* values = static_cast<const Value*>(h.values);
  const Vectors shape = Rows(h.query, 1, h.head_dim);
  float largest = -INFINITY;
  for (size_t j = 0; j < h.count; j++) {
    const Value* key = keys + (h.first + j) % h.capacity * h.row;
    h.scores[j] = Dot(key, h.query, shape) * h.scale;
    largest = h.scores[j] > largest ? h.scores[j] : largest;
  }
  Sums sums;
  for (size_t j = 0; j < h.count; j++) {
    h.scores[j] = Exp(Scalar{h.scores[j] - largest}).value;
    sums.Add(j, h.scores[j], 1.0f);
  }
  const float share = 1.0f / sums.Total();
  for (size_t d = 0; d < h.head_dim; d++) {
    float sum = 0;
    for (size_t j = 0; j < h.count; j++) {
      sum = std::fma(h.scores[j], ToFloat(values[(h.first + j) % h.capacity * h.row + d]), sum);
    }
    h.output[d] = sum * share;
  }
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
  Sums sums;
  for (size_t i = 0; i < count; i++) sums.Add(i, x[i], 1.0f);
  return sums.Total();
}

float SumSquares(const float* x, float offset, size_t count) {
  Sums sums;
  for (size_t i = 0; i < count; i++) sums.Add(i, x[i] - offset, x[i] - offset);
  return sums.Total();
}

void SiluMultiply(float* gate, const float* up, size_t count) {
  for (size_t i = 0; i < count; i++) gate[i] = Silu(Scalar{gate[i]}).value * up[i];
}

template <Scalar (*kOfOne)(Scalar)>
void ApplyInPlace(float* x, size_t count) {
  for (size_t i = 0; i < count; i++) x[i] = kOfOne(Scalar{x[i]}).value;
}

void Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels, float* y) {
  for (size_t t = 0; t < rows; t++) {
    for (size_t c = 0; c < channels; c++) {
      const float in = x[t * channels + c];
      y[t * channels + c] = std::fma(SineSquared(Scalar{in * a[c]}).value, b[c], in);
    }
  }
}

void Depthwise(const float* w, const float* bias, size_t channels, size_t taps, const float* x, size_t count,
               float* y) {
  for (size_t t = 0; t < count; t++) {
    for (size_t c = 0; c < channels; c++) {
      float sum = bias ? bias[c] : 0;
      for (size_t j = 0; j < taps; j++) sum = std::fma(w[j * channels + c], x[(t + j) * channels + c], sum);
      y[t * channels + c] = sum;
    }
  }
}

}  // namespace

const Variant kPortable = {"portable",
                           Multiply,
                           RoundVectors,
                           NoRoom,
                           Attend,
                           Sum,
                           SumSquares,
                           SiluMultiply,
                           ApplyInPlace<Silu<Scalar>>,
                           ApplyInPlace<GeluTanh<Scalar>>,
                           ApplyInPlace<Elu<Scalar>>,
                           Snake,
                           Depthwise};

}  // namespace parley::cpu
