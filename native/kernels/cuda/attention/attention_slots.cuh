// A slot is a group of kDim / 8 adjacent threads. The slots visit the positions of a chunk in turn, one
// position at a time, for the query heads of one kv head. Each slot keeps an online softmax of its own; slots
// are joined only at the end.
#ifndef PARLEY_KERNELS_CUDA_ATTENTION_SLOTS_CUH_
#define PARLEY_KERNELS_CUDA_ATTENTION_SLOTS_CUH_

#include "kernels/cuda/attention/seen_positions.cuh"
#include "kernels/cuda/norms.cuh"
#include "kernels/number_formats.h"

namespace parley::cuda {

// A head is spread over neighbouring threads: thread s of kDim / 8 has dimensions 4 s .. 4 s + 3 of its first
// half, then the same of its second, so that the pairs that are rotated together lie in one thread and
// neighbours read neighbouring bytes.
//
// Norm, rotation and rounding give the bits that PrepareHead gives.

// The sum over neighbouring threads, kThreads of them, in each.
template <uint32_t kThreads>
__device__ __forceinline__ float SumOfNeighbours(float sum) {
#pragma unroll
  for (uint32_t apart = kThreads / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  return sum;
}

template <uint32_t kDim>
struct HeadShare {
  static constexpr uint32_t kThreads = kDim / 8;

  float values[8];

  __device__ __forceinline__ static uint32_t First() { return 4 * (threadIdx.x % kThreads); }

  __device__ __forceinline__ void Load(const float* head) {
    const float4 low = *reinterpret_cast<const float4*>(head + First());
    const float4 high = *reinterpret_cast<const float4*>(head + kDim / 2 + First());
    values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
    values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
  }
  // Writes this thread's share to the whole head at `head`.
  __device__ __forceinline__ static void Put(float4* head, const float (&v)[8]) {
    head[First() / 4] = make_float4(v[0], v[1], v[2], v[3]);
    head[(kDim / 2 + First()) / 4] = make_float4(v[4], v[5], v[6], v[7]);
  }
  // As above, by all threads that have the same share.
  __device__ __forceinline__ static void PutSame(float4* head, const float (&v)[8]) {
    StoreSame(head + First() / 4, make_float4(v[0], v[1], v[2], v[3]));
    StoreSame(head + (kDim / 2 + First()) / 4, make_float4(v[4], v[5], v[6], v[7]));
  }

  // Sums in the order of RmsFactor: four columns in their order, then over 16 lanes of four columns, 8, ...
  // Whole warps call it.
  __device__ __forceinline__ void Norm(const HeadShare& weights, float eps) {
    float low = 0, high = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      low = fmaf(values[i], values[i], low);
      high = fmaf(values[4 + i], values[4 + i], high);
    }
    const float sum = SumOfNeighbours<kThreads>(low + high);
    const float factor = 1.0f / sqrtf(sum / static_cast<float>(kDim) + eps);
#pragma unroll
    for (int i = 0; i < 8; i++) values[i] = Normed(values[i], factor, weights.values[i]);
  }
  __device__ __forceinline__ void Norm(const float* weights, float eps) {
    HeadShare own;
    own.Load(weights);
    Norm(own, eps);
  }

  // angles: cosines, then sines.
  __device__ __forceinline__ void Rotate(const HeadShare& angles) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float2 turned = Rotated(values[i], values[4 + i], angles.values[i], angles.values[4 + i]);
      values[i] = turned.x;
      values[4 + i] = turned.y;
    }
  }

  // Dot product of the whole heads; each of their threads gets the result. Whole warps call it.
  __device__ __forceinline__ float Dot(const float (&other)[8]) const {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum = fmaf(values[i], other[i], sum);
    return SumOfNeighbours<kThreads>(sum);
  }
};

// A thread's share of a head as a cache has it.
template <uint32_t kDim, class Cached>
struct CachedShare {
  uint2 low, high;

  __device__ __forceinline__ static uint32_t Pack(float a, float b, Bf16) { return PackBf16(a, b); }
  __device__ __forceinline__ static uint32_t Pack(float a, float b, F16) { return PackF16(a, b); }
  __device__ __forceinline__ static float2 Unpack(uint32_t pair, Bf16) { return UnpackBf16(pair); }
  __device__ __forceinline__ static float2 Unpack(uint32_t pair, F16) { return UnpackF16(pair); }

  // `from`, `to`: the head, at the thread's First().
  __device__ __forceinline__ void Load(const Cached* from) {
    low = *reinterpret_cast<const uint2*>(from);
    high = *reinterpret_cast<const uint2*>(from + kDim / 2);
  }
  __device__ __forceinline__ void Store(Cached* to) const {
    *reinterpret_cast<uint2*>(to) = low;
    *reinterpret_cast<uint2*>(to + kDim / 2) = high;
  }
  // As other blocks do.
  __device__ __forceinline__ void StoreWithOthers(Cached* to) const {
    StoreSame(reinterpret_cast<uint2*>(to), low);
    StoreSame(reinterpret_cast<uint2*>(to + kDim / 2), high);
  }
  __device__ __forceinline__ void Round(const float (&from)[8]) {
    low = make_uint2(Pack(from[0], from[1], Cached{}), Pack(from[2], from[3], Cached{}));
    high = make_uint2(Pack(from[4], from[5], Cached{}), Pack(from[6], from[7], Cached{}));
  }
  __device__ __forceinline__ void Unpack(float (&to)[8]) const {
    const uint32_t pairs[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float2 two = Unpack(pairs[i], Cached{});
      to[2 * i] = two.x;
      to[2 * i + 1] = two.y;
    }
  }
};

template <uint32_t kDim>
struct CachedShare<kDim, float> {
  float4 low, high;

  __device__ __forceinline__ void Load(const float* from) {
    low = *reinterpret_cast<const float4*>(from);
    high = *reinterpret_cast<const float4*>(from + kDim / 2);
  }
  __device__ __forceinline__ void Store(float* to) const {
    *reinterpret_cast<float4*>(to) = low;
    *reinterpret_cast<float4*>(to + kDim / 2) = high;
  }
  __device__ __forceinline__ void StoreWithOthers(float* to) const {
    StoreSame(reinterpret_cast<float4*>(to), low);
    StoreSame(reinterpret_cast<float4*>(to + kDim / 2), high);
  }
  __device__ __forceinline__ void Round(const float (&from)[8]) {
    low = make_float4(from[0], from[1], from[2], from[3]);
    high = make_float4(from[4], from[5], from[6], from[7]);
  }
  __device__ __forceinline__ void Unpack(float (&to)[8]) const {
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
  }
};

// Launch shape of the attention kernel. It decides the order of sums, and so depends only on head_dim and the
// cache's format.
template <uint32_t kDim, class Cached>
struct AttendShape {
  static constexpr bool kIsHalf = sizeof(Cached) == 2;
  static constexpr uint32_t kWarps = kIsHalf ? 8 : 4;
  static constexpr uint32_t kThreads = kWarps * 32;
  static constexpr uint32_t kSlots = kThreads / HeadShare<kDim>::kThreads;
  static constexpr uint32_t kSlotsOfWarp = 32 / HeadShare<kDim>::kThreads;
  // Positions of a slot that are loaded before the first is used. f32 with 128 dimensions is a code
  // predictor, which has 16 positions before the row's own. f32 with 64 dimensions is a codec, which has 71.
  static constexpr uint32_t kAhead = kIsHalf ? 4 : kDim == 128 ? 2 : 5;
  static constexpr uint32_t kBlocks = kIsHalf       ? 2
                                      : kDim == 128 ? 4
                                                    : 3;  // at once on a multiprocessor, at the least
};

// One kv head of a stream's cache, at a thread's share of it.
template <uint32_t kDim, class Cached>
struct CachedHead {
  Cached *keys, *values;
  uint32_t pitch;     // from position to position
  uint32_t capacity;  // positions

  __device__ __forceinline__ uint32_t Wrapped(uint32_t row) const {
    return row >= capacity ? row - capacity : row;
  }
};

// A slot's loads in flight, of keys or of values.
template <uint32_t kDim, class Cached>
struct SlotLoads {
  using Shape = AttendShape<kDim, Cached>;
  CachedShare<kDim, Cached> shares[Shape::kAhead];

  __device__ __forceinline__ static uint32_t Slot() { return threadIdx.x / HeadShare<kDim>::kThreads; }

  // Loads the slot's first positions of the span from `array`. Past the span's end it repeats the last
  // position, so that threads do not diverge. Positions past the end for all slots are not loaded.
  __device__ __forceinline__ void Load(const CachedHead<kDim, Cached>& head, const Cached* array,
                                       const Span& span) {
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

  __device__ __forceinline__ void Add(const float (&weights)[Shape::kAhead][kGroup], const Loads& loads,
                                      uint32_t count) {
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
