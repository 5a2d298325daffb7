// Packed SIMD GEMM for many vectors, as the codec's convolutions need it. It computes the same sums in the
// same order as product_loops.h, but a register holds one lane of several rows, not several lanes of one row.
//
// A lane's sum is independent: of every segment it takes the elements k with k % 16 = l. Weights and signal
// are packed lane by lane: a panel of some rows, and as much of the signal as the L2 cache holds. A lane of
// the panel stays in the L1 cache while a strip of vectors passes it. Finished lanes are reduced along the
// tree at once, in the order 0 8 4 12 2 10 6 14 1 9 .., so that at most four sums of a result are pending.
// All arithmetic is vertical: only the packing shuffles. With few columns, two lanes are processed at once,
// which halves the pending sums. In addition to what vector_loops.h requires, a variant defines:
//
//   kPanelVectors  vectors at once with two registers of rows of one lane; half as many with two lanes
#ifndef PARLEY_KERNELS_CPU_PANEL_PRODUCT_H_
#define PARLEY_KERNELS_CPU_PANEL_PRODUCT_H_

#include "kernels/cpu/eight_lanes.h"
#include "kernels/cpu/integer_products.h"
#include "kernels/cpu/product_loops.h"

namespace parley::cpu {
namespace {

constexpr size_t kPanelRows = 2 * Vec::kWidth;
constexpr size_t kStripVectors = 48;
constexpr size_t kSignalFloats = 128 * 1024;  // packed signal values at a time, unless ..
constexpr size_t kTurnVectors = 320;          // .. these need more: for fewer, weights are not copied again
constexpr size_t kPanelLeastVectors = 16;     // fewer do not pay for the copies
constexpr size_t kPairColumns = 384;          // with no more, the lanes l and l + 8 are taken together
constexpr size_t kLevels = 4;                 // levels of the reduction tree over the lanes

// Sixteen arrays, one a lane, an odd number of lines apart, so that they do not meet in the cache.
constexpr size_t PitchOf(size_t floats) { return ((floats + 15) / 16 | 1) * 16; }

// `weights` [lane][step][kPanelRows], `signal` [lane][place / 16].
struct PanelRoom {
  float *weights, *signal;
  size_t weights_pitch, signal_pitch;
};

// From the first value of one vector to behind the last of the last of `count`.
inline size_t Extent(const Vectors& x, size_t count) {
  return (count - 1) * x.stride + (x.segments - 1) * x.segment_stride + x.length;
}

constexpr size_t WholeStrips(size_t vectors) {
  return (vectors + kStripVectors - 1) / kStripVectors * kStripVectors;
}

// The most vectors packed at once.
inline size_t MostOf(const Vectors& x) {
  const size_t fit = kSignalFloats / x.stride;
  return fit < kTurnVectors ? kTurnVectors : fit;
}

// Vectors of a turn: every turn but the last has this number.
inline size_t TurnOf(const Vectors& x) {
  const size_t most = MostOf(x), turns = (x.count + most - 1) / most;
  const size_t even = WholeStrips((x.count + turns - 1) / turns);
  return even < x.count ? even : x.count;
}

inline bool TakesPanels(const Product& p) {
  const Vectors& x = p.x;
  if (p.w.format == Format::kInt8) return false;
  const bool lanes_stay = x.length % kLanes == 0 && x.stride % kLanes == 0 && x.segment_stride % kLanes == 0;
  const bool close = x.length > 0 && x.stride > 0 && x.stride <= x.length;
  return lanes_stay && close && x.count >= kPanelLeastVectors && p.last - p.first >= kPanelRows / 2;
}

// Rows r .. of the matrix, lane by lane. The last row stands for those that are not there.
template <class Value>
void PackRows(const Product& p, size_t r, const PanelRoom& room) {
  const size_t columns = p.w.columns;
  const auto* const w = static_cast<const Value*>(p.w.values);
  for (size_t first = 0; first < kPanelRows; first += 8) {
    const Value* rows[8];
    for (size_t i = 0; i < 8; i++) {
      const size_t row = r + first + i;
      rows[i] = w + (row < p.last ? row : p.last - 1) * columns;
    }
    float* to = room.weights + first;
    for (size_t k = 0; k < columns; k += kLanes, to += kPanelRows) {
      PARLEY_UNROLL for (size_t half = 0; half < kLanes; half += 8) {
        __m256 eight[8];
        PARLEY_UNROLL for (size_t i = 0; i < 8; i++) eight[i] = Eight(rows[i] + k + half);
        Transpose(eight);
        PARLEY_UNROLL for (size_t i = 0; i < 8; i++)
            _mm256_store_ps(to + (half + i) * room.weights_pitch, eight[i]);
      }
    }
  }
}

// So many floats, whole lots of 16, lane by lane.
inline void PackSignal(const float* from, size_t floats, const PanelRoom& room) {
  const size_t count = floats / kLanes;
  size_t i = 0;
  for (; count - i >= 8; i += 8, from += 8 * kLanes) {
    PARLEY_UNROLL for (size_t half = 0; half < kLanes; half += 8) {
      __m256 eight[8];
      PARLEY_UNROLL for (size_t n = 0; n < 8; n++) eight[n] = _mm256_loadu_ps(from + n * kLanes + half);
      Transpose(eight);
      float* const to = room.signal + half * room.signal_pitch + i;
      PARLEY_UNROLL for (size_t n = 0; n < 8; n++) _mm256_storeu_ps(to + n * room.signal_pitch, eight[n]);
    }
  }
  for (; i < count; i++, from += kLanes) {
    for (size_t lane = 0; lane < kLanes; lane++) room.signal[lane * room.signal_pitch + i] = from[lane];
  }
}

// Sums of lanes that wait for their like: [level][vector of the strip][row of the panel].
struct Strip {
  alignas(64) float waiting[kLevels][kStripVectors][kPanelRows];
};

// One lane as it lies in the room.
struct Lane {
  const float* w;
  const float* x;         // the first vector's
  size_t next_w, next_x;  // to where lane l + 8 lies
  size_t stride, segments, segment_stride, steps;
  size_t turn;  // index in the reduction order; with two lanes, the second one's
};

// Vector c of the panel from row r on.
inline void FinishPanel(const Product& p, size_t r, size_t c, const float* totals) {
  float* const y = p.y + c * p.y_stride + r - p.first;
  if (p.last - r < kPanelRows) {
    for (size_t row = r; row < p.last; row++) Finished(p, row, totals[row - r], y + row - r);
    return;
  }
  PARLEY_UNROLL for (size_t at = 0; at < kPanelRows; at += Vec::kWidth) {
    Vec v = Vec::Load(totals + at);
    if (p.w.scales) v = Multiplied(v, Vec::Load(p.w.scales + r + at));
    if (p.finish.bias) v = Added(v, Vec::Load(p.finish.bias + r + at));
    if (p.finish.gain) v = Multiplied(v, Vec::Load(p.finish.gain + r + at));
    (p.finish.add ? Added(Vec::Load(y + at), v) : v).Store(y + at);
  }
}

// The sums of L lanes, l and l + 8 if there are two; there is at least one segment of at least 16 columns.
template <size_t L, size_t C>
inline __attribute__((always_inline)) void AccumulateLanes(const Lane& lane, Vec (*sums)[2][C]) {
  const float* w = lane.w;
  const float* x = lane.x;
  const size_t stride = lane.stride, next_w = lane.next_w, next_x = lane.next_x;
  PARLEY_UNROLL for (size_t l = 0; l < L; l++) {
    PARLEY_UNROLL for (size_t i = 0; i < C; i++) sums[l][0][i] = sums[l][1][i] = Vec::All(0);
  }
  size_t segments = lane.segments;
  do {
    const float* const end = x + lane.steps;
    do {
      PARLEY_UNROLL for (size_t l = 0; l < L; l++) {
        const Vec upper = Vec::Load(w + l * next_w), lower = Vec::Load(w + l * next_w + Vec::kWidth);
        PARLEY_UNROLL for (size_t i = 0; i < C; i++) {
          const Vec input = Vec::All(x[l * next_x + i * stride]);
          sums[l][0][i] = Fused(upper, input, sums[l][0][i]);
          sums[l][1][i] = Fused(lower, input, sums[l][1][i]);
        }
      }
      w += kPanelRows;
    } while (++x != end);
    x += lane.segment_stride - lane.steps;
  } while (--segments > 0);
}

template <size_t C>
inline __attribute__((always_inline)) void AddWaiting(const float (*waiting)[kPanelRows], Vec (*sums)[C]) {
  PARLEY_UNROLL for (size_t i = 0; i < C; i++) {
    sums[0][i] = Added(Vec::Load(waiting[i]), sums[0][i]);
    sums[1][i] = Added(Vec::Load(waiting[i] + Vec::kWidth), sums[1][i]);
  }
}

template <size_t C>
inline __attribute__((always_inline)) void LetWait(const Vec (*sums)[C], float (*waiting)[kPanelRows]) {
  PARLEY_UNROLL for (size_t i = 0; i < C; i++) {
    sums[0][i].Store(waiting[i]);
    sums[1][i].Store(waiting[i] + Vec::kWidth);
  }
}

// Computes C vectors of the strip, from `place` on. When the last lane is done, the result replaces the
// pending first sum.
template <size_t L, size_t C>
inline __attribute__((always_inline)) void PanelTile(const Lane& lane, size_t place, Strip* strip) {
  Vec both[L][2][C];
  AccumulateLanes<L, C>(lane, both);
  Vec(*const sums)[C] = both[0];
  if constexpr (L == 2) {
    PARLEY_UNROLL for (size_t i = 0; i < C; i++) {
      both[0][0][i] = Added(both[0][0][i], both[1][0][i]);
      both[0][1][i] = Added(both[0][1][i], both[1][1][i]);
    }
  } else {
    if (!(lane.turn & 1)) return LetWait<C>(sums, strip->waiting[0] + place);
    AddWaiting<C>(strip->waiting[0] + place, sums);
  }
  if (!(lane.turn & 2)) return LetWait<C>(sums, strip->waiting[1] + place);
  AddWaiting<C>(strip->waiting[1] + place, sums);
  if (!(lane.turn & 4)) return LetWait<C>(sums, strip->waiting[2] + place);
  AddWaiting<C>(strip->waiting[2] + place, sums);
  if (!(lane.turn & 8)) return LetWait<C>(sums, strip->waiting[3] + place);
  AddWaiting<C>(strip->waiting[3] + place, sums);
  LetWait<C>(sums, strip->waiting[0] + place);
}

// Fewer than C + 1.
template <size_t L, size_t C>
void LastPanelTile(size_t vectors, const Lane& lane, size_t place, Strip* strip) {
  if constexpr (C > 1) {
    if (vectors < C) return LastPanelTile<L, C - 1>(vectors, lane, place, strip);
  }
  PanelTile<L, C>(lane, place, strip);
}

template <size_t L>
void LanesOfStrip(Lane lane, size_t vectors, Strip* strip) {
  constexpr size_t kVectors = kPanelVectors / L;
  size_t place = 0;
  for (; vectors - place >= kVectors; place += kVectors, lane.x += kVectors * lane.stride) {
    PanelTile<L, kVectors>(lane, place, strip);
  }
  if (place < vectors) LastPanelTile<L, kVectors - 1>(vectors - place, lane, place, strip);
}

// A panel from row r on against the vectors [first, last) of those in the room, of which `begin` is the
// first.
template <size_t L>
void PanelStrip(const Product& p, size_t r, size_t begin, size_t first, size_t last, const PanelRoom& room) {
  constexpr uint8_t kOrder[kLanes] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  const Vectors& x = p.x;
  Lane lane = {};
  lane.next_w = 8 * room.weights_pitch;
  lane.next_x = 8 * room.signal_pitch;
  lane.stride = x.stride / kLanes;
  lane.segments = x.segments;
  lane.segment_stride = x.segment_stride / kLanes;
  lane.steps = x.length / kLanes;
  Strip strip;
  for (size_t turn = 0; turn < kLanes; turn += L) {
    lane.turn = turn + L - 1;
    lane.w = room.weights + kOrder[turn] * room.weights_pitch;
    lane.x = room.signal + kOrder[turn] * room.signal_pitch + (first - begin) * lane.stride;
    LanesOfStrip<L>(lane, last - first, &strip);
  }
  for (size_t c = first; c < last; c++) FinishPanel(p, r, c, strip.waiting[0][c - first]);
}

template <class Value>
void MultiplyPanels(const Product& p) {
  const size_t turn = TurnOf(p.x), weights = PitchOf(p.w.columns / kLanes * kPanelRows);
  const PanelRoom room = {p.room, p.room + kLanes * weights, weights, PitchOf(Extent(p.x, turn) / kLanes)};
  const auto strip = p.w.columns <= kPairColumns ? PanelStrip<2> : PanelStrip<1>;
  for (size_t begin = 0; begin < p.x.count; begin += turn) {
    const size_t end = p.x.count - begin < turn ? p.x.count : begin + turn;
    PackSignal(p.x.values + begin * p.x.stride, Extent(p.x, end - begin), room);
    for (size_t r = p.first; r < p.last; r += kPanelRows) {
      PackRows<Value>(p, r, room);
      for (size_t c = begin; c < end; c += kStripVectors) {
        strip(p, r, begin, c, end - c < kStripVectors ? end : c + kStripVectors, room);
      }
    }
  }
}

// Scratch floats that MultiplyMany needs, or 0. A part of the vectors may have longer turns than all of them
// together.
size_t RoomFor(const Product& p) {
  if (!TakesPanels(p)) return 0;
  const size_t most = WholeStrips(MostOf(p.x)), vectors = most < p.x.count ? most : p.x.count;
  return kLanes * (PitchOf(p.w.columns / kLanes * kPanelRows) + PitchOf(Extent(p.x, vectors) / kLanes));
}

void MultiplyMany(const Product& p) {
  if (p.w.format == Format::kInt8) return MultiplyIntegers(p);
  if (p.room == nullptr || !TakesPanels(p)) return Multiply(p);
  switch (p.w.format) {
    case Format::kF32:
      return MultiplyPanels<float>(p);
    case Format::kF16:
      return MultiplyPanels<F16>(p);
    case Format::kBf16:
      return MultiplyPanels<Bf16>(p);
    case Format::kFp8:
      return MultiplyPanels<Fp8>(p);
    case Format::kInt8:
      return;  // done above
  }
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_PANEL_PRODUCT_H_
