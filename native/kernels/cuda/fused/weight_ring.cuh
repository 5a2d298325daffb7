// Weights on their way from memory to a block's products: a ring of places in shared memory, each for 8 rows of up to 1024 columns of
// bf16, which one warp fills, far ahead, by bulk copies, and 8 warps use.
#ifndef PARLEY_KERNELS_CUDA_WEIGHT_RING_CUH_
#define PARLEY_KERNELS_CUDA_WEIGHT_RING_CUH_

#include <cstdint>

#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/device/intrinsics.h"

namespace parley::cuda {

constexpr uint32_t kSlabRows = 8;
constexpr uint32_t kSlabColumns = 1024;
// Neighbouring rows begin a quarter of all banks apart: lanes of four rows read what lies in different banks.
constexpr uint32_t kSlabPitch = kSlabColumns * 2 + 32;
constexpr uint32_t kSlabBytes = kSlabRows * kSlabPitch;
constexpr uint32_t kRingUsers = 8;  // warps

struct WeightRing {
  static constexpr uint32_t kMostPlaces = 16;
  struct Bars {
    Barrier full[kMostPlaces], empty[kMostPlaces];
  };

  unsigned char* bytes;
  Bars* bars;
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

  // Fills the next place with `columns` columns of 8 rows of `row_bytes`. One warp calls it.
  __device__ __forceinline__ void Fill(const unsigned char* rows, uint64_t row_bytes, uint32_t columns) {
    const uint32_t lane = threadIdx.x % 32;
    AwaitPhaseOrTrap(&bars->empty[at], turn ^ 1);
    if (lane == 0) ArriveExpecting(&bars->full[at], columns * 2 * kSlabRows);
    __syncwarp();
    if (lane < kSlabRows) CopyBulk(bytes + at * kSlabBytes + lane * kSlabPitch, rows + lane * row_bytes, columns * 2, &bars->full[at]);
    if (++at == places) at = 0, turn ^= 1;
  }

  // The place `ahead` of the next one.
  __device__ __forceinline__ uint32_t PlaceOf(uint32_t ahead) const { return at + ahead >= places ? at + ahead - places : at + ahead; }
  __device__ __forceinline__ const unsigned char* BytesOf(uint32_t ahead) const { return bytes + PlaceOf(ahead) * kSlabBytes; }
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
