// Element-wise kernels, and kernels that copy signals [rows, channels]: stretches, columns and padding,
// with snake applied on the way if given.
#ifndef PARLEY_KERNELS_CUDA_SIGNALS_CUH_
#define PARLEY_KERNELS_CUDA_SIGNALS_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

// In element-wise kernels a thread handles four adjacent values, with one vector load where they are aligned
// to 16 bytes.
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
    case Activation::kGeluTanh:
      return EnqueueActivation<Activation::kGeluTanh>(queue, grid, args);
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
