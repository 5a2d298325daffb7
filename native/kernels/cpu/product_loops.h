// SIMD GEMV: a matrix times a few vectors, bound by memory bandwidth. Part of vector_loops.h.
//
// Three techniques reach the speed of reading memory:
//   - Rows of a tile lie far apart, so that memory serves several pages at a time: 1.5 times the speed of
//     adjacent
// rows.
//   - Software prefetch runs some lines ahead, because the hardware prefetcher stops at the end of a page.
//   - A weight is converted once for up to kWideColumns vectors. If registers cannot hold all sums, half of
//     the 16 lanes pass through a chunk of the row that stays in the cache, then the other half.
// No such choice changes an element's lane or the order of sums.
#ifndef PARLEY_KERNELS_CPU_PRODUCT_LOOPS_H_
#define PARLEY_KERNELS_CPU_PRODUCT_LOOPS_H_

#include "kernels/cpu/variant.h"
#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kParts = kLanes / Vec::kWidth;
constexpr size_t kColumnBlock = 48;  // vectors that stay in the cache while all rows pass them
constexpr size_t kChunk = 512;       // elements of a row and of its vectors: 8 kB of floats
constexpr size_t kLine = 64;         // bytes
constexpr size_t kAhead = 512;       // bytes that weights are asked for before they are used

#define PARLEY_UNROLL _Pragma("GCC unroll 16")

// Fewer than 16 values, the rest zero.
template <class Value>
struct Part {
  alignas(64) Value values[kLanes] = {};
  Part(const Value* from, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = from[i];
  }
};

// Part `part` of the last `count` elements, fewer than 16; zeros after them.
inline Vec LoadRest(const float* from, size_t count, size_t part) {
  const size_t before = part * Vec::kWidth, left = count > before ? count - before : 0;
  return Vec::LoadFirst(from + before, left < Vec::kWidth ? left : Vec::kWidth);
}
template <class Value>
inline Vec LoadRest(const Value* from, size_t count, size_t part) {
  return Vec::Load(Part<Value>(from, count).values + part * Vec::kWidth);
}

// Computes the address as an integer, because it may lie past the end of the matrix.
inline void Prefetch(const void* from, size_t ahead) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(from) + ahead));
}

// R rows and C vectors where they lie.
template <class Value>
struct TileInputs {
  const Value* w;
  size_t apart;  // elements from one row to the next
  const float* x;
  size_t stride;
  bool ahead;  // ask for what comes next; not for rows that have just been read
};

// The P parts from `first` on of the 16 elements at k.
template <size_t R, size_t C, size_t P, class Value>
inline __attribute__((always_inline)) void Step(const TileInputs<Value>& in, size_t k, size_t first,
                                                Vec (*sums)[C][P]) {
  PARLEY_UNROLL for (size_t part = 0; part < P; part++) {
    const size_t at = k + (first + part) * Vec::kWidth;
    Vec weights[R];
    PARLEY_UNROLL for (size_t r = 0; r < R; r++) weights[r] = Vec::Load(in.w + r * in.apart + at);
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
      const Vec input = Vec::Load(in.x + c * in.stride + at);
      PARLEY_UNROLL for (size_t r = 0; r < R; r++) sums[r][c][part] =
          Fused(weights[r], input, sums[r][c][part]);
    }
  }
}

// Adds the elements [from, to), whole lots of 16, to P parts of the sums. When the parts take several turns,
// each turn prefetches its share of the next chunk, so that memory stays busy.
template <size_t R, size_t C, size_t P, class Value>
inline __attribute__((always_inline)) void Accumulate(const TileInputs<Value>& in, size_t from, size_t to,
                                                      size_t first, Vec (*totals)[C][kParts]) {
  constexpr size_t kLineValues = kLine / sizeof(Value), kTurns = kParts / P;
  const size_t ahead = !in.ahead     ? 0
                       : kTurns == 1 ? kAhead / sizeof(Value)
                                     : kChunk + first * kChunk / kParts;
  Vec sums[R][C][P];
  PARLEY_UNROLL for (size_t r = 0; r < R; r++) {
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
      PARLEY_UNROLL for (size_t part = 0; part < P; part++) sums[r][c][part] = totals[r][c][first + part];
    }
  }
  size_t k = from;
  for (; to - k >= kLineValues; k += kLineValues) {
    const size_t next = from + ahead + (k - from) / kTurns;
    PARLEY_UNROLL for (size_t r = 0; r < R; r++) Prefetch(in.w + r * in.apart, next * sizeof(Value));
    PARLEY_UNROLL for (size_t i = 0; i < kLineValues; i += kLanes) Step<R, C, P>(in, k + i, first, sums);
  }
  for (; k < to; k += kLanes) Step<R, C, P>(in, k, first, sums);
  PARLEY_UNROLL for (size_t r = 0; r < R; r++) {
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
      PARLEY_UNROLL for (size_t part = 0; part < P; part++) totals[r][c][first + part] = sums[r][c][part];
    }
  }
}

// The last elements, fewer than 16.
template <size_t R, size_t C, class Value>
void AccumulateRest(const TileInputs<Value>& in, size_t k, size_t count, Vec (*sums)[C][kParts]) {
  for (size_t part = 0; part < kParts; part++) {
    Vec inputs[C];
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) inputs[c] = LoadRest(in.x + c * in.stride + k, count, part);
    PARLEY_UNROLL for (size_t r = 0; r < R; r++) {
      const Vec weights = LoadRest(in.w + r * in.apart + k, count, part);
      PARLEY_UNROLL for (size_t c = 0; c < C; c++) sums[r][c][part] =
          Fused(weights, inputs[c], sums[r][c][part]);
    }
  }
}

// totals[r][c] = row r * vector c, over the segments that `shape` tells of.
template <size_t R, size_t C, class Value>
inline __attribute__((always_inline)) void Dots(TileInputs<Value> in, const Vectors& shape,
                                                float (*totals)[C]) {
  Vec sums[R][C][kParts];
  PARLEY_UNROLL for (size_t r = 0; r < R; r++) {
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
      PARLEY_UNROLL for (size_t part = 0; part < kParts; part++) sums[r][c][part] = Vec::All(0);
    }
  }
  const size_t whole = shape.length / kLanes * kLanes;
  for (size_t s = 0; s < shape.segments; s++) {
    if constexpr (R * C * kParts <= kSums) {
      Accumulate<R, C, kParts>(in, 0, whole, 0, sums);
    } else {
      for (size_t k = 0; k < whole; k += kChunk) {
        const size_t end = whole - k < kChunk ? whole : k + kChunk;
        for (size_t part = 0; part < kParts; part++) Accumulate<R, C, 1>(in, k, end, part, sums);
      }
    }
    if (whole < shape.length) AccumulateRest<R, C>(in, whole, shape.length - whole, sums);
    in.w += shape.length;
    in.x += shape.segment_stride;
  }
  PARLEY_UNROLL for (size_t r = 0; r < R; r++) {
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) totals[r][c] = Total(sums[r][c]);
  }
}

// Applies scale, bias and gain to the sum of a row, and stores or adds it.
inline void Finished(const Product& p, size_t row, float v, float* y) {
  if (p.w.scales) v *= p.w.scales[row];
  if (p.finish.bias) v += p.finish.bias[row];
  if (p.finish.gain) v *= p.finish.gain[row];
  *y = p.finish.add ? *y + v : v;
}

// Rows r0, r0 + apart, ... and C vectors from c0 on.
template <size_t R, size_t C, class Value>
void Tile(const Product& p, size_t r0, size_t apart, size_t c0, bool ahead) {
  float totals[R][C];
  const auto* w = static_cast<const Value*>(p.w.values) + r0 * p.w.columns;
  Dots<R, C, Value>({w, apart * p.w.columns, p.x.values + c0 * p.x.stride, p.x.stride, ahead}, p.x, totals);
  for (size_t r = 0; r < R; r++) {
    const size_t row = r0 + r * apart;
    for (size_t c = 0; c < C; c++)
      Finished(p, row, totals[r][c], p.y + (c0 + c) * p.y_stride + row - p.first);
  }
}

// R rows against the vectors [first, last).
template <size_t R, class Value>
void RowTile(const Product& p, size_t r, size_t first, size_t last, size_t apart = 0) {
  bool ahead = true;
  for (; last - first >= kWideColumns; first += kWideColumns, ahead = false) {
    Tile<R, kWideColumns, Value>(p, r, apart, first, ahead);
  }
  static_assert(kWideColumns == 4, "the rest is 1 to 3");
  switch (last - first) {
    case 1:
      return Tile<R, 1, Value>(p, r, apart, first, ahead);
    case 2:
      return Tile<R, 2, Value>(p, r, apart, first, ahead);
    case 3:
      return Tile<R, 3, Value>(p, r, apart, first, ahead);
  }
}

// All rows against the vectors [first, last).
template <class Value>
void AllRows(const Product& p, size_t first, size_t last) {
  const bool one = last - first == 1;
  const size_t at_once = one ? kTallRows : kWideRows, apart = (p.last - p.first) / at_once;
  for (size_t r = p.first; r < p.first + apart; r++) {
    one ? Tile<kTallRows, 1, Value>(p, r, apart, first, true)
        : RowTile<kWideRows, Value>(p, r, first, last, apart);
  }
  for (size_t r = p.first + at_once * apart; r < p.last; r++) RowTile<1, Value>(p, r, first, last);
}

template <class Value>
void MultiplyAs(const Product& p) {
  for (size_t c = 0; c < p.x.count; c += kColumnBlock) {
    AllRows<Value>(p, c, p.x.count - c < kColumnBlock ? p.x.count : c + kColumnBlock);
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
    case Format::kFp8:
      return MultiplyAs<Fp8>(p);
    case Format::kInt8:
      return;  // has its own loops: integer_products.h
  }
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_PRODUCT_LOOPS_H_
