// Layout of a product's vectors for the kernels: plain vectors, or the windows of separate streams.
#ifndef PARLEY_KERNELS_CUDA_LAID_VECTORS_CUH_
#define PARLEY_KERNELS_CUDA_LAID_VECTORS_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/products/product_args.cuh"
#include "kernels/kernels.h"

namespace parley::cuda {

struct LaidVectors {
  VectorsView view;
  size_t bucket = 0;      // number of vectors, rounded up
  bool in_fours = false;  // every chunk lies in one segment and at a multiple of 16 bytes
  // Windows overlap, and their signals can be prepared as they lie:
  bool as_signals = false;
  size_t streams = 0;  // bucket of them
  size_t longest = 0;  // columns of a stream, at most
  size_t columns = 0;  // all streams together, at most
  // slot: distance between the streams' starts among the prepared terms, in columns; 0 if it varies.
  // positions: the most windows of a stream.
  size_t slot = 0, positions = 0;
};

inline bool LiesAtFours(const void* at) { return reinterpret_cast<uintptr_t>(at) % 16 == 0; }

// From the beginning of a vector to its end.
inline size_t SpanOf(const Vectors& x) { return (x.segments - 1) * x.segment_stride + x.length; }

// `place` gives each stream's first window and number of windows; `shape` is common to all. Streams without
// windows are left out.
template <class Place>
LaidVectors LayStreams(Queue& queue, size_t count, const Vectors& shape, const Place& place) {
  const auto windows = queue.DataRoom<Windows>(BucketOf(count));
  const size_t span = SpanOf(shape);
  const bool fours = shape.length % kChunk == 0 && shape.stride % 4 == 0 &&
                     (shape.segments == 1 || shape.segment_stride % 4 == 0);
  // Terms may be in the order of fragments, chunk by chunk.
  const bool chunks =
      fours && shape.stride % kChunk == 0 && (shape.segments == 1 || shape.segment_stride % kChunk == 0);
  bool aligned = true, are_even = true;
  size_t some = 0, vectors = 0, columns = 0, most = 0;
  for (size_t s = 0; s < count; s++) {
    const auto [first, its] = place(s);
    if (its == 0) continue;
    const size_t its_columns = (its - 1) * shape.stride + span;
    are_even = are_even && its * some == vectors;
    windows.host[some++] = {first, columns, static_cast<uint32_t>(vectors),
                            static_cast<uint32_t>(its_columns)};
    aligned = aligned && LiesAtFours(first);
    most = std::max<size_t>(most, its);
    vectors += its;
    columns += its_columns;
  }
  LaidVectors laid;
  if (vectors == 0) return laid;
  laid.bucket = BucketOf(vectors);
  laid.streams = BucketOf(some);
  const VectorCounts counts{static_cast<uint32_t>(vectors), static_cast<uint32_t>(some),
                            are_even ? static_cast<uint32_t>(most) : 0};
  laid.view = {nullptr,      windows.device,       queue.Data(counts),
               shape.stride, shape.segment_stride, static_cast<uint32_t>(shape.length)};
  laid.in_fours = fours && aligned;
  laid.as_signals = chunks && aligned && shape.stride < span;
  laid.longest = (BucketOf(most) - 1) * shape.stride + span;
  laid.columns = laid.bucket * shape.stride + laid.streams * (span - std::min(span, shape.stride));
  const size_t slot = (most - 1) * shape.stride + span;
  if (!laid.as_signals || laid.streams * slot > 2 * laid.columns) return laid;
  laid.slot = slot;
  laid.positions = most;
  laid.columns = laid.streams * slot;
  for (size_t s = 0; s < some; s++) windows.host[s].prepared = s * slot;
  return laid;
}

inline LaidVectors LayVectors(Queue& queue, const Vectors& x) {
  if (x.count == 0) return {};
  if (x.stride < SpanOf(x))
    return LayStreams(queue, 1, x, [&](size_t) { return std::make_pair(x.values, x.count); });
  LaidVectors laid;
  const auto count = static_cast<uint32_t>(x.count);
  laid.view = {x.values, nullptr,          queue.Data(VectorCounts{count, 1, count}),
               x.stride, x.segment_stride, static_cast<uint32_t>(x.length)};
  laid.bucket = BucketOf(x.count);
  laid.in_fours = x.length % kChunk == 0 && LiesAtFours(x.values) && x.stride % 4 == 0 &&
                  (x.segments == 1 || x.segment_stride % 4 == 0);
  return laid;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAID_VECTORS_CUH_
