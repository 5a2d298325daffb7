// Signals [rows, channels] from one place to another: stretches, columns, padding; snake on the way.
#ifndef PARLEY_KERNELS_CUDA_SIGNALS_CUH_
#define PARLEY_KERNELS_CUDA_SIGNALS_CUH_

#include <vector>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/part.h"

namespace parley::cuda {

struct SpreadArgs {
  const float* x;
  const float* a;  // of snake, [channels], or none
  const float* b;
  const Part* parts;
  const uint32_t* count;  // of parts
  uint32_t channels;
};

static __global__ void __launch_bounds__(kElementThreads) SpreadKernel(const SpreadArgs args) {
  AwaitInputs();
  LetNextBegin();
  if (blockIdx.y >= *args.count) return;
  const Part part = args.parts[blockIdx.y];
  const float* const x = args.x + part.first;
  const uint32_t first = FirstElement();
  if (first >= part.values) return;
  if (args.a == nullptr) {
    if (part.values - first >= 4 && AtFours(x, part.to)) {
      *reinterpret_cast<float4*>(part.to + first) = *reinterpret_cast<const float4*>(x + first);
      return;
    }
    for (uint32_t i = first; i < part.values && i < first + 4; i++) part.to[i] = x[i];
    return;
  }
  const auto snake = [&](float v, uint32_t c) { return fmaf(SineSquared(v * __ldg(args.a + c)), __ldg(args.b + c), v); };
  uint32_t c = first % args.channels;
  if (part.values - first >= 4 && AtFours(x, part.to) && args.channels % 4 == 0) {
    const float4 in = *reinterpret_cast<const float4*>(x + first);
    *reinterpret_cast<float4*>(part.to + first) =
        make_float4(snake(in.x, c), snake(in.y, c + 1), snake(in.z, c + 2), snake(in.w, c + 3));
    return;
  }
  for (uint32_t i = first; i < part.values && i < first + 4; i++) {
    part.to[i] = snake(x[i], c);
    c = c + 1 == args.channels ? 0 : c + 1;
  }
}

// parts: scratch of the caller.
inline void EnqueueSpread(Queue& queue, const float* x, const float* a, const float* b, size_t channels,
                          const Stretch* streams, size_t count, std::vector<Part>* parts) {
  parts->clear();
  uint64_t first = 0;
  size_t longest = 0;
  for (size_t s = 0; s < count; s++) {
    const size_t values = streams[s].count * channels;
    ElementGrid(values);  // not too many
    if (values > 0) parts->push_back({streams[s].x, first, static_cast<uint32_t>(values), 0});
    first += values;
    longest = std::max(longest, values);
  }
  constexpr size_t kMostParts = 32768;  // of a grid's y
  for (size_t done = 0; done < parts->size(); done += kMostParts) {
    const size_t some = std::min(kMostParts, parts->size() - done);
    Grid grid = ElementGrid(longest);
    grid.y = static_cast<uint32_t>(BucketOf(some));
    queue.Launch<&SpreadKernel>(grid, SpreadArgs{x, a, b, queue.Data(parts->data() + done, some, grid.y),
                                                 queue.Data(static_cast<uint32_t>(some)), static_cast<uint32_t>(channels)});
  }
}

struct ColumnsArgs {
  const float* x;
  float* y;
  const uint32_t* rows;
  uint32_t from_width, from, to_width, to, width;
};

static __global__ void __launch_bounds__(kElementThreads) CopyColumnsKernel(const ColumnsArgs args) {
  AwaitInputs();
  LetNextBegin();
  const uint32_t count = *args.rows * args.width, first = FirstElement();
  for (uint32_t i = first; i < count && i < first + 4; i++) {
    const uint64_t row = i / args.width;
    const uint32_t column = i % args.width;
    args.y[row * args.to_width + args.to + column] = args.x[row * args.from_width + args.from + column];
  }
}

inline void EnqueueCopyColumns(Queue& queue, const float* x, size_t from_width, size_t from, float* y, size_t to_width,
                               size_t to, size_t width, size_t rows) {
  if (rows == 0 || width == 0) return;
  const Grid grid = ElementGrid(rows * width);
  queue.Launch<&CopyColumnsKernel>(
      grid, ColumnsArgs{x, y, queue.Data(static_cast<uint32_t>(rows)), static_cast<uint32_t>(from_width),
                        static_cast<uint32_t>(from), static_cast<uint32_t>(to_width), static_cast<uint32_t>(to),
                        static_cast<uint32_t>(width)});
}

// What changes from one signal to the next.
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
  AwaitInputs();
  LetNextBegin();
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
