// Products of many vectors where a warpgroup multiplies at once (MmaWide: 9.0): a block has two of them, each with 64 rows (of a gated product 32
// of both matrices), and 128 vectors. Weights and terms pass through shared memory, as many stages ahead as there is room for: memory
// answers late. Terms come in the order of columns that the fragments of weights have. Sums are those of the other kernels.
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
  static constexpr int kLoaded = 128;  // rows of weights in shared memory
  static constexpr uint32_t kStageChunks = 2, kStages = 6;
  static constexpr uint32_t kWeightRow = Weights<kFormat>::kBytes * 4;  // bytes of a chunk
  static constexpr uint32_t kTermBytes = kVectors * kStageChunks * kChunk * 2, kWeightBytes = kLoaded * kStageChunks * kWeightRow;
  static constexpr uint32_t kStageBytes = kTermBytes + kWeightBytes;
  static constexpr uint32_t kShared = kStages * kStageBytes + 1024;  // the tiles begin at a multiple of 1024
  static constexpr int kTermPieces = kTermBytes / 16 / 256, kWeightPieces = kWeightBytes / 16 / 256;
};

template <class Shape>
struct WideBlock {
  using W = Weights<Shape::kFormat>;

  unsigned char* tiles;
  const unsigned char* weights[Shape::kWeightPieces];  // this thread's pieces of 16 bytes, of the first stage
  const unsigned char* terms[Shape::kTermPieces];
  bool is_vector[Shape::kTermPieces];
  uint32_t chunks;
  float acc[16][4], total[16][4];

  // The rows g and g + 8 of a warp's fragment are neighbours in its matrix, or a gate and what it gates.
  __device__ __forceinline__ static uint32_t RowOf(uint32_t warp, uint32_t half, uint32_t g) {
    return Shape::kGated ? warp * 8 + g : warp * 16 + half * 8 + g;
  }

  // Rows beyond the last are that one: read, and not written.
  __device__ __forceinline__ void FindRows(const ProductArgs& args, const MatrixView& matrix, uint32_t row) {
    constexpr uint32_t kPieces = Shape::kStageChunks * Shape::kWeightRow / 16;
    const uint64_t bytes = static_cast<uint64_t>(args.columns) * (W::kBytes / kEight);
#pragma unroll
    for (int i = 0; i < Shape::kWeightPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x, loaded = piece / kPieces, half = loaded / 8 % 2;
      const void* const values = Shape::kGated && half == 1 ? args.matrices[1].values : matrix.values;
      const uint64_t wanted = min(row + RowOf(loaded / 16, half, loaded % 8), matrix.rows - 1);
      weights[i] = static_cast<const unsigned char*>(values) + wanted * bytes + piece % kPieces * 16;
    }
  }

  __device__ __forceinline__ void FindVectors(const ProductArgs& args, const VectorCounts& counts, uint32_t begin) {
#pragma unroll
    for (int i = 0; i < Shape::kTermPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x, vector = begin + piece / 8;
      is_vector[i] = vector < counts.vectors;
      terms[i] = args.terms + (PreparedAt(args.x, counts, is_vector[i] ? vector : begin) + piece % 4 * kEight) * 2;
    }
  }

  __device__ __forceinline__ void Clear(float (&sums)[16][4]) {
#pragma unroll
    for (int n = 0; n < 16; n++) sums[n][0] = sums[n][1] = sums[n][2] = sums[n][3] = 0;
  }

  __device__ __forceinline__ unsigned char* TermsAt(uint32_t stage) const { return tiles + stage % Shape::kStages * Shape::kTermBytes; }
  __device__ __forceinline__ unsigned char* WeightsAt(uint32_t stage) const {
    return tiles + Shape::kStages * Shape::kTermBytes + stage % Shape::kStages * Shape::kWeightBytes;
  }

  // In shared memory chunk by chunk.
  __device__ __forceinline__ void CopyWeights(uint32_t stage) const {
    constexpr uint32_t kOfChunk = Shape::kWeightRow / 16, kPieces = Shape::kStageChunks * kOfChunk;
    if (stage * Shape::kStageChunks >= chunks) return;
    unsigned char* const to = WeightsAt(stage);
    const uint64_t offset = static_cast<uint64_t>(stage) * (Shape::kStageChunks * Shape::kWeightRow);
#pragma unroll
    for (int i = 0; i < Shape::kWeightPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x, loaded = piece / kPieces, c = piece % kPieces / kOfChunk;
      const bool is_chunk = stage * Shape::kStageChunks + c < chunks;
      CopyAsync16(to + (c * Shape::kLoaded + loaded) * Shape::kWeightRow + piece % kOfChunk * 16, weights[i] + (is_chunk ? offset : 0), is_chunk);
    }
  }

  // Pieces 0 to 3 of a row are of the stage's first chunk, the others of its second. Of a chunk beyond the last nothing is read.
  __device__ __forceinline__ void CopyTerms(uint32_t stage, const uint64_t (&offsets)[Shape::kStageChunks]) const {
    unsigned char* const to = TermsAt(stage);
#pragma unroll
    for (int i = 0; i < Shape::kTermPieces; i++) {
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

  __device__ __forceinline__ void MultiplyChunk(uint32_t stage, uint32_t c, bool from_zero) {
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned char* const from =
        WeightsAt(stage) + (c * Shape::kLoaded + warp * 16 + lane / 4) * Shape::kWeightRow + lane % 4 * W::kBytes;
    const Eight<1> low = W::Terms(W::Shared(from)), high = W::Terms(W::Shared(from + 8 * Shape::kWeightRow));
    const uint32_t first[4] = {low.pairs[0][0], high.pairs[0][0], low.pairs[0][1], high.pairs[0][1]};
    const uint32_t second[4] = {low.pairs[0][2], high.pairs[0][2], low.pairs[0][3], high.pairs[0][3]};
    MmaWide(acc, first, TermsAt(stage), c * 2, from_zero);
    MmaWide(acc, second, TermsAt(stage), c * 2 + 1, false);
  }

  __device__ __forceinline__ void Finish(const ProductArgs& args, const MatrixView& matrix, uint32_t row, uint32_t begin,
                                         uint32_t vectors) const {
#pragma unroll
    for (int n = 0; n < 16; n++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint32_t vector = begin + n * 8 + threadIdx.x % 4 * 2 + i % 2;
        const uint32_t of = row + RowOf(threadIdx.x / 32, i / 2, threadIdx.x % 32 / 4);
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

// One stage is multiplied, and one that comes later asked for.
template <class Shape>
__device__ __forceinline__ void WideStage(WideBlock<Shape>& own, uint32_t stage, WidePart* part, ChunkWalk* walk) {
  AwaitCopies<Shape::kStages - 2>();
  BeginWide();
  __syncthreads();
  own.CopyWeights(stage + Shape::kStages - 1);
  AskTerms(own, stage + Shape::kStages - 1, walk);
#pragma unroll
  for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
    const uint32_t chunk = stage * Shape::kStageChunks + c;
    if (chunk >= own.chunks) break;
    FenceWide();
    own.MultiplyChunk(stage, c, part->is_new);
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
  for (uint32_t stage = 0; stage < Shape::kStages - 1; stage++) own.CopyWeights(stage);
  LetNextBegin();
  AwaitInputs();
  ChunkWalk walk(args.x, 0);
  for (uint32_t stage = 0; stage < Shape::kStages - 1; stage++) AskTerms(own, stage, &walk);
  WidePart part{PartBegin(PartAfter(0, own.chunks) + 1, own.chunks), true};
  for (uint32_t stage = 0; stage * Shape::kStageChunks < own.chunks; stage++) WideStage(own, stage, &part, &walk);
  own.Finish(args, matrix, row, begin, counts.vectors);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_WIDE_VECTORS_CUH_
