// CUDA's functions of a warp and of a block, for the emulator.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_WARP_WORDS_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_WARP_WORDS_H_

#include <cstdint>

#include "test/emulator/collectives.h"

inline void __syncthreads() { parley::cuda::emulator::BlockBarrier(0); }
inline int __syncthreads_count(int vote) {
  return static_cast<int>(parley::cuda::emulator::BlockBarrier(vote != 0));
}
inline int __syncthreads_or(int vote) { return parley::cuda::emulator::BlockBarrier(vote != 0) != 0; }
inline int __syncthreads_and(int vote) { return parley::cuda::emulator::BlockBarrier(vote == 0) == 0; }

inline void __syncwarp(uint32_t mask = 0xffffffff) {
  parley::cuda::emulator::WarpCollective(
      "__syncwarp", mask, nullptr, [](void* const*, uint32_t) {}, parley::cuda::emulator::Memory::kOrdered);
}

namespace parley::cuda::emulator {

// A lane's value, the lane whose value it wants, and that value.
template <class Value>
struct Exchange {
  Value given;
  uint32_t from;
  Value taken;
};

template <class Value>
void JoinExchange(void* const lanes[32], uint32_t mask) {
  for (uint32_t l = 0; l < 32; l++) {
    if ((mask >> l & 1) == 0) continue;
    auto* mine = static_cast<Exchange<Value>*>(lanes[l]);
    if (lanes[mine->from] == nullptr) Refuse("a shuffle reads a lane that is not in its mask");
    mine->taken = static_cast<Exchange<Value>*>(lanes[mine->from])->given;
  }
}

template <class Value>
Value Shuffle(const char* word, uint32_t mask, Value value, uint32_t from) {
  Exchange<Value> mine{value, from, value};
  WarpCollective(word, mask, &mine, JoinExchange<Value>);
  return mine.taken;
}

// The first lane of the caller's part of the warp; `width` is a power of two.
inline uint32_t PartOf(uint32_t lane, int width) { return lane & ~(static_cast<uint32_t>(width) - 1); }

template <class Join>
uint32_t Reduce(const char* word, uint32_t mask, uint32_t value, Join) {
  WarpCollective(word, mask, &value, [](void* const lanes[32], uint32_t all) {
    uint32_t total = 0;
    bool is_first = true;
    for (uint32_t l = 0; l < 32; l++) {
      if ((all >> l & 1) == 0) continue;
      const uint32_t one = *static_cast<uint32_t*>(lanes[l]);
      total = is_first ? one : Join()(total, one);
      is_first = false;
    }
    for (uint32_t l = 0; l < 32; l++) {
      if (all >> l & 1) *static_cast<uint32_t*>(lanes[l]) = total;
    }
  });
  return value;
}

struct Sum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct Or {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Larger {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a > b ? a : b; }
};
struct Smaller {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a < b ? a : b; }
};

}  // namespace parley::cuda::emulator

template <class Value>
Value __shfl_sync(uint32_t mask, Value value, int from, int width = 32) {
  using namespace parley::cuda::emulator;
  return Shuffle("__shfl_sync", mask, value,
                 PartOf(Lane(), width) + (static_cast<uint32_t>(from) & (width - 1)));
}
template <class Value>
Value __shfl_xor_sync(uint32_t mask, Value value, int lanes, int width = 32) {
  using namespace parley::cuda::emulator;
  const uint32_t from = Lane() ^ static_cast<uint32_t>(lanes);
  return Shuffle("__shfl_xor_sync", mask, value, from < PartOf(Lane(), width) + width ? from : Lane());
}
template <class Value>
Value __shfl_down_sync(uint32_t mask, Value value, unsigned lanes, int width = 32) {
  using namespace parley::cuda::emulator;
  const uint32_t from = Lane() + lanes;
  return Shuffle("__shfl_down_sync", mask, value, from < PartOf(Lane(), width) + width ? from : Lane());
}
template <class Value>
Value __shfl_up_sync(uint32_t mask, Value value, unsigned lanes, int width = 32) {
  using namespace parley::cuda::emulator;
  return Shuffle("__shfl_up_sync", mask, value,
                 Lane() >= PartOf(Lane(), width) + lanes ? Lane() - lanes : Lane());
}

inline uint32_t __ballot_sync(uint32_t mask, int vote) {
  using namespace parley::cuda::emulator;
  return Reduce("__ballot_sync", mask, vote != 0 ? uint32_t{1} << Lane() : 0, Or());
}
inline int __any_sync(uint32_t mask, int vote) {
  using namespace parley::cuda::emulator;
  return static_cast<int>(Reduce("__any_sync", mask, vote != 0, Larger()));
}
inline int __all_sync(uint32_t mask, int vote) {
  using namespace parley::cuda::emulator;
  return static_cast<int>(Reduce("__all_sync", mask, vote != 0, Smaller()));
}
inline uint32_t __reduce_add_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_add_sync", mask, value, parley::cuda::emulator::Sum());
}
inline uint32_t __reduce_max_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_max_sync", mask, value, parley::cuda::emulator::Larger());
}
inline uint32_t __reduce_min_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_min_sync", mask, value, parley::cuda::emulator::Smaller());
}
inline uint32_t __reduce_or_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_or_sync", mask, value, parley::cuda::emulator::Or());
}

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_WARP_WORDS_H_
