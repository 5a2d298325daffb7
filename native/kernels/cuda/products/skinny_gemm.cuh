// Skinny GEMM: products of many vectors, bound by tensor cores. A block handles 32 kTiles rows (in a gated
// product half as many of both matrices) and 32 kOctets vectors. Weights and terms pass through shared memory
// some chunks ahead of their use. Sums are those of GEMV, bit for bit: each part of the columns is summed
// from 0, and then the parts in order.
#ifndef PARLEY_KERNELS_CUDA_SKINNY_GEMM_CUH_
#define PARLEY_KERNELS_CUDA_SKINNY_GEMM_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/products/product_args.cuh"

namespace parley::cuda {

constexpr uint32_t kTermRow = kChunk * 2;  // bytes of a vector's chunk, of one term

// Place in shared memory of a 16-byte piece of a row of weights. Halves are swapped in every second 128 bytes
// (an XOR swizzle). The rows that a warp reads at once, half of each, then have no bank conflicts.
template <uint32_t kRow>
__device__ __forceinline__ uint32_t PieceAt(uint32_t row, uint32_t piece) {
  return row * kRow + (piece ^ (row * kRow / 128 % 2 * (kRow / 32))) * 16;
}
// Place of a byte.
template <uint32_t kRow>
__device__ __forceinline__ uint32_t ByteAt(uint32_t row, uint32_t byte) {
  return PieceAt<kRow>(row, byte / 16) + byte % 16;
}

template <Format kFormat_, int kTiles_, int kOctets_, int kTerms_, bool kGated_>
struct SkinnyGemmShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr int kTiles = kTiles_, kOctets = kOctets_,
                       kTerms = kTerms_;  // per warp: 16 rows, 8 vectors each
  static constexpr bool kGated = kGated_;

  static constexpr int kWarpsOfRows = 2, kWarpsOfVectors = 4;
  static constexpr int kLoaded = kWarpsOfRows * kTiles * 16;  // rows of weights in shared memory
  static constexpr int kRows = kGated ? kLoaded / 2 : kLoaded;
  static constexpr int kVectors = kWarpsOfVectors * kOctets * 8;
  static constexpr int kWeightRow = Weights<kFormat>::kBytes * 4;
  static constexpr int kWeightBytes = kLoaded * kWeightRow, kTermBytes = kVectors * kTermRow;
  static constexpr int kStageBytes = kWeightBytes + kTerms * kTermBytes;
  static constexpr int kStages = kStageBytes * 6 <= 98304 ? 6 : kStageBytes * 4 <= 98304 ? 4 : 3;
  static constexpr uint32_t kShared = kStages * kStageBytes;
  static_assert(kShared <= kMostShared);
  static constexpr int kWeightPieces = (kWeightBytes / 16 + 255) / 256,
                       kTermPieces = (kTermBytes / 16 + 255) / 256;
};

template <class Shape>
struct SkinnyGemmBlock {
  using W = Weights<Shape::kFormat>;

  unsigned char* stages;
  const unsigned char* weights[Shape::kWeightPieces];  // this thread's pieces of 16 bytes, of the first chunk
  const unsigned char* terms[Shape::kTermPieces];
  bool is_vector[Shape::kTermPieces];
  float acc[Shape::kTiles][Shape::kOctets][4], total[Shape::kTiles][Shape::kOctets][4];

  // Rows beyond the last are that one: read, and not written.
  __device__ __forceinline__ void FindRows(const ProductArgs& args, const MatrixView& matrix, uint32_t row) {
    constexpr uint32_t kPieces = Shape::kWeightRow / 16;
    const uint64_t bytes = static_cast<uint64_t>(args.columns) * (W::kBytes / kEight);
#pragma unroll
    for (int i = 0; i < Shape::kWeightPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x, loaded = piece / kPieces;
      const bool is_up = Shape::kGated && loaded >= Shape::kRows;
      const uint32_t wanted = min(row + (is_up ? loaded - Shape::kRows : loaded), matrix.rows - 1);
      const void* const values = is_up ? args.matrices[1].values : matrix.values;
      weights[i] = static_cast<const unsigned char*>(values) + wanted * bytes + piece % kPieces * 16;
    }
  }

  __device__ __forceinline__ void FindVectors(const ProductArgs& args, const VectorCounts& counts,
                                              uint32_t begin) {
#pragma unroll
    for (int i = 0; i < Shape::kTermPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x, vector = begin + piece / 4;
      is_vector[i] = vector < counts.vectors;
      const uint64_t column = PreparedAt(args.x, counts, is_vector[i] ? vector : begin) + piece % 4 * kEight;
      terms[i] = args.terms + column * 2;
    }
  }

  __device__ __forceinline__ void CopyWeights(uint32_t stage, uint32_t chunk) const {
    unsigned char* const to = stages + stage * Shape::kStageBytes;
#pragma unroll
    for (int i = 0; i < Shape::kWeightPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x;
      if (Shape::kWeightBytes / 16 % 256 != 0 && piece >= Shape::kWeightBytes / 16) continue;
      constexpr uint32_t kPieces = Shape::kWeightRow / 16;
      const uint32_t place = PieceAt<Shape::kWeightRow>(piece / kPieces, piece % kPieces);
      CopyAsync16(to + place, weights[i] + static_cast<uint64_t>(chunk) * Shape::kWeightRow, true);
    }
  }

  __device__ __forceinline__ void CopyTerms(uint32_t stage, uint64_t offset, uint64_t term_bytes) const {
    unsigned char* const to = stages + stage * Shape::kStageBytes + Shape::kWeightBytes;
#pragma unroll
    for (int i = 0; i < Shape::kTermPieces; i++) {
      const uint32_t piece = i * 256 + threadIdx.x;
#pragma unroll
      for (int term = 0; term < Shape::kTerms; term++) {
        CopyAsync16(to + term * Shape::kTermBytes + piece * 16, terms[i] + offset * 2 + term * term_bytes,
                    is_vector[i]);
      }
    }
  }

  // The first row, in shared memory, of this warp's tile r.
  __device__ __forceinline__ static uint32_t TileRow(int r) {
    const uint32_t warp = threadIdx.x / 32 / Shape::kWarpsOfVectors;
    if (!Shape::kGated) return (warp * Shape::kTiles + r) * 16;
    constexpr int kHalf = Shape::kTiles / 2;
    return (r / kHalf * Shape::kWarpsOfRows * kHalf + warp * kHalf + r % kHalf) * 16;
  }
  __device__ __forceinline__ static uint32_t FirstVector() {
    return threadIdx.x / 32 % Shape::kWarpsOfVectors * (Shape::kOctets * 8);
  }

  __device__ __forceinline__ void Clear(float (&sums)[Shape::kTiles][Shape::kOctets][4]) {
#pragma unroll
    for (int r = 0; r < Shape::kTiles; r++) {
#pragma unroll
      for (int n = 0; n < Shape::kOctets; n++)
        sums[r][n][0] = sums[r][n][1] = sums[r][n][2] = sums[r][n][3] = 0;
    }
  }

  // Two octets at a time.
  template <int kOctet>
  __device__ __forceinline__ void MultiplyOctets(const Eight<W::kTerms> (&a)[Shape::kTiles][2],
                                                 const unsigned char* from) {
    if constexpr (kOctet < Shape::kOctets) {
      Eight<Shape::kTerms> b[2];
#pragma unroll
      for (int n = 0; n < 2; n++) {
#pragma unroll
        for (int term = 0; term < Shape::kTerms; term++) {
          const uint4 four =
              *reinterpret_cast<const uint4*>(from + term * Shape::kTermBytes + (kOctet + n) * 8 * kTermRow);
          b[n].pairs[term][0] = four.x;
          b[n].pairs[term][1] = four.y;
          b[n].pairs[term][2] = four.z;
          b[n].pairs[term][3] = four.w;
        }
      }
      MultiplyChunk<kOctet>(a, b, acc);
      MultiplyOctets<kOctet + 2>(a, from);
    }
  }

  __device__ __forceinline__ void Multiply(uint32_t stage) {
    const uint32_t lane = threadIdx.x % 32;
    const unsigned char* const from = stages + stage * Shape::kStageBytes;
    Eight<W::kTerms> a[Shape::kTiles][2];
#pragma unroll
    for (int r = 0; r < Shape::kTiles; r++) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const uint32_t row = TileRow(r) + half * 8 + lane / 4;
        const uint32_t byte = FourOf(lane) * (W::kBytes / 2);
        a[r][half] = W::Terms(W::Shared(from + ByteAt<Shape::kWeightRow>(row, byte),
                                        from + ByteAt<Shape::kWeightRow>(row, byte + W::kSecond)));
      }
    }
    MultiplyOctets<0>(a, from + Shape::kWeightBytes + (FirstVector() + lane / 4) * kTermRow + lane % 4 * 16);
  }

  __device__ __forceinline__ void EndPart() {
#pragma unroll
    for (int r = 0; r < Shape::kTiles; r++) {
#pragma unroll
      for (int n = 0; n < Shape::kOctets; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) total[r][n][i] += acc[r][n][i];
      }
    }
    Clear(acc);
  }

  __device__ __forceinline__ void Finish(const ProductArgs& args, const MatrixView& matrix, uint32_t row,
                                         uint32_t begin, uint32_t vectors) const {
    const uint32_t lane = threadIdx.x % 32;
    constexpr int kTiles = Shape::kGated ? Shape::kTiles / 2 : Shape::kTiles;
#pragma unroll
    for (int r = 0; r < kTiles; r++) {
#pragma unroll
      for (int n = 0; n < Shape::kOctets; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const uint32_t of = row + TileRow(r) + lane / 4 + i / 2 * 8;
          const uint32_t vector = begin + FirstVector() + n * 8 + lane % 4 * 2 + i % 2;
          if (of >= matrix.rows || vector >= vectors) continue;
          if constexpr (Shape::kGated) FinishGated(args, of, vector, total[r][n][i], total[r + kTiles][n][i]);
          else FinishValue(args, matrix, of, vector, total[r][n][i]);
        }
      }
    }
  }
};

// A grid as for few vectors; args.terms are the vectors', prepared.
template <class Shape>
__global__ void __launch_bounds__(256) MultiplySkinnyGemm(ProductArgs args) {
  const VectorCounts counts = *args.x.counts;
  const uint32_t begin = blockIdx.y * Shape::kVectors;
  if (begin >= counts.vectors) {
    GridDependencyWait();
    return;
  }
  uint32_t block = blockIdx.x;
  const MatrixView matrix = MatrixOf(args, &block);
  const uint32_t row = block * Shape::kRows, chunks = args.columns / kChunk;
  SkinnyGemmBlock<Shape> own;
  own.stages = SharedBytes();
  own.FindRows(args, matrix, row);
  own.FindVectors(args, counts, begin);
  own.Clear(own.acc);
  own.Clear(own.total);
  for (uint32_t s = 0; s < Shape::kStages - 1 && s < chunks; s++) own.CopyWeights(s, s);
  LaunchDependents();
  GridDependencyWait();
  ChunkWalk walk(args.x, 0);
  for (uint32_t s = 0; s < Shape::kStages - 1; s++) {
    if (s < chunks) own.CopyTerms(s, walk.offset, args.term_bytes);
    CommitCopies();
    walk.Next();
  }
  uint32_t end = PartBegin(PartAfter(0, chunks) + 1, chunks), stage = 0;
  for (uint32_t chunk = 0; chunk < chunks; chunk++) {
    AwaitCopies<Shape::kStages - 2>();
    __syncthreads();
    const uint32_t next = chunk + Shape::kStages - 1;
    if (next < chunks) {
      const uint32_t free = stage == 0 ? Shape::kStages - 1 : stage - 1;
      own.CopyWeights(free, next);
      own.CopyTerms(free, walk.offset, args.term_bytes);
      walk.Next();
    }
    CommitCopies();
    own.Multiply(stage);
    if (++stage == Shape::kStages) stage = 0;
    if (chunk + 1 < end) continue;
    own.EndPart();
    end = PartBegin(PartAfter(chunk + 1, chunks) + 1, chunks);
  }
  own.Finish(args, matrix, row, begin, counts.vectors);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SKINNY_GEMM_CUH_
