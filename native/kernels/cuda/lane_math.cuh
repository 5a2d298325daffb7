// e^x, sin(x)^2, snake and silu by the very operations that the CPU backend defines them by
// (kernels/cpu/lane_math.h); and the other activations.
#ifndef PARLEY_KERNELS_CUDA_LANE_MATH_CUH_
#define PARLEY_KERNELS_CUDA_LANE_MATH_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/kernels.h"

namespace parley::cuda {

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
