// GEMV: products of few vectors, bound by reading the weights. A block handles 16 kTiles rows (in a gated
// product, of both matrices) and 8 kOctets vectors; each of its 8 warps handles one part of the columns.
// Weights are loaded into registers some chunks ahead of their use, the first ones before the vectors are
// there. One octet of vectors is read as floats, more as prepared terms.
#ifndef PARLEY_KERNELS_CUDA_GEMV_CUH_
#define PARLEY_KERNELS_CUDA_GEMV_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/products/product_args.cuh"

namespace parley::cuda {

template <Format kFormat_, int kTiles_, int kOctets_, int kTerms_, bool kGated_, bool kNorm_>
struct GemvShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr int kTiles = kTiles_, kOctets = kOctets_, kTerms = kTerms_;
  static constexpr bool kGated = kGated_, kNorm = kNorm_;

  static constexpr int kMatrices = kGated ? 2 : 1;
  static constexpr int kAllTiles = kTiles * kMatrices;
  static constexpr int kRows = 16 * kTiles, kVectors = 8 * kOctets;
  static constexpr bool kFloats = kOctets == 1;  // as the vectors lie
  // Chunks on their way, of weights, of floats and of terms: as many as registers leave two blocks on a
  // multiprocessor, of which one waits for its vectors with its first weights.
  static constexpr int kAhead = kAllTiles > 1 ? 2 : kFloats&& Weights<kFormat>::kBytes <= 16 ? 8 : 4;
  static constexpr int kFloatsAhead = kAhead == 2 || kNorm ? 2 : 4;
  static constexpr int kTermsAhead = kAllTiles == 1 ? 2 : 1;
  static constexpr int kTogether = kTerms == 1 && kAllTiles == 1 ? 2 : 1;
  static constexpr int kColumnFloats =
      16 * kAllTiles + 4;  // per vector's sums; 4 more: no two lanes meet in a bank
  static constexpr uint32_t kShared = kParts * kVectors * kColumnFloats * sizeof(float);
};

// One warp's part of the columns.
template <class Shape>
struct GemvWarp {
  using W = Weights<Shape::kFormat>;
  using Raw = typename W::Raw;

  const unsigned char* rows[Shape::kAllTiles][2];
  const float* vector;                         // this lane's, if vectors are floats
  const unsigned char* terms[Shape::kOctets];  // its vectors', if they are prepared
  uint32_t first, last;                        // chunks
  Raw ahead[Shape::kAhead][Shape::kAllTiles][2];
  float acc[Shape::kAllTiles][Shape::kOctets][4];

  // Rows beyond the last are that one: read, and not written.
  __device__ __forceinline__ void FindRows(const ProductArgs& args, const MatrixView& matrix, uint32_t row) {
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < Shape::kAllTiles; r++) {
      const void* const values =
          Shape::kGated && r >= Shape::kTiles ? args.matrices[1].values : matrix.values;
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const uint32_t wanted = row + r % Shape::kTiles * 16 + half * 8 + lane / 4;
        const uint64_t there = min(wanted, matrix.rows - 1);
        rows[r][half] = static_cast<const unsigned char*>(values) +
                        there * args.columns * (W::kBytes / kEight) + lane % 4 * W::kLane;
      }
    }
  }

  __device__ __forceinline__ void FindVectors(const ProductArgs& args, const VectorCounts& counts,
                                              uint32_t begin) {
    const uint32_t lane = threadIdx.x % 32;
    const auto place = [&](uint32_t n) { return min(begin + n * 8 + lane / 4, counts.vectors - 1); };
    if constexpr (Shape::kFloats) {
      vector = VectorAt(args.x, counts, place(0)) + FourOf(lane) * kFour;
    } else {
#pragma unroll
      for (int n = 0; n < Shape::kOctets; n++)
        terms[n] = args.terms + (PreparedAt(args.x, counts, place(n)) + lane % 4 * kEight) * 2;
    }
  }

  __device__ __forceinline__ void LoadWeights(int slot, uint32_t chunk) {
    const uint64_t at = static_cast<uint64_t>(min(chunk, last - 1)) * (W::kBytes * 4);
#pragma unroll
    for (int r = 0; r < Shape::kAllTiles; r++) {
#pragma unroll
      for (int half = 0; half < 2; half++) ahead[slot][r][half] = W::Global(rows[r][half] + at);
    }
  }

  __device__ __forceinline__ void Begin() {
#pragma unroll
    for (int r = 0; r < Shape::kAllTiles; r++) {
#pragma unroll
      for (int n = 0; n < Shape::kOctets; n++) acc[r][n][0] = acc[r][n][1] = acc[r][n][2] = acc[r][n][3] = 0;
    }
    if (first == last) return;
#pragma unroll
    for (int d = 0; d < Shape::kAhead; d++) LoadWeights(d, first + d);
  }

  __device__ __forceinline__ void TakeTerms(int slot, Eight<W::kTerms> (&a)[Shape::kAllTiles][2]) const {
#pragma unroll
    for (int r = 0; r < Shape::kAllTiles; r++) {
      a[r][0] = W::Terms(W::Placed(ahead[slot][r][0]));
      a[r][1] = W::Terms(W::Placed(ahead[slot][r][1]));
    }
  }

  __device__ __forceinline__ void LoadTerms(const ProductArgs& args, uint64_t offset,
                                            Eight<Shape::kTerms> (&b)[Shape::kOctets]) const {
#pragma unroll
    for (int n = 0; n < Shape::kOctets; n++) {
#pragma unroll
      for (int term = 0; term < Shape::kTerms; term++) {
        const uint4 four = *reinterpret_cast<const uint4*>(terms[n] + offset * 2 + term * args.term_bytes);
        b[n].pairs[term][0] = four.x;
        b[n].pairs[term][1] = four.y;
        b[n].pairs[term][2] = four.z;
        b[n].pairs[term][3] = four.w;
      }
    }
  }

  __device__ __forceinline__ void MultiplyTerms(const ProductArgs& args) {
    constexpr int kBuffers = Shape::kTermsAhead;
    if (first == last) return;
    ChunkWalk walk(args.x, first);
    Eight<Shape::kTerms> b[kBuffers][Shape::kOctets];
    if (kBuffers == 2) LoadTerms(args, walk.offset, b[0]);
    for (uint32_t chunk = first; chunk < last; chunk += Shape::kAhead) {
#pragma unroll
      for (int d = 0; d < Shape::kAhead; d++) {
        if (chunk + d >= last) break;
        if (kBuffers == 1) LoadTerms(args, walk.offset, b[0]);
        walk.Next();
        if (kBuffers == 2 && chunk + d + 1 < last) LoadTerms(args, walk.offset, b[(d + 1) % kBuffers]);
        Eight<W::kTerms> a[Shape::kAllTiles][2];
        TakeTerms(d, a);
        if (chunk + d + Shape::kAhead < last) LoadWeights(d, chunk + d + Shape::kAhead);
        MultiplyChunk<0>(a, b[d % kBuffers], acc);
      }
    }
  }

  // Multiplies one octet, whose floats are loaded some chunks ahead.
  __device__ __forceinline__ void MultiplyFloats(const ProductArgs& args, float factor) {
    ChunkWalk walk(args.x, first);
    const float* const norm = Shape::kNorm ? args.norm + FourOf(threadIdx.x) * kFour : nullptr;
    for (uint32_t chunk = first; chunk < last; chunk += Shape::kAhead) {
#pragma unroll
      for (int begin = 0; begin < Shape::kAhead; begin += Shape::kFloatsAhead) {
        if (chunk + begin >= last) break;
        EightFloats x[Shape::kFloatsAhead], w[Shape::kFloatsAhead];
#pragma unroll
        for (int d = 0; d < Shape::kFloatsAhead; d++) {
          x[d] = LoadTwoFours(vector + walk.offset);
          if constexpr (Shape::kNorm) w[d] = LoadTwoFours(norm + walk.offset);
          if (chunk + begin + d + 1 < last) walk.Next();
        }
#pragma unroll
        for (int d = 0; d < Shape::kFloatsAhead; d++) {
          if (chunk + begin + d >= last) break;
          Eight<W::kTerms> a[Shape::kAllTiles][2];
          TakeTerms(begin + d, a);
          if (chunk + begin + d + Shape::kAhead < last)
            LoadWeights(begin + d, chunk + begin + d + Shape::kAhead);
          const Eight<Shape::kTerms> b[1] = {
              TermsOf<Shape::kTerms>(Shape::kNorm ? NormedEight(x[d], factor, w[d]) : x[d])};
          MultiplyChunk<0>(a, b, acc);
        }
      }
    }
  }

  // To [part][vector][row] of the block's sums.
  __device__ __forceinline__ void Leave(float* sums) const {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int n = 0; n < Shape::kOctets; n++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint32_t vector = n * 8 + lane % 4 * 2 + i % 2;
        float* const column =
            sums + (warp * Shape::kVectors + vector) * Shape::kColumnFloats + lane / 4 + i / 2 * 8;
#pragma unroll
        for (int r = 0; r < Shape::kAllTiles; r++) column[r * 16] = acc[r][n][i];
      }
    }
  }
};

// The factors of the norm of the block's eight vectors, one by each warp; that of this lane's vector.
__device__ __forceinline__ float FactorOf(const ProductArgs& args, const VectorCounts& counts,
                                          uint32_t begin) {
  __shared__ float factors[8];
  const uint32_t warp = threadIdx.x / 32;
  if (begin + warp < counts.vectors) {
    const float factor = RmsFactor(VectorAt(args.x, counts, begin + warp), args.columns, args.eps);
    if (threadIdx.x % 32 == 0) factors[warp] = factor;
  }
  __syncthreads();
  return factors[min(threadIdx.x % 32 / 4, counts.vectors - 1 - begin)];
}

template <class Shape>
__device__ __forceinline__ float TotalOfFew(const float* sums, uint32_t vector, uint32_t of) {
  float sum = 0;
#pragma unroll
  for (uint32_t part = 0; part < kParts; part++) {
    sum += sums[(part * Shape::kVectors + vector) * Shape::kColumnFloats + of];
  }
  return sum;
}

template <class Shape>
__device__ __forceinline__ void FinishFew(const ProductArgs& args, const MatrixView& matrix, uint32_t row,
                                          uint32_t begin, uint32_t vectors, const float* sums) {
  for (uint32_t i = threadIdx.x; i < Shape::kRows * Shape::kVectors; i += 256) {
    const uint32_t of = i % Shape::kRows, vector = i / Shape::kRows;
    if (row + of >= matrix.rows || begin + vector >= vectors) continue;
    if constexpr (Shape::kGated) {
      FinishGated(args, row + of, begin + vector, TotalOfFew<Shape>(sums, vector, of),
                  TotalOfFew<Shape>(sums, vector, Shape::kRows + of));
    } else {
      FinishValue(args, matrix, row + of, begin + vector, TotalOfFew<Shape>(sums, vector, of));
    }
  }
}

// A grid of blocks of rows, matrix by matrix, by blocks of vectors. columns are a multiple of kChunk, as the
// length of a segment; weights and vectors lie at multiples of 16 bytes.
template <class Shape>
__global__ void __launch_bounds__(256, Shape::kTogether) MultiplyGemv(ProductArgs args) {
  const VectorCounts counts = *args.x.counts;
  const uint32_t begin = blockIdx.y * Shape::kVectors, warp = threadIdx.x / 32;
  if (begin >= counts.vectors) {
    GridDependencyWait();
    return;
  }
  uint32_t block = blockIdx.x;
  const MatrixView matrix = MatrixOf(args, &block);
  const uint32_t row = block * Shape::kRows, chunks = args.columns / kChunk;
  GemvWarp<Shape> own;
  own.first = PartBegin(warp, chunks);
  own.last = PartBegin(warp + 1, chunks);
  own.FindRows(args, matrix, row);
  own.Begin();
  own.FindVectors(args, counts, begin);
  LaunchDependents();
  GridDependencyWait();
  if constexpr (Shape::kFloats) own.MultiplyFloats(args, Shape::kNorm ? FactorOf(args, counts, begin) : 0);
  else own.MultiplyTerms(args);
  float* const sums = reinterpret_cast<float*>(SharedBytes());
  own.Leave(sums);
  __syncthreads();
  FinishFew<Shape>(args, matrix, row, begin, counts.vectors, sums);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_GEMV_CUH_
