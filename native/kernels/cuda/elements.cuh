// Elementwise kernels. A thread handles four adjacent values, with one vector load where they are aligned to
// 16 bytes.
#ifndef PARLEY_KERNELS_CUDA_ELEMENTS_CUH_
#define PARLEY_KERNELS_CUDA_ELEMENTS_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/kernels.h"

namespace parley::cuda {

constexpr uint32_t kElementThreads = 256;
constexpr uint32_t kElementsOfBlock = 4 * kElementThreads;

// One value for each of so many, in x.
inline Grid ElementGrid(size_t values) {
  if (values > UINT32_MAX) throw std::invalid_argument("more than 2^32 - 1 values at once");
  Grid grid;
  grid.threads = kElementThreads;
  grid.x = static_cast<uint32_t>(BucketOf((values + kElementsOfBlock - 1) / kElementsOfBlock));
  return grid;
}

__device__ __forceinline__ bool AtFours(const void* a, const void* b) {
  return ((reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b)) & 15) == 0;
}

// The first of this thread's four.
__device__ __forceinline__ uint32_t FirstElement() { return blockIdx.x * kElementsOfBlock + threadIdx.x * 4; }

// y[i] = function(i, x[i], y[i]) for this thread's values below count; y may be x.
template <class Function>
__device__ __forceinline__ void EachOfFour(const float* x, float* y, uint32_t count, Function function) {
  const uint32_t first = FirstElement();
  if (first >= count) return;
  if (count - first >= 4 && AtFours(x, y)) {
    const float4 in = *reinterpret_cast<const float4*>(x + first),
                 old = *reinterpret_cast<const float4*>(y + first);
    *reinterpret_cast<float4*>(y + first) =
        make_float4(function(first, in.x, old.x), function(first + 1, in.y, old.y),
                    function(first + 2, in.z, old.z), function(first + 3, in.w, old.w));
    return;
  }
  for (uint32_t i = first; i < count && i < first + 4; i++) y[i] = function(i, x[i], y[i]);
}

struct ElementArgs {
  const float* x;
  float* y;
  const uint32_t* count;
  float lowest, highest;  // for Clamp
};

template <Activation kActivation>
static __global__ void __launch_bounds__(kElementThreads) ActivateKernel(const ElementArgs args) {
  GridDependencyWait();
  LaunchDependents();
  EachOfFour(args.x, args.y, *args.count, [](uint32_t, float v, float) { return Activated<kActivation>(v); });
}

static __global__ void __launch_bounds__(kElementThreads) AddKernel(const ElementArgs args) {
  GridDependencyWait();
  LaunchDependents();
  EachOfFour(args.x, args.y, *args.count, [](uint32_t, float v, float y) { return y + v; });
}

static __global__ void __launch_bounds__(kElementThreads) ClampKernel(const ElementArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const float lowest = args.lowest, highest = args.highest;
  EachOfFour(args.x, args.y, *args.count, [=](uint32_t, float v, float) {
    return v < lowest    ? lowest + (v - v)
           : v > highest ? highest + (v - v)
                         : v;  // v - v is 0, or NaN where v is infinite
  });
}

template <Activation kActivation>
void EnqueueActivation(Queue& queue, const Grid& grid, const ElementArgs& args) {
  queue.Launch<&ActivateKernel<kActivation>>(grid, args);
}

inline ElementArgs ElementArgsOf(Queue& queue, const float* x, float* y, size_t count) {
  return {x, y, queue.Data(static_cast<uint32_t>(count)), 0, 0};
}

inline void EnqueueActivate(Queue& queue, Activation activation, float* x, size_t count) {
  if (count == 0) return;
  const Grid grid = ElementGrid(count);
  const ElementArgs args = ElementArgsOf(queue, x, x, count);
  switch (activation) {
    case Activation::kSilu:
      return EnqueueActivation<Activation::kSilu>(queue, grid, args);
    case Activation::kGelu:
      return EnqueueActivation<Activation::kGelu>(queue, grid, args);
    case Activation::kElu:
      return EnqueueActivation<Activation::kElu>(queue, grid, args);
    case Activation::kRelu:
      return EnqueueActivation<Activation::kRelu>(queue, grid, args);
    case Activation::kTanh:
      return EnqueueActivation<Activation::kTanh>(queue, grid, args);
    case Activation::kSigmoid:
      return EnqueueActivation<Activation::kSigmoid>(queue, grid, args);
  }
}

inline void EnqueueAdd(Queue& queue, float* y, const float* x, size_t count) {
  if (count == 0) return;
  const Grid grid = ElementGrid(count);
  queue.Launch<&AddKernel>(grid, ElementArgsOf(queue, x, y, count));
}

inline void EnqueueClamp(Queue& queue, float* x, size_t count, float lowest, float highest) {
  if (count == 0) return;
  const Grid grid = ElementGrid(count);
  ElementArgs args = ElementArgsOf(queue, x, x, count);
  args.lowest = lowest;
  args.highest = highest;
  queue.Launch<&ClampKernel>(grid, args);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ELEMENTS_CUH_
