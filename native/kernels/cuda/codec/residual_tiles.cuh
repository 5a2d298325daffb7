// What a residual unit in one grid reads, how its work is cut, and how it asks for its tiles (see residual_unit.cuh).
#ifndef PARLEY_KERNELS_CUDA_RESIDUAL_TILES_CUH_
#define PARLEY_KERNELS_CUDA_RESIDUAL_TILES_CUH_

#include <cstdint>

#include "kernels/cuda/products/product_args.cuh"
#include "kernels/cuda/products/tile_map.h"
#include "kernels/cuda/products/tile_ring.cuh"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/device/intrinsics.h"

namespace parley::cuda {

constexpr uint32_t kUnitThreads = 384, kUnitPositions = 128, kUnitTaps = 7, kUnitMostPast = 54;

struct UnitArgs {
  TileMap signal;     // [streams][positions with their past][channels], terms
  TileMap dilated;    // [channels][taps * channels]
  TileMap pointwise;  // [channels][channels]
  const Windows* windows;
  const VectorCounts* counts;
  float* x;           // [positions of all streams, channels]
  const float* bias;  // of the dilated convolution, then its snake
  const float* a;
  const float* b;
  const float* pointwise_bias;
  uint32_t dilation, past;
  uint32_t position_tiles;  // of a stream
  uint32_t rest[13];        // so that there is no gap at the end
};
static_assert(sizeof(UnitArgs) == 512);

// A row of channels is three boxes, of weights as of terms. What is given has 96 channels at a time, so that their sums fit into registers twice.
template <int kChannels_>
struct UnitShape {
  static constexpr uint32_t kChannels = kChannels_, kOfPass = 96, kPasses = kChannels / kOfPass, kOctets = kOfPass / 8;
  static constexpr uint32_t kBoxes = 3, kBox = kChannels / kBoxes, kRow = kBox * 2;  // columns, bytes
  static constexpr uint32_t kChunksOfBox = kBox / kChunk;
  static constexpr uint32_t kRows = (kUnitPositions + kUnitMostPast + 7) / 8 * 8;
  static constexpr uint32_t kBoxBytes = kRows * kRow, kSignalBytes = kBoxes * kBoxBytes, kSignals = 2;
  static constexpr uint32_t kWeightBytes = kOfPass * kRow;  // of a box
  static constexpr uint32_t kDilatedBoxes = kUnitTaps * kBoxes, kAllBoxes = kPasses * (kDilatedBoxes + kBoxes);
  // All weights stay in shared memory, or pass through it with every tile.
  static constexpr bool kStays = kAllBoxes * kWeightBytes + kSignals * kSignalBytes <= (220u << 10);
  static constexpr uint32_t kStages = kStays ? kAllBoxes : 6;
  static constexpr uint32_t kShared = kSignals * kSignalBytes + kStages * kWeightBytes + 1024;
  static_assert(kChannels % kOfPass == 0 && kPasses <= 2 && (kRow == 64 || kRow == 128));
  static_assert(kShared + 1024 <= (227u << 10) && kBoxBytes % (8 * kRow) == 0 && kWeightBytes % (8 * kRow) == 0);
};

// In shared memory.
struct UnitBarriers {
  Barrier *signal_full, *signal_empty, *weight_full, *weight_empty, *meeting, *turns;
};

struct UnitTile {
  uint32_t stream, position;

  __device__ __forceinline__ static UnitTile Of(const UnitArgs& args, uint32_t tile) {
    const uint32_t stream = tile / args.position_tiles;
    return {stream, (tile - stream * args.position_tiles) * kUnitPositions};
  }
  // Positions that there are, of 128; the first lies in the row `*begin` of x.
  __device__ __forceinline__ uint32_t Count(const UnitArgs& args, const VectorCounts& counts, uint32_t* begin) const {
    const uint32_t first = args.windows[stream].begin, end = stream + 1 < counts.streams ? args.windows[stream + 1].begin : counts.vectors;
    *begin = first + position;
    return end - first > position ? min(kUnitPositions, end - first - position) : 0;
  }
};

// Whether a part of a product of so many chunks ends after these.
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
  __device__ __forceinline__ void AskWeights(uint32_t tiles) const {
    RingTurn<Shape::kStages> turn;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      for (uint32_t box = 0; box < Shape::kAllBoxes; box++, turn.Next()) {
        if (!Shape::kStays) AwaitPhaseOrTrap(barriers.weight_empty + turn.place, turn.parity ^ 1);
        Barrier* const full = barriers.weight_full + turn.place;
        ArriveExpecting(full, Shape::kWeightBytes);
        const bool is_dilated = box < Shape::kPasses * Shape::kDilatedBoxes;
        const uint32_t of = is_dilated ? box : box - Shape::kPasses * Shape::kDilatedBoxes, boxes = is_dilated ? Shape::kDilatedBoxes : Shape::kBoxes;
        CopyTile(weights + turn.place * Shape::kWeightBytes, is_dilated ? args.dilated : args.pointwise, of % boxes * Shape::kBox, 0,
                 of / boxes * Shape::kOfPass, 0, full);
      }
      if (Shape::kStays) return;
    }
  }

  // Positions with their past. One thread's.
  __device__ __forceinline__ void AskSignals(uint32_t tiles) const {
    RingTurn<Shape::kSignals> turn;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn.Next()) {
      const UnitTile its = UnitTile::Of(args, tile);
      AwaitPhaseOrTrap(barriers.signal_empty + turn.place, turn.parity ^ 1);
      Barrier* const full = barriers.signal_full + turn.place;
      ArriveExpecting(full, Shape::kBoxes * (kUnitPositions + args.past) * Shape::kRow);
      for (uint32_t box = 0; box < Shape::kBoxes; box++) {
        CopyTile(signals + turn.place * Shape::kSignalBytes + box * Shape::kBoxBytes, args.signal, box * Shape::kBox, 0, its.position, its.stream, full);
      }
    }
    // Until the last tile's is done with, and all weights have been there.
    const RingTurn<Shape::kSignals> last = turn.Before();
    AwaitPhaseOrTrap(barriers.signal_empty + last.place, last.parity);
  }

  // What x is there comes near while the tile is multiplied. One warp's.
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

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RESIDUAL_TILES_CUH_
