// Chooses how a product is divided into blocks, and the place of its terms. All cuts give the same bits, so
// the choice only affects the time. It depends only on the shape of the matrix and the bucket of the
// vectors.
#ifndef PARLEY_KERNELS_CUDA_PRODUCT_PLAN_H_
#define PARLEY_KERNELS_CUDA_PRODUCT_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/matrix.h"

namespace parley::cuda {

// Place at which a kernel writes a product's vectors as the bf16 terms that the product reads, so that no
// grid has to prepare them: [vectors, columns], one term of each value. Without a place the kernel writes
// floats.
struct TermsPlace {
  unsigned char* terms = nullptr;
  uint64_t in_fragments = 0;  // columns of a chunk as threads of Mma hold them, not as they lie
};

// Terms of a vector: two keep 16 bits of a float, one keeps 8. Weights that have no more than 8 bits
// themselves meet vectors of as many, where not all is to be kept.
constexpr int VectorTermsOf(Format format, bool full) {
  return full || format == Format::kF32 || format == Format::kF16 ? 2 : 1;
}

// The kernels of products on tensor cores.
enum class Cut : uint8_t { kGemv, kSkinnyGemm, kTiledGemm, kSplitK };

// True for the kernels that read terms by tiles, as they lie in memory.
constexpr bool ReadsTiles(Cut cut) { return cut == Cut::kTiledGemm || cut == Cut::kSplitK; }

struct Plan {
  Cut cut;
  uint32_t tiles, octets;  // per block: 16 rows and 8 vectors each; of kSkinnyGemm a quarter
};

constexpr bool operator==(const Plan& a, const Plan& b) {
  return a.cut == b.cut && a.tiles == b.tiles && a.octets == b.octets;
}

// The properties of a product that its plan depends on. `rows` counts those of all matrices that lie side by
// side; for gated ones, of one.
struct ProductShape {
  Format format;
  size_t rows, columns;
  bool gated;
  size_t bucket;
  bool wide;   // tiles can be cut out of all of it ..
  bool split;  // .. and of each part of the columns
};

inline constexpr size_t BlocksOf(size_t count, size_t of_one) { return (count + of_one - 1) / of_one; }

// Tiles of 16 rows that a block of few vectors may have.
constexpr uint32_t MostTiles(Format format, uint32_t octets, bool gated) {
  if (format == Format::kF32 || format == Format::kF16) return 1;
  if (gated) return octets == 2 || octets == 4 ? 2 : 1;
  return octets == 4 ? 4 : 2;
}

// Blocks of few vectors that a GPU of some 130 multiprocessors has at the same time.
inline constexpr size_t kTogether = 264;

// Few vectors are read by blocks that are not twice too large for them; of more than 16, 32 at a time. A
// block has 16 rows as long as all blocks run together, and are not gated.
inline Plan PlanOfGemv(const ProductShape& shape) {
  const uint32_t octets = shape.bucket <= 8 ? 1 : shape.bucket <= 16 ? 2 : 4;
  const size_t blocks = BlocksOf(shape.rows, 16) * BlocksOf(shape.bucket, octets * 8);
  const bool two =
      octets == 4 && (shape.gated || blocks > kTogether) && MostTiles(shape.format, octets, shape.gated) > 1;
  return {Cut::kGemv, two ? 2u : 1u, octets};
}

// The time of a plan in microseconds on an H200, of a product behind others: by bench/product_bench. It only
// orders them.
class PlanTime {
 public:
  explicit PlanTime(const ProductShape& shape)
      : shape_(shape), rows_(shape.rows * (shape.gated ? 2 : 1)), bytes_(HasScales(shape.format)) {}

  // The vectors pass from the L2 cache to every block of rows.
  double OfGemv() const {
    const Plan plan = PlanOfGemv(shape_);
    const double blocks =
        Waves(BlocksOf(rows_, 16 * plan.tiles) * BlocksOf(shape_.bucket, plan.octets * 8), 2);
    const double chunk = plan.tiles == 2    ? (bytes_ ? kGemvByteChunkOfTwo : kGemvChunkOfTwo)
                         : plan.octets == 4 ? (bytes_ ? kGemvByteChunk : kGemvChunk)
                                            : kGemvChunkOfSixteen;
    return kBegin + blocks * Chunks() * chunk;
  }
  double OfSkinnyGemm(uint32_t tiles) const {
    return kBegin +
           Waves(BlocksOf(rows_, 32 * tiles) * BlocksOf(shape_.bucket, 32 * tiles), tiles == 4 ? 1 : 3) *
               Chunks() * (tiles == 4 ? kSkinnyGemmChunk : kSkinnyGemmChunkOfTwo);
  }
  // Clusters of eight blocks, each of which has its part of the columns in shared memory: bound by one
  // block's wait, or by what all of them read.
  double OfSplit(const Plan& plan) const {
    const double tiles = static_cast<double>(BlocksOf(rows_, 16 * plan.tiles) * BlocksOf(shape_.bucket, 64)),
                 stages = std::ceil(Chunks() / 16);
    const double stage = bytes_ ? kSplitKByteStage : plan.tiles == 8 ? kSplitKStageOfTwo : kSplitKStage;
    return kBegin + std::max(kSplitKBegin + kSplitKWait * stages, stage * stages * tiles);
  }
  // Blocks are persistent and go from tile to tile. With 64 vectors, two blocks share a multiprocessor,
  // except with 8-bit weights.
  double OfTiledGemm(const Plan& plan) const {
    const bool two = plan.octets == 8 && !bytes_;
    const double tiles =
        static_cast<double>(BlocksOf(rows_, 16 * plan.tiles) * BlocksOf(shape_.bucket, 8 * plan.octets));
    const double rows = plan.octets == 8 ? 2 : plan.tiles, turns = tiles / (kMultiprocessors * (two ? 2 : 1)),
                 busy = std::min(1.0, turns);
    const double chunk = (bytes_ ? kTiledGemmByteChunk : kTiledGemmChunk) + rows * kTiledGemmChunkOfTile +
                         busy * (two ? kTiledGemmBusyOfTwo : kTiledGemmBusy + rows * kTiledGemmBusyOfTile);
    return kBegin + kTiledGemmBegin + rows * kTiledGemmBeginOfTile + std::ceil(turns) * Chunks() * chunk;
  }

 private:
  static constexpr double kMultiprocessors = 132;
  static constexpr double kBegin = 3;  // and what prepares the terms
  static constexpr double kGemvChunkOfSixteen = 0.07, kGemvChunk = 0.1, kGemvChunkOfTwo = 0.22,
                          kSkinnyGemmChunk = 0.75, kSkinnyGemmChunkOfTwo = 0.8;
  static constexpr double kTiledGemmBegin = 0.9, kTiledGemmBeginOfTile = 0.62, kTiledGemmChunk = 0.14,
                          kTiledGemmChunkOfTile = 0.0035, kTiledGemmBusy = 0.03,
                          kTiledGemmBusyOfTile = 0.0075, kTiledGemmBusyOfTwo = 0.15;
  static constexpr double kSplitKBegin = 2, kSplitKWait = 0.4, kSplitKStage = 0.048,
                          kSplitKStageOfTwo = 0.055;
  // 8-bit weights: fewer bytes, more instructions.
  static constexpr double kGemvByteChunk = 0.08, kGemvByteChunkOfTwo = 0.14, kTiledGemmByteChunk = 0.165,
                          kSplitKByteStage = 0.04;

  double Chunks() const { return static_cast<double>(shape_.columns) / 32; }
  // `each`: blocks that a multiprocessor has at the same time.
  static double Waves(size_t blocks, double each) {
    return std::max(1.0, static_cast<double>(blocks) / (kMultiprocessors * each));
  }

  ProductShape shape_;
  size_t rows_;
  bool bytes_;  // weights of 8 bits
};

// The best of what kernels of tiles there are, by rows of all matrices of a tile.
inline Plan PlanOfTiledGemm(const ProductShape& shape) {
  const PlanTime time(shape);
  Plan best{Cut::kTiledGemm, 8, 16};
  const auto consider = [&](const Plan& plan) {
    if (time.OfTiledGemm(plan) < time.OfTiledGemm(best)) best = plan;
  };
  if (shape.bucket <= 64) consider({Cut::kTiledGemm, 4, 8});
  if (shape.gated) return best;
  consider({Cut::kTiledGemm, 4, 16});
  if (!HasScales(shape.format)) consider({Cut::kTiledGemm, 6, 16});
  return best;
}

// A tile has 128 rows where clusters of 64 rows each would not run together: one block has a multiprocessor's
// memory for itself.
inline Plan PlanOfSplitK(const ProductShape& shape) {
  const size_t blocks = BlocksOf(shape.rows, 64) * BlocksOf(shape.bucket, 64) * 8,
               stages = BlocksOf(BlocksOf(shape.columns, 32), 16);
  return {Cut::kSplitK, !shape.gated && shape.format == Format::kBf16 && blocks > 132 && stages > 6 ? 8u : 4u,
          8};
}

inline Plan PlanOf(const ProductShape& shape) {
  const Plan few = PlanOfGemv(shape), split = PlanOfSplitK(shape);
  if (shape.bucket <= 8) return few;  // reads floats, without what prepares terms
  const PlanTime time(shape);
  const double of_few = time.OfGemv(), of_split = time.OfSplit(split);
  if (shape.bucket <= 16) return shape.split && of_split < of_few ? split : few;
  if (shape.wide) {
    const Plan wide = PlanOfTiledGemm(shape);
    const double of_tiled_gemm = time.OfTiledGemm(wide);
    if (shape.split && of_split < std::min(of_tiled_gemm, of_few)) return split;
    return of_tiled_gemm < of_few ? wide : few;
  }
  const uint32_t tiles = time.OfSkinnyGemm(4) < time.OfSkinnyGemm(2) ? 4 : 2;
  return time.OfSkinnyGemm(tiles) < of_few ? Plan{Cut::kSkinnyGemm, tiles, tiles} : few;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PRODUCT_PLAN_H_
