// SIMD products of an 8-bit matrix and vectors rounded to 16 bits, as variant.h defines them. Pairs of
// products are added as integers, twice as many at a time as floats. Only the sum of a group is converted to
// float.
//
// A tile is some rows and up to four vectors. Rows of a tile lie far apart and are prefetched, as in
// product_loops.h. With many vectors, all tiles of some rows process one group before the next, so that the
// group's part of the vectors stays in the L1 cache. In addition to what vector_loops.h requires, a variant
// defines:
//
//   Ints                        kWidth 16-bit integers; Load from int8 and int16, LoadFirst; Zero
//   Held(a)                     a, in a register
//   Paired(a, b, sum)           32-bit sums, each with two products added
//   Four(a, b, c, d)            the horizontal total of each argument's 32-bit sums
//   kIntTallRows, kIntWideRows  rows at once with one or two vectors, and with more
#ifndef PARLEY_KERNELS_CPU_INTEGER_PRODUCTS_H_
#define PARLEY_KERNELS_CPU_INTEGER_PRODUCTS_H_

#include <immintrin.h>

#include "kernels/cpu/product_loops.h"

namespace parley::cpu {
namespace {

constexpr size_t kTileVectors = 4;
constexpr size_t kBlockVectors = 24;  // 24 kB of a group
constexpr size_t kBlockTiles = kBlockVectors / kTileVectors;
constexpr size_t kBlockTurns = 16;  // lots of rows that pass a group before the next one

// One group of R rows and C vectors.
struct GroupInputs {
  const int8_t* w;
  size_t apart;  // from one row to the next
  const int16_t* x;
  const float* scales;
  size_t columns;
  size_t ahead;  // prefetch distance, in columns
};

template <size_t R, size_t C>
inline __attribute__((always_inline)) void PairColumns(const GroupInputs& in, size_t k, Ints (*sums)[C]) {
  Ints weights[R];
  PARLEY_UNROLL for (size_t r = 0; r < R; r++) weights[r] = Ints::Load(in.w + r * in.apart + k);
  PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
    const Ints input = Held(Ints::Load(in.x + c * kGroupColumns + k));
    PARLEY_UNROLL for (size_t r = 0; r < R; r++) sums[r][c] = Paired(weights[r], input, sums[r][c]);
  }
}

// The last columns, fewer than Ints has.
template <size_t R, size_t C>
void PairRest(const GroupInputs& in, size_t k, Ints (*sums)[C]) {
  PARLEY_UNROLL for (size_t r = 0; r < R; r++) {
    const Ints weights = Ints::LoadFirst(in.w + r * in.apart + k, in.columns - k);
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
      sums[r][c] = Paired(weights, Ints::Load(in.x + c * kGroupColumns + k), sums[r][c]);
    }
  }
}

template <size_t R, size_t C, bool kWhole>
inline __attribute__((always_inline)) void SumGroup(const GroupInputs& in, Ints (*sums)[C]) {
  PARLEY_UNROLL for (size_t r = 0; r < R; r++) {
    PARLEY_UNROLL for (size_t c = 0; c < C; c++) sums[r][c] = Ints::Zero();
  }
  const size_t columns = kWhole ? kGroupColumns : in.columns;
  size_t k = 0;
  for (; columns - k >= kLine; k += kLine) {
    PARLEY_UNROLL for (size_t r = 0; r < R; r++) Prefetch(in.w + r * in.apart, k + in.ahead);
    PARLEY_UNROLL for (size_t i = 0; i < kLine; i += Ints::kWidth) PairColumns<R, C>(in, k + i, sums);
  }
  if constexpr (!kWhole) {
    for (; columns - k >= Ints::kWidth; k += Ints::kWidth) PairColumns<R, C>(in, k, sums);
    if (k < columns) PairRest<R, C>(in, k, sums);
  }
}

// Totals lie by fours: those of four rows, of two rows and two vectors, or of a row and its vectors.
constexpr size_t PlacesOfRow(size_t vectors) { return vectors == 3 ? 4 : vectors; }

template <size_t C>
inline __m128 ScalesOf(const float* scales) {
  if constexpr (C == 1) return _mm_set1_ps(*scales);
  if constexpr (C == 2) return _mm_castpd_ps(_mm_loaddup_pd(reinterpret_cast<const double*>(scales)));
  return _mm_loadu_ps(scales);
}

template <size_t R, size_t C, bool kWhole>
inline __attribute__((always_inline)) void AddGroup(const GroupInputs& in, float* totals) {
  constexpr size_t kPlaces = PlacesOfRow(C);
  Ints sums[R][C];
  SumGroup<R, C, kWhole>(in, sums);
  const __m128 scales = ScalesOf<C>(in.scales);
  PARLEY_UNROLL for (size_t place = 0; place < R * kPlaces; place += 4) {
    Ints four[4];
    PARLEY_UNROLL for (size_t i = 0; i < 4; i++) {
      const size_t r = (place + i) / kPlaces, c = (place + i) % kPlaces;
      four[i] = r < R && c < C ? sums[r < R ? r : 0][c < C ? c : 0] : Ints::Zero();
    }
    const __m128 exact = _mm_cvtepi32_ps(Four(four[0], four[1], four[2], four[3]));
    _mm_storeu_ps(totals + place, _mm_fmadd_ps(exact, scales, _mm_loadu_ps(totals + place)));
  }
}

template <size_t R, size_t C>
void GroupTile(const GroupInputs& in, float* totals) {
  in.columns == kGroupColumns ? AddGroup<R, C, true>(in, totals) : AddGroup<R, C, false>(in, totals);
}

// A group of R rows against all vectors of a block.
template <size_t R>
inline void GroupRows(GroupInputs in, size_t vectors, float (*totals)[kTileVectors * R]) {
  static_assert(kTileVectors == 4, "the rest is 1 to 3");
  for (; vectors >= kTileVectors; vectors -= kTileVectors, totals++) {
    GroupTile<R, kTileVectors>(in, *totals);
    in.x += kTileVectors * kGroupColumns;
    in.scales += kTileVectors;
    in.ahead = 0;
  }
  switch (vectors) {
    case 1:
      return GroupTile<R, 1>(in, *totals);
    case 2:
      return GroupTile<R, 2>(in, *totals);
    case 3:
      return GroupTile<R, 3>(in, *totals);
  }
}

// The vectors [first, last), against R rows `apart` from each other and as many after each as there are
// turns.
struct RowBlock {
  size_t row, apart, turns, first, last;
};

// A row's totals of all tiles, `apart` the places from one tile to the next.
inline void FinishRow(const Product& p, size_t row, const float* totals, size_t apart, size_t first,
                      size_t last) {
  const float scale = p.w.scales[row], bias = p.finish.bias ? p.finish.bias[row] : 0;
  const float gain = p.finish.gain ? p.finish.gain[row] : 0;
  const bool biased = p.finish.bias != nullptr, gained = p.finish.gain != nullptr, add = p.finish.add;
  float* y = p.y + first * p.y_stride + row - p.first;
  for (size_t c = 0; c < last - first; c++, y += p.y_stride) {
    float v = totals[c / kTileVectors * apart + c % kTileVectors] * scale;
    if (biased) v += bias;
    if (gained) v *= gain;
    *y = add ? *y + v : v;
  }
}

template <size_t R>
void FinishBlock(const Product& p, const RowBlock& b, const float (*totals)[kBlockTiles][kTileVectors * R]) {
  const size_t whole = b.first + (b.last - b.first) / kTileVectors * kTileVectors,
               places = PlacesOfRow(b.last - whole);
  for (size_t turn = 0; turn < b.turns; turn++) {
    for (size_t r = 0; r < R; r++) {
      const size_t row = b.row + turn + r * b.apart;
      FinishRow(p, row, totals[turn][0] + r * kTileVectors, kTileVectors * R, b.first, whole);
      const float* const rest = totals[turn][(whole - b.first) / kTileVectors] + r * places;
      if (whole < b.last) FinishRow(p, row, rest, 0, whole, b.last);
    }
  }
}

// A block of one lot of rows reads them sequentially, which gives the best memory bandwidth.
template <size_t R>
void MultiplyBlock(const Product& p, const RowBlock& b) {
  float totals[kBlockTurns][kBlockTiles][kTileVectors * R];
  const size_t tiles = (b.last - b.first + kTileVectors - 1) / kTileVectors;
  for (size_t turn = 0; turn < b.turns; turn++) {
    for (size_t tile = 0; tile < tiles; tile++) {
      for (float& total : totals[turn][tile]) total = 0;
    }
  }
  const auto* w = static_cast<const int8_t*>(p.w.values) + b.row * p.w.columns;
  const int16_t* x = p.rounded.values + b.first * kGroupColumns;
  const float* scales = p.rounded.scales + b.first;
  const size_t ahead =
      b.turns == 1 ? kAhead : 2 * p.w.columns;  // bytes: of the row itself, or the row after the next
  for (size_t s = 0; s < p.x.segments; s++, w += p.x.length) {
    for (size_t k = 0; k < p.x.length; k += kGroupColumns) {
      const size_t columns = p.x.length - k < kGroupColumns ? p.x.length - k : kGroupColumns;
      GroupInputs in = {w + k, b.apart * p.w.columns, x, scales, columns, ahead};
      for (size_t turn = 0; turn < b.turns; turn++, in.w += p.w.columns) {
        GroupRows<R>(in, b.last - b.first, totals[turn]);
      }
      x += p.rounded.count * kGroupColumns;
      scales += p.rounded.count;
    }
  }
  FinishBlock<R>(p, b, totals);
}

// All rows against the vectors [first, last).
template <size_t R>
void IntegerRows(const Product& p, size_t first, size_t last) {
  const size_t apart = (p.last - p.first) / R, most = last - first <= kTileVectors ? 1 : kBlockTurns;
  for (size_t r = 0; r < apart; r += most) {
    MultiplyBlock<R>(p, {p.first + r, apart, apart - r < most ? apart - r : most, first, last});
  }
  for (size_t r = p.first + R * apart; r < p.last; r++) MultiplyBlock<1>(p, {r, 0, 1, first, last});
}

void MultiplyIntegers(const Product& p) {
  if (p.x.count < 3) return IntegerRows<kIntTallRows>(p, 0, p.x.count);
  for (size_t c = 0; c < p.x.count; c += kBlockVectors) {
    IntegerRows<kIntWideRows>(p, c, p.x.count - c < kBlockVectors ? p.x.count : c + kBlockVectors);
  }
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_INTEGER_PRODUCTS_H_
