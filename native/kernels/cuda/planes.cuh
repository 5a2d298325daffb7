// Gathers the windows of convolutions over planes of frames and bands (im2col): 3 x 3 taps, stride 2 and a
// border of zeros. A thread copies four columns of a window.
#ifndef PARLEY_KERNELS_CUDA_PLANES_CUH_
#define PARLEY_KERNELS_CUDA_PLANES_CUH_

#include <cstdint>
#include <stdexcept>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/kernels.h"

namespace parley::cuda {

constexpr uint32_t kPlaneThreads = 256;

struct PlaneCounts {
  uint32_t planes, frames;
};

struct PlaneArgs {
  const float* x;
  float* y;
  const PlaneCounts* counts;
  uint32_t bands, channels;
  uint32_t columns;   // of a window; a multiple of 4
  uint32_t in_fours;  // channels and x are multiples of four: four columns are of one tap
};

// A window: the frame and the band of its first tap are one more than those of the plane.
struct PlaneWindow {
  const PlaneArgs& args;
  const float* plane;
  uint32_t frames, frame, band;

  // Returns the address of column `column` in the plane, or null in the border and beyond the taps.
  __device__ __forceinline__ const float* At(uint32_t column) const {
    constexpr auto kTaps = static_cast<uint32_t>(Kernels::kPlaneTaps);
    const uint32_t tap = column / args.channels, channel = column - tap * args.channels;
    const uint32_t t = frame + tap / kTaps, b = band + tap % kTaps;
    if (tap >= kTaps * kTaps || t == 0 || t > frames || b == 0 || b > args.bands) return nullptr;
    return plane + (static_cast<uint64_t>(t - 1) * args.bands + (b - 1)) * args.channels + channel;
  }
  __device__ __forceinline__ float Value(uint32_t column) const {
    const float* const at = At(column);
    return at == nullptr ? 0.0f : *at;
  }
};

static __global__ void __launch_bounds__(kPlaneThreads) GatherPlanesKernel(const PlaneArgs args) {
  LaunchDependents();
  GridDependencyWait();
  const PlaneCounts counts = *args.counts;
  const uint32_t fours = args.columns / 4, of = blockIdx.x * kPlaneThreads + threadIdx.x;
  const uint32_t index = of / fours, column = (of - index * fours) * 4;
  const uint32_t out_frames = (counts.frames + 1) / 2, out_bands = (args.bands + 1) / 2;
  const uint32_t row = index / out_bands, plane = row / out_frames;
  if (plane >= counts.planes) return;
  const PlaneWindow window{args,
                           args.x + static_cast<uint64_t>(plane) * counts.frames * args.bands * args.channels,
                           counts.frames, (row - plane * out_frames) * 2, (index - row * out_bands) * 2};
  float4 four = make_float4(0, 0, 0, 0);
  if (args.in_fours != 0) {
    const float* const at = window.At(column);
    if (at != nullptr) four = *reinterpret_cast<const float4*>(at);
  } else {
    four = make_float4(window.Value(column), window.Value(column + 1), window.Value(column + 2),
                       window.Value(column + 3));
  }
  *reinterpret_cast<float4*>(args.y + static_cast<uint64_t>(index) * args.columns + column) = four;
}

// Kernels::GatherPlanes. y lies at a multiple of 16 bytes.
inline void EnqueueGatherPlanes(Queue& queue, const float* x, const Planes& planes, float* y) {
  const size_t windows = planes.count * Kernels::HalfOf(planes.frames) * Kernels::HalfOf(planes.bands);
  if (windows == 0) return;
  const size_t columns = Kernels::PlaneColumns(planes.channels), threads = BucketOf(windows) * (columns / 4);
  if (threads > UINT32_MAX) throw std::invalid_argument("more windows of planes than a grid has threads");
  if (!IsAligned16(y)) throw std::invalid_argument("windows of planes lie at no multiple of 16 bytes");
  const PlaneCounts counts{static_cast<uint32_t>(planes.count), static_cast<uint32_t>(planes.frames)};
  Grid grid;
  grid.x = static_cast<uint32_t>((threads + kPlaneThreads - 1) / kPlaneThreads);
  grid.threads = kPlaneThreads;
  queue.Launch<&GatherPlanesKernel>(
      grid, PlaneArgs{x, y, queue.Data(counts), static_cast<uint32_t>(planes.bands),
                      static_cast<uint32_t>(planes.channels), static_cast<uint32_t>(columns),
                      planes.channels % 4 == 0 && IsAligned16(x) ? 1u : 0u});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PLANES_CUH_
