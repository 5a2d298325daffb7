// The warp that fills the ring of a grid that goes through a transformer's layers: which weights, in which order.
#ifndef PARLEY_KERNELS_CUDA_RUN_WEIGHTS_CUH_
#define PARLEY_KERNELS_CUDA_RUN_WEIGHTS_CUH_

#include "kernels/cuda/fused/run_shape.cuh"

namespace parley::cuda {

template <class Shape, bool kPasses>
struct RunWeights {
  const LayerRunArgs& args;
  const RunSlabs& slabs;
  WeightRing* ring;

  // One of a layer's four products, or that of a pass's head, as far as this block has a share in it.
  struct Source {
    const unsigned char *matrix[3];  // of this block's slabs the first ..
    uint32_t until[3];               // .. and where the next matrix begins
    uint32_t columns;
  };
  __device__ __forceinline__ Source SourceOf(const RunLayer& layer, uint32_t product) const {
    const uint32_t attended = args.heads.query_heads * kRunDim;
    const auto at = [&](const unsigned char* matrix, uint32_t slab, uint32_t columns) {
      return matrix + static_cast<uint64_t>(slab) * (kSlabRows * 2) * columns;
    };
    if (product == 0) {
      const SlabShare share = SlabShare::Of(slabs.Heads());
      const uint32_t k = slabs.queries, v = slabs.queries + slabs.kv, end = share.first + share.count;
      const auto until = [&](uint32_t border) { return min(max(border, share.first), end) - share.first; };
      return {{at(layer.q, share.first, Shape::kHiddenColumns), at(layer.k, max(k, share.first) - k, Shape::kHiddenColumns),
               at(layer.v, max(v, share.first) - v, Shape::kHiddenColumns)},
              {until(k), until(v), share.count}, Shape::kHiddenColumns};
    }
    if (product == 2) {
      const SlabShare share = SlabShare::Of(slabs.inner);
      return {{at(layer.gate, share.first, Shape::kHiddenColumns), at(layer.up, share.first, Shape::kHiddenColumns), nullptr},
              {share.count, 2 * share.count, 2 * share.count}, Shape::kHiddenColumns};
    }
    const SlabShare share = SlabShare::Of(slabs.hidden);
    const uint32_t columns = product == 1 ? attended : Shape::kExpandedColumns;
    return {{at(product == 1 ? layer.o : layer.down, share.first, columns), nullptr, nullptr}, {share.count, share.count, share.count}, columns};
  }

  __device__ __forceinline__ Source SourceOfHead(uint32_t of_pass) const {
    const SlabShare share = SlabShare::Of(slabs.head);
    const unsigned char* const head = args.passes->pass[of_pass].head;
    return {{head + static_cast<uint64_t>(share.first) * (kSlabRows * 2) * Shape::kHiddenColumns, nullptr, nullptr},
            {share.count, share.count, share.count}, Shape::kHiddenColumns};
  }

  // In tiles: piece by piece of their columns, slab by slab.
  __device__ __forceinline__ void Fill() const {
    const uint32_t of_layers = args.layers * 4, all = kPasses ? args.passes->count * (of_layers + 1) : of_layers;
#pragma unroll 1
    for (uint32_t n = 0; n < all; n++) {
      const uint32_t product = kPasses ? n % (of_layers + 1) : n;
      const Source source = kPasses && product == of_layers ? SourceOfHead(n / (of_layers + 1)) : SourceOf(args.layer[product / 4], product % 4);
      const uint32_t count = source.until[2], row_bytes = source.columns * 2, width = TileWidth(*ring, source.columns);
#pragma unroll 1
      for (uint32_t tile = 0; tile < count; tile += width) {
#pragma unroll 1
        for (uint32_t begin = 0; begin < source.columns; begin += kSlabColumns) {
#pragma unroll 1
          for (uint32_t slab = tile; slab < min(tile + width, count); slab++) {
            const unsigned char* const rows =
                slab < source.until[0]   ? source.matrix[0] + static_cast<uint64_t>(slab) * kSlabRows * row_bytes
                : slab < source.until[1] ? source.matrix[1] + static_cast<uint64_t>(slab - source.until[0]) * kSlabRows * row_bytes
                                         : source.matrix[2] + static_cast<uint64_t>(slab - source.until[1]) * kSlabRows * row_bytes;
            ring->Fill(rows + begin * 2, row_bytes, min(source.columns - begin, kSlabColumns));
          }
        }
      }
    }
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RUN_WEIGHTS_CUH_
