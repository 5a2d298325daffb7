// Values that blocks of one grid tell each other while it runs: each with the number of the step that it belongs to, in one word
// of eight bytes, so that who reads it knows at once whether it has come. No barrier is between them: a value's way is one
// write to the L2 cache and one read.
//
// All blocks have to run at the same time. A wait ends in a trap when it takes some seconds.
#ifndef PARLEY_KERNELS_CUDA_TOLD_CUH_
#define PARLEY_KERNELS_CUDA_TOLD_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"

namespace parley::cuda {

struct alignas(8) Told {
  uint32_t bits;
  uint32_t step;
};

// Two that are neighbours: from a multiple of 16 bytes.
struct TwoTold {
  Told first, second;
};

#ifdef __CUDACC__
__device__ __forceinline__ void Tell(Told* to, uint32_t bits, uint32_t step) {
  const uint64_t word = static_cast<uint64_t>(step) << 32 | bits;
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

__device__ __forceinline__ TwoTold Ask(const Told* from) {
  uint64_t a, b;
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  return {{static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32)}, {static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32)}};
}

__device__ __forceinline__ void GiveUp() { __trap(); }
#else
// One word each, read while it is written: no race.
inline void Tell(Told* to, uint32_t bits, uint32_t step) {
  const emulator::races::Unseen unseen;
  *to = {bits, step};
}
inline TwoTold Ask(const Told* from) {
  const emulator::races::Unseen unseen;
  return {from[0], from[1]};
}
[[noreturn]] inline void GiveUp() { emulator::Refuse("waits for what nobody tells"); }
#endif

// Calls ask() until it says 0: all that it asked for is there. Whole warps call it.
template <class Asking>
__device__ __forceinline__ void AwaitAll(const Asking& ask) {
  constexpr uint32_t kMost = 1u << 23;  // of some 0.5 us
#pragma unroll 1
  for (uint32_t tries = 0;; tries++) {
    if (__any_sync(0xffffffffu, ask() != 0 ? 1 : 0) == 0) return;
    if (tries == kMost) GiveUp();
  }
}

// Asks for kCount pairs, place(n) words from `from`, until all of them are of `step`.
template <int kCount, class Place>
__device__ __forceinline__ void AwaitTold(const Told* from, const Place& place, uint32_t step, TwoTold (&told)[kCount]) {
  AwaitAll([&] {
    uint32_t off = 0;
#pragma unroll
    for (int n = 0; n < kCount; n++) told[n] = Ask(from + place(n));
#pragma unroll
    for (int n = 0; n < kCount; n++) off |= (told[n].first.step ^ step) | (told[n].second.step ^ step);
    return off;
  });
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TOLD_CUH_
