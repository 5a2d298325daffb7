// The warp that fills the ring of a grid that goes through a transformer's layers: which weights, in which order.
#ifndef PARLEY_KERNELS_CUDA_RUN_WEIGHTS_CUH_
#define PARLEY_KERNELS_CUDA_RUN_WEIGHTS_CUH_

#include "kernels/cuda/run_shape.cuh"

namespace parley::cuda {

template <class Shape, bool kPasses>
struct RunWeights {
  using Place = typename Shape::Place;
  static constexpr uint32_t kHidden = Shape::kHiddenColumns;

  const LayerRunArgs& args;
  const RunSlabs& slabs;
  WeightRing<Shape::kFormat>* ring;

  // One of a layer's four products, or that of a pass's head, as far as this block has a share in it.
  struct Source {
    const unsigned char *matrix[3];  // of this block's slabs the first (of the lane that brings scales: their scales) ..
    uint32_t until[3];               // .. and where the next matrix begins
    uint32_t columns;
  };

  // The lanes before it bring rows.
  __device__ __forceinline__ static bool BringsScales() { return Place::kHasScales && threadIdx.x % 32 == kSlabRows; }
  // What this lane brings: a matrix, or the scales of its rows.
  __device__ __forceinline__ static const unsigned char* Own(const unsigned char* matrix, const RunScales* of, const float* RunScales::*scales) {
    if constexpr (Place::kHasScales) {
      if (BringsScales()) return reinterpret_cast<const unsigned char*>(of->*scales);
    }
    return matrix;
  }
  __device__ __forceinline__ const unsigned char* OwnHead(uint32_t of_pass) const {
    if constexpr (Place::kHasScales) {
      if (BringsScales()) return reinterpret_cast<const unsigned char*>(args.scales->head[of_pass]);
    }
    return args.passes->pass[of_pass].head;
  }
  // `slab` slabs further on.
  __device__ __forceinline__ static const unsigned char* SlabFrom(const unsigned char* own, uint32_t slab, uint32_t columns) {
    if constexpr (Place::kHasScales) {
      if (BringsScales()) return own + slab * Place::kScaleBytes;
    }
    return own + static_cast<uint64_t>(slab) * (kSlabRows * Place::kWeight) * columns;
  }

  __device__ __forceinline__ Source SourceOf(const RunLayer& layer, const RunScales* scales, uint32_t product) const {
    using Scales = RunScales;
    const uint32_t attended = args.heads.query_heads * kRunDim;
    if (product == 0) {
      const SlabShare share = SlabShare::Of(slabs.Heads());
      const uint32_t k = slabs.queries, v = slabs.queries + slabs.kv, end = share.first + share.count;
      const auto until = [&](uint32_t border) { return min(max(border, share.first), end) - share.first; };
      return {{SlabFrom(Own(layer.q, scales, &Scales::q), share.first, kHidden),
               SlabFrom(Own(layer.k, scales, &Scales::k), max(k, share.first) - k, kHidden),
               SlabFrom(Own(layer.v, scales, &Scales::v), max(v, share.first) - v, kHidden)},
              {until(k), until(v), share.count}, kHidden};
    }
    if (product == 2) {
      const SlabShare share = SlabShare::Of(slabs.inner);
      return {{SlabFrom(Own(layer.gate, scales, &Scales::gate), share.first, kHidden),
               SlabFrom(Own(layer.up, scales, &Scales::up), share.first, kHidden), nullptr},
              {share.count, 2 * share.count, 2 * share.count}, kHidden};
    }
    const SlabShare share = SlabShare::Of(slabs.hidden);
    const uint32_t columns = product == 1 ? attended : Shape::kExpandedColumns;
    const unsigned char* const own = Own(product == 1 ? layer.o : layer.down, scales, product == 1 ? &Scales::o : &Scales::down);
    return {{SlabFrom(own, share.first, columns), nullptr, nullptr}, {share.count, share.count, share.count}, columns};
  }

  __device__ __forceinline__ Source SourceOfHead(uint32_t of_pass) const {
    const SlabShare share = SlabShare::Of(slabs.head);
    return {{SlabFrom(OwnHead(of_pass), share.first, kHidden), nullptr, nullptr}, {share.count, share.count, share.count}, kHidden};
  }

  // In tiles: piece by piece of their columns, slab by slab.
  __device__ __forceinline__ void Fill() const {
    const uint32_t of_layers = args.layers * 4, all = kPasses ? args.passes->count * (of_layers + 1) : of_layers;
#pragma unroll 1
    for (uint32_t n = 0; n < all; n++) {
      const uint32_t product = kPasses ? n % (of_layers + 1) : n;
      const RunScales* const scales = Place::kHasScales ? args.scales->layer + product / 4 : nullptr;
      const Source source =
          kPasses && product == of_layers ? SourceOfHead(n / (of_layers + 1)) : SourceOf(args.layer[product / 4], scales, product % 4);
      const uint32_t count = source.until[2], row_bytes = source.columns * Place::kWeight, width = TileWidth(*ring, source.columns);
#pragma unroll 1
      for (uint32_t tile = 0; tile < count; tile += width) {
#pragma unroll 1
        for (uint32_t begin = 0; begin < source.columns; begin += Place::kColumns) {
#pragma unroll 1
          for (uint32_t slab = tile; slab < min(tile + width, count); slab++) {
            const unsigned char* const rows =
                slab < source.until[0]   ? SlabFrom(source.matrix[0], slab, source.columns)
                : slab < source.until[1] ? SlabFrom(source.matrix[1], slab - source.until[0], source.columns)
                                         : SlabFrom(source.matrix[2], slab - source.until[1], source.columns);
            const uint32_t columns = min(source.columns - begin, Place::kColumns);
            ring->Fill(rows + begin * Place::kWeight, row_bytes, columns, begin == 0);
          }
        }
      }
    }
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RUN_WEIGHTS_CUH_
