// Products without tensor cores: few rows (the codec's last convolution), any number of columns, any address.
// A warp computes one row of one vector in f32. In each segment, lane l sums columns l, l + 32, ... by fmaf;
// then the lanes are joined over 16, 8, 4, 2 and 1.
#ifndef PARLEY_KERNELS_CUDA_PLAIN_PRODUCT_CUH_
#define PARLEY_KERNELS_CUDA_PLAIN_PRODUCT_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/product_args.cuh"
#include "kernels/number_formats.h"

namespace parley::cuda {

template <class Value>
__device__ __forceinline__ float SumOfRow(const Value* row, const VectorsView& x, const float* vector,
                                          uint32_t columns) {
  float sum = 0;
  for (uint32_t done = 0; done < columns; done += x.length, row += x.length, vector += x.segment_stride) {
    for (uint32_t k = threadIdx.x % 32; k < x.length; k += 32) sum = fmaf(FloatOf(row[k]), vector[k], sum);
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  return sum;
}

template <int kMatrix>
__device__ __forceinline__ float RowTimes(const ProductArgs& args, uint32_t row, const float* vector) {
  const MatrixView& matrix = args.matrices[kMatrix];
  const uint64_t start = static_cast<uint64_t>(row) * args.columns;
  switch (args.formats[kMatrix]) {
    case Format::kF32:
      return SumOfRow(static_cast<const float*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kF16:
      return SumOfRow(static_cast<const F16*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kBf16:
      return SumOfRow(static_cast<const Bf16*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kFp8:
      return SumOfRow(static_cast<const Fp8*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kInt8:
      break;
  }
  return SumOfRow(static_cast<const int8_t*>(matrix.values) + start, args.x, vector, args.columns);
}

template <bool kGated>
__global__ void __launch_bounds__(256) MultiplyPlainly(ProductArgs args) {
  LaunchDependents();
  GridDependencyWait();
  const VectorCounts counts = *args.x.counts;
  const uint32_t rows = args.matrices[0].rows;
  const uint64_t warp = static_cast<uint64_t>(blockIdx.x) * 8 + threadIdx.x / 32;
  if (warp >= static_cast<uint64_t>(rows) * counts.vectors) return;
  const uint32_t vector = static_cast<uint32_t>(warp / rows), row = static_cast<uint32_t>(warp % rows);
  const float* const from = VectorAt(args.x, counts, vector);
  const float first = RowTimes<0>(args, row, from);
  if constexpr (kGated) {
    const float up = RowTimes<1>(args, row, from);
    if (threadIdx.x % 32 == 0) FinishGated(args, row, vector, first, up);
  } else if (threadIdx.x % 32 == 0) {
    FinishValue(args, args.matrices[0], row, vector, first);
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PLAIN_PRODUCT_CUH_
