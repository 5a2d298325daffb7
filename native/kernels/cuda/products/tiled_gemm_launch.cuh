// Launches of the tiled GEMM and the split-K GEMM: how vectors lie in tiles, and which shapes of tiles there
// are.
#ifndef PARLEY_KERNELS_CUDA_TILED_GEMM_LAUNCH_CUH_
#define PARLEY_KERNELS_CUDA_TILED_GEMM_LAUNCH_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/device/work_room.h"
#include "kernels/cuda/products/laid_vectors.cuh"
#include "kernels/cuda/products/product_plan.h"
#include "kernels/cuda/products/split_k_gemm.cuh"
#include "kernels/cuda/products/tiled_gemm.cuh"
#include "kernels/cuda/products/tiled_gemm_bytes.cuh"
#include "kernels/kernels.h"

namespace parley::cuda {

// True if a segment is cut into boxes of 32 columns, three a stage, not into one of 64. Beyond the last
// column of vectors that are no windows there are zeros.
inline bool IsNarrow(size_t length) { return length % 64 != 0 && length % 96 == 0; }

// True if tiles can be cut out of these matrices, vectors and results.
inline bool FitsTiles(const ProductArgs& args, const LaidVectors& laid) {
  const bool bytes = HasScales(args.formats[0]);
  if ((args.formats[0] != Format::kBf16 && !bytes) || !LiesAtFours(args.gain)) return false;
  if (bytes && laid.as_signals) return false;
  for (const MatrixView& matrix : args.matrices) {
    if (matrix.rows % 8 != 0 || !LiesAtFours(matrix.y) || !LiesAtFours(matrix.scales) ||
        !LiesAtFours(matrix.bias))
      return false;
  }
  return !laid.as_signals || (laid.slot > 0 && (laid.view.length % 64 == 0 || IsNarrow(laid.view.length)));
}

struct TiledGemmTerms {
  TileMap map;
  TiledGemmCut cut;
  uint32_t length;  // per segment
};

// The tensor map and the cut for prepared terms, in tiles of `vectors` vectors and boxes of `box` columns.
inline TiledGemmTerms TermsInTiles(const LaidVectors& laid, const unsigned char* terms, size_t columns,
                                   uint32_t vectors, uint32_t box) {
  TiledGemmTerms wide{};
  if (!laid.as_signals) {
    wide.cut = {vectors, 0, 0, 0};
    wide.length = 1u << 31;  // one segment, whatever a stage reads beyond its end
    wide.map = TileMapOf({terms,
                          {columns, 1, laid.bucket, 1},
                          {columns * 2, columns * 2, columns * 2 * laid.bucket},
                          {box, 1, vectors, 1}});
    return wide;
  }
  // The largest power of two by which the positions of a stream can be divided.
  uint32_t positions = 1, shift = 0;
  for (; positions < vectors && laid.positions % (positions * 2) == 0; shift++) positions *= 2;
  const VectorsView& view = laid.view;
  const size_t segments = columns / view.length;
  const size_t turn = segments > 1 ? view.segment_stride * 2 : 16;
  wide.cut = {positions, static_cast<uint32_t>(laid.positions / positions), 0, shift};
  wide.length = view.length;
  wide.map = TileMapOf({terms,
                        {view.length, segments, laid.positions, laid.streams},
                        {turn, view.stride * 2, laid.slot * 2},
                        {box, 1, positions, vectors / positions}});
  return wide;
}

// The copy engine takes weights of 8 bits two at a time.
inline TileMap MapOf(Format format, const MatrixView& matrix, size_t columns, uint32_t box, uint32_t rows) {
  const size_t bytes = columns * BytesOf(format);
  const auto its_box = static_cast<uint32_t>(box * BytesOf(format) / 2);
  return TileMapOf({matrix.values,
                    {bytes / 2, 1, matrix.rows, 1},
                    {bytes, bytes, bytes * matrix.rows},
                    {its_box, 1, rows, 1}});
}

// The work of one grid, and its tiles.
template <class Shape>
size_t CutIntoTiles(const ProductArgs& product, const LaidVectors& laid, TiledGemmArgs* args) {
  args->product = product;
  const TiledGemmTerms terms =
      TermsInTiles(laid, product.terms, product.columns, Shape::kVectors, Shape::kBox);
  args->vectors = terms.map;
  args->cut = terms.cut;
  args->product.x.length = terms.length;
  TileMap* const maps[3] = {&args->first, &args->second, &args->third};
  size_t row_tiles = 0, weights = 0;
  for (int i = 0; i < 3; i++) {
    MatrixView& matrix = args->product.matrices[i];
    weights += size_t{matrix.rows} * product.columns * BytesOf(Shape::kFormat) / 2;
    matrix.blocks = Shape::kGated && i > 0 ? 0 : static_cast<uint32_t>(BlocksOf(matrix.rows, Shape::kRows));
    row_tiles += matrix.blocks;
    *maps[i] = matrix.values == nullptr
                   ? args->first
                   : MapOf(Shape::kFormat, matrix, product.columns, Shape::kBox, Shape::kBoxRows);
  }
  const size_t streams = Shape::kVectors / terms.cut.positions;
  // The larger operand is read once, by blocks that run at the same time; the smaller one stays in the cache.
  args->cut.rows_first = laid.bucket * product.columns > weights ? 1 : 0;
  return row_tiles * (terms.cut.position_tiles == 0
                          ? BlocksOf(laid.bucket, Shape::kVectors)
                          : terms.cut.position_tiles * BlocksOf(laid.streams, streams));
}

// The kernel for a shape's weights.
template <class Shape>
constexpr auto kTiledGemmKernel = &MultiplyTiledGemm<Shape>;
template <Format kFormat, bool kGated, int kVectors, int kLoaded>
constexpr auto kTiledGemmKernel<ByteShape<kFormat, kGated, kVectors, kLoaded>> =
    &MultiplyTiledGemmBytes<ByteShape<kFormat, kGated, kVectors, kLoaded>>;

template <class Shape>
constexpr auto kSplitKKernel = &MultiplySplitK<Shape>;
template <Format kFormat, bool kGated>
constexpr auto kSplitKKernel<SplitKBytesShape<kFormat, kGated>> =
    &MultiplySplitKBytes<SplitKBytesShape<kFormat, kGated>>;

template <class Shape>
void LaunchTiles(Queue& queue, const ProductRules& rules, const ProductArgs& product,
                 const LaidVectors& laid) {
  TiledGemmArgs args{};
  const size_t tiles = CutIntoTiles<Shape>(product, laid, &args);
  Grid grid;
  grid.x = static_cast<uint32_t>(std::min<size_t>(tiles, rules.multiprocessors * Shape::kTogether));
  grid.threads = kTiledGemmThreads;
  grid.shared = Shape::kShared;
  queue.Launch<kTiledGemmKernel<Shape>>(grid, args);
}

template <class Shape>
void LaunchSplitK(Queue& queue, const ProductArgs& product, const LaidVectors& laid) {
  SplitKArgs args{};
  Grid grid;
  grid.x = static_cast<uint32_t>(CutIntoTiles<Shape>(product, laid, &args.wide) * kParts);
  grid.threads = kSplitKThreads;
  grid.shared = Shape::SharedOf(Shape::StagesOf(product.columns / kChunk));
  queue.Launch<kSplitKKernel<Shape>>(grid, args);
}

// True if every part's boxes lie in one segment, and all of a part in shared memory.
inline bool FitsSplit(const ProductArgs& args, const LaidVectors& laid) {
  using Shape = SplitKShape<false, 64>;
  if (laid.as_signals && args.columns % (kParts * Shape::kBox) != 0) return false;
  return FitsTiles(args, laid) && !(laid.as_signals && IsNarrow(laid.view.length)) &&
         Shape::SharedOf(Shape::StagesOf(args.columns / kChunk)) <= (227u << 10);
}

// Launches by one of the plans for tiles: of 64 or 128 vectors, and so many rows in shared memory.
template <bool kGated>
void LaunchTiledGemm(Queue& queue, const ProductRules& rules, const Plan& plan, const ProductArgs& product,
                     const LaidVectors& laid) {
  constexpr Format kFormat = Format::kBf16;
  const auto launch = [&](auto shape) { LaunchTiles<decltype(shape)>(queue, rules, product, laid); };
  const bool narrow = IsNarrow(laid.as_signals ? laid.view.length : product.columns);
  if constexpr (kGated) {
    if (plan.octets == 8) return launch(TiledGemmShape<kFormat, true, 64, 64, 64>());
    return launch(TiledGemmShape<kFormat, true, 128, 128, 64>());
  } else {
    if (narrow) return launch(TiledGemmShape<kFormat, false, 128, 96, 32>());
    if (plan.octets == 8) return launch(TiledGemmShape<kFormat, false, 64, 64, 64>());
    switch (plan.tiles) {
      case 4:
        return launch(TiledGemmShape<kFormat, false, 128, 64, 64>());
      case 6:
        return launch(TiledGemmShape<kFormat, false, 128, 96, 64>());
      default:
        return launch(TiledGemmShape<kFormat, false, 128, 128, 64>());
    }
  }
}

// Launches the tiled GEMM of 8-bit weights.
template <Format kFormat, bool kGated>
void LaunchTiledGemmBytes(Queue& queue, const ProductRules& rules, const Plan& plan,
                          const ProductArgs& product, const LaidVectors& laid) {
  const auto launch = [&](auto shape) { LaunchTiles<decltype(shape)>(queue, rules, product, laid); };
  if (plan.octets == 8) return launch(ByteShape<kFormat, kGated, 64, 64>());
  if (!kGated && plan.tiles == 4) return launch(ByteShape<kFormat, false, 128, 64>());
  launch(ByteShape<kFormat, kGated, 128, 128>());
}

template <Format kFormat>
void LaunchTilesOf(Queue& queue, const ProductRules& rules, const Plan& plan, bool gated,
                   const ProductArgs& product, const LaidVectors& laid) {
  const bool split = plan.cut == Cut::kSplitK;
  if constexpr (HasScales(kFormat)) {
    if (split && gated) return LaunchSplitK<SplitKBytesShape<kFormat, true>>(queue, product, laid);
    if (split) return LaunchSplitK<SplitKBytesShape<kFormat, false>>(queue, product, laid);
    if (gated) return LaunchTiledGemmBytes<kFormat, true>(queue, rules, plan, product, laid);
    LaunchTiledGemmBytes<kFormat, false>(queue, rules, plan, product, laid);
  } else {
    if (split && gated) return LaunchSplitK<SplitKShape<true, 64>>(queue, product, laid);
    if (split && plan.tiles == 8) return LaunchSplitK<SplitKShape<false, 128>>(queue, product, laid);
    if (split) return LaunchSplitK<SplitKShape<false, 64>>(queue, product, laid);
    if (gated) return LaunchTiledGemm<true>(queue, rules, plan, product, laid);
    LaunchTiledGemm<false>(queue, rules, plan, product, laid);
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILED_GEMM_LAUNCH_CUH_
