// The factor of a row in RMSNorm: every kernel that normalises uses this order of summation, so that a row's
// norm has the same bits everywhere.
//
// Lane l of a warp sums the squares of a row's columns 4 l .. 4 l + 3 in steps of 128, each by fmaf, in
// order. The lanes are then joined over 16, 8, 4, 2 and 1.
#ifndef PARLEY_KERNELS_CUDA_RMS_CUH_
#define PARLEY_KERNELS_CUDA_RMS_CUH_

#include <cmath>
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"

namespace parley::cuda {

__device__ __forceinline__ bool IsAligned16(const void* place) {
  return (reinterpret_cast<uintptr_t>(place) & 15) == 0;
}

// The sum over all lanes of a warp, in every lane.
__device__ __forceinline__ float SumOfLanes(float value) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}

// The factor from the lanes' sums of squares.
__device__ __forceinline__ float RmsFactorOf(float sum, uint32_t width, float eps) {
  return 1.0f / sqrtf(SumOfLanes(sum) / static_cast<float>(width) + eps);
}

// 1 / sqrt(mean of squares + eps), in every lane. All lanes of the warp call it. Four values at once where
// the row lies at a multiple of 16 bytes.
__device__ __forceinline__ float RmsFactor(const float* row, uint32_t width, float eps) {
  const uint32_t lane = threadIdx.x % 32;
  float sum = 0;
  if (width % 4 == 0 && IsAligned16(row)) {
#pragma unroll 8
    for (uint32_t k = lane * 4; k < width; k += 128) {
      const float4 four = *reinterpret_cast<const float4*>(row + k);
      sum = fmaf(four.x, four.x, sum);
      sum = fmaf(four.y, four.y, sum);
      sum = fmaf(four.z, four.z, sum);
      sum = fmaf(four.w, four.w, sum);
    }
  } else {
    for (uint32_t begin = lane * 4; begin < width; begin += 128) {
      for (uint32_t k = begin; k < begin + 4 && k < width; k++) sum = fmaf(row[k], row[k], sum);
    }
  }
  return RmsFactorOf(sum, width, eps);
}

// A value of the row in its norm: always in this order.
__device__ __forceinline__ float Normed(float value, float factor, float weight) {
  return value * factor * weight;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RMS_CUH_
