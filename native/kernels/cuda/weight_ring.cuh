// Weights on their way from memory to a block's products: a ring of places in shared memory, each for 8 rows of up to 2 KB, which one warp
// fills, far ahead, by bulk copies, and 8 warps use.
#ifndef PARLEY_KERNELS_CUDA_WEIGHT_RING_CUH_
#define PARLEY_KERNELS_CUDA_WEIGHT_RING_CUH_

#include <cstdint>

#include "kernels/cuda/tile_words.h"
#include "kernels/cuda/words.h"
#include "kernels/matrix.h"

namespace parley::cuda {

constexpr uint32_t kSlabRows = 8;
constexpr uint32_t kRingUsers = 8;  // warps
constexpr uint32_t kMostPlaces = 16;

// What lies where in a place: rows, and behind them the scales of these, where they have any.
template <Format kFormat>
struct SlabPlace {
  static constexpr bool kHasScales = HasScales(kFormat);
  static constexpr uint32_t kWeight = kHasScales ? 1 : 2;  // bytes
  static constexpr uint32_t kColumns = 2048 / kWeight;
  // Lanes that read together, 8 bytes each of four rows or 4 bytes of eight, read what lies in different banks.
  static constexpr uint32_t kPitch = 2048 + 16 * kWeight;
  static constexpr uint32_t kScaleBytes = kHasScales ? kSlabRows * 4 : 0;
  static constexpr uint32_t kBytes = kSlabRows * kPitch + kScaleBytes;
};

struct RingBars {
  Barrier full[kMostPlaces], empty[kMostPlaces];
};

template <Format kFormat>
struct WeightRing {
  using Place = SlabPlace<kFormat>;

  unsigned char* bytes;
  RingBars* bars;
  uint32_t places;
  uint32_t at = 0, turn = 0;  // of the one that calls: its next place, and the parity of its turn around the ring

  // The whole block calls it.
  __device__ __forceinline__ void Begin() const {
    if (threadIdx.x < places) {
      InitBarrier(&bars->full[threadIdx.x], 1);
      InitBarrier(&bars->empty[threadIdx.x], kRingUsers);
    }
    FenceBarriers();
    __syncthreads();
  }

  // Fills the next place with `columns` columns of 8 rows of `row_bytes`, and with a slab's first columns its scales. `from`: the rows; of the
  // lane after those that bring them the scales. One warp calls it.
  __device__ __forceinline__ void Fill(const unsigned char* from, uint64_t row_bytes, uint32_t columns, bool are_first) {
    const uint32_t lane = threadIdx.x % 32;
    const bool has_scales = Place::kHasScales && are_first, is_row = !Place::kHasScales || lane < kSlabRows;
    AwaitPhaseOrTrap(&bars->empty[at], turn ^ 1);
    if (lane == 0) ArriveExpecting(&bars->full[at], columns * Place::kWeight * kSlabRows + (has_scales ? Place::kScaleBytes : 0));
    __syncwarp();
    if (lane < kSlabRows + (has_scales ? 1 : 0)) {
      CopyBulk(bytes + at * Place::kBytes + lane * Place::kPitch, from + (is_row ? lane * row_bytes : 0),
               is_row ? columns * Place::kWeight : Place::kScaleBytes, &bars->full[at]);
    }
    if (++at == places) at = 0, turn ^= 1;
  }

  // The place `ahead` of the next one.
  __device__ __forceinline__ uint32_t PlaceOf(uint32_t ahead) const { return at + ahead >= places ? at + ahead - places : at + ahead; }
  __device__ __forceinline__ const unsigned char* BytesOf(uint32_t ahead) const { return bytes + PlaceOf(ahead) * Place::kBytes; }
  // Of a slab's first columns.
  __device__ __forceinline__ const float* ScalesOf(uint32_t ahead) const {
    return reinterpret_cast<const float*>(BytesOf(ahead) + kSlabRows * Place::kPitch);
  }
  __device__ __forceinline__ void AwaitFull(uint32_t ahead) const {
    AwaitPhase(&bars->full[PlaceOf(ahead)], at + ahead >= places ? turn ^ 1 : turn);
  }
  // The places from `begin` to `end` ahead, no more than 32: a lane waits for each.
  __device__ __forceinline__ void AwaitAllFull(uint32_t begin, uint32_t end) const {
    const uint32_t own = begin + ThisThread() % 32;
    if (own < end) AwaitFull(own);
    __syncwarp();
  }
  // This warp no longer needs the next `count` places, no more than 32: a lane each waits until it was filled, as it may not have needed it.
  __device__ __forceinline__ void Release(uint32_t count) {
    const uint32_t lane = ThisThread() % 32;
    __syncwarp();
    if (lane < count) {
      AwaitFull(lane);
      Arrive(&bars->empty[PlaceOf(lane)]);
    }
    __syncwarp();
    at += count;
    if (at >= places) at -= places, turn ^= 1;
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_WEIGHT_RING_CUH_
