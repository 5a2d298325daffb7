// gelu(w norm(x) + bias) of up to eight rows in one grid: a block norms them for itself, which takes less than a grid of its own would, and its product
// reads what they became from shared memory. The bits are those of LayerNorm, product and activation one by one.
#ifndef PARLEY_KERNELS_CUDA_FEW_ACTIVATED_CUH_
#define PARLEY_KERNELS_CUDA_FEW_ACTIVATED_CUH_

#include <cstdint>

#include "kernels/cuda/few_vectors.cuh"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/norms.cuh"
#include "kernels/cuda/products.cuh"

namespace parley::cuda {

struct ActivatedArgs {
  const float* weight;  // of the LayerNorm, [columns]
  const float* bias;
  float eps;
  uint32_t unused = 0;  // so that there is no gap
  ProductArgs product;  // last, since it ends with an array
};

using ActivatedShape = FewShape<Format::kBf16, 1, 1, 1, false, false>;
constexpr uint32_t kActivatedFours = 8;

// A warp a row, to `to`.
__device__ __forceinline__ void NormForProduct(const ActivatedArgs& args, const float* x, float* to) {
  const uint32_t width = args.product.columns;
  SomeFours<kActivatedFours> held;
  held.Load(x, width);
  const LayerStatistics its = LayerStatistics::Of(&held, width, args.eps);
  held.ForEach(width, [&](const float4& v, uint32_t, uint32_t column) {
    const float4 w = *reinterpret_cast<const float4*>(args.weight + column), b = *reinterpret_cast<const float4*>(args.bias + column);
    *reinterpret_cast<float4*>(to + column) = its.Normed(v, w, b);
  });
}

static __global__ void __launch_bounds__(256, ActivatedShape::kTogether) MultiplyFewActivated(const ActivatedArgs args) {
  using Shape = ActivatedShape;
  const ProductArgs& product = args.product;
  float* const rows = reinterpret_cast<float*>(SharedBytes() + Shape::kShared);
  const auto norm = [&](FewWarp<Shape>* own, const VectorCounts& counts, uint32_t begin) {
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, pitch = OwnVectorPitch(product.columns);
    if (begin + warp < counts.vectors) NormForProduct(args, VectorAt(product.x, counts, begin + warp), rows + warp * pitch);
    __syncthreads();
    own->vector = rows + min(lane / 4, counts.vectors - 1 - begin) * pitch + FourOf(lane) * kFour;
  };
  MultiplyFewOf<Shape>(product, norm, [&](const FewPlace& place, const float* sums) {
    for (uint32_t i = threadIdx.x; i < Shape::kRows * Shape::kVectors; i += 256) {
      const uint32_t row = place.row + i % Shape::kRows, vector = place.begin + i / Shape::kRows;
      if (row >= place.matrix.rows || vector >= place.vectors) continue;
      const float value = FinishedValue(product, place.matrix, row, TotalOfFew<Shape>(sums, i / Shape::kRows, i % Shape::kRows));
      place.matrix.y[static_cast<uint64_t>(vector) * place.matrix.rows + row] = Activated<Activation::kGelu>(value);
    }
  });
}

// Whether the kernel above takes such rows.
inline bool ActivatesItself(const Room& room, const Norm& norm, const Matrix& w, const LayerRows& x, float* y) {
  if (!room.rules.fusions.Has(Fused::kActivated)) return false;
  if (x.rows == 0 || norm.bias == nullptr || !FitsTensorCores(w) || w.format != Format::kBf16 || w.columns > kActivatedFours * 128) return false;
  return VectorTermsOf(w.format, room.rules.full_vectors) == 1 && ReadsFloats(PlanForRows(room, w, x.rows, {}, y)) && LiesAtFours(x.x) &&
         LiesAtFours(norm.weight) && LiesAtFours(norm.bias);
}

// Where ActivatesItself.
inline void EnqueueExpandActivated(Queue& queue, const Norm& norm, const Matrix& w, const float* bias, const LayerRows& x, float* y) {
  const LaidVectors laid = LayVectors(queue, Rows(x.x, x.rows, w.columns));
  ActivatedArgs args{norm.weight, norm.bias, norm.eps, 0, ArgsFor(w, y, laid.view, {bias, nullptr, false})};
  Grid grid = CutRows<ActivatedShape>(&args.product, laid.bucket);
  grid.shared += ActivatedShape::kVectors * OwnVectorPitch(args.product.columns) * sizeof(float);
  queue.Launch<&MultiplyFewActivated>(grid, args);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_FEW_ACTIVATED_CUH_
