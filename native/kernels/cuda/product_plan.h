// How a product is cut into blocks. All cuts give the same bits, so that this is only about time, and follows from the shape of the
// matrix and the bucket of the vectors alone.
#ifndef PARLEY_KERNELS_CUDA_PRODUCT_PLAN_H_
#define PARLEY_KERNELS_CUDA_PRODUCT_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/matrix.h"

namespace parley::cuda {

// Terms of a vector: two keep 16 bits of a float, one keeps 8. Weights that have no more than 8 bits themselves meet vectors of as many.
constexpr int VectorTermsOf(Format format) { return format == Format::kF32 || format == Format::kF16 ? 2 : 1; }

struct Plan {
  bool few;
  uint32_t tiles, octets;  // of FewShape or ManyShape
};

// What is multiplied, as far as it matters for that. Rows of all matrices that lie side by side; of gated ones, of one.
struct ProductShape {
  Format format;
  size_t rows, columns;
  bool gated;
  size_t bucket;
};

inline constexpr size_t BlocksOf(size_t count, size_t of_one) { return (count + of_one - 1) / of_one; }

// Tiles of 16 rows that a block of few vectors may have.
constexpr uint32_t MostTiles(Format format, uint32_t octets, bool gated) {
  if (format == Format::kF32 || format == Format::kF16) return 1;
  if (gated) return octets == 2 || octets == 4 ? 2 : 1;
  return octets == 4 ? 4 : 2;
}

// The time that a cut takes, in bytes that one multiprocessor gets from the L2 cache meanwhile: about 100 GB/s of an H200, whose
// figures these are. They order the cuts; none has been fitted on a GPU yet.
class PlanCost {
 public:
  explicit PlanCost(const ProductShape& shape) : shape_(shape), chunks_(static_cast<double>(shape.columns) / 32) {}

  double Of(const Plan& plan) const {
    const size_t matrices = shape_.gated ? 2 : 1;
    const size_t rows = plan.few ? 16 * plan.tiles * matrices : 32 * plan.tiles;
    const size_t vectors = (plan.few ? 8 : 32) * plan.octets;
    const size_t blocks = BlocksOf(shape_.rows * matrices, rows) * BlocksOf(shape_.bucket, vectors);
    // Of one chunk of columns, in one block. Vectors are floats or terms of bf16, and those beyond the bucket are not read.
    const double weights = static_cast<double>(rows * 32 * BytesOf(shape_.format));
    const double read = weights + static_cast<double>(std::min(vectors, shape_.bucket) * 32 * (plan.few && plan.octets == 1 ? 4 : 2 * VectorTermsOf(shape_.format)));
    const double multiplied = static_cast<double>(rows * vectors * 32 * 2 * Terms()) / kOperations;
    const double alone = std::max({read, multiplied, plan.few ? weights * kAlone : kStep});
    const double all = static_cast<double>(blocks);
    const double from_memory = static_cast<double>(shape_.rows * matrices * 32 * BytesOf(shape_.format)) / kMemory;
    const double chunk = std::max({all * read / kCache, Waves(blocks) * alone, from_memory});
    return chunk * chunks_ + (plan.few && plan.octets == 1 ? 0 : kPreparing);
  }

 private:
  static constexpr double kMultiprocessors = 132;
  static constexpr double kCache = 55, kMemory = 43;  // the rates of the L2 cache and of memory, in those of a multiprocessor
  static constexpr double kOperations = 45;  // of tensor cores, by mma.sync, for a byte
  static constexpr double kAlone = 2.5;  // a block of few vectors has so much less of memory's rate than it could take from the cache
  static constexpr double kStep = 15000;      // 150 ns: a chunk of many vectors, with its barrier
  static constexpr double kPreparing = 3e5;  // 3 us: the grid that makes the terms

  // Products of bf16 for one of floats: of two terms by two, the product of the lower ones is left out.
  size_t Terms() const { return VectorTermsOf(shape_.format) == 2 ? 3 : 1; }
  static double Waves(size_t blocks) { return std::max(1.0, static_cast<double>(blocks) / kMultiprocessors); }

  ProductShape shape_;
  double chunks_;
};

// All that a product can be cut by: few vectors are read by blocks of them that are not twice too large.
inline std::vector<Plan> PlansFor(Format format, bool gated, size_t bucket) {
  std::vector<Plan> plans;
  for (uint32_t octets = bucket <= 8 ? 1 : 2; octets <= 8; octets *= 2) {
    if (octets > 1 && octets * 4 >= bucket) continue;
    for (uint32_t tiles = 1; tiles <= MostTiles(format, octets, gated); tiles *= 2) plans.push_back({true, tiles, octets});
  }
  if (bucket > 8) {
    plans.push_back({false, 2, 2});
    plans.push_back({false, 4, 4});
  }
  return plans;
}

inline Plan PlanOf(const ProductShape& shape) {
  const PlanCost cost(shape);
  const std::vector<Plan> plans = PlansFor(shape.format, shape.gated, shape.bucket);
  return *std::min_element(plans.begin(), plans.end(), [&](const Plan& a, const Plan& b) { return cost.Of(a) < cost.Of(b); });
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PRODUCT_PLAN_H_
