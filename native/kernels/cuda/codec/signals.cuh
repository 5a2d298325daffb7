// Kernels that copy signals [rows, channels]: stretches, columns and padding, with snake applied on the way
// if given.
#ifndef PARLEY_KERNELS_CUDA_SIGNALS_CUH_
#define PARLEY_KERNELS_CUDA_SIGNALS_CUH_

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/elements.cuh"

namespace parley::cuda {

// A part of a signal that goes somewhere else.
struct Part {
  float* to;
  uint64_t first;  // index in the signal's values
  uint32_t values;
  uint32_t unused;
};

struct SpreadArgs {
  const float* x;
  const float* a;  // snake's, [channels], or null
  const float* b;
  const Part* parts;
  const uint32_t* count;  // number of parts
  uint32_t channels;
};

// A thread has kFours times four neighbouring values, all of which it asks for before it computes with the
// first.
template <uint32_t kFours>
static __global__ void __launch_bounds__(kElementThreads) SpreadKernel(const SpreadArgs args) {
  LaunchDependents();
  // There is room for parts beyond the count.
  const Part part = args.parts[blockIdx.y];
  const uint32_t first = blockIdx.x * (kFours * kElementsOfBlock) + threadIdx.x * 4;
  const bool is_one = blockIdx.y < *args.count;
  GridDependencyWait();
  if (!is_one || first >= part.values) return;
  const float* const x = args.x + part.first;
  const bool snakes = args.a != nullptr;
  const uint32_t step = kElementsOfBlock % args.channels;
  uint32_t c = first % args.channels;
  if (part.values % 4 == 0 && AtFours(x, part.to) &&
      (!snakes || (args.channels % 4 == 0 && AtFours(args.a, args.b)))) {
    float4 fours[kFours];
#pragma unroll
    for (uint32_t n = 0; n < kFours; n++) {
      const uint32_t at = first + n * kElementsOfBlock;
      if (at < part.values) fours[n] = *reinterpret_cast<const float4*>(x + at);
    }
#pragma unroll
    for (uint32_t n = 0; n < kFours; n++) {
      const uint32_t at = first + n * kElementsOfBlock;
      if (at >= part.values) return;
      float4 v = fours[n];
      if (snakes) {
        const float4 a = __ldg(reinterpret_cast<const float4*>(args.a + c)),
                     b = __ldg(reinterpret_cast<const float4*>(args.b + c));
        v = make_float4(Snaked(v.x, a.x, b.x), Snaked(v.y, a.y, b.y), Snaked(v.z, a.z, b.z),
                        Snaked(v.w, a.w, b.w));
      }
      *reinterpret_cast<float4*>(part.to + at) = v;
      c = c + step < args.channels ? c + step : c + step - args.channels;
    }
    return;
  }
  for (uint32_t n = 0; n < kFours; n++) {
    const uint32_t begin = first + n * kElementsOfBlock;
    for (uint32_t i = begin; i < part.values && i < begin + 4; i++) {
      const uint32_t channel = i % args.channels;
      part.to[i] = snakes ? Snaked(x[i], __ldg(args.a + channel), __ldg(args.b + channel)) : x[i];
    }
  }
}

// For at most kMostParts streams.
inline size_t EnqueueSome(Queue& queue, SpreadArgs args, const Stretch* streams, size_t count) {
  const auto parts = queue.DataRoom<Part>(BucketOf(count));
  size_t some = 0, longest = 0, done = 0;
  for (size_t s = 0; s < count; s++) {
    const size_t values = streams[s].count * args.channels;
    if (values > 0) parts.host[some++] = {streams[s].x, done, static_cast<uint32_t>(values), 0};
    done += values;
    longest = std::max(longest, values);
  }
  if (longest == 0) return 0;
  Grid grid = ElementGrid(longest);
  grid.y = static_cast<uint32_t>(BucketOf(some));
  args.parts = parts.device;
  args.count = queue.Data(static_cast<uint32_t>(some));
  constexpr uint32_t kMany = 4096;  // blocks, of which a GPU has no more than a half at once
  if (uint64_t{grid.x} * grid.y < kMany) {
    queue.Launch<&SpreadKernel<1>>(grid, args);
  } else {
    grid.x = (grid.x + 3) / 4;
    queue.Launch<&SpreadKernel<4>>(grid, args);
  }
  return done;
}

inline void EnqueueSpread(Queue& queue, const float* x, const float* a, const float* b, size_t channels,
                          const Stretch* streams, size_t count) {
  constexpr size_t kMostParts = 32768;  // a grid's limit in y is 65535
  for (size_t s = 0; s < count; s += kMostParts) {
    const size_t some = std::min(kMostParts, count - s);
    x += EnqueueSome(queue, {x, a, b, nullptr, nullptr, static_cast<uint32_t>(channels)}, streams + s, some);
  }
}

struct ColumnsArgs {
  const float* x;
  float* y;
  const uint32_t* rows;
  uint32_t from_width, from, to_width, to, width;
};

static __global__ void __launch_bounds__(kElementThreads) CopyColumnsKernel(const ColumnsArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const uint32_t count = *args.rows * args.width, first = FirstElement();
  for (uint32_t i = first; i < count && i < first + 4; i++) {
    const uint64_t row = i / args.width;
    const uint32_t column = i % args.width;
    args.y[row * args.to_width + args.to + column] = args.x[row * args.from_width + args.from + column];
  }
}

inline void EnqueueCopyColumns(Queue& queue, const float* x, size_t from_width, size_t from, float* y,
                               size_t to_width, size_t to, size_t width, size_t rows) {
  if (rows == 0 || width == 0) return;
  const Grid grid = ElementGrid(rows * width);
  queue.Launch<&CopyColumnsKernel>(
      grid, ColumnsArgs{x, y, queue.Data(static_cast<uint32_t>(rows)), static_cast<uint32_t>(from_width),
                        static_cast<uint32_t>(from), static_cast<uint32_t>(to_width),
                        static_cast<uint32_t>(to), static_cast<uint32_t>(width)});
}

// Padding of one signal.
struct PadRows {
  uint32_t rows, left, right;
};

struct PadArgs {
  const float* x;
  float* y;
  const PadRows* rows;
  uint32_t channels;
  Padding padding;
};

static __global__ void __launch_bounds__(kElementThreads) PadKernel(const PadArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const PadRows at = *args.rows;
  const uint32_t count = (at.left + at.rows + at.right) * args.channels, first = FirstElement();
  for (uint32_t i = first; i < count && i < first + 4; i++) {
    const int64_t to = i / args.channels;
    int64_t from = to - at.left;
    const int64_t last = static_cast<int64_t>(at.rows) - 1;
    const bool outside = from < 0 || from > last;
    if (outside && args.padding == Padding::kReplicate) from = from < 0 ? 0 : last;
    if (outside && args.padding == Padding::kReflect) from = from < 0 ? -from : 2 * last - from;
    const bool zero = outside && args.padding == Padding::kZero;
    args.y[i] = zero ? 0.0f : args.x[static_cast<uint64_t>(from) * args.channels + i % args.channels];
  }
}

inline void EnqueuePad(Queue& queue, const float* x, size_t rows, size_t channels, size_t left, size_t right,
                       Padding padding, float* y) {
  if ((left + rows + right) * channels == 0) return;
  const Grid grid = ElementGrid((left + rows + right) * channels);
  const PadRows at{static_cast<uint32_t>(rows), static_cast<uint32_t>(left), static_cast<uint32_t>(right)};
  queue.Launch<&PadKernel>(grid, PadArgs{x, y, queue.Data(at), static_cast<uint32_t>(channels), padding});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SIGNALS_CUH_
