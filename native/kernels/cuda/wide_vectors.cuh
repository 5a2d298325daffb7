// Products of many vectors where a warpgroup multiplies at once (MmaWide: 9.0): a block has two of them, each with 64 rows (of a gated product 32
// of both matrices), and 128 vectors. Weights go from memory to registers, a stage ahead; the vectors' terms, in the order of
// columns that the fragments of weights have, pass through shared memory. Sums are those of the other kernels.
#ifndef PARLEY_KERNELS_CUDA_WIDE_VECTORS_CUH_
#define PARLEY_KERNELS_CUDA_WIDE_VECTORS_CUH_

#include <cstdint>

#include "kernels/cuda/product_args.cuh"
#include "kernels/cuda/words.h"

namespace parley::cuda {

template <Format kFormat_, bool kGated_>
struct WideShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr bool kGated = kGated_;
  static constexpr int kRows = kGated ? 64 : 128, kVectors = 128;
  static constexpr uint32_t kStageChunks = 2, kStages = 4;
  static constexpr uint32_t kStageBytes = kVectors * kStageChunks * kChunk * 2;
  static constexpr uint32_t kShared = kStages * kStageBytes + 1024;  // the tiles begin at a multiple of 1024
  static constexpr int kPieces = kStageBytes / 16 / 256;
};

template <class Shape>
struct WideBlock {
  using W = Weights<Shape::kFormat>;
  using Raw = typename W::Raw;
  struct Stage {
    Raw raw[Shape::kStageChunks][2];
  };

  unsigned char* tiles;
  const unsigned char* rows[2];  // of this lane: the rows g and g + 8 of its warp's fragment; of a gated product a gate and its up
  const unsigned char* terms[Shape::kPieces];
  bool is_vector[Shape::kPieces];
  uint32_t chunks;
  float acc[16][4], total[16][4];

  __device__ __forceinline__ static uint32_t RowOf(uint32_t half) {
    const uint32_t warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
    return Shape::kGated ? warp * 8 + g : warp * 16 + half * 8 + g;
  }

  // Rows beyond the last are that one: read, and not written.
  __device__ __forceinline__ void FindRows(const ProductArgs& args, const MatrixView& matrix, uint32_t row) {
    const uint64_t bytes = W::kBytes / kEight;
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      const void* const values = Shape::kGated && half == 1 ? args.matrices[1].values : matrix.values;
      const uint64_t wanted = min(row + RowOf(half), matrix.rows - 1);
      rows[half] = static_cast<const unsigned char*>(values) + (wanted * args.columns + threadIdx.x % 4 * kEight) * bytes;
    }
  }

  __device__ __forceinline__ void FindVectors(const ProductArgs& args, const VectorCounts& counts, uint32_t begin) {
#pragma unroll
    for (int i = 0; i < Shape::kPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x, vector = begin + piece / 8;
      is_vector[i] = vector < counts.vectors;
      terms[i] = args.terms + (PreparedAt(args.x, counts, is_vector[i] ? vector : begin) + piece % 4 * kEight) * 2;
    }
  }

  __device__ __forceinline__ void Clear(float (&sums)[16][4]) {
#pragma unroll
    for (int n = 0; n < 16; n++) sums[n][0] = sums[n][1] = sums[n][2] = sums[n][3] = 0;
  }

  __device__ __forceinline__ void LoadWeights(uint32_t stage, Stage* to) const {
#pragma unroll
    for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
      const uint64_t chunk = min(stage * Shape::kStageChunks + c, chunks - 1);
#pragma unroll
      for (int half = 0; half < 2; half++) to->raw[c][half] = W::Global(rows[half] + chunk * (W::kBytes * 4));
    }
  }

  // Pieces 0 to 3 of a row are of the stage's first chunk, the others of its second. Of a chunk beyond the last nothing is read.
  __device__ __forceinline__ void CopyTerms(uint32_t stage, const uint64_t (&offsets)[Shape::kStageChunks]) const {
    unsigned char* const to = tiles + stage % Shape::kStages * Shape::kStageBytes;
#pragma unroll
    for (int i = 0; i < Shape::kPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x, row = piece / 8, place = piece % 8 ^ row % 8, second = piece % 8 / 4;
      const bool is_chunk = stage * Shape::kStageChunks + second < chunks;
      const uint64_t offset = is_chunk ? offsets[second] : 0;
      CopyAsync16(to + row * 128 + place * 16, terms[i] + offset * 2, is_vector[i] && is_chunk);
    }
  }

  __device__ __forceinline__ void EndPart() {
#pragma unroll
    for (int n = 0; n < 16; n++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        total[n][i] += acc[n][i];
      }
    }
  }

  __device__ __forceinline__ void MultiplyChunk(uint32_t stage, uint32_t c, const Stage& weights, bool from_zero) {
    const unsigned char* const tile = tiles + stage % Shape::kStages * Shape::kStageBytes;
    const Eight<1> low = W::Terms(weights.raw[c][0]), high = W::Terms(weights.raw[c][1]);
    const uint32_t first[4] = {low.pairs[0][0], high.pairs[0][0], low.pairs[0][1], high.pairs[0][1]};
    const uint32_t second[4] = {low.pairs[0][2], high.pairs[0][2], low.pairs[0][3], high.pairs[0][3]};
    MmaWide(acc, first, tile, c * 2, from_zero);
    MmaWide(acc, second, tile, c * 2 + 1, false);
  }

  __device__ __forceinline__ void Finish(const ProductArgs& args, const MatrixView& matrix, uint32_t row, uint32_t begin,
                                         uint32_t vectors) const {
#pragma unroll
    for (int n = 0; n < 16; n++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint32_t vector = begin + n * 8 + threadIdx.x % 4 * 2 + i % 2, of = row + RowOf(i / 2);
        if (of >= matrix.rows || vector >= vectors) continue;
        if constexpr (Shape::kGated) {
          if (i < 2) FinishGated(args, of, vector, total[n][i], total[n][i + 2]);
        } else {
          FinishValue(args, matrix, of, vector, total[n][i]);
        }
      }
    }
  }
};

template <class Shape>
__device__ __forceinline__ void AskTerms(WideBlock<Shape>& own, uint32_t stage, ChunkWalk* walk) {
  if (stage * Shape::kStageChunks < own.chunks) {
    uint64_t offsets[Shape::kStageChunks];
#pragma unroll
    for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
      offsets[c] = walk->offset;
      walk->Next();
    }
    own.CopyTerms(stage, offsets);
  }
  CommitCopies();
}

// The part of the columns that is under way.
struct WidePart {
  uint32_t end;
  bool is_new;
};

// One stage: what was loaded for it is multiplied, and what comes later is asked for.
template <class Shape>
__device__ __forceinline__ void WideStage(WideBlock<Shape>& own, uint32_t stage, WidePart* part, ChunkWalk* walk,
                                          const typename WideBlock<Shape>::Stage& now, typename WideBlock<Shape>::Stage* next) {
  AwaitCopies<Shape::kStages - 2>();
  BeginWide();
  __syncthreads();
  AskTerms(own, stage + Shape::kStages - 1, walk);
  own.LoadWeights(stage + 1, next);
#pragma unroll
  for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
    const uint32_t chunk = stage * Shape::kStageChunks + c;
    if (chunk >= own.chunks) break;
    FenceWide();
    own.MultiplyChunk(stage, c, now, part->is_new);
    CommitWide();
    part->is_new = chunk + 1 == part->end;
    if (!part->is_new) continue;
    AwaitWide();
    own.EndPart();
    part->end = PartBegin(PartAfter(chunk + 1, own.chunks) + 1, own.chunks);
  }
  AwaitWide();
}

// A grid as for few vectors; args.terms are the vectors', prepared in the order of fragments.
template <class Shape>
__global__ void __launch_bounds__(256) MultiplyWide(ProductArgs args) {
  const VectorCounts counts = *args.x.counts;
  const uint32_t begin = blockIdx.y * Shape::kVectors;
  if (begin >= counts.vectors) {
    AwaitInputs();
    return;
  }
  uint32_t block = blockIdx.x;
  const MatrixView matrix = MatrixOf(args, &block);
  const uint32_t row = block * Shape::kRows;
  WideBlock<Shape> own;
  own.tiles = SharedBytes() + (1024 - reinterpret_cast<uintptr_t>(SharedBytes()) % 1024) % 1024;
  own.chunks = args.columns / kChunk;
  own.FindRows(args, matrix, row);
  own.FindVectors(args, counts, begin);
  own.Clear(own.total);
  typename WideBlock<Shape>::Stage even, odd;
  own.LoadWeights(0, &even);
  LetNextBegin();
  AwaitInputs();
  ChunkWalk walk(args.x, 0);
  for (uint32_t stage = 0; stage < Shape::kStages - 1; stage++) AskTerms(own, stage, &walk);
  WidePart part{PartBegin(PartAfter(0, own.chunks) + 1, own.chunks), true};
  for (uint32_t stage = 0; stage * Shape::kStageChunks < own.chunks; stage += 2) {
    WideStage(own, stage, &part, &walk, even, &odd);
    if ((stage + 1) * Shape::kStageChunks < own.chunks) WideStage(own, stage + 1, &part, &walk, odd, &even);
  }
  own.Finish(args, matrix, row, begin, counts.vectors);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_WIDE_VECTORS_CUH_
