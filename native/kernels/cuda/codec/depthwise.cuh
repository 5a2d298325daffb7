// Depthwise causal convolutions with state, on input that was spread into rows, or that is spread on the way.
#ifndef PARLEY_KERNELS_CUDA_DEPTHWISE_CUH_
#define PARLEY_KERNELS_CUDA_DEPTHWISE_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/codec/convolutions.cuh"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"

namespace parley::cuda {

struct DepthwiseArgs {
  const float* weights;  // [taps, channels]
  const float* bias;
  float* y;
  VectorsView x;
  uint32_t channels, taps;
};

// A value each: the taps are added to the bias in their order, by fmaf, as on the CPU.
static __global__ void __launch_bounds__(256) ConvolveChannels(DepthwiseArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const VectorCounts counts = *args.x.counts;
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= static_cast<uint64_t>(counts.vectors) * args.channels) return;
  const auto position = static_cast<uint32_t>(i / args.channels),
             channel = static_cast<uint32_t>(i % args.channels);
  const float* from = VectorAt(args.x, counts, position) + channel;
  const float* weight = args.weights + channel;
  float sum = args.bias != nullptr ? args.bias[channel] : 0;
  for (uint32_t tap = 0; tap < args.taps; tap++, from += args.channels, weight += args.channels) {
    sum = fmaf(*weight, *from, sum);
  }
  args.y[i] = sum;
}

inline void EnqueueConvolveDepthwise(Queue& queue, const float* weights, const float* bias, size_t channels,
                                     size_t taps, const Stretch* streams, size_t count, float* y) {
  EnqueueJoin(queue, streams, count, taps - 1, channels);
  const Vectors shape{nullptr, 0, channels, taps * channels, 1, 0};
  const LaidVectors windows = LayStretches(queue, streams, count, taps - 1, shape);
  if (windows.bucket == 0 || channels == 0) return;
  const DepthwiseArgs args{
      weights, bias, y, windows.view, static_cast<uint32_t>(channels), static_cast<uint32_t>(taps)};
  Grid grid;
  grid.x = static_cast<uint32_t>(BlocksOf(windows.bucket * channels, 256));
  grid.threads = 256;
  queue.Launch<ConvolveChannels>(grid, args);
}

// Weights [taps, channels] and bias [channels] or none.
struct Depthwise {
  const float* weights;
  const float* bias;
  size_t channels, taps;
};

// The new positions of a stream: `first` is where they begin among those of all.
struct DepthwiseStream {
  float* tail;
  uint32_t first, count;
};

struct SpreadDepthwiseArgs {
  const float* x;
  const float* weights;
  const float* bias;
  float* y;
  const DepthwiseStream* streams;
  const uint32_t* count;  // number of streams
  uint32_t channels, taps;
};

constexpr uint32_t kChannelsOfBlock = 32, kLines = 8;
constexpr uint32_t kTapsAtOnce = 8;

// One channel of a stream.
struct StreamChannel {
  const float* x;  // its first new position
  float* tail;
  uint32_t channels, past, count;

  // Value i of the past, then of the new positions; 0 unless `wanted`.
  __device__ __forceinline__ float At(uint32_t i, bool wanted) const {
    if (!wanted) return 0;
    return i < past ? tail[i * channels] : x[static_cast<uint64_t>(i - past) * channels];
  }
  // New value at place i of the tail.
  __device__ __forceinline__ float Following(uint32_t i) const { return At(i + count, i < past); }
};

__device__ __forceinline__ float SumOfTaps(const SpreadDepthwiseArgs& args, const StreamChannel& own,
                                           uint32_t position, uint32_t channel) {
  float sum = args.bias != nullptr ? args.bias[channel] : 0;
  for (uint32_t first = 0; first < args.taps; first += kTapsAtOnce) {
    float x[kTapsAtOnce], w[kTapsAtOnce];
#pragma unroll
    for (uint32_t n = 0; n < kTapsAtOnce; n++) {
      const uint32_t tap = first + n;
      x[n] = own.At(position + tap, tap < args.taps);
      w[n] = tap < args.taps ? args.weights[tap * args.channels + channel] : 0;
    }
#pragma unroll
    for (uint32_t n = 0; n < kTapsAtOnce; n++) {
      if (first + n < args.taps) sum = fmaf(w[n], x[n], sum);
    }
  }
  return sum;
}

// A block has so many channels of one stream, all its positions, in kLines lines. The tail is written kLines
// places at a time, upwards, each when all have read it: what one becomes lies further on.
static __global__ void __launch_bounds__(kChannelsOfBlock* kLines)
    ConvolveStreamChannels(const SpreadDepthwiseArgs args) {
  LaunchDependents();
  const DepthwiseStream stream = args.streams[blockIdx.y];  // there is room for some beyond the count
  const uint32_t channel = blockIdx.x * kChannelsOfBlock + threadIdx.x % kChannelsOfBlock,
                 line = threadIdx.x / kChannelsOfBlock;
  const bool is_one = blockIdx.y < *args.count && channel < args.channels;
  GridDependencyWait();
  if (!is_one) return;
  const uint64_t begin = static_cast<uint64_t>(stream.first) * args.channels + channel;
  const StreamChannel own{args.x + begin, stream.tail + channel, args.channels, args.taps - 1, stream.count};
  float following = own.Following(line);
  for (uint32_t position = line; position < own.count; position += kLines) {
    args.y[begin + static_cast<uint64_t>(position) * args.channels] = SumOfTaps(args, own, position, channel);
  }
  for (uint32_t i = line; i < own.past + line; i += kLines) {
    __syncthreads();
    if (i < own.past) own.tail[i * args.channels] = following;
    following = own.Following(i + kLines);
  }
}

inline void EnqueueSpreadDepthwise(Queue& queue, const float* x, const Depthwise& w, const Stretch* streams,
                                   size_t count, float* y) {
  const auto its = queue.DataRoom<DepthwiseStream>(BucketOf(count));
  uint32_t some = 0, first = 0;
  for (size_t s = 0; s < count; s++) {
    const auto positions = static_cast<uint32_t>(streams[s].count);
    if (positions > 0) its.host[some++] = {streams[s].tail, first, positions};
    first += positions;
  }
  if (some == 0 || w.channels == 0) return;
  Grid grid;
  grid.threads = kChannelsOfBlock * kLines;
  grid.x = static_cast<uint32_t>(BlocksOf(w.channels, kChannelsOfBlock));
  grid.y = static_cast<uint32_t>(BucketOf(some));
  queue.Launch<&ConvolveStreamChannels>(
      grid, SpreadDepthwiseArgs{x, w.weights, w.bias, y, its.device, queue.Data(some),
                                static_cast<uint32_t>(w.channels), static_cast<uint32_t>(w.taps)});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_DEPTHWISE_CUH_
