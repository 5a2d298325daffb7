// e^x, sin(x)^2, snake and silu by the operations that define them on the CPU (kernels/cpu/lane_math.h),
// the other activations, and the factor of a row in RMSNorm.
#ifndef PARLEY_KERNELS_CUDA_LANE_MATH_CUH_
#define PARLEY_KERNELS_CUDA_LANE_MATH_CUH_

#include <cmath>
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/kernels.h"

namespace parley::cuda {

// The factor of a row in RMSNorm: every kernel that normalises uses this order of summation, so that a row's
// norm has the same bits everywhere.
//
// Lane l of a warp sums the squares of a row's columns 4 l .. 4 l + 3 in steps of 128, each by fmaf, in
// order. The lanes are then joined over 16, 8, 4, 2 and 1.
__host__ __device__ __forceinline__ bool IsAligned16(const void* place) {
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

__device__ __forceinline__ float LaneExp(float x) {
  x = -87.3f > x ? -87.3f : x;  // in this order NaN passes
  x = 88.3f < x ? 88.3f : x;
  const float n = rintf(x * 1.44269504f);
  float r = fmaf(n, -0.693359375f, x);
  r = fmaf(n, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = fmaf(p, r, 1.3981999507e-3f);
  p = fmaf(p, r, 8.3334519073e-3f);
  p = fmaf(p, r, 4.1665795894e-2f);
  p = fmaf(p, r, 1.6666665459e-1f);
  p = fmaf(p, r, 5.0000001201e-1f);
  p = fmaf(p, r * r, r + 1.0f);
  if (n != n) return n;
  return p * __uint_as_float(static_cast<uint32_t>(static_cast<int>(n) + 127) << 23);
}

__device__ __forceinline__ float SineSquared(float x) {
  const float n = rintf(x * 0.318309886f);
  float r = fmaf(n, -3.140625f, x);
  r = fmaf(n, -9.67502593994140625e-4f, r);
  r = fmaf(n, -1.509957990978376e-7f, r);
  const float s = r * r;
  float p = 1.6059044e-10f;
  p = fmaf(p, s, -2.5052108e-8f);
  p = fmaf(p, s, 2.7557319e-6f);
  p = fmaf(p, s, -1.9841270e-4f);
  p = fmaf(p, s, 8.3333333e-3f);
  p = fmaf(p, s, -1.6666667e-1f);
  p = fmaf(p, s * r, r);
  const float square = p * p;
  return 1.0f < square ? 1.0f : square;
}

__device__ __forceinline__ float Snaked(float x, float a, float b) { return fmaf(SineSquared(x * a), b, x); }

__device__ __forceinline__ float LaneSilu(float x) { return x / (1.0f + LaneExp(0.0f - x)); }

template <Activation kActivation>
__device__ __forceinline__ float Activated(float v) {
  switch (kActivation) {
    case Activation::kSilu:
      return LaneSilu(v);
    case Activation::kGelu:
      return 0.5f * v * (1.0f + erff(v * 0.70710678f));
    case Activation::kGeluTanh:  // 1 + tanh(u) = 2 / (1 + exp(-2 u))
      return v / (1.0f + LaneExp(-1.59576912f * fmaf(0.044715f * v * v, v, v)));
    case Activation::kElu:
      return v > 0 ? v : expm1f(v);
    case Activation::kRelu:
      return v < 0 ? 0.0f : v;  // NaN stays
    case Activation::kTanh:
      return tanhf(v);
    case Activation::kSigmoid:
      return 1.0f / (1.0f + expf(-v));
  }
  return v;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LANE_MATH_CUH_
