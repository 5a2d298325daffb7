// Products with many vectors, as the convolutions of the codec are: the same sums
// as product_loops.h in the same order, cut so that they are fed from the first cache.
//
// Some hundred columns of eight rows stay in the first cache while all vectors pass them. Where the
// columns are more, the 16 lanes of every result wait in memory for the next ones. At the
// end the lanes of eight rows are added side by side. Weights are read where they lie: copying them, or
// converting them once, costs more than it saves. Variants define, beside what vector_loops.h asks for,
//
//   kTileVectors     vectors at once against four rows, one register of lanes each
//   kBlockedVectors  from how many vectors on this is the faster way
//   Halved(l, v)     lanes i and i+8 added, as eight floats; v the last part, the first at l if there are two
#ifndef PARLEY_KERNELS_CPU_BLOCKED_PRODUCT_H_
#define PARLEY_KERNELS_CPU_BLOCKED_PRODUCT_H_

#include "kernels/cpu/eight_rows.h"
#include "kernels/cpu/product_loops.h"

namespace parley::cpu {
namespace {

constexpr size_t kBlockRows = 8;
constexpr size_t kTileRows = 4;
constexpr size_t kHalf = kLanes / 2;
constexpr size_t kMostSteps = 48;      // of 16 columns
constexpr size_t kBlockBytes = 12288;  // of eight rows, where one block is not enough; longer blocks crowd out the vectors
constexpr size_t kBlockVectors = 192;  // 96 kB of waiting lanes

// Neighbouring columns: so many steps at this place of a vector.
struct Span {
  size_t offset, steps;
};

// Some columns of a product, and where a vector has them.
struct Depth {
  size_t steps;  // of 16 columns
  bool begins, ends;
  Span spans[kMostSteps];
  size_t count = 0;

  Depth(const Vectors& x, size_t first, size_t end) : steps(end - first), begins(first == 0) {
    const size_t length = x.length / kLanes;
    ends = end == length * x.segments;
    for (size_t at = first; at < end;) {
      const size_t within = at % length, left = end - at;
      const size_t taken = length - within < left ? length - within : left;
      spans[count++] = {at / length * x.segment_stride + within * kLanes, taken};
      at += taken;
    }
  }
};

// Eight rows and some vectors. Lanes: [vector][part][eight rows].
template <class Value>
struct BlockTile {
  const Value* w;
  size_t apart;  // elements from a row to the next
  const float* x;
  size_t stride;
  float* lanes;
  float* halves;  // [vector][eight rows][8], where the columns end
};

// One register of the lanes of four rows against C vectors.
template <size_t C, class Value>
inline __attribute__((always_inline)) void TilePart(const BlockTile<Value>& tile, const Depth& depth, size_t part, bool fetch) {
  constexpr size_t kPart = kBlockRows * Vec::kWidth;
  Vec sums[kTileRows][C];
  float* const lanes = tile.lanes + part * kPart;
  PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
    PARLEY_UNROLL for (size_t r = 0; r < kTileRows; r++) {
      sums[r][c] = depth.begins ? Vec::All(0) : Vec::Load(lanes + c * kParts * kPart + r * Vec::kWidth);
    }
  }
  const Value* w = tile.w + part * Vec::kWidth;
  for (size_t s = 0; s < depth.count; s++) {
    const float* x = tile.x + depth.spans[s].offset + part * Vec::kWidth;
    for (size_t left = depth.spans[s].steps; left > 0; left--) {
      Vec inputs[C];
      PARLEY_UNROLL for (size_t c = 0; c < C; c++) inputs[c] = Vec::Load(x + c * tile.stride);
      if (fetch) {
        PARLEY_UNROLL for (size_t c = 0; c < C; c++) Prefetch(x + (C + c) * tile.stride, 0);
      }
      PARLEY_UNROLL for (size_t r = 0; r < kTileRows; r++) {
        const Vec weights = Vec::Load(w + r * tile.apart);
        PARLEY_UNROLL for (size_t c = 0; c < C; c++) sums[r][c] = Fused(weights, inputs[c], sums[r][c]);
      }
      w += kLanes;
      x += kLanes;
    }
  }
  const bool last = depth.ends && part + 1 == kParts;
  PARLEY_UNROLL for (size_t c = 0; c < C; c++) {
    PARLEY_UNROLL for (size_t r = 0; r < kTileRows; r++) {
      float* const own = lanes + c * kParts * kPart + r * Vec::kWidth;
      if (last) {
        _mm256_store_ps(tile.halves + (c * kBlockRows + r) * kHalf, Halved(tile.lanes + (own - lanes), sums[r][c]));
      } else {
        sums[r][c].Store(own);
      }
    }
  }
}

// Eight rows of weights that are wanted soon are asked for while others are in use: some lines at every turn.
template <class Value>
class Ahead {
 public:
  Ahead(const Value* w, size_t columns, size_t steps, size_t turns)
      : row_(reinterpret_cast<const char*>(w)),
        apart_(columns * sizeof(Value)),
        length_(steps * kLanes * sizeof(Value)),
        left_(length_ == 0 ? 0 : kBlockRows),
        share_((kBlockRows * length_ / kLine + turns - 1) / turns) {}

  void Turn() {
    for (size_t i = 0; i < share_ && left_ > 0; i++) {
      __builtin_prefetch(row_ + at_, 0, 2);
      at_ += kLine;
      if (at_ < length_) continue;
      at_ = 0;
      row_ += apart_;
      left_--;
    }
  }

 private:
  const char* row_;
  const size_t apart_, length_;
  size_t left_;  // rows
  const size_t share_;
  size_t at_ = 0;
};

template <size_t C, class Value>
void BothTilesOf(BlockTile<Value> tile, const Depth& depth) {
  for (size_t rows = 0; rows < kBlockRows; rows += kTileRows) {
    for (size_t part = 0; part < kParts; part++) TilePart<C>(tile, depth, part, rows == 0 && part == 0);
    tile.w += kTileRows * tile.apart;
    tile.lanes += kTileRows * Vec::kWidth;
    tile.halves += kTileRows * kHalf;
  }
}

template <size_t C, class Value>
void BothTiles(size_t vectors, const BlockTile<Value>& tile, const Depth& depth) {
  if constexpr (C > 1) {
    if (vectors < C) return BothTiles<C - 1>(vectors, tile, depth);
  }
  BothTilesOf<C>(tile, depth);
}

// Into how many blocks so many columns are cut.
template <class Value>
size_t BlocksOf(size_t steps) {
  constexpr size_t kSteps = kBlockBytes / (kBlockRows * kLanes * sizeof(Value));
  constexpr size_t kWhole = kSteps < kMostSteps ? kSteps : kMostSteps;
  return steps <= kMostSteps ? 1 : (steps + kWhole - 1) / kWhole;
}

// Eight rows from r on against the vectors [first, last).
template <class Value>
void RowBlock(const Product& p, size_t r, size_t first, size_t last) {
  alignas(64) float lanes[kBlockVectors * kBlockRows * kLanes];
  alignas(64) float halves[kTileVectors * kBlockRows * kHalf];
  const size_t columns = p.w.columns, steps = columns / kLanes, blocks = BlocksOf<Value>(steps);
  const size_t turns = (last - first + kTileVectors - 1) / kTileVectors;
  const auto* const w = static_cast<const Value*>(p.w.values) + r * columns;
  for (size_t b = 0; b < blocks; b++) {
    const size_t begin = steps * b / blocks, end = steps * (b + 1) / blocks;
    const Depth depth(p.x, begin, end);
    const bool more = !depth.ends || p.last - r >= 2 * kBlockRows;
    Ahead<Value> ahead(depth.ends ? w + kBlockRows * columns : w + end * kLanes, columns, more ? depth.steps : 0, turns);
    for (size_t c = first; c < last; c += kTileVectors) {
      const size_t vectors = last - c < kTileVectors ? last - c : kTileVectors;
      float* const own = lanes + (blocks == 1 ? 0 : c - first) * kBlockRows * kLanes;
      ahead.Turn();
      BothTiles<kTileVectors, Value>(
          vectors, {w + begin * kLanes, columns, p.x.values + c * p.x.stride, p.x.stride, own, halves}, depth);
      if (!depth.ends) continue;
      for (size_t i = 0; i < vectors; i++) FinishEight(p, r, c + i, halves + i * kBlockRows * kHalf);
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
