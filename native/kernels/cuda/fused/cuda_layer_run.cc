// Runs a transformer's layers, or the passes of a code predictor, in one persistent grid (layer_run.cuh)
// where the sizes allow it. Otherwise the layers run as separate grids; the bits are the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/work_room.h"
#include "kernels/cuda/fused/layer_run.cuh"
#include "kernels/cuda/products/laid_vectors.cuh"

namespace parley::cuda {

// Blocks of the persistent grid. Each reads as many rows of a layer's products; a power of two. On fewer
// multiprocessors one block computes everything if that fits (a tiny model); otherwise separate grids do.
constexpr uint32_t kRunBlocks = 128;
// One block sees all positions of a head: beyond these several do it faster.
constexpr size_t kMostRunPositions = 16 * kPositions;

inline bool IsRunMatrix(const Matrix& w, size_t rows, size_t columns) {
  return w.format == Format::kBf16 && w.rows == rows && w.columns == columns && LiesAtFours(w.values);
}

inline bool IsRunNorm(const Norm& norm) {
  return norm.weight != nullptr && norm.bias == nullptr && LiesAtFours(norm.weight);
}

template <class Shape>
bool IsRunLayer(const LayerWeights& layer, const LayerWeights& first, size_t kv_width) {
  constexpr size_t kHidden = Shape::kHiddenColumns, kExpanded = Shape::kExpandedColumns,
                   kQueries = Shape::kQueryHeads * kRunDim;
  const HeadProjections& heads = layer.heads;
  const bool has_norms = heads.q_norm != nullptr && heads.k_norm != nullptr;
  const bool has_none = heads.q_norm == nullptr && heads.k_norm == nullptr;
  return IsRunMatrix(heads.q, kQueries, kHidden) && IsRunMatrix(heads.k, kv_width, kHidden) &&
         IsRunMatrix(heads.v, kv_width, kHidden) && IsRunMatrix(layer.o, kHidden, kQueries) &&
         IsRunMatrix(layer.gate, kExpanded, kHidden) && IsRunMatrix(layer.up, kExpanded, kHidden) &&
         IsRunMatrix(layer.down, kHidden, kExpanded) && IsRunNorm(heads.norm) && IsRunNorm(layer.mlp_norm) &&
         !layer.HasBias() && layer.attention_scale == nullptr && layer.mlp_scale == nullptr &&
         (has_norms || has_none) && has_norms == (first.heads.q_norm != nullptr) &&
         heads.norm.eps == first.heads.norm.eps && layer.mlp_norm.eps == first.heads.norm.eps &&
         LiesAtFours(heads.q_norm) && LiesAtFours(heads.k_norm);
}

// The grid's shape: with as many places of the ring as there is room for, none where that is too little.
template <class Shape>
Grid LayerRunGrid(const DeviceFacts& facts, uint32_t blocks, uint32_t kv_heads, uint32_t most_rows,
                  const CodePasses* passes, uint32_t* places) {
  const uint32_t head_slabs =
      passes != nullptr ? static_cast<uint32_t>(passes->passes->head.rows) / kSlabRows : 0;
  const RunRoom room =
      RunRoom::Of(Shape::kHiddenColumns, most_rows, Shape::MostSlabs(kv_heads, head_slabs, blocks),
                  Shape::Scratch(passes != nullptr));
  const size_t fixed = room.all + 1024;  // and what the kernel's own variables take
  *places = facts.shared < fixed ? 0
                                 : static_cast<uint32_t>(std::min<size_t>(
                                       WeightRing::kMostPlaces, (facts.shared - fixed) / kSlabBytes));
  Grid grid;
  grid.x = blocks;
  grid.threads = kRunThreads + kFillThreads;
  grid.shared = *places * kSlabBytes + room.all;
  return grid;
}

// All places of a slab have to be there at the same time.
template <class Shape>
constexpr uint32_t LeastPlaces() {
  constexpr uint32_t kMost =
      std::max({Shape::kHiddenColumns, Shape::kExpandedColumns, Shape::kQueryHeads * kRunDim});
  return (kMost + kSlabColumns - 1) / kSlabColumns;
}

inline TaggedWord* TakeTagged(TaggedWord** from, size_t count) {
  TaggedWord* const first = *from;
  *from += (count + 1) / 2 * 2;
  return first;
}

// True if a grid can also do the work after the layers of a pass. Every block must have a share of a head, so
// that it has received the last code when the next is published. A block with columns of the rows must also
// have a share of a layer's heads, with which it reads the first rows of the pass.
template <class Shape>
bool AreRunPasses(const CodePasses& its, uint32_t blocks, const AttentionBatch& batch) {
  const CodePass& first = *its.passes;
  const size_t vocabulary = first.head.rows;
  const auto is_one = [&](const CodePass& pass) {
    const bool is_last = &pass == its.passes + its.count - 1;
    const bool has_table = pass.table.format == first.table.format && pass.table.rows >= vocabulary &&
                           pass.table.columns == Shape::kHiddenColumns && LiesAtFours(pass.table.values);
    return IsRunMatrix(pass.head, vocabulary, Shape::kHiddenColumns) && LiesAtFours(pass.angles) &&
           pass.angles != nullptr && (is_last || has_table);
  };
  const bool is_narrow = first.table.format == Format::kBf16;
  const size_t raw = Shape::kQueryHeads + 2 * batch.layout.heads, hidden = Shape::kHiddenColumns / kRunDim;
  return its.count <= kMostRunPasses && raw % hidden == 0 && vocabulary % kSlabRows == 0 &&
         vocabulary / kSlabRows >= blocks && vocabulary <= RunRow::kMost && batch.count <= kMostRunRows &&
         batch.rows == batch.count * batch.longest &&
         (its.count == 1 || is_narrow || first.table.format == Format::kF32) && IsRunNorm(its.norm) &&
         its.norm.eps == its.layers->heads.norm.eps &&
         std::all_of(its.passes, its.passes + its.count, is_one);
}

template <class Shape>
const RunPasses* PassesOf(Queue& queue, LayerRunRoom& room, const CodePasses& its) {
  const size_t vocabulary = its.passes->head.rows;
  RunPasses passes{};
  passes.norm = its.norm.weight;
  passes.choices = its.choices;
  passes.codes = its.codes;
  passes.stride = its.stride;
  passes.logits = static_cast<float*>(room.logits.AtLeast(kMostRunRows * vocabulary * sizeof(float)));
  auto* tagged =
      static_cast<TaggedWord*>(room.choices.AtLeast((kMostRunRows * (vocabulary + 2)) * sizeof(TaggedWord)));
  passes.tagged_codes = TakeTagged(&tagged, 2 * kMostRunRows);
  passes.tagged_logits = tagged;
  passes.sequence = its.sequence;
  passes.count = static_cast<uint32_t>(its.count);
  passes.vocabulary = static_cast<uint32_t>(vocabulary);
  passes.narrow_tables = its.passes->table.format == Format::kBf16 ? 1 : 0;
  for (size_t n = 0; n < its.count; n++) {
    const CodePass& pass = its.passes[n];
    passes.pass[n] = {pass.angles, static_cast<const unsigned char*>(pass.head.values), pass.table.values};
  }
  return queue.Data(passes);
}

// Work of one persistent grid: the layers alone, or with the passes of a code predictor.
struct LayerRun {
  const LayerWeights* layers;
  size_t count;
  const float* angles;
  const AttentionBatch& batch;
  float* x;
  const CodePasses* passes = nullptr;
};

template <class Shape>
LayerRunArgs LayerRunArgsOf(Queue& queue, LayerRunRoom& room, const LayerRun& run) {
  LayerRunArgs args{};
  const auto kv_heads = static_cast<uint32_t>(run.batch.layout.heads);
  args.heads = HeadsArgsOf(
      queue, run.batch, 0, {},
      {run.angles, run.layers->heads.q_norm, run.layers->heads.k_norm, run.layers->heads.norm.eps});
  args.x = run.x;
  const size_t raw = (Shape::kQueryHeads + 2 * kv_heads) * kRunDim,
               pairs = (Shape::kQueryHeads * kRunDim + Shape::kExpandedColumns) / 2;
  auto* tagged = static_cast<TaggedWord*>(
      room.tagged.AtLeast(kMostRunRows * (Shape::kHiddenColumns + raw + pairs) * sizeof(TaggedWord)));
  args.rows = TakeTagged(&tagged, kMostRunRows * Shape::kHiddenColumns);
  args.raw = TakeTagged(&tagged, kMostRunRows * raw);
  args.attended = TakeTagged(&tagged, kMostRunRows * Shape::kQueryHeads * kRunDim / 2);
  args.inner = tagged;
  args.steps = static_cast<uint32_t*>(room.steps.AtLeast(kRunBlocks * sizeof(uint32_t)));
  args.layers = static_cast<uint32_t>(run.count);
  args.most_rows = static_cast<uint32_t>(BucketOf(run.batch.rows));
  for (size_t n = 0; n < run.count; n++) {
    const LayerWeights& layer = run.layers[n];
    const auto bytes = [](const Matrix& w) { return static_cast<const unsigned char*>(w.values); };
    args.layer[n] = {bytes(layer.heads.q), bytes(layer.heads.k),    bytes(layer.heads.v),
                     bytes(layer.o),       bytes(layer.gate),       bytes(layer.up),
                     bytes(layer.down),    layer.heads.norm.weight, layer.heads.q_norm,
                     layer.heads.k_norm,   layer.mlp_norm.weight};
  }
  if (run.passes != nullptr) args.passes = PassesOf<Shape>(queue, room, *run.passes);
  return args;
}

// Returns whether the grid was enqueued.
template <class Shape, bool kPasses>
bool EnqueueLayerRun(Queue& queue, LayerRunRoom& room, const LayerRun& run) {
  const AttentionBatch& batch = run.batch;
  const auto kv_heads = static_cast<uint32_t>(batch.layout.heads);
  if (batch.query_heads != Shape::kQueryHeads || batch.query_heads % kv_heads != 0) return false;
  const auto is_one = [&](const LayerWeights& layer) {
    return IsRunLayer<Shape>(layer, *run.layers, kv_heads * kRunDim);
  };
  if (!std::all_of(run.layers, run.layers + run.count, is_one)) return false;
  const uint32_t together =
      room.device.Facts().multiprocessors < static_cast<int>(kRunBlocks) ? 1 : kRunBlocks;
  if (kPasses && !AreRunPasses<Shape>(*run.passes, together, batch)) return false;
  uint32_t places = 0;
  const Grid grid = LayerRunGrid<Shape>(room.device.Facts(), together, kv_heads,
                                        static_cast<uint32_t>(BucketOf(batch.rows)), run.passes, &places);
  const KernelEntry& entry = EntryOf<&RunLayersKernel<Shape, kPasses>>();
  if (places < LeastPlaces<Shape>() ||
      room.device.BlocksTogether(entry, grid.threads, grid.shared) < together)
    return false;
  LayerRunArgs args = LayerRunArgsOf<Shape>(queue, room, run);
  args.places = places;
  queue.Launch<&RunLayersKernel<Shape, kPasses>>(grid, args);
  return true;
}

// Requirements common to all persistent grids.
inline bool IsRun(const LayerRun& run, const ProductRules& rules) {
  const AttentionBatch& batch = run.batch;
  return run.count > 0 && run.count <= kMostRunLayers && batch.rows > 0 && batch.rows <= kMostRunRows &&
         batch.count <= kMostRunRows && batch.furthest <= kMostRunPositions &&
         batch.layout.head_dim == kRunDim && !batch.sight.whole && !rules.full_vectors &&
         run.angles != nullptr && LiesAtFours(run.angles) && LiesAtFours(run.x);
}

// Kernels::RunLayers. The sizes are those of the code predictor and of the talkers, and one that tests can
// afford.
inline bool EnqueueRunLayers(Queue& queue, LayerRunRoom& room, const ProductRules& rules,
                             const LayerRun& run) {
  if (!IsRun(run, rules)) return false;
  const auto with = [&](auto shape) { return EnqueueLayerRun<decltype(shape), false>(queue, room, run); };
  if (run.batch.layout.format == Format::kF32)
    return with(RunShape<4, 8, 12, float>{}) || with(RunShape<1, 1, 1, float>{});
  if (run.batch.layout.format != Format::kBf16) return false;
  return with(RunShape<4, 8, 12, Bf16>{}) || with(RunShape<8, 8, 24, Bf16>{});
}

// SpeechKernels::RunPasses.
inline bool EnqueueRunPasses(Queue& queue, LayerRunRoom& room, const ProductRules& rules,
                             const LayerRun& run) {
  if (!IsRun(run, rules) || run.batch.layout.format != Format::kF32) return false;
  const auto with = [&](auto shape) { return EnqueueLayerRun<decltype(shape), true>(queue, room, run); };
  return with(RunShape<4, 8, 12, float>{}) || with(RunShape<1, 1, 1, float>{});
}

bool CudaKernels::RunLayers(const LayerWeights* layers, size_t count, const float* angles,
                            const AttentionBatch& batch, float* x) {
  return EnqueueRunLayers(Next(), *layer_run_, room_.rules, {layers, count, angles, batch, x});
}

bool CudaKernels::RunPasses(const CodePasses& passes, const AttentionBatch& batch, float* x) {
  if (passes.count == 0) return false;
  return EnqueueRunPasses(Next(), *layer_run_, room_.rules,
                          {passes.layers, passes.layer_count, passes.passes->angles, batch, x, &passes});
}

}  // namespace parley::cuda
