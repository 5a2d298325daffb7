// Fused residual unit x += pointwise(snake(dilated(snake(x)))) of 96 or 192 channels (compute capability
// 9.0), in two grids: one writes the first snake's terms, the other does the rest. Other units run step by
// step.
//
// A block holds 128 adjacent positions of a stream, and those that they look back on, in shared memory, each
// once, whatever the number of taps. The dilated convolution's output stays there as the terms that the
// pointwise product reads. Sums are those of the other kernels.
#ifndef PARLEY_KERNELS_CUDA_CODEC_RESIDUAL_UNIT_CUH_
#define PARLEY_KERNELS_CUDA_CODEC_RESIDUAL_UNIT_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/codec/convolutions.cuh"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/products/product_args.cuh"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/products/tile_map.h"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

constexpr uint32_t kUnitThreads = 384, kUnitPositions = 128, kUnitTaps = 7, kUnitMostPast = 54;

struct UnitArgs {
  TileMap signal;     // [streams][positions with their past][channels], terms
  TileMap dilated;    // [channels][taps * channels]
  TileMap pointwise;  // [channels][channels]
  const Windows* windows;
  const VectorCounts* counts;
  float* x;           // [positions of all streams, channels]
  const float* bias;  // the dilated convolution's; a and b are the snake after it
  const float* a;
  const float* b;
  const float* pointwise_bias;
  uint32_t dilation, past;
  uint32_t position_tiles;  // per stream
  uint32_t rest[13];        // so that there is no gap at the end
};
static_assert(sizeof(UnitArgs) == 512);

// A row of channels is three boxes, of weights and of terms. Results are computed 96 channels at a time, so
// that their sums fit into registers twice.
template <int kChannels_>
struct UnitShape {
  static constexpr uint32_t kChannels = kChannels_, kOfPass = 96, kPasses = kChannels / kOfPass,
                            kOctets = kOfPass / 8;
  static constexpr uint32_t kBoxes = 3, kBox = kChannels / kBoxes, kRow = kBox * 2;  // columns, bytes
  static constexpr uint32_t kChunksOfBox = kBox / kChunk;
  static constexpr uint32_t kRows = (kUnitPositions + kUnitMostPast + 7) / 8 * 8;
  static constexpr uint32_t kBoxBytes = kRows * kRow, kSignalBytes = kBoxes * kBoxBytes, kSignals = 2;
  static constexpr uint32_t kWeightBytes = kOfPass * kRow;  // per box
  static constexpr uint32_t kDilatedBoxes = kUnitTaps * kBoxes,
                            kAllBoxes = kPasses * (kDilatedBoxes + kBoxes);
  // All weights stay in shared memory, or pass through it with every tile.
  static constexpr bool kStays = kAllBoxes * kWeightBytes + kSignals * kSignalBytes <= (220u << 10);
  static constexpr uint32_t kStages = kStays ? kAllBoxes : 6;
  static constexpr uint32_t kShared = kSignals * kSignalBytes + kStages * kWeightBytes + 1024;
  static_assert(kChannels % kOfPass == 0 && kPasses <= 2 && (kRow == 64 || kRow == 128));
  static_assert(kShared + 1024 <= (227u << 10) && kBoxBytes % (8 * kRow) == 0 &&
                kWeightBytes % (8 * kRow) == 0);
};

// In shared memory.
struct UnitBarriers {
  Barrier *signal_full, *signal_empty, *weight_full, *weight_empty, *warpgroup, *turns;
};

struct UnitTile {
  uint32_t stream, position;

  __device__ __forceinline__ static UnitTile Of(const UnitArgs& args, uint32_t tile) {
    const uint32_t stream = tile / args.position_tiles;
    return {stream, (tile - stream * args.position_tiles) * kUnitPositions};
  }
  // Positions that there are, of 128; the first lies in the row `*begin` of x.
  __device__ __forceinline__ uint32_t Count(const UnitArgs& args, const VectorCounts& counts,
                                            uint32_t* begin) const {
    const uint32_t first = args.windows[stream].begin,
                   end = stream + 1 < counts.streams ? args.windows[stream + 1].begin : counts.vectors;
    *begin = first + position;
    return end - first > position ? min(kUnitPositions, end - first - position) : 0;
  }
};

// True if a part of a product of so many chunks ends after these.
__host__ __device__ constexpr bool EndsPart(uint32_t done, uint32_t chunks) {
  for (uint32_t part = 1; part <= kParts; part++) {
    if (PartBegin(part, chunks) == done) return true;
  }
  return false;
}

template <class Shape>
struct UnitBlock {
  const UnitArgs& args;
  unsigned char *signals, *weights;
  UnitBarriers barriers;

  // Boxes of weights, from the dilated convolution's first to the pointwise product's last. One thread's.
  __device__ __forceinline__ void RequestWeights(uint32_t tiles) const {
    RingTurn<Shape::kStages> turn;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      for (uint32_t box = 0; box < Shape::kAllBoxes; box++, turn.Next()) {
        if (!Shape::kStays) AwaitPhaseOrTrap(barriers.weight_empty + turn.place, turn.parity ^ 1);
        Barrier* const full = barriers.weight_full + turn.place;
        ArriveExpecting(full, Shape::kWeightBytes);
        const bool is_dilated = box < Shape::kPasses * Shape::kDilatedBoxes;
        const uint32_t of = is_dilated ? box : box - Shape::kPasses * Shape::kDilatedBoxes,
                       boxes = is_dilated ? Shape::kDilatedBoxes : Shape::kBoxes;
        CopyTile(weights + turn.place * Shape::kWeightBytes, is_dilated ? args.dilated : args.pointwise,
                 of % boxes * Shape::kBox, 0, of / boxes * Shape::kOfPass, 0, full);
      }
      if (Shape::kStays) return;
    }
  }

  // Positions with their past. One thread's.
  __device__ __forceinline__ void RequestSignals(uint32_t tiles) const {
    RingTurn<Shape::kSignals> turn;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn.Next()) {
      const UnitTile its = UnitTile::Of(args, tile);
      AwaitPhaseOrTrap(barriers.signal_empty + turn.place, turn.parity ^ 1);
      Barrier* const full = barriers.signal_full + turn.place;
      ArriveExpecting(full, Shape::kBoxes * (kUnitPositions + args.past) * Shape::kRow);
      for (uint32_t box = 0; box < Shape::kBoxes; box++) {
        CopyTile(signals + turn.place * Shape::kSignalBytes + box * Shape::kBoxBytes, args.signal,
                 box * Shape::kBox, 0, its.position, its.stream, full);
      }
    }
    // Waits until the last tile's signal was used and all weights have arrived.
    const RingTurn<Shape::kSignals> last = turn.Before();
    AwaitPhaseOrTrap(barriers.signal_empty + last.place, last.parity);
  }

  // Prefetches the existing values of x while the tile is multiplied. One warp calls it.
  __device__ __forceinline__ void FetchX(const VectorCounts& counts, uint32_t tiles) const {
    RingTurn<Shape::kSignals> turn;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn.Next()) {
      uint32_t begin;
      const uint32_t count = UnitTile::Of(args, tile).Count(args, counts, &begin), lane = threadIdx.x % 32;
      AwaitPhase(barriers.signal_full + turn.place, turn.parity);
      const float* const x = args.x + static_cast<uint64_t>(begin) * Shape::kChannels;
      for (uint32_t i = lane * 32; i < count * Shape::kChannels; i += 32 * 32) FetchLine(x + i);
      __syncwarp();
      if (lane == 0) Arrive(barriers.signal_empty + turn.place);
    }
  }
};

// A warpgroup that multiplies, `own` of two: it has 64 of the positions.
template <class Shape>
struct UnitConsumer {
  const UnitBlock<Shape>& block;
  const uint32_t own;
  RingTurn<Shape::kStages> weight;
  RingTurn<Shape::kSignals> signal;
  uint32_t phase = 0, turned = 0;

  __device__ __forceinline__ UnitConsumer(const UnitBlock<Shape>& all, uint32_t which)
      : block(all), own(which) {}

  __device__ __forceinline__ static void ArriveAsWarp(Barrier* barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) Arrive(barrier);
  }
  // All warps of this warpgroup.
  __device__ __forceinline__ void WarpgroupBarrier() {
    ArriveAsWarp(block.barriers.warpgroup + own);
    AwaitPhase(block.barriers.warpgroup + own, phase);
    phase ^= 1;
  }
  // One warpgroup multiplies while the other one does the rest: where both read weights that stay, since
  // others pass once for both.
  __device__ __forceinline__ void AwaitTurn() const {
    if (Shape::kStays) AwaitPhase(block.barriers.turns + own, own == 0 ? turned ^ 1 : turned);
  }
  __device__ __forceinline__ void GiveTurn() {
    if (Shape::kStays) ArriveAsWarp(block.barriers.turns + (own ^ 1));
    turned ^= 1;
  }
  __device__ __forceinline__ void Release(uint32_t place) const {
    if (!Shape::kStays) ArriveIf(block.barriers.weight_empty + place, threadIdx.x % 32 == 0);
  }

  using Sums = float[Shape::kOctets][4];
  using Pairs = uint32_t[Shape::kOctets][2];  // bf16
  using Fours = float4[Shape::kOctets / 2][2];

  __device__ __forceinline__ static void MultiplyChunk(Sums& acc, const unsigned char* terms,
                                                       const unsigned char* rows, uint32_t chunk,
                                                       bool is_new) {
    FenceTiles();
    MmaTiles<Shape::kRow>(acc, terms, rows, chunk * 2, is_new);
    MmaTiles<Shape::kRow>(acc, terms, rows, chunk * 2 + 1, false);
    CommitTiles();
  }

  // The sums over so many taps of three boxes, from `first` on, the next of which begins `turn` bytes further
  // on; weights that stay begin at kPlace. A part is added up while the next one is multiplied: their sums
  // take turns. All of it is unrolled: then it is known where a part ends.
  template <uint32_t kTaps, uint32_t kPlace>
  __device__ __forceinline__ void Multiply(Sums& total, const unsigned char* first, uint32_t turn) {
    constexpr uint32_t kOfBox = Shape::kChunksOfBox, kAll = kTaps * Shape::kBoxes * kOfBox;
    float acc[2][Shape::kOctets][4];
#pragma unroll
    for (uint32_t n = 0; n < Shape::kOctets; n++) total[n][0] = total[n][1] = total[n][2] = total[n][3] = 0;
    uint32_t parts = 0, last = 0;
    bool is_new = true;
#pragma unroll
    for (uint32_t box = 0; box < kTaps * Shape::kBoxes; box++) {
      const uint32_t place = Shape::kStays ? kPlace + box : weight.place;
      AwaitPhase(block.barriers.weight_full + place, Shape::kStays ? 0 : weight.parity);
      const unsigned char* const terms =
          first + box / Shape::kBoxes * turn + box % Shape::kBoxes * Shape::kBoxBytes;
#pragma unroll
      for (uint32_t c = 0; c < kOfBox; c++) {
        MultiplyChunk(acc[parts % 2], terms, block.weights + place * Shape::kWeightBytes, c, is_new);
        if (box > 0 && c == 0 && !Shape::kStays) {
          AwaitTiles<1>();  // all but this chunk
          Release(last);
        }
        if (is_new && parts > 0) {
          AwaitTiles<1>();
          AddPart(total, acc[(parts + 1) % 2]);
        }
        is_new = EndsPart(box * kOfBox + c + 1, kAll);
        if (is_new) parts++;
      }
      last = weight.place;
      if (!Shape::kStays) weight.Next();
    }
    AwaitTiles<0>();
    AddPart(total, acc[(parts + 1) % 2]);
    if (!Shape::kStays) Release(last);
  }

  // Column 8 n + 2 t of this lane's row g of its warp's, t = lane % 4, g = lane / 4.
  __device__ __forceinline__ static uint32_t Column(uint32_t pass, uint32_t octet) {
    return pass * Shape::kOfPass + octet * 8 + threadIdx.x % 4 * 2;
  }
  __device__ __forceinline__ static uint32_t Row() {
    return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
  }
  // Reads weights through the read-only cache: they never change.
  __device__ __forceinline__ static float2 TwoOf(const float* values, uint32_t column) {
    return __ldg(reinterpret_cast<const float2*>(values + column));
  }

  // The second snake of what the dilated convolution gave, as terms.
  __device__ __forceinline__ void Snake(uint32_t pass, const Sums& total, Pairs& terms) const {
#pragma unroll
    for (uint32_t n = 0; n < Shape::kOctets; n++) {
      const uint32_t column = Column(pass, n);
      const float2 bias = TwoOf(block.args.bias, column), a = TwoOf(block.args.a, column),
                   b = TwoOf(block.args.b, column);
#pragma unroll
      for (uint32_t half = 0; half < 2; half++) {
        terms[n][half] = PackBf16(Snaked(total[n][half * 2] + bias.x, a.x, b.x),
                                  Snaked(total[n][half * 2 + 1] + bias.y, a.y, b.y));
      }
    }
  }

  // To the rows from `to` on as a tile.
  template <uint32_t kPass>
  __device__ __forceinline__ static void Lay(const Pairs& terms, unsigned char* to) {
#pragma unroll
    for (uint32_t n = 0; n < Shape::kOctets; n++) {
      const uint32_t first = kPass * Shape::kOfPass + n * 8;
#pragma unroll
      for (uint32_t half = 0; half < 2; half++) {
        const uint32_t byte =
            (Row() + half * 8) * Shape::kRow + (first % Shape::kBox + threadIdx.x % 4 * 2) * 2;
        *reinterpret_cast<uint32_t*>(to + first / Shape::kBox * Shape::kBoxBytes +
                                     SwizzledByte<Shape::kRow>(byte)) = terms[n][half];
      }
    }
  }

  // Four neighbouring columns of this lane, of two octets the first of which is n: with 16 bytes a lane
  // memory is asked half as often.
  __device__ __forceinline__ static uint32_t FourColumn(uint32_t pass, uint32_t n) {
    const uint32_t t = threadIdx.x % 4;
    return pass * Shape::kOfPass + (n + t % 2) * 8 + t / 2 * 4;
  }
  // The sums there: half of them the neighbouring lane has, which gets as many.
  __device__ __forceinline__ static float4 FourSums(const Sums& sums, uint32_t n, uint32_t half) {
    const bool is_odd = threadIdx.x % 2 == 1;
    const float low[2] = {sums[n][half * 2], sums[n][half * 2 + 1]},
                high[2] = {sums[n + 1][half * 2], sums[n + 1][half * 2 + 1]};
    const float first = __shfl_xor_sync(0xffffffffu, is_odd ? low[0] : high[0], 1),
                second = __shfl_xor_sync(0xffffffffu, is_odd ? low[1] : high[1], 1);
    return is_odd ? make_float4(first, second, high[0], high[1]) : make_float4(low[0], low[1], first, second);
  }

  __device__ __forceinline__ float* XOf(uint32_t row) const {
    return block.args.x + static_cast<uint64_t>(row) * Shape::kChannels;
  }

  // Loads x of all existing positions before any use, so that the latency is paid once.
  __device__ __forceinline__ void LoadX(uint32_t pass, uint32_t begin, uint32_t count, Fours& x) const {
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t row = own * 64 + Row() + half * 8;
#pragma unroll
      for (uint32_t n = 0; n < Shape::kOctets; n += 2) {
        x[n / 2][half] = row < count
                             ? *reinterpret_cast<const float4*>(XOf(begin + row) + FourColumn(pass, n))
                             : make_float4(0, 0, 0, 0);
      }
    }
  }

  // x and the pointwise product to x.
  __device__ __forceinline__ void StoreX(uint32_t pass, uint32_t begin, uint32_t count, const Sums& total,
                                         const Fours& x) const {
#pragma unroll
    for (uint32_t n = 0; n < Shape::kOctets; n += 2) {
      const float4 bias =
          __ldg(reinterpret_cast<const float4*>(block.args.pointwise_bias + FourColumn(pass, n)));
#pragma unroll
      for (uint32_t half = 0; half < 2; half++) {
        const uint32_t row = own * 64 + Row() + half * 8;
        const float4 sum = FourSums(total, n, half), before = x[n / 2][half];
        if (row >= count) continue;
        *reinterpret_cast<float4*>(XOf(begin + row) + FourColumn(pass, n)) =
            make_float4(before.x + (sum.x + bias.x), before.y + (sum.y + bias.y), before.z + (sum.z + bias.z),
                        before.w + (sum.w + bias.w));
      }
    }
  }

  // Writes the dilated convolution's output, after snake, to the rows from `to` on. Only this warpgroup reads
  // those rows, and it no longer needs them by then.
  __device__ __forceinline__ void Dilate(const unsigned char* first, unsigned char* to) {
    Pairs terms, before;  // the last pass's, and the previous one's
    float total[Shape::kOctets][4];
#pragma unroll 1
    for (uint32_t pass = 0; pass < Shape::kPasses; pass++) {
      AwaitTurn();
      Multiply<kUnitTaps, 0>(total, first, block.args.dilation * Shape::kRow);
      GiveTurn();
      Snake(pass, total, terms);
      if constexpr (Shape::kPasses == 2) {
        if (pass > 0) break;
#pragma unroll
        for (uint32_t n = 0; n < Shape::kOctets; n++) before[n][0] = terms[n][0], before[n][1] = terms[n][1];
      }
    }
    WarpgroupBarrier();
    if constexpr (Shape::kPasses == 2) Lay<0>(before, to);
    Lay<Shape::kPasses - 1>(terms, to);
    FenceAsyncProxy();
    WarpgroupBarrier();
  }

  __device__ __forceinline__ void Run(const VectorCounts& counts, uint32_t tiles) {
    const UnitArgs& args = block.args;
    const uint32_t place = own == 0 ? 0 : (64 + args.past + 7) / 8 * 8;
    GridDependencyWait();
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, signal.Next()) {
      unsigned char* const its = block.signals + signal.place * Shape::kSignalBytes;
      uint32_t begin;
      const uint32_t count = UnitTile::Of(args, tile).Count(args, counts, &begin);
      AwaitPhase(block.barriers.signal_full + signal.place, signal.parity);
      Dilate(its + own * 64 * Shape::kRow, its + place * Shape::kRow);
#pragma unroll 1
      for (uint32_t pass = 0; pass < Shape::kPasses; pass++) {
        float total[Shape::kOctets][4];
        float4 x[Shape::kOctets / 2][2];
        LoadX(pass, begin, count, x);
        Multiply<1, Shape::kDilatedBoxes>(total, its + place * Shape::kRow, 0);
        if (pass + 1 == Shape::kPasses) ArriveAsWarp(block.barriers.signal_empty + signal.place);
        StoreX(pass, begin, count, total, x);
      }
    }
  }
};

// A grid of no more blocks than there are multiprocessors.
template <class Shape>
__global__ void __launch_bounds__(kUnitThreads, 1) AddResidualUnit(const __grid_constant__ UnitArgs args) {
  if constexpr (kHasTiles) {
    __shared__ Barrier signal_full[Shape::kSignals], signal_empty[Shape::kSignals],
        weight_full[Shape::kStages], weight_empty[Shape::kStages], warpgroup[2], turns[2];
    unsigned char* const bytes = TilesBegin();
    if (threadIdx.x == 0) {
      InitRing<Shape::kSignals>(signal_full, signal_empty, 9);
      InitRing<Shape::kStages>(weight_full, weight_empty, 8);
      for (uint32_t n = 0; n < 2; n++) {
        InitBarrier(warpgroup + n, 4);
        InitBarrier(turns + n, 4);
      }
      FenceBarriers();
    }
    LaunchDependents();
    __syncthreads();
    const VectorCounts counts = *args.counts;
    const uint32_t tiles = counts.streams * args.position_tiles;
    const UnitBlock<Shape> block{args,
                                 bytes,
                                 bytes + Shape::kSignals * Shape::kSignalBytes,
                                 {signal_full, signal_empty, weight_full, weight_empty, warpgroup, turns}};
    if (threadIdx.x < 128) {
      DecreaseRegisters<40>();
      if (threadIdx.x == 64) block.RequestWeights(tiles);  // which never change
      GridDependencyWait();
      if (threadIdx.x == 32) block.RequestSignals(tiles);
      if (threadIdx.x >= 96) block.FetchX(counts, tiles);
    } else {
      IncreaseRegisters<232>();
      UnitConsumer<Shape>(block, threadIdx.x / 128 - 1).Run(counts, tiles);
    }
  }
}

// True if the kernel supports the channels, the taps and the format, and the weights meet vectors of one
// term.
inline bool HasUnitShape(const ResidualUnit& unit, const ProductRules& rules) {
  const Convolution& dilated = unit.dilated;
  const size_t channels = dilated.channels;
  const auto fits = [&](const Matrix& w, size_t columns) {
    return w.format == Format::kBf16 && w.rows == channels && w.columns == columns && LiesAtFours(w.values);
  };
  return rules.wide && VectorTermsOf(Format::kBf16, rules.full_vectors) == 1 &&
         (channels == 96 || channels == 192) && dilated.taps == kUnitTaps &&
         dilated.History() <= kUnitMostPast && fits(dilated.weights, kUnitTaps * channels) &&
         fits(unit.pointwise, channels) && dilated.bias != nullptr && unit.pointwise_bias != nullptr &&
         unit.second.a != nullptr && unit.second.b != nullptr && LiesAtFours(dilated.bias) &&
         LiesAtFours(unit.pointwise_bias) && LiesAtFours(unit.second.a) && LiesAtFours(unit.second.b);
}

// Tiles of one signal. Fewer than these are left to steps, whose weights come to more multiprocessors at
// once: 192 channels read all of theirs for each tile (one stream's five take 26 us, by steps 14; twenty 27
// and 31).
constexpr size_t kLeastTiles = 16;

inline size_t TilesOf(const LaidVectors& laid) {
  return BlocksOf(laid.positions, kUnitPositions) * laid.streams;
}

template <class Shape>
void LaunchUnit(Queue& queue, const ProductRules& rules, const ResidualUnit& unit, const LaidVectors& laid,
                const unsigned char* terms, float* x) {
  const size_t row = Shape::kChannels * 2;
  const auto past = static_cast<uint32_t>(unit.dilated.History());
  UnitArgs args{};
  args.signal = TileMapOf({terms,
                           {Shape::kChannels, 1, laid.slot / Shape::kChannels, laid.streams},
                           {row, row, laid.slot * 2},
                           {Shape::kBox, 1, kUnitPositions + past, 1}});
  const auto map = [&](const Matrix& w) {
    const size_t bytes = w.columns * 2;
    return TileMapOf({w.values,
                      {w.columns, 1, w.rows, 1},
                      {bytes, bytes, bytes * w.rows},
                      {Shape::kBox, 1, Shape::kOfPass, 1}});
  };
  args.dilated = map(unit.dilated.weights);
  args.pointwise = map(unit.pointwise);
  args.windows = laid.view.windows;
  args.counts = laid.view.counts;
  args.x = x;
  args.bias = unit.dilated.bias;
  args.a = unit.second.a;
  args.b = unit.second.b;
  args.pointwise_bias = unit.pointwise_bias;
  args.dilation = static_cast<uint32_t>(unit.dilated.dilation);
  args.past = past;
  args.position_tiles = static_cast<uint32_t>(BlocksOf(laid.positions, kUnitPositions));
  Grid grid;
  grid.x = static_cast<uint32_t>(std::min<size_t>(TilesOf(laid), rules.multiprocessors));
  grid.threads = kUnitThreads;
  grid.shared = Shape::kShared;
  queue.Launch<&AddResidualUnit<Shape>>(grid, args);
}

// Returns false and enqueues nothing if the unit must be computed step by step. Requires JoinsInput.
inline bool EnqueueUnit(Queue& queue, Room& room, const ResidualUnit& unit, const InputSignal& from,
                        const Stretch* streams, size_t count, float* x) {
  if (!HasUnitShape(unit, room.rules) || !LiesAtFours(x)) return false;
  const LaidVectors laid =
      LayStretches(queue, streams, count, unit.dilated.History(), WindowsOf(unit.dilated, nullptr, 0));
  if (!laid.as_signals || laid.slot == 0) return false;
  if (unit.dilated.channels == 192 && TilesOf(laid) < kLeastTiles) return false;
  JoinedInputArgs input = InputOf(queue, from, unit.dilated, streams, count);
  input.to.x = laid.view;
  input.to.term_bytes = BlocksOf(laid.columns * 2, 256) * 256;
  input.to.terms = static_cast<unsigned char*>(room.AtLeast(input.to.term_bytes));
  EnqueueInput(queue, input, laid, 1);
  if (unit.dilated.channels == 96)
    LaunchUnit<UnitShape<96>>(queue, room.rules, unit, laid, input.to.terms, x);
  else LaunchUnit<UnitShape<192>>(queue, room.rules, unit, laid, input.to.terms, x);
  return true;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_CODEC_RESIDUAL_UNIT_CUH_
