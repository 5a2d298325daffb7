// A head among neighbouring threads: thread s of kDim / 8 has dimensions 4 s .. 4 s + 3 of its first half, then the same of its
// second, so that the pairs that are rotated together lie in one thread and neighbours read neighbouring bytes.
//
// Norm, rotation and rounding give the bits that PrepareHead gives.
#ifndef PARLEY_KERNELS_CUDA_HEAD_SHARE_CUH_
#define PARLEY_KERNELS_CUDA_HEAD_SHARE_CUH_

#include "kernels/cuda/norms.cuh"
#include "kernels/number_formats.h"

namespace parley::cuda {

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
  // What this thread has of a head to where the whole is.
  __device__ __forceinline__ static void Put(float4* head, const float (&v)[8]) {
    head[First() / 4] = make_float4(v[0], v[1], v[2], v[3]);
    head[(kDim / 2 + First()) / 4] = make_float4(v[4], v[5], v[6], v[7]);
  }
  // The same by all threads that have the same share.
  __device__ __forceinline__ static void PutSame(float4* head, const float (&v)[8]) {
    StoreSame(head + First() / 4, make_float4(v[0], v[1], v[2], v[3]));
    StoreSame(head + (kDim / 2 + First()) / 4, make_float4(v[4], v[5], v[6], v[7]));
  }

  // As RmsFactor sums: four columns in their order, then over 16 lanes of four columns, 8, ... Whole warps call it.
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

  // Of the whole heads, in every thread of them. Whole warps call it.
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

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_HEAD_SHARE_CUH_
