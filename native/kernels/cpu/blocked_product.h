// Products with many vectors, as the convolutions of the codec are: the same sums
// as product_loops.h in the same order, cut so that they are fed from the first cache.
//
// Eight rows of weights are unpacked to floats for some hundred columns at a time, and stay in
// the first cache while all vectors pass them. Where the columns are more, the 16 lanes of
// every result wait in memory for the next ones. At the end the lanes of eight rows are added
// side by side. Variants define, beside what vector_loops.h asks for,
//
//   kTileVectors       vectors at once against four rows, one register of lanes each
//   kBlockedVectors    from how many vectors on this is the faster way
//   TotalsOfEight(...) totals of eight times 16 lanes, as Total() gives each
#ifndef PARLEY_KERNELS_CPU_BLOCKED_PRODUCT_H_
#define PARLEY_KERNELS_CPU_BLOCKED_PRODUCT_H_

#include "kernels/cpu/product_loops.h"

namespace parley::cpu {
namespace {

constexpr size_t kBlockRows = 8;
constexpr size_t kTileRows = 4;
constexpr size_t kBlockSteps = 42;     // of 16 columns: 21 kB of floats
constexpr size_t kBlockVectors = 96;   // 48 kB of waiting lanes

// Neighbouring columns: so many steps at this place of a vector.
struct Span {
  size_t offset, steps;
};

// Some columns of a product, and where a vector has them.
struct Depth {
  size_t first, steps;  // in steps of 16
  Span spans[kBlockSteps];
  size_t count = 0;

  Depth(const Vectors& x, size_t first, size_t steps) : first(first), steps(steps) {
    const size_t length = x.length / kLanes;
    for (size_t at = first; at < first + steps;) {
      const size_t within = at % length, left = first + steps - at;
      const size_t taken = length - within < left ? length - within : left;
      spans[count++] = {at / length * x.segment_stride + within * kLanes, taken};
      at += taken;
    }
  }
};

// One register of the lanes of four rows against C vectors.
template <size_t C>
inline __attribute__((always_inline)) void TilePart(const float* w, const float* x, size_t stride, const Depth& depth,
                                                    size_t part, bool begin, float* lanes) {
  Vec sums[kTileRows][C];
  float* const own = lanes + part * Vec::kWidth;
  PARLEY_UNROLL for (size_t r = 0; r < kTileRows; r++) {
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
      sums[r][c] = begin ? Vec::All(0) : Vec::Load(own + (c * kBlockRows + r) * kLanes);
    }
  }
  w += part * Vec::kWidth;
  x += part * Vec::kWidth;
  for (size_t s = 0; s < depth.count; s++) {
    const float* in = x + depth.spans[s].offset;
    for (size_t left = depth.spans[s].steps; left > 0; left--) {
      Vec inputs[C];
      PARLEY_UNROLL for (size_t c = 0; c < C; c++) inputs[c] = Vec::Load(in + c * stride);
      PARLEY_UNROLL for (size_t r = 0; r < kTileRows; r++) {
        const Vec weights = Vec::Load(w + r * kLanes);
        PARLEY_UNROLL for (size_t c = 0; c < C; c++) sums[r][c] = Fused(weights, inputs[c], sums[r][c]);
      }
      w += kTileRows * kLanes;
      in += kLanes;
    }
  }
  PARLEY_UNROLL for (size_t r = 0; r < kTileRows; r++) {
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) sums[r][c].Store(own + (c * kBlockRows + r) * kLanes);
  }
}

// Eight rows of a matrix as floats: [two tiles][step][four rows][16].
template <class Value>
void Unpack(const Value* w, size_t columns, size_t steps, float* to) {
  for (size_t r = 0; r < kBlockRows; r++) {
    const Value* row = w + r * columns;
    float* out = to + (r / kTileRows * steps * kTileRows + r % kTileRows) * kLanes;
    for (size_t k = 0; k < steps; k++) {
      PARLEY_UNROLL for (size_t part = 0; part < kParts; part++) {
        Vec::Load(row + k * kLanes + part * Vec::kWidth).Store(out + k * kTileRows * kLanes + part * Vec::kWidth);
      }
    }
  }
}

// Weights that are wanted soon are asked for while others are in use.
template <class Value>
class Ahead {
 public:
  Ahead(const Value* w, size_t columns, size_t steps, size_t turns)
      : w_(w), columns_(columns), lines_(steps * kLanes * sizeof(Value) / kLine), turns_(turns) {}

  void Turn() {
    const size_t end = kBlockRows * lines_ * ++turn_ / turns_;
    for (; done_ < end; done_++) {
      __builtin_prefetch(reinterpret_cast<const char*>(w_ + done_ / lines_ * columns_) + done_ % lines_ * kLine, 0, 2);
    }
  }

 private:
  const Value* w_;
  size_t columns_, lines_, turns_;
  size_t turn_ = 0, done_ = 0;
};

void FinishRows(const Product& p, size_t r, size_t c, const float* lanes) {
  alignas(64) float v[kBlockRows];
  TotalsOfEight(lanes, v);
  for (size_t i = 0; i < kBlockRows; i++) {
    if (p.w.scales) v[i] *= p.w.scales[r + i];
    if (p.finish.bias) v[i] += p.finish.bias[r + i];
    if (p.finish.gain) v[i] *= p.finish.gain[r + i];
  }
  float* y = p.y + c * p.y_stride + r - p.first;
  for (size_t i = 0; i < kBlockRows; i++) y[i] = p.finish.add ? y[i] + v[i] : v[i];
}

template <size_t C>
void TileOf(const float* w, const float* x, size_t stride, const Depth& depth, bool begin, float* lanes) {
  for (size_t tile = 0; tile < kBlockRows / kTileRows; tile++) {
    const float* weights = w + tile * depth.steps * kTileRows * kLanes;
    PARLEY_UNROLL for (size_t part = 0; part < kParts; part++) {
      TilePart<C>(weights, x, stride, depth, part, begin, lanes + tile * kTileRows * kLanes);
    }
  }
}

template <size_t C>
void AnyTileOf(size_t count, const float* w, const float* x, size_t stride, const Depth& depth, bool begin,
               float* lanes) {
  if constexpr (C > 1) {
    if (count < C) return AnyTileOf<C - 1>(count, w, x, stride, depth, begin, lanes);
  }
  TileOf<C>(w, x, stride, depth, begin, lanes);
}

// Eight rows from r on against the vectors [c, end).
template <class Value>
void RowBlock(const Product& p, size_t r, size_t c, size_t end) {
  alignas(64) float weights[kBlockRows * kBlockSteps * kLanes];
  alignas(64) float lanes[kBlockVectors * kBlockRows * kLanes];
  const size_t steps = p.w.columns / kLanes;
  const size_t blocks = (steps + kBlockSteps - 1) / kBlockSteps;
  const size_t turns = (end - c + kTileVectors - 1) / kTileVectors;
  const auto* w = static_cast<const Value*>(p.w.values) + r * p.w.columns;
  for (size_t b = 0; b < blocks; b++) {
    const size_t first = steps * b / blocks;
    const Depth depth(p.x, first, steps * (b + 1) / blocks - first);
    Unpack(w + first * kLanes, p.w.columns, depth.steps, weights);
    const Value* next = b + 1 < blocks ? w + (first + depth.steps) * kLanes : w + kBlockRows * p.w.columns;
    const bool more = b + 1 < blocks || p.last - r >= 2 * kBlockRows;
    Ahead<Value> ahead(next, p.w.columns, more ? depth.steps : 0, turns);
    for (size_t at = c; at < end; at += kTileVectors) {
      const size_t count = end - at < kTileVectors ? end - at : kTileVectors;
      float* own = lanes + (blocks == 1 ? 0 : at - c) * kBlockRows * kLanes;
      ahead.Turn();
      AnyTileOf<kTileVectors>(count, weights, p.x.values + at * p.x.stride, p.x.stride, depth, b == 0, own);
      if (b + 1 < blocks) continue;
      for (size_t i = 0; i < count; i++) FinishRows(p, r, at + i, own + i * kBlockRows * kLanes);
    }
  }
}

template <class Value>
void MultiplyBlocked(const Product& p) {
  const size_t whole = p.first + (p.last - p.first) / kBlockRows * kBlockRows;
  for (size_t c = 0; c < p.x.count; c += kBlockVectors) {
    const size_t end = p.x.count - c < kBlockVectors ? p.x.count : c + kBlockVectors;
    for (size_t r = p.first; r < whole; r += kBlockRows) RowBlock<Value>(p, r, c, end);
    for (size_t r = whole; r < p.last; r++) RowTile<1, Value>(p, r, c, end);
  }
}

void MultiplyMany(const Product& p) {
  if (p.x.count < kBlockedVectors || p.x.length % kLanes != 0 || p.last - p.first < kBlockRows) return Multiply(p);
  switch (p.w.format) {
    case Format::kF32: return MultiplyBlocked<float>(p);
    case Format::kF16: return MultiplyBlocked<F16>(p);
    case Format::kBf16: return MultiplyBlocked<Bf16>(p);
    case Format::kInt8: return MultiplyBlocked<int8_t>(p);
  }
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_BLOCKED_PRODUCT_H_
