// The sizes of a grid that goes through a transformer's layers, and where its blocks' shared memory goes.
#ifndef PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_
#define PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_

#include "kernels/cuda/fused/layer_run_args.h"
#include "kernels/cuda/fused/run_attention.cuh"
#include "kernels/cuda/fused/run_choice.cuh"
#include "kernels/cuda/fused/slab_product.cuh"

namespace parley::cuda {

// Chunks of a part of such columns.
template <int kHidden_, int kAttended_, int kExpanded_, class Cached_>
struct RunShape {
  static constexpr int kHidden = kHidden_, kAttended = kAttended_, kExpanded = kExpanded_;
  static constexpr uint32_t kHiddenColumns = kHidden * kParts * kChunk, kExpandedColumns = kExpanded * kParts * kChunk;
  static constexpr uint32_t kQueryHeads = kAttended * kParts * kChunk / kRunDim;
  using Cached = Cached_;
  using Attention = RunAttention<Cached>;

  // Of a block in one product, at most.
  __host__ __device__ static uint32_t MostSlabs(uint32_t kv_heads, uint32_t head_slabs, uint32_t blocks) {
    const auto share = [&](uint32_t slabs) { return (slabs + blocks - 1) / blocks; };
    const uint32_t raw = share((kQueryHeads + 2 * kv_heads) * kRunDim / kSlabRows), inner = 2 * share(kExpandedColumns / kSlabRows);
    const uint32_t most = raw > inner ? raw : inner, head = share(head_slabs);
    return most > head ? most : head;
  }
  // Bytes that a block's attention or choice shares.
  __host__ __device__ static uint32_t Scratch(bool passes) {
    const uint32_t attention = sizeof(typename Attention::Shared), choice = passes ? sizeof(RunChoiceShared) : 0;
    return attention > choice ? attention : choice;
  }
};

// Where a block's shared memory goes.
struct RunRoom {
  static constexpr uint32_t kBars = sizeof(WeightRing::Bars);

  uint32_t pitch, sums_pitch;  // floats
  uint32_t sums, all;          // floats of one of two; bytes without the ring

  __host__ __device__ static RunRoom Of(uint32_t hidden, uint32_t most_rows, uint32_t most_slabs, uint32_t scratch) {
    RunRoom room;
    room.pitch = hidden + 4;
    room.sums_pitch = most_slabs * kSlabRows + 4;
    room.sums = kParts * most_rows * room.sums_pitch;
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
    return {Shape::kQueryHeads * kRunDim / kSlabRows, args.heads.heads * kRunDim / kSlabRows, Shape::kHiddenColumns / kSlabRows,
            Shape::kExpandedColumns / kSlabRows, kPasses ? args.passes->vocabulary / kSlabRows : 0};
  }
  __device__ __forceinline__ uint32_t Heads() const { return queries + 2 * kv; }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_
