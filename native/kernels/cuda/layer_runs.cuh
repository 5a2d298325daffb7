// Whether a transformer's layers go through one grid that stays (layer_run.cuh), and how it is told. Otherwise they are grids one by one; the
// bits are the same.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUNS_CUH_
#define PARLEY_KERNELS_CUDA_LAYER_RUNS_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device.h"
#include "kernels/cuda/layer_run.cuh"
#include "kernels/cuda/layer_run_room.h"
#include "kernels/cuda/laid_vectors.cuh"

namespace parley::cuda {

// Of which a layer's products read as many rows each; fewer multiprocessors than these have it done grid by grid.
constexpr uint32_t kRunBlocks = 128;
// One block sees all positions of a head: beyond these several do it faster.
constexpr size_t kMostRunPositions = 16 * kPositions;

inline bool IsRunMatrix(const Matrix& w, size_t rows, size_t columns) {
  return w.format == Format::kBf16 && w.rows == rows && w.columns == columns && LiesAtFours(w.values);
}

inline bool IsRunNorm(const Norm& norm) { return norm.weight != nullptr && norm.bias == nullptr && LiesAtFours(norm.weight); }

template <class Shape>
bool IsRunLayer(const LayerWeights& layer, const LayerWeights& first, size_t kv_width) {
  constexpr size_t kHidden = Shape::kHiddenColumns, kExpanded = Shape::kExpandedColumns, kQueries = Shape::kQueryHeads * kRunDim;
  const HeadProjections& heads = layer.heads;
  const bool has_norms = heads.q_norm != nullptr && heads.k_norm != nullptr;
  const bool has_none = heads.q_norm == nullptr && heads.k_norm == nullptr;
  return IsRunMatrix(heads.q, kQueries, kHidden) && IsRunMatrix(heads.k, kv_width, kHidden) && IsRunMatrix(heads.v, kv_width, kHidden) &&
         IsRunMatrix(layer.o, kHidden, kQueries) && IsRunMatrix(layer.gate, kExpanded, kHidden) &&
         IsRunMatrix(layer.up, kExpanded, kHidden) && IsRunMatrix(layer.down, kHidden, kExpanded) && IsRunNorm(heads.norm) &&
         IsRunNorm(layer.mlp_norm) && layer.attention_scale == nullptr && layer.mlp_scale == nullptr && (has_norms || has_none) &&
         has_norms == (first.heads.q_norm != nullptr) && heads.norm.eps == first.heads.norm.eps && layer.mlp_norm.eps == first.heads.norm.eps &&
         LiesAtFours(heads.q_norm) && LiesAtFours(heads.k_norm);
}

// The grid's shape: with as many places of the ring as there is room for, none where that is too little.
template <class Shape>
Grid LayerRunGrid(const DeviceFacts& facts, uint32_t blocks, uint32_t kv_heads, uint32_t most_rows, uint32_t* places) {
  const uint32_t raw = (Shape::kQueryHeads + 2 * kv_heads) * kRunDim / kSlabRows, inner = Shape::kExpandedColumns / kSlabRows;
  const uint32_t most_slabs = std::max((raw + blocks - 1) / blocks, 2 * ((inner + blocks - 1) / blocks));
  const RunRoom room = RunRoom::Of(Shape::kHiddenColumns, most_rows, most_slabs, sizeof(typename Shape::Attention::Shared));
  const size_t fixed = room.all + 256;  // and what the kernel's own variables take
  *places = facts.shared < fixed ? 0 : static_cast<uint32_t>(std::min<size_t>(WeightRing::kMostPlaces, (facts.shared - fixed) / kSlabBytes));
  Grid grid;
  grid.x = blocks;
  grid.threads = kRunThreads + kFillThreads;
  grid.shared = *places * kSlabBytes + room.all;
  return grid;
}

// All places of a slab have to be there at the same time.
template <class Shape>
constexpr uint32_t LeastPlaces() {
  constexpr uint32_t kMost = std::max({Shape::kHiddenColumns, Shape::kExpandedColumns, Shape::kQueryHeads * kRunDim});
  return (kMost + kSlabColumns - 1) / kSlabColumns;
}

inline Told* TakeTold(Told** from, size_t count) {
  Told* const first = *from;
  *from += (count + 1) / 2 * 2;
  return first;
}

// Whether it was done.
template <class Shape>
bool EnqueueLayerRun(Queue& queue, LayerRunRoom& room, const LayerWeights* layers, size_t count, const float* angles, const AttentionBatch& batch,
                     float* x) {
  const auto kv_heads = static_cast<uint32_t>(batch.layout.heads), most_rows = static_cast<uint32_t>(BucketOf(batch.rows));
  if (batch.query_heads != Shape::kQueryHeads || batch.query_heads % kv_heads != 0) return false;
  if (!std::all_of(layers, layers + count, [&](const LayerWeights& layer) { return IsRunLayer<Shape>(layer, *layers, kv_heads * kRunDim); })) return false;
  LayerRunArgs args{};
  const uint32_t together = room.device.Facts().multiprocessors < static_cast<int>(kRunBlocks) ? 1 : kRunBlocks;
  const Grid grid = LayerRunGrid<Shape>(room.device.Facts(), together, kv_heads, most_rows, &args.places);
  const bool fits = args.places >= LeastPlaces<Shape>();
  if (!fits || room.device.BlocksTogether(EntryOf<&RunLayersKernel<Shape>>(), grid.threads, grid.shared) < together) return false;
  args.heads = HeadsArgsOf(queue, batch, 0, {}, {angles, layers->heads.q_norm, layers->heads.k_norm, layers->heads.norm.eps});
  args.x = x;
  const size_t raw = (Shape::kQueryHeads + 2 * kv_heads) * kRunDim, pairs = (Shape::kQueryHeads * kRunDim + Shape::kExpandedColumns) / 2;
  auto* told = static_cast<Told*>(room.told.AtLeast(kMostRunRows * (Shape::kHiddenColumns + raw + pairs) * sizeof(Told)));
  args.rows = TakeTold(&told, kMostRunRows * Shape::kHiddenColumns);
  args.raw = TakeTold(&told, kMostRunRows * raw);
  args.attended = TakeTold(&told, kMostRunRows * Shape::kQueryHeads * kRunDim / 2);
  args.inner = told;
  args.steps = static_cast<uint32_t*>(room.steps.AtLeast(kRunBlocks * sizeof(uint32_t)));
  args.layers = static_cast<uint32_t>(count);
  args.most_rows = most_rows;
  for (size_t n = 0; n < count; n++) {
    const LayerWeights& layer = layers[n];
    const auto bytes = [](const Matrix& w) { return static_cast<const unsigned char*>(w.values); };
    args.layer[n] = {bytes(layer.heads.q),     bytes(layer.heads.k), bytes(layer.heads.v), bytes(layer.o),
                     bytes(layer.gate),        bytes(layer.up),      bytes(layer.down),    layer.heads.norm.weight,
                     layer.heads.q_norm,       layer.heads.k_norm,   layer.mlp_norm.weight};
  }
  queue.Launch<&RunLayersKernel<Shape>>(grid, args);
  return true;
}

// Kernels::RunLayers. The sizes are those of the code predictor and of the talkers, and one that tests can afford.
inline bool EnqueueRunLayers(Queue& queue, LayerRunRoom& room, bool full_vectors, const LayerWeights* layers, size_t count, const float* angles,
                             const AttentionBatch& batch, float* x) {
  const bool fits = count > 0 && count <= kMostRunLayers && batch.rows > 0 && batch.rows <= kMostRunRows && batch.furthest <= kMostRunPositions &&
                    batch.layout.head_dim == kRunDim && !full_vectors && angles != nullptr && LiesAtFours(angles) && LiesAtFours(x);
  if (!fits) return false;
  const auto with = [&](auto shape) { return EnqueueLayerRun<decltype(shape)>(queue, room, layers, count, angles, batch, x); };
  if (batch.layout.format == Format::kF32) return with(RunShape<4, 8, 12, float>{}) || with(RunShape<1, 1, 1, float>{});
  if (batch.layout.format != Format::kBf16) return false;
  return with(RunShape<4, 8, 12, Bf16>{}) || with(RunShape<8, 8, 24, Bf16>{});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUNS_CUH_
