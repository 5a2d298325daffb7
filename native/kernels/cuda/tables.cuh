// Rows of tables: embeddings, codebooks.
#ifndef PARLEY_KERNELS_CUDA_TABLES_CUH_
#define PARLEY_KERNELS_CUDA_TABLES_CUH_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/queue.h"
#include "kernels/cuda/words.h"
#include "kernels/kernels.h"

namespace parley::cuda {

constexpr uint32_t kGatherThreads = 128;

struct GatherArgs {
  const void* values;
  const float* scales;  // of rows, or none
  const int32_t* ids;
  float* y;
  const uint32_t* count;
  uint64_t stride;  // of the ids
  uint32_t rows, columns;
  uint64_t add;  // or not
};

// A block for a row. An id beyond the table gives a row that is no number: whoever draws from what becomes of it is told so.
template <class Value>
static __global__ void __launch_bounds__(kGatherThreads) GatherKernel(const GatherArgs args) {
  AwaitInputs();
  LetNextBegin();
  const uint32_t row = blockIdx.x;
  if (row >= *args.count) return;
  const int32_t id = args.ids[row * args.stride];
  if (id < 0 && args.add) return;
  const bool is_there = id >= 0 && static_cast<uint32_t>(id) < args.rows;
  const Value* const from = static_cast<const Value*>(args.values) + (is_there ? static_cast<uint64_t>(id) * args.columns : 0);
  const float scale = is_there && args.scales != nullptr ? args.scales[id] : 1.0f;
  float* const y = args.y + static_cast<uint64_t>(row) * args.columns;
  for (uint32_t c = threadIdx.x; c < args.columns; c += kGatherThreads) {
    const float value = is_there ? FloatOf(from[c]) * scale : id < 0 ? 0.0f : NAN;
    y[c] = args.add ? y[c] + value : value;
  }
}

inline void EnqueueGather(Queue& queue, const Matrix& table, const Ids& ids, size_t count, bool add, float* y) {
  if (count == 0) return;
  Grid grid;
  grid.x = static_cast<uint32_t>(BucketOf(count));
  grid.threads = kGatherThreads;
  const GatherArgs args{table.values,
                        table.format == Format::kInt8 ? table.scales : nullptr,
                        ids.values,
                        y,
                        queue.Data(static_cast<uint32_t>(count)),
                        ids.stride,
                        static_cast<uint32_t>(table.rows),
                        static_cast<uint32_t>(table.columns),
                        uint64_t{add}};
  switch (table.format) {
    case Format::kF32: return queue.Launch<&GatherKernel<float>>(grid, args);
    case Format::kF16: return queue.Launch<&GatherKernel<F16>>(grid, args);
    case Format::kBf16: return queue.Launch<&GatherKernel<Bf16>>(grid, args);
    case Format::kInt8: return queue.Launch<&GatherKernel<int8_t>>(grid, args);
  }
}

constexpr uint32_t kNearestWarps = 8;

struct NearestArgs {
  const float* table;
  float* x;
  int32_t* ids;
  const uint32_t* count;
  uint32_t rows, columns;
};

// Squared, in double: lane l sums the columns l, l + 32, .. in every lane.
__device__ __forceinline__ double DistanceOf(const float* row, const float* x, uint32_t columns) {
  double sum = 0;
  for (uint32_t c = threadIdx.x % 32; c < columns; c += 32) {
    const double off = static_cast<double>(row[c]) - static_cast<double>(x[c]);
    sum += off * off;
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  return sum;
}

// A block for a vector, whose warps take the rows by turns. The first of those that are nearest.
static __global__ void __launch_bounds__(kNearestWarps * 32) TakeNearestKernel(const NearestArgs args) {
  __shared__ double distances[kNearestWarps];
  __shared__ uint32_t rows[kNearestWarps];
  AwaitInputs();
  LetNextBegin();
  if (blockIdx.x >= *args.count) return;
  float* const x = args.x + static_cast<uint64_t>(blockIdx.x) * args.columns;
  const uint32_t warp = threadIdx.x / 32;
  double least = 0;
  uint32_t best = args.rows;
  for (uint32_t r = warp; r < args.rows; r += kNearestWarps) {
    const double distance = DistanceOf(args.table + static_cast<uint64_t>(r) * args.columns, x, args.columns);
    if (best < args.rows && !(distance < least)) continue;
    least = distance;
    best = r;
  }
  if (threadIdx.x % 32 == 0) {
    distances[warp] = least;
    rows[warp] = best;
  }
  __syncthreads();
  best = args.rows;
  for (uint32_t w = 0; w < kNearestWarps; w++) {
    if (rows[w] == args.rows) continue;
    const bool comes_first = distances[w] == least && rows[w] < best;
    if (best < args.rows && !(distances[w] < least) && !comes_first) continue;
    least = distances[w];
    best = rows[w];
  }
  if (threadIdx.x == 0) args.ids[blockIdx.x] = static_cast<int32_t>(best);
  const float* const nearest = args.table + static_cast<uint64_t>(best) * args.columns;
  for (uint32_t c = threadIdx.x; c < args.columns; c += kNearestWarps * 32) x[c] -= nearest[c];
}

// ids: of the device.
inline void EnqueueTakeNearest(Queue& queue, const Matrix& table, float* x, size_t count, int32_t* ids) {
  if (count == 0) return;
  Grid grid;
  grid.x = static_cast<uint32_t>(BucketOf(count));
  grid.threads = kNearestWarps * 32;
  queue.Launch<&TakeNearestKernel>(
      grid, NearestArgs{static_cast<const float*>(table.values), x, ids, queue.Data(static_cast<uint32_t>(count)),
                        static_cast<uint32_t>(table.rows), static_cast<uint32_t>(table.columns)});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TABLES_CUH_
