// Slots: the neighbouring threads, kDim / 8 of them, that see the positions of a chunk in turn, a position at a time, for the query
// heads of one kv head. A slot has a softmax of its own, without a word to the others until all have seen theirs.
#ifndef PARLEY_KERNELS_CUDA_ATTENTION_SLOTS_CUH_
#define PARLEY_KERNELS_CUDA_ATTENTION_SLOTS_CUH_

#include "kernels/cuda/attention/head_share.cuh"
#include "kernels/cuda/attention/seen_positions.cuh"

namespace parley::cuda {

// How a kernel's blocks are cut. It decides the order of sums, and so is the same for all rows of a head_dim and a format.
template <uint32_t kDim, class Cached>
struct AttendShape {
  static constexpr bool kIsHalf = sizeof(Cached) == 2;
  static constexpr uint32_t kWarps = kIsHalf ? 8 : 4;
  static constexpr uint32_t kThreads = kWarps * 32;
  static constexpr uint32_t kSlots = kThreads / HeadShare<kDim>::kThreads;
  static constexpr uint32_t kSlotsOfWarp = 32 / HeadShare<kDim>::kThreads;
  // Positions of a slot that are loaded before the first is used. Those of 128 dimensions in f32 are a code predictor's, 16 before the
  // row's own; of 64 a codec's, 71 before it.
  static constexpr uint32_t kAhead = kIsHalf ? 4 : kDim == 128 ? 2 : 5;
  static constexpr uint32_t kBlocks = kIsHalf ? 2 : kDim == 128 ? 4 : 3;  // at once on a multiprocessor, at the least
};

// One kv head of a stream's cache, at a thread's share of it.
template <uint32_t kDim, class Cached>
struct CachedHead {
  Cached *keys, *values;
  uint32_t pitch;     // from position to position
  uint32_t capacity;  // positions

  __device__ __forceinline__ uint32_t Wrapped(uint32_t row) const { return row >= capacity ? row - capacity : row; }
};

// What a slot loads at once of keys or of values.
template <uint32_t kDim, class Cached>
struct SlotLoads {
  using Shape = AttendShape<kDim, Cached>;
  CachedShare<kDim, Cached> shares[Shape::kAhead];

  __device__ __forceinline__ static uint32_t Slot() { return threadIdx.x / HeadShare<kDim>::kThreads; }

  // Of `array` the slot's first positions of the span. Beyond its end the last one again, so that no thread goes another way; nothing
  // where all slots are beyond it.
  __device__ __forceinline__ void Load(const CachedHead<kDim, Cached>& head, const Cached* array, const Span& span) {
#pragma unroll
    for (uint32_t i = 0; i < Shape::kAhead; i++) {
      if (i * Shape::kSlots >= span.count) continue;
      const uint32_t j = i * Shape::kSlots + Slot(), row = span.row + (j < span.count ? j : span.count - 1);
      shares[i].Load(array + static_cast<size_t>(head.Wrapped(row)) * head.pitch);
    }
  }
};

template <uint32_t kDim, uint32_t kGroup, class Cached>
struct SlotState {
  using Shape = AttendShape<kDim, Cached>;
  using Loads = SlotLoads<kDim, Cached>;
  using Queries = HeadShare<kDim>[kGroup];

  float largest[kGroup];
  float sums[kGroup];
  float values[kGroup][8];

  __device__ __forceinline__ void Clear() {
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      largest[g] = -INFINITY;
      sums[g] = 0;
#pragma unroll
      for (int i = 0; i < 8; i++) values[g][i] = 0;
    }
  }

  // Scores of what is loaded of `count` positions; -infinity beyond. Whole warps call it.
  __device__ __forceinline__ static void Score(const Queries& queries, const Loads& keys, uint32_t count,
                                               float (&scores)[Shape::kAhead][kGroup]) {
#pragma unroll
    for (uint32_t i = 0; i < Shape::kAhead; i++) {
#pragma unroll
      for (uint32_t g = 0; g < kGroup; g++) scores[i][g] = -INFINITY;
      if (i * Shape::kSlots >= count) continue;
      const bool is_there = i * Shape::kSlots + Loads::Slot() < count;
      float key[8];
      keys.shares[i].Unpack(key);
#pragma unroll
      for (uint32_t g = 0; g < kGroup; g++) {
        const float score = queries[g].Dot(key);
        if (is_there) scores[i][g] = score;
      }
    }
  }

  // Scores to weights, relative to the largest one so far.
  __device__ __forceinline__ void Weigh(float (&scores)[Shape::kAhead][kGroup], uint32_t count) {
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      float most = largest[g];
#pragma unroll
      for (uint32_t i = 0; i < Shape::kAhead; i++) most = fmaxf(most, scores[i][g]);
      const float own = Rescaling(largest[g], most);
      largest[g] = most;
      sums[g] *= own;
#pragma unroll
      for (int i = 0; i < 8; i++) values[g][i] *= own;
#pragma unroll
      for (uint32_t i = 0; i < Shape::kAhead; i++) {
        if (i * Shape::kSlots >= count) continue;
        scores[i][g] = Rescaling(scores[i][g], most);
        sums[g] += scores[i][g];
      }
    }
  }

  __device__ __forceinline__ void Add(const float (&weights)[Shape::kAhead][kGroup], const Loads& loads, uint32_t count) {
#pragma unroll
    for (uint32_t i = 0; i < Shape::kAhead; i++) {
      if (i * Shape::kSlots >= count) continue;
      float value[8];
      loads.shares[i].Unpack(value);
#pragma unroll
      for (uint32_t g = 0; g < kGroup; g++) {
#pragma unroll
        for (int k = 0; k < 8; k++) values[g][k] = fmaf(weights[i][g], value[k], values[g][k]);
      }
    }
  }

  // All slots of a warp become one, in each of them.
  __device__ __forceinline__ void JoinWarp() {
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
#pragma unroll
      for (uint32_t apart = HeadShare<kDim>::kThreads; apart < 32; apart *= 2) {
        const float most = fmaxf(largest[g], __shfl_xor_sync(0xffffffffu, largest[g], apart));
        const float own = Rescaling(largest[g], most);
        largest[g] = most;
        sums[g] *= own;
        sums[g] += __shfl_xor_sync(0xffffffffu, sums[g], apart);
#pragma unroll
        for (int i = 0; i < 8; i++) {
          values[g][i] *= own;
          values[g][i] += __shfl_xor_sync(0xffffffffu, values[g][i], apart);
        }
      }
    }
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ATTENTION_SLOTS_CUH_
