// A product of few vectors whose result is snaked and handed to the next product as terms: of a residual unit's dilated convolution, so that no grid
// of its own prepares what its second product reads. The bits are those of the steps one by one.
#ifndef PARLEY_KERNELS_CUDA_FEW_SNAKED_CUH_
#define PARLEY_KERNELS_CUDA_FEW_SNAKED_CUH_

#include <cstdint>

#include "kernels/cuda/few_vectors.cuh"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/products.cuh"

namespace parley::cuda {

struct SnakedArgs {
  const float* a;  // of snake, [rows]
  const float* b;
  ProductArgs product;  // handed over; last, since it ends with an array
};

template <class Shape>
__global__ void __launch_bounds__(256, Shape::kTogether) MultiplyFewSnaked(const SnakedArgs args) {
  const ProductArgs& product = args.product;
  MultiplyFewOf<Shape>(product, NothingToPrepare{}, [&](const FewPlace& place, const float* sums) {
    for (uint32_t i = threadIdx.x; i < Shape::kRows * Shape::kVectors; i += 256) {
      const uint32_t row = place.row + i % Shape::kRows, vector = place.begin + i / Shape::kRows;
      if (row >= place.matrix.rows || vector >= place.vectors) continue;
      const float value = FinishedValue(product, place.matrix, row, TotalOfFew<Shape>(sums, i / Shape::kRows, i % Shape::kRows));
      PutTerm(product.handed, static_cast<uint64_t>(vector) * place.matrix.rows + row, Snaked(value, args.a[row], args.b[row]));
    }
  });
}

// Those that read terms of bf16, one of each value, and are not large enough for kernels of tiles.
inline bool SnakesItself(const Plan& plan, Format format, const ProductRules& rules) {
  return rules.fusions.Has(Fused::kSnaked) && plan.cut == Cut::kFew && !ReadsFloats(plan) && format == Format::kBf16 && VectorTermsOf(format, rules.full_vectors) == 1;
}

template <uint32_t kOctets, uint32_t kTiles>
void LaunchFewSnaked(Queue& queue, SnakedArgs args, size_t bucket) {
  using Shape = FewShape<Format::kBf16, kTiles, kOctets, 1, false, false>;
  const Grid grid = CutRows<Shape>(&args.product, bucket);
  queue.Launch<&MultiplyFewSnaked<Shape>>(grid, args);
}

// Where SnakesItself, of terms that are there.
inline void EnqueueFewSnaked(Queue& queue, const Plan& plan, const SnakedArgs& args, size_t bucket) {
  if (plan.octets == 2) return LaunchFewSnaked<2, 1>(queue, args, bucket);
  if (plan.tiles == 1) return LaunchFewSnaked<4, 1>(queue, args, bucket);
  LaunchFewSnaked<4, 2>(queue, args, bucket);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_FEW_SNAKED_CUH_
