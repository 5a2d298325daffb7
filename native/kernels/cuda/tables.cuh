// Tables (embeddings, codebooks): gathers rows by id, and finds the nearest row of a vector.
#ifndef PARLEY_KERNELS_CUDA_TABLES_CUH_
#define PARLEY_KERNELS_CUDA_TABLES_CUH_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

constexpr uint32_t kGatherThreads = 128;
constexpr uint32_t kOfGatherThread = 8;  // neighbouring columns
constexpr size_t kMostTables = 16;

struct TableView {
  const void* values;
  const float* scales;  // per row, or null
  uint64_t rows;
};

// A row of y has an id for each table: its i-th id selects the i-th table's row.
struct GatherArgs {
  const int32_t* ids;
  float* y;
  const uint32_t* count;
  uint64_t stride;  // between the ids of two rows
  uint32_t columns;
  uint32_t add;                // or not
  uint32_t in_eights, unused;  // all rows lie at multiples of 16 bytes
  TableView tables[1];
};

struct GatherSumArgs {
  const int32_t* ids;
  float* y;
  const uint32_t* count;
  uint64_t stride;
  uint32_t columns;
  uint32_t add;
  uint32_t in_eights, unused;
  TableView tables[kMostTables];  // as many as there are; the others have no values
};

// Eight neighbouring values of a row as they lie.
template <class Value>
struct Eight {
  uint4 words[(sizeof(Value) + 1) / 2];

  __device__ __forceinline__ void Load(const Value* from) {
    if constexpr (sizeof(Value) == 1) {
      const uint2 half = __ldg(reinterpret_cast<const uint2*>(from));
      words[0] = make_uint4(half.x, half.y, 0, 0);
    } else {
#pragma unroll
      for (size_t n = 0; n < sizeof(Value) / 2; n++)
        words[n] = __ldg(reinterpret_cast<const uint4*>(from) + n);
    }
  }
  __device__ __forceinline__ float At(uint32_t n) const {
    const uint32_t of_word = 4 / sizeof(Value), in_four = n / of_word % 4;
    const uint4& four = words[n / of_word / 4];
    const uint32_t word = in_four == 0 ? four.x : in_four == 1 ? four.y : in_four == 2 ? four.z : four.w;
    const uint32_t bits = word >> n % of_word * 8 * sizeof(Value);
    if constexpr (sizeof(Value) == 4) return __uint_as_float(bits);
    else if constexpr (std::is_same_v<Value, int8_t>)
      return static_cast<float>(static_cast<int8_t>(bits & 0xff));
    else if constexpr (sizeof(Value) == 1) return FloatOf(Value{static_cast<uint8_t>(bits)});
    else return FloatOf(Value{static_cast<uint16_t>(bits)});
  }
};

// A row of one of the tables. An id beyond the table gives a row of NaN, which Choose later reports as -1.
template <class Value>
struct GatheredRow {
  const Value* from;  // or none
  float scale;
  bool is_there, adds_nothing;

  __device__ __forceinline__ GatheredRow(const TableView& table, int32_t id, uint32_t columns)
      : is_there(id >= 0 && static_cast<uint64_t>(id) < table.rows), adds_nothing(id < 0) {
    from = static_cast<const Value*>(table.values) + (is_there ? static_cast<uint64_t>(id) * columns : 0);
    scale = is_there && table.scales != nullptr ? __ldg(table.scales + id) : 1.0f;
  }
  __device__ __forceinline__ float Of(float value) const {
    return is_there ? value * scale : adds_nothing ? 0.0f : NAN;
  }
};

// Eight neighbouring values of y, from `first` of its row on: first all tables' rows are asked for, nothing
// waits for another's.
template <class Value, uint32_t kTables, class Args>
__device__ __forceinline__ void GatherEight(const Args& args, const int32_t (&ids)[kTables], uint32_t first,
                                            float* y) {
  float sum[kOfGatherThread] = {};
  if (args.add) {
    const float4 low = reinterpret_cast<const float4*>(y)[0], high = reinterpret_cast<const float4*>(y)[1];
    sum[0] = low.x, sum[1] = low.y, sum[2] = low.z, sum[3] = low.w;
    sum[4] = high.x, sum[5] = high.y, sum[6] = high.z, sum[7] = high.w;
  }
  Eight<Value> eights[kTables] = {};
#pragma unroll
  for (uint32_t t = 0; t < kTables; t++) {
    const GatheredRow<Value> its(args.tables[t], ids[t], args.columns);
    if (its.is_there) eights[t].Load(its.from + first);
  }
#pragma unroll
  for (uint32_t t = 0; t < kTables; t++) {
    const GatheredRow<Value> its(args.tables[t], ids[t], args.columns);
    const bool sets = t == 0 && !args.add;
    if (its.adds_nothing && !sets) continue;
#pragma unroll
    for (uint32_t n = 0; n < kOfGatherThread; n++) {
      const float value = its.Of(eights[t].At(n));
      sum[n] = sets ? value : sum[n] + value;
    }
  }
  reinterpret_cast<float4*>(y)[0] = make_float4(sum[0], sum[1], sum[2], sum[3]);
  reinterpret_cast<float4*>(y)[1] = make_float4(sum[4], sum[5], sum[6], sum[7]);
}

// Gathers rows that are not aligned to eight values, up to their end.
template <class Value, uint32_t kTables, class Args>
__device__ __forceinline__ void GatherEach(const Args& args, const int32_t (&ids)[kTables], uint32_t first,
                                           float* y) {
  for (uint32_t n = 0; n < kOfGatherThread && first + n < args.columns; n++) {
    float value = args.add ? y[n] : 0.0f;
    for (uint32_t t = 0; t < kTables; t++) {
      const GatheredRow<Value> its(args.tables[t], ids[t], args.columns);
      const bool sets = t == 0 && !args.add;
      if (its.adds_nothing && !sets) continue;
      const float one = its.Of(its.is_there ? FloatOf(its.from[first + n]) : 0.0f);
      value = sets ? one : value + one;
    }
    y[n] = value;
  }
}

// A block for a part of a row. First all ids are asked for.
template <class Value, uint32_t kTables, class Args>
__device__ __forceinline__ void GatherRows(const Args& args) {
  LaunchDependents();
  const uint32_t row = blockIdx.x, first = (blockIdx.y * kGatherThreads + threadIdx.x) * kOfGatherThread;
  const uint32_t count = *args.count;
  GridDependencyWait();
  if (row >= count || first >= args.columns) return;
  float* const y = args.y + static_cast<uint64_t>(row) * args.columns + first;
  int32_t ids[kTables];
#pragma unroll
  for (uint32_t t = 0; t < kTables; t++)
    ids[t] = args.tables[t].values != nullptr ? args.ids[row * args.stride + t] : -1;
  if (args.in_eights) GatherEight<Value>(args, ids, first, y);
  else GatherEach<Value>(args, ids, first, y);
}

template <class Value>
static __global__ void __launch_bounds__(kGatherThreads) GatherKernel(const GatherArgs args) {
  GatherRows<Value, 1>(args);
}

template <class Value>
static __global__ void __launch_bounds__(kGatherThreads) GatherSumKernel(const GatherSumArgs args) {
  GatherRows<Value, kMostTables>(args);
}

inline bool LieInEights(const Matrix& table) {
  return table.columns % kOfGatherThread == 0 && reinterpret_cast<uintptr_t>(table.values) % 16 == 0;
}

template <class Args>
Args GatherArgsOf(Queue& queue, const Matrix* tables, size_t table_count, const Ids& ids, size_t count,
                  bool add, float* y) {
  Args args{};
  args.ids = ids.values;
  args.y = y;
  args.count = queue.Data(static_cast<uint32_t>(count));
  args.stride = ids.stride;
  args.columns = static_cast<uint32_t>(tables->columns);
  args.add = add;
  args.in_eights = reinterpret_cast<uintptr_t>(y) % 16 == 0;
  for (size_t t = 0; t < table_count; t++) {
    const Matrix& table = tables[t];
    args.tables[t] = {table.values, HasScales(table.format) ? table.scales : nullptr, table.rows};
    args.in_eights &= LieInEights(table) ? 1u : 0u;
  }
  return args;
}

inline Grid GatherGrid(size_t count, size_t columns) {
  Grid grid;
  grid.x = static_cast<uint32_t>(BucketOf(count));
  grid.y = static_cast<uint32_t>((columns + kGatherThreads * kOfGatherThread - 1) /
                                 (kGatherThreads * kOfGatherThread));
  grid.threads = kGatherThreads;
  return grid;
}

inline void EnqueueGather(Queue& queue, const Matrix& table, const Ids& ids, size_t count, bool add,
                          float* y) {
  if (count == 0 || table.columns == 0) return;
  const Grid grid = GatherGrid(count, table.columns);
  const auto args = GatherArgsOf<GatherArgs>(queue, &table, 1, ids, count, add, y);
  switch (table.format) {
    case Format::kF32:
      return queue.Launch<&GatherKernel<float>>(grid, args);
    case Format::kF16:
      return queue.Launch<&GatherKernel<F16>>(grid, args);
    case Format::kBf16:
      return queue.Launch<&GatherKernel<Bf16>>(grid, args);
    case Format::kInt8:
      return queue.Launch<&GatherKernel<int8_t>>(grid, args);
    case Format::kFp8:
      return queue.Launch<&GatherKernel<Fp8>>(grid, args);
  }
}

inline bool GatherTogether(const Matrix* tables, size_t count) {
  if (count > kMostTables) return false;
  return std::all_of(tables, tables + count, [&](const Matrix& table) {
    return table.format == tables->format && table.columns == tables->columns && table.values != nullptr;
  });
}

// SpeechKernels::GatherSum.
inline void EnqueueGatherSum(Queue& queue, const Matrix* tables, size_t table_count, const Ids& ids,
                             size_t count, bool add, float* y) {
  if (count == 0 || table_count == 0 || tables->columns == 0) return;
  if (!GatherTogether(tables, table_count)) {
    for (size_t t = 0; t < table_count; t++) {
      EnqueueGather(queue, tables[t], {ids.values + t, ids.stride}, count, add || t > 0, y);
    }
    return;
  }
  const Grid grid = GatherGrid(count, tables->columns);
  const auto args = GatherArgsOf<GatherSumArgs>(queue, tables, table_count, ids, count, add, y);
  switch (tables->format) {
    case Format::kF32:
      return queue.Launch<&GatherSumKernel<float>>(grid, args);
    case Format::kF16:
      return queue.Launch<&GatherSumKernel<F16>>(grid, args);
    case Format::kBf16:
      return queue.Launch<&GatherSumKernel<Bf16>>(grid, args);
    case Format::kInt8:
      return queue.Launch<&GatherSumKernel<int8_t>>(grid, args);
    case Format::kFp8:
      return queue.Launch<&GatherSumKernel<Fp8>>(grid, args);
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
  GridDependencyWait();
  LaunchDependents();
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
      grid,
      NearestArgs{static_cast<const float*>(table.values), x, ids, queue.Data(static_cast<uint32_t>(count)),
                  static_cast<uint32_t>(table.rows), static_cast<uint32_t>(table.columns)});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TABLES_CUH_
