// A product of up to eight sums of tables' rows in one grid: a block gathers them for itself, which takes less than a grid of its own would, and its
// product reads them from shared memory. The bits are those of the two one after the other.
#ifndef PARLEY_KERNELS_CUDA_FEW_GATHERED_CUH_
#define PARLEY_KERNELS_CUDA_FEW_GATHERED_CUH_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/cuda/few_vectors.cuh"
#include "kernels/cuda/products.cuh"

namespace parley::cuda {

constexpr uint32_t kMostGathered = 16;     // tables
constexpr size_t kGatheredColumns = 1024;  // for which a block has room

struct GatheredArgs {
  const float* tables[kMostGathered];  // as many as there are, all [rows, columns]
  const int32_t* ids;                  // of the t-th table those that lie t further on
  uint64_t stride;
  uint32_t rows, count;  // of tables
  ProductArgs product;   // last, since it ends with an array
};

using GatheredShape = FewShape<Format::kBf16, 1, 1, 1, false, false>;

// Four columns of a vector's sum, as GatherRows has them: all tables' rows are asked for at once. A negative id adds nothing, one that is too
// large gives what is no number.
__device__ __forceinline__ float4 GatheredFour(const GatheredArgs& args, uint32_t vector, uint32_t column) {
  const uint32_t columns = args.product.columns;
  int32_t ids[kMostGathered];
  float4 fours[kMostGathered];
#pragma unroll
  for (uint32_t t = 0; t < kMostGathered; t++) ids[t] = t < args.count ? args.ids[vector * args.stride + t] : -1;
#pragma unroll
  for (uint32_t t = 0; t < kMostGathered; t++) {
    const bool is_there = ids[t] >= 0 && static_cast<uint32_t>(ids[t]) < args.rows;
    const float other = ids[t] < 0 ? 0.0f : NAN;
    fours[t] = make_float4(other, other, other, other);
    if (is_there) fours[t] = __ldg(reinterpret_cast<const float4*>(args.tables[t] + static_cast<uint64_t>(ids[t]) * columns + column));
  }
  float4 sum = fours[0];
#pragma unroll
  for (uint32_t t = 1; t < kMostGathered; t++) {
    if (ids[t] >= 0) sum = make_float4(sum.x + fours[t].x, sum.y + fours[t].y, sum.z + fours[t].z, sum.w + fours[t].w);
  }
  return sum;
}

static __global__ void __launch_bounds__(256, 1) MultiplyFewGathered(const GatheredArgs args) {
  using Shape = GatheredShape;
  float* const sums = reinterpret_cast<float*>(SharedBytes() + Shape::kShared);
  const auto gather = [&](FewWarp<Shape>* own, const VectorCounts& counts, uint32_t begin) {
    const uint32_t vectors = min(counts.vectors - begin, uint32_t{Shape::kVectors}), pitch = OwnVectorPitch(args.product.columns);
    const uint32_t fours = args.product.columns / 4;
    for (uint32_t i = threadIdx.x; i < vectors * fours; i += 256) {
      const uint32_t vector = i / fours, column = (i - vector * fours) * 4;
      *reinterpret_cast<float4*>(sums + vector * pitch + column) = GatheredFour(args, begin + vector, column);
    }
    __syncthreads();
    own->vector = sums + min(threadIdx.x % 32 / 4, vectors - 1) * pitch + FourOf(threadIdx.x) * kFour;
  };
  MultiplyFewOf<Shape>(args.product, gather, [&](const FewPlace& place, const float* parts) { FinishFew<Shape>(args.product, place, parts); });
}

// Whether the kernel above takes such tables.
inline bool GathersItself(const Room& room, const Matrix& w, const Matrix* tables, size_t table_count, size_t count, const Finish& finish, float* y) {
  if (!room.rules.fusions.Has(Fused::kGathered)) return false;
  if (count == 0 || table_count == 0 || table_count > kMostGathered || !FitsTensorCores(w) || w.format != Format::kBf16) return false;
  const auto is_one = [&](const Matrix& table) {
    return table.format == Format::kF32 && table.rows == tables->rows && table.columns == w.columns && LiesAtFours(table.values);
  };
  return w.columns <= kGatheredColumns && tables->rows <= INT32_MAX && std::all_of(tables, tables + table_count, is_one) &&
         VectorTermsOf(w.format, room.rules.full_vectors) == 1 && ReadsFloats(PlanForRows(room, w, count, finish, y));
}

// Where GathersItself.
inline void EnqueueMultiplyGathered(Queue& queue, const Matrix& w, const Matrix* tables, size_t table_count, const Ids& ids, size_t count,
                                    const Finish& finish, float* y) {
  const LaidVectors laid = LayVectors(queue, Rows(nullptr, count, w.columns));
  GatheredArgs args{};
  for (size_t t = 0; t < table_count; t++) args.tables[t] = static_cast<const float*>(tables[t].values);
  args.ids = ids.values;
  args.stride = ids.stride;
  args.rows = static_cast<uint32_t>(tables->rows);
  args.count = static_cast<uint32_t>(table_count);
  args.product = ArgsFor(w, y, laid.view, finish);
  Grid grid = CutRows<GatheredShape>(&args.product, laid.bucket);
  grid.shared += GatheredShape::kVectors * OwnVectorPitch(args.product.columns) * sizeof(float);
  queue.Launch<&MultiplyFewGathered>(grid, args);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_FEW_GATHERED_CUH_
