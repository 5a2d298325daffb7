// Ring buffer of tile stages in shared memory: a producer fills places again and again, and consumers follow
// it.
#ifndef PARLEY_KERNELS_CUDA_TILE_RING_CUH_
#define PARLEY_KERNELS_CUDA_TILE_RING_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/tile_intrinsics.h"

namespace parley::cuda {

// The next place, and the parity of the phase that its barrier is in then.
template <uint32_t kPlaces>
struct RingTurn {
  uint32_t place = 0, parity = 0;

  __device__ __forceinline__ void Next() {
    if (++place < kPlaces) return;
    place = 0;
    parity ^= 1;
  }
  // The one before. Before the first it is of a phase that counts as ended.
  __device__ __forceinline__ RingTurn Before() const {
    return place == 0 ? RingTurn{kPlaces - 1, parity ^ 1} : RingTurn{place - 1, parity};
  }
};

// Start of the block's tiles, at a multiple of 1024 bytes. The launch requests 1024 bytes more for it.
__device__ __forceinline__ unsigned char* TilesBegin() {
  return SharedBytes() + (1024 - reinterpret_cast<uintptr_t>(SharedBytes()) % 1024) % 1024;
}

// The barriers of as many places: one asks for what fills a place, so many say when they are done with it.
// One thread's; then FenceBarriers().
template <uint32_t kPlaces>
__device__ __forceinline__ void InitRing(Barrier* full, Barrier* empty, uint32_t users) {
  for (uint32_t place = 0; place < kPlaces; place++) {
    InitBarrier(full + place, 1);
    InitBarrier(empty + place, users);
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILE_RING_CUH_
