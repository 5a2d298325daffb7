// How one side goes through places in shared memory again and again.
#ifndef PARLEY_KERNELS_CUDA_RING_TURN_CUH_
#define PARLEY_KERNELS_CUDA_RING_TURN_CUH_

#include <cstdint>

#include "kernels/cuda/words.h"

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
  __device__ __forceinline__ RingTurn Before() const { return place == 0 ? RingTurn{kPlaces - 1, parity ^ 1} : RingTurn{place - 1, parity}; }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RING_TURN_CUH_
