// The sizes of a grid that goes through a transformer's layers, and where its blocks' shared memory goes.
#ifndef PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_
#define PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_

#include "kernels/cuda/layer_run_args.h"
#include "kernels/cuda/run_attention.cuh"
#include "kernels/cuda/run_choice.cuh"
#include "kernels/cuda/slab_product.cuh"

namespace parley::cuda {

// Blocks of such a grid, a power of two: a layer's products read as many rows each. On fewer multiprocessors than these one block does it all where
// it fits (a tiny model), else it is done grid by grid.
constexpr uint32_t kRunBlocks = 128;

// Chunks of a part of such columns; head_dim; whether what is added to the rows is scaled before; how many blocks.
template <int kHidden_, int kAttended_, int kExpanded_, class Cached_, Format kFormat_ = Format::kBf16, uint32_t kDim_ = 128, bool kScaled_ = false,
          uint32_t kBlocks_ = kRunBlocks>
struct RunShape {
  static constexpr Format kFormat = kFormat_;  // of all matrices
  using Place = SlabPlace<kFormat>;
  static constexpr int kHidden = kHidden_, kAttended = kAttended_, kExpanded = kExpanded_;
  static constexpr uint32_t kHiddenColumns = kHidden * kParts * kChunk, kExpandedColumns = kExpanded * kParts * kChunk;
  static constexpr uint32_t kDim = kDim_, kQueryHeads = kAttended * kParts * kChunk / kDim;
  static constexpr bool kScaled = kScaled_;
  static constexpr uint32_t kBlocks = kBlocks_;
  // Whether a grid may have fewer than others: where there are fewer multiprocessors a tiny model's is one block.
  static constexpr bool kMayHaveFewer = kBlocks < kRunBlocks || kHidden == 1;
  using Cached = Cached_;
  using Attention = RunAttention<kDim, Cached>;

  // Of a block in one product, at most.
  __host__ __device__ static uint32_t MostSlabs(uint32_t kv_heads, uint32_t head_slabs, uint32_t blocks) {
    const auto share = [&](uint32_t slabs) { return (slabs + blocks - 1) / blocks; };
    const uint32_t raw = share((kQueryHeads + 2 * kv_heads) * kDim / kSlabRows), inner = 2 * share(kExpandedColumns / kSlabRows);
    const uint32_t most = raw > inner ? raw : inner, head = share(head_slabs);
    return most > head ? most : head;
  }
  // Bytes that a block's attention or choice shares.
  __host__ __device__ static uint32_t Scratch(bool passes) {
    const uint32_t attention = sizeof(typename Attention::Shared), choice = passes ? sizeof(RunChoiceShared) : 0;
    return attention > choice ? attention : choice;
  }
};

// The codec's transformer. Its 512 rows are 64 slabs: so each of 64 blocks has one of the products that are added to them, and fewer wait for each other.
using LatentShape = RunShape<2, 4, 4, float, Format::kBf16, 64, true, 64>;

// Where a block's shared memory goes.
struct RunRoom {
  static constexpr uint32_t kBars = sizeof(RingBars);

  uint32_t pitch, sums_pitch;  // floats
  uint32_t sums, all;          // floats of one of two; bytes without the ring

  template <class Shape>
  __host__ __device__ static RunRoom Of(uint32_t most_rows, uint32_t most_slabs, bool passes) {
    const uint32_t scratch = Shape::Scratch(passes), scales = Shape::Place::kHasScales ? 1 : 0;  // as a row's
    RunRoom room;
    room.pitch = Shape::kHiddenColumns + 4;
    room.sums_pitch = most_slabs * kSlabRows + 4;
    room.sums = (kParts * most_rows + scales) * room.sums_pitch;
    const uint32_t vectors = most_rows * room.pitch * 4;
    room.all = kBars + ((vectors > scratch ? vectors : scratch) + 15) / 16 * 16 + 2 * room.sums * 4;
    return room;
  }
};

// Of each matrix, its slabs.
struct RunSlabs {
  uint32_t queries, kv, hidden, inner, head;

  template <class Shape, bool kPasses>
  __device__ __forceinline__ static RunSlabs Of(const LayerRunArgs& args) {
    return {Shape::kQueryHeads * Shape::kDim / kSlabRows, args.heads.heads * Shape::kDim / kSlabRows, Shape::kHiddenColumns / kSlabRows,
            Shape::kExpandedColumns / kSlabRows, kPasses ? args.passes->vocabulary / kSlabRows : 0};
  }
  __device__ __forceinline__ uint32_t Heads() const { return queries + 2 * kv; }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_
