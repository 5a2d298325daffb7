// Sums over time for the speaker encoder, which runs once per voice. One block handles 32 channels; its warps
// take rows in turn. Sums are doubles, joined in the order of the warps.
#ifndef PARLEY_KERNELS_CUDA_STATISTICS_CUH_
#define PARLEY_KERNELS_CUDA_STATISTICS_CUH_

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"

namespace parley::cuda {

constexpr uint32_t kTimeWarps = 8;

struct StatisticsArgs {
  const float* x;
  const float* weights;  // or none
  const uint32_t* rows;
  uint32_t channels, stride;
  float floor;
  float* mean;
  float* deviation;  // or none
};

// Sums each lane's channel over all warps; every warp gets the result. All threads of the block call it.
__device__ inline double SumOfWarps(double value) {
  __shared__ double sums[kTimeWarps][32];
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  __syncthreads();
  sums[warp][lane] = value;
  __syncthreads();
  double sum = 0;
  for (uint32_t w = 0; w < kTimeWarps; w++) sum += sums[w][lane];
  return sum;
}

static __global__ void __launch_bounds__(kTimeWarps * 32) StatisticsKernel(const StatisticsArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const uint32_t rows = *args.rows, warp = threadIdx.x / 32, channel = blockIdx.x * 32 + threadIdx.x % 32;
  const bool there = channel < args.channels;
  const double even = 1.0 / static_cast<double>(rows);
  const auto weight = [&](size_t i) {
    return args.weights != nullptr ? static_cast<double>(args.weights[i]) : even;
  };
  double sum = 0, squares = 0;
  for (uint32_t t = warp; there && t < rows; t += kTimeWarps) {
    const size_t i = static_cast<size_t>(t) * args.stride + channel;
    sum += weight(i) * static_cast<double>(args.x[i]);
  }
  const double mean = SumOfWarps(sum);
  if (warp == 0 && there) args.mean[channel] = static_cast<float>(mean);
  if (args.deviation == nullptr) return;
  for (uint32_t t = warp; there && t < rows; t += kTimeWarps) {
    const size_t i = static_cast<size_t>(t) * args.stride + channel;
    const double off = static_cast<double>(args.x[i]) - mean;
    squares += weight(i) * off * off;
  }
  const double variance = SumOfWarps(squares), floor = args.floor;
  if (warp == 0 && there)
    args.deviation[channel] = static_cast<float>(sqrt(variance > floor ? variance : floor));
}

inline void EnqueueStatistics(Queue& queue, const float* x, const float* weights, size_t rows,
                              size_t channels, size_t stride, float floor, float* mean, float* deviation) {
  if (channels == 0) return;
  const auto count = static_cast<uint32_t>(rows);
  Grid grid;
  grid.x = static_cast<uint32_t>((channels + 31) / 32);
  grid.threads = kTimeWarps * 32;
  queue.Launch<&StatisticsKernel>(
      grid, StatisticsArgs{x, weights, queue.Data(count), static_cast<uint32_t>(channels),
                           static_cast<uint32_t>(stride), floor, mean, deviation});
}

struct SoftmaxOverTimeArgs {
  float* x;
  const uint32_t* rows;
  uint32_t channels, stride;
};

static __global__ void __launch_bounds__(kTimeWarps * 32)
    SoftmaxOverTimeKernel(const SoftmaxOverTimeArgs args) {
  __shared__ float largest[kTimeWarps][32];
  GridDependencyWait();
  LaunchDependents();
  const uint32_t rows = *args.rows, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t channel = blockIdx.x * 32 + lane;
  const bool there = channel < args.channels;
  float most = -INFINITY;
  for (uint32_t t = warp; there && t < rows; t += kTimeWarps) {
    most = fmaxf(most, args.x[static_cast<size_t>(t) * args.stride + channel]);
  }
  largest[warp][lane] = most;
  __syncthreads();
  for (uint32_t w = 0; w < kTimeWarps; w++) most = fmaxf(most, largest[w][lane]);
  double sum = 0;
  for (uint32_t t = warp; there && t < rows; t += kTimeWarps) {
    sum += exp(static_cast<double>(args.x[static_cast<size_t>(t) * args.stride + channel]) -
               static_cast<double>(most));
  }
  const double total = SumOfWarps(sum);
  for (uint32_t t = warp; there && t < rows; t += kTimeWarps) {
    float& value = args.x[static_cast<size_t>(t) * args.stride + channel];
    value = static_cast<float>(exp(static_cast<double>(value) - static_cast<double>(most)) / total);
  }
}

inline void EnqueueSoftmaxOverTime(Queue& queue, float* x, size_t rows, size_t channels, size_t stride) {
  if (channels == 0) return;
  const auto count = static_cast<uint32_t>(rows);
  Grid grid;
  grid.x = static_cast<uint32_t>((channels + 31) / 32);
  grid.threads = kTimeWarps * 32;
  queue.Launch<&SoftmaxOverTimeKernel>(
      grid, SoftmaxOverTimeArgs{x, queue.Data(count), static_cast<uint32_t>(channels),
                                static_cast<uint32_t>(stride)});
}

// Rows of adaptive norms: what an element meets lies `stride` floats after that of the row before.
struct AdaptiveArgs {
  float* y;
  const float *x, *shift, *factor;
  const uint32_t* rows;
  uint32_t width, stride;
};

// y = y (1 + factor) + shift, or without shifts y += factor x.
static __global__ void AdaptiveKernel(const AdaptiveArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const uint32_t rows = *args.rows;
  for (uint32_t r = blockIdx.x; r < rows; r += gridDim.x) {
    for (uint32_t c = threadIdx.x; c < args.width; c += blockDim.x) {
      const size_t i = static_cast<size_t>(r) * args.width + c, p = static_cast<size_t>(r) * args.stride + c;
      args.y[i] = args.shift != nullptr ? args.y[i] * (1 + args.factor[p]) + args.shift[p]
                                        : args.y[i] + args.factor[p] * args.x[i];
    }
  }
}

inline void EnqueueAdaptive(Queue& queue, AdaptiveArgs args, size_t rows) {
  if (rows == 0) return;
  Grid grid;
  grid.x = static_cast<uint32_t>(BucketOf(rows) < 2048 ? BucketOf(rows) : 2048);
  grid.threads = 128;
  args.rows = queue.Data(static_cast<uint32_t>(rows));
  queue.Launch<&AdaptiveKernel>(grid, args);
}

inline void EnqueueModulate(Queue& queue, const float* shift, const float* scale, size_t rows, size_t width,
                            size_t stride, float* x) {
  EnqueueAdaptive(
      queue, {x, nullptr, shift, scale, nullptr, static_cast<uint32_t>(width), static_cast<uint32_t>(stride)},
      rows);
}

inline void EnqueueAddGated(Queue& queue, const float* x, const float* gate, size_t rows, size_t width,
                            size_t stride, float* y) {
  EnqueueAdaptive(queue,
                  {y, x, nullptr, gate, nullptr, static_cast<uint32_t>(width), static_cast<uint32_t>(stride)},
                  rows);
}

struct AddScaledArgs {
  float* y;
  const float* x;
  const float* gain;
  const uint32_t* rows;
  uint32_t channels;
};

static __global__ void AddScaledKernel(const AddScaledArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const uint32_t rows = *args.rows;
  for (uint32_t t = blockIdx.x; t < rows; t += gridDim.x) {
    for (uint32_t c = threadIdx.x; c < args.channels; c += blockDim.x) {
      const size_t i = static_cast<size_t>(t) * args.channels + c;
      args.y[i] = args.y[i] + args.x[i] * args.gain[c];
    }
  }
}

inline void EnqueueAddScaled(Queue& queue, float* y, const float* x, const float* gain, size_t rows,
                             size_t channels) {
  if (rows == 0) return;
  const auto count = static_cast<uint32_t>(rows);
  Grid grid;
  grid.x = static_cast<uint32_t>(BucketOf(rows) < 2048 ? BucketOf(rows) : 2048);
  grid.threads = 128;
  queue.Launch<&AddScaledKernel>(
      grid, AddScaledArgs{y, x, gain, queue.Data(count), static_cast<uint32_t>(channels)});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_STATISTICS_CUH_
