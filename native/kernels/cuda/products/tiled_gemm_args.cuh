// Arguments of the tiled GEMM, and the cut of its work into tiles.
#ifndef PARLEY_KERNELS_CUDA_TILED_GEMM_ARGS_CUH_
#define PARLEY_KERNELS_CUDA_TILED_GEMM_ARGS_CUH_

#include <cstdint>

#include "kernels/cuda/products/product_args.cuh"
#include "kernels/cuda/products/tile_map.h"

namespace parley::cuda {

// Which vectors a tile has: `positions` neighbouring ones of each of some streams. Vectors that are no
// windows are those of one stream.
struct TiledGemmCut {
  uint32_t positions;       // 2^shift
  uint32_t position_tiles;  // per stream; 0: as many as there are vectors
  uint32_t rows_first;      // tiles that follow one another have the same vectors, not the same rows
  uint32_t shift;
};

struct TiledGemmArgs {
  TileMap vectors;               // [streams][positions][segments][columns], terms
  TileMap first, second, third;  // [rows][columns] of the matrices
  TiledGemmCut cut;
  ProductArgs product;
  uint32_t rest[4];  // so that there is no gap at the end
};
static_assert(sizeof(TiledGemmArgs) % 64 == 0 &&
              sizeof(TiledGemmArgs) == 4 * sizeof(TileMap) + sizeof(TiledGemmCut) + sizeof(ProductArgs) + 16);

// Shape for kVectors vectors and kLoaded rows of weights in shared memory; in a gated product half of these
// rows are the gate's. A stage has kBoxes boxes of kBox columns.
template <Format kFormat_, bool kGated_, int kVectors_, int kLoaded_, uint32_t kBox_>
struct TiledGemmShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr bool kGated = kGated_;
  static constexpr int kVectors = kVectors_, kLoaded = kLoaded_;
  static constexpr int kRows = kGated ? kLoaded / 2 : kLoaded;
  static constexpr uint32_t kBox = kBox_, kBoxes = kBox == 64 ? 1 : 3;
  static constexpr uint32_t kStageChunks = kBox * kBoxes / kChunk;
  static constexpr uint32_t kRow = kBox * 2;  // bytes of a tile's row

  // Two warpgroups multiply: each has 64 of the vectors, or half of the rows.
  static constexpr bool kHalvesRows = kVectors == 64;
  static constexpr int kOctets = (kHalvesRows ? kLoaded / 2 : kLoaded) / 8;
  static constexpr int kPieces = (kGated ? 2 : 1) * (kGated && kHalvesRows ? 2 : 1);  // boxes of weights
  static constexpr int kBoxRows = kLoaded / kPieces;

  static constexpr uint32_t kTermBytes = kVectors * kRow, kWeightBytes = kLoaded * kRow;  // per box
  static constexpr uint32_t kStageBytes = kBoxes * (kTermBytes + kWeightBytes);
  // Results of a warp's eight vectors, with room between two so that they do not meet in a bank.
  static constexpr uint32_t kResultRows = kOctets * 8 / (kGated ? 2 : 1), kStagedRow = kResultRows + 8,
                            kStagedBytes = 8 * 8 * kStagedRow * 4;
  // Blocks of few vectors have little to do, and wait: two share a multiprocessor, of this grid or of this
  // one and the next.
  static constexpr uint32_t kTogether = kVectors == 64 ? 2 : 1;
  static constexpr uint32_t kMostStages =
                                ((kTogether == 2 ? 111u << 10 : 225u << 10) - kStagedBytes) / kStageBytes,
                            kStages = kMostStages < 8 ? kMostStages : 8;
  static constexpr uint32_t kRingBytes = kStages * kStageBytes;
  static constexpr uint32_t kShared =
      kRingBytes + kStagedBytes + 1024;  // the tiles begin at a multiple of 1024
  static_assert(kStageBytes % 1024 == 0 && kStages >= 3);
};

// One tile of the work.
struct TiledGemmTile {
  uint32_t block;     // block of rows
  uint32_t position;  // its vectors' first position ..
  uint32_t stream;    // .. and first stream
};

struct TiledGemmWork {
  uint32_t row_tiles, vector_tiles;

  template <class Shape>
  __device__ __forceinline__ static TiledGemmWork Of(const TiledGemmArgs& args, const VectorCounts& counts) {
    const MatrixView(&matrices)[3] = args.product.matrices;
    const uint32_t streams = Shape::kVectors / args.cut.positions;
    const uint32_t vector_tiles = args.cut.position_tiles == 0
                                      ? (counts.vectors + Shape::kVectors - 1) / Shape::kVectors
                                      : args.cut.position_tiles * ((counts.streams + streams - 1) / streams);
    return {matrices[0].blocks + matrices[1].blocks + matrices[2].blocks, vector_tiles};
  }
  __device__ __forceinline__ uint32_t Count() const { return row_tiles * vector_tiles; }

  template <class Shape>
  __device__ __forceinline__ TiledGemmTile At(const TiledGemmCut& cut, uint32_t tile) const {
    const uint32_t block = cut.rows_first ? tile % row_tiles : tile / vector_tiles;
    const uint32_t vectors = cut.rows_first ? tile / row_tiles : tile % vector_tiles;
    if (cut.position_tiles == 0) return {block, vectors * Shape::kVectors, 0};
    const uint32_t streams = vectors / cut.position_tiles;
    return {block, (vectors - streams * cut.position_tiles) * cut.positions,
            streams * (Shape::kVectors / cut.positions)};
  }
};

// The row of y for a tile's vector, or kNoVector beyond the last.
constexpr uint32_t kNoVector = 0xffffffff;

__device__ __forceinline__ uint32_t ResultOf(const TiledGemmArgs& args, const VectorCounts& counts,
                                             const TiledGemmTile& tile, uint32_t of) {
  if (args.cut.position_tiles == 0)
    return tile.position + of < counts.vectors ? tile.position + of : kNoVector;
  const uint32_t stream = tile.stream + (of >> args.cut.shift),
                 position = tile.position + (of & (args.cut.positions - 1));
  if (stream >= counts.streams) return kNoVector;
  const Windows* const windows = args.product.x.windows;
  const uint32_t begin = windows[stream].begin,
                 end = stream + 1 < counts.streams ? windows[stream + 1].begin : counts.vectors;
  return position < end - begin ? begin + position : kNoVector;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILED_GEMM_ARGS_CUH_
