// Arguments of the product kernels: matrices, vectors, and how results are finished.
#ifndef PARLEY_KERNELS_CUDA_PRODUCT_ARGS_CUH_
#define PARLEY_KERNELS_CUDA_PRODUCT_ARGS_CUH_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/products/product_plan.h"
#include "kernels/cuda/products/terms.cuh"
#include "kernels/matrix.h"

namespace parley::cuda {

// A product is cut into so many parts over its columns, whatever its batch: each is summed from 0, then part
// by part. Part s has the chunks from s * chunks / kParts.
constexpr uint32_t kParts = 8;

__host__ __device__ __forceinline__ uint32_t PartBegin(uint32_t part, uint32_t chunks) {
  return part * chunks / kParts;
}

// The part whose end comes after so many chunks: parts may be empty.
__device__ __forceinline__ uint32_t PartAfter(uint32_t done, uint32_t chunks) {
  uint32_t part = 0;
  while (part < kParts && PartBegin(part + 1, chunks) <= done) part++;
  return part;
}

// A part's sums, as tiles have them, to those of the parts before.
template <class Sums>
__device__ __forceinline__ void AddPart(Sums& total, const Sums& acc) {
  constexpr uint32_t kOctets = sizeof(Sums) / sizeof(float[4]);
#pragma unroll
  for (uint32_t n = 0; n < kOctets; n++) {
#pragma unroll
    for (int i = 0; i < 4; i++) total[n][i] += acc[n][i];
  }
}

// Bytes of shared memory that a block may have on every GPU that is compiled for.
constexpr uint32_t kMostShared = 99 << 10;

// The windows of one stream, from the signal of all of them, or vectors that lie at one stride.
struct Windows {
  const float* first;  // start of its first window
  uint64_t prepared;   // its start among the prepared terms, in columns
  uint32_t begin;      // its first vector
  uint32_t columns;    // from the beginning of its first window to the end of its last
};

// Counts that change from step to step.
struct VectorCounts {
  uint32_t vectors;
  uint32_t streams;  // as many as there are Windows
  uint32_t each;     // vectors of every stream where they all have as many, otherwise 0
};

struct VectorsView {
  const float* values;     // plain vectors
  const Windows* windows;  // per stream; null: plain vectors
  const VectorCounts* counts;
  uint64_t stride;  // from a vector to the next of its stream
  uint64_t segment_stride;
  uint32_t length;      // per segment
  uint32_t unused = 0;  // so that there is no gap: lists are compared byte for byte
};

struct MatrixView {
  const void* values;
  const float* scales;  // null: 1
  const float* bias;    // [rows], or none
  float* y;             // [vectors, rows]
  uint32_t rows;
  uint32_t blocks;  // its blocks of the grid, in x
};

// Up to three matrices that meet the same vectors; or a gate and what it gates, which give one y.
struct ProductArgs {
  Format formats[3];
  uint32_t columns;
  VectorsView x;
  const float* gain;
  bool add;
  bool activates;     // the vectors' GELU is multiplied; not of windows, and without a norm
  const float* norm;  // its weight, where the vectors are to be normed; else null
  float eps;
  const unsigned char*
      terms;            // bf16 terms of the vectors: the first term of all columns, then the second of all
  uint64_t term_bytes;  // from the first to the second
  TermsPlace handed;    // gated product: destination of its result, if not y
  MatrixView matrices
      [3];  // last, and without gaps: __builtin_clear_padding of g++ 12 loses its place after such an array
};

__device__ __forceinline__ uint32_t StreamOf(const VectorsView& x, const VectorCounts& counts,
                                             uint32_t vector) {
  if (counts.each != 0) return vector / counts.each;
  uint32_t low = 0, high = counts.streams;  // begins[low] <= vector < begins[high]
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (x.windows[middle].begin <= vector) low = middle;
    else high = middle;
  }
  return low;
}

__device__ __forceinline__ const float* VectorAt(const VectorsView& x, const VectorCounts& counts,
                                                 uint32_t vector) {
  if (x.windows == nullptr) return x.values + vector * x.stride;
  const Windows& windows = x.windows[StreamOf(x, counts, vector)];
  return windows.first + (vector - windows.begin) * x.stride;
}

// Start of a vector's terms, in columns.
__device__ __forceinline__ uint64_t PreparedAt(const VectorsView& x, const VectorCounts& counts,
                                               uint32_t vector) {
  if (x.windows == nullptr) return vector * x.stride;
  const Windows& windows = x.windows[StreamOf(x, counts, vector)];
  return windows.prepared + (vector - windows.begin) * x.stride;
}

// The matrix that this block computes rows of; `block` becomes its number among those.
__device__ __forceinline__ MatrixView MatrixOf(const ProductArgs& args, uint32_t* block) {
  MatrixView matrix = args.matrices[0];
  if (*block < matrix.blocks) return matrix;
  *block -= matrix.blocks;
  matrix = args.matrices[1];
  if (*block < matrix.blocks) return matrix;
  *block -= matrix.blocks;
  return args.matrices[2];
}

// From a vector's beginning to its chunks, one after the other: a chunk lies within one segment.
struct ChunkWalk {
  uint64_t offset;
  uint64_t turn;  // from the end of a segment to the next
  uint32_t chunk, of_segment;

  __device__ __forceinline__ ChunkWalk(const VectorsView& x, uint32_t first) : of_segment(x.length / kChunk) {
    const uint32_t segment = first / of_segment;
    chunk = first - segment * of_segment;
    offset = segment * x.segment_stride + chunk * kChunk;
    turn = x.segment_stride - x.length;
  }
  __device__ __forceinline__ void Next() {
    offset += kChunk;
    if (++chunk < of_segment) return;
    chunk = 0;
    offset += turn;
  }
};

__device__ __forceinline__ EightFloats NormedEight(const EightFloats& x, float factor, const EightFloats& w) {
  return {{Normed(x.first.x, factor, w.first.x), Normed(x.first.y, factor, w.first.y),
           Normed(x.first.z, factor, w.first.z), Normed(x.first.w, factor, w.first.w)},
          {Normed(x.second.x, factor, w.second.x), Normed(x.second.y, factor, w.second.y),
           Normed(x.second.z, factor, w.second.z), Normed(x.second.w, factor, w.second.w)}};
}

// The end of a product: what Finish says, of the sum of its parts, but for what is added to. Scales are
// weights; a bias may have been computed just now, and is not read as what never changes.
__device__ __forceinline__ float FinishedValue(const ProductArgs& args, const MatrixView& matrix,
                                               uint32_t row, float value) {
  if (matrix.scales != nullptr) value *= __ldg(matrix.scales + row);
  if (matrix.bias != nullptr) value += matrix.bias[row];
  if (args.gain != nullptr) value *= args.gain[row];
  return value;
}

__device__ __forceinline__ void FinishValue(const ProductArgs& args, const MatrixView& matrix, uint32_t row,
                                            uint32_t vector, float value) {
  value = FinishedValue(args, matrix, row, value);
  float* const y = matrix.y + static_cast<uint64_t>(vector) * matrix.rows + row;
  *y = args.add ? *y + value : value;
}

// Place of a value among the terms. In the order of fragments, the four f of the sixteen s of a chunk is at 8
// t + 4 s, where FourOf(t) = f.
__device__ __forceinline__ uint64_t TermAt(const TermsPlace& to, uint64_t column) {
  if (to.in_fragments == 0) return column;
  const auto of_chunk = static_cast<uint32_t>(column % kChunk);
  return column - of_chunk + FourOf(of_chunk / kFour) * kEight + of_chunk / (4 * kFour) * kFour +
         of_chunk % kFour;
}

__device__ __forceinline__ void PutTerm(const TermsPlace& to, uint64_t column, float value) {
  reinterpret_cast<Bf16*>(to.terms)[TermAt(to, column)] = Bf16Of(value);
}

// Four neighbouring ones, the first of which is a multiple of four.
__device__ __forceinline__ void PutFour(const TermsPlace& to, uint64_t column, const float4& four) {
  *reinterpret_cast<uint2*>(to.terms + TermAt(to, column) * 2) =
      make_uint2(PackBf16(four.x, four.y), PackBf16(four.z, four.w));
}

// silu(gate) * up.
__device__ __forceinline__ float Gated(float gate, float up) { return gate / (1.0f + expf(-gate)) * up; }

__device__ __forceinline__ void FinishGated(const ProductArgs& args, uint32_t row, uint32_t vector,
                                            float gate, float up) {
  if (args.matrices[0].scales != nullptr) gate *= __ldg(args.matrices[0].scales + row);
  if (args.matrices[1].scales != nullptr) up *= __ldg(args.matrices[1].scales + row);
  const uint64_t place = static_cast<uint64_t>(vector) * args.matrices[0].rows + row;
  if (args.handed.terms != nullptr) PutTerm(args.handed, place, Gated(gate, up));
  else args.matrices[0].y[place] = Gated(gate, up);
}

// Writes four neighbouring finished rows, the first of which is a multiple of four.
__device__ __forceinline__ void PutGated(const ProductArgs& args, uint64_t place, const float4& four) {
  if (args.handed.terms != nullptr) PutFour(args.handed, place, four);
  else *reinterpret_cast<float4*>(args.matrices[0].y + place) = four;
}

// For values at a multiple of 16 bytes.
__device__ __forceinline__ float4 FourFrom(const float* values, uint32_t row) {
  return *reinterpret_cast<const float4*>(values + row);
}

// Finishes four neighbouring rows, the first of which is a multiple of four. `before`: the old value of y,
// where the product is added to it.
__device__ __forceinline__ float4 FinishFour(const ProductArgs& args, const MatrixView& matrix, uint32_t row,
                                             float4 four, const float4& bias, const float4& before) {
  if (matrix.scales != nullptr) {
    const float4 s = FourFrom(matrix.scales, row);
    four = make_float4(four.x * s.x, four.y * s.y, four.z * s.z, four.w * s.w);
  }
  if (matrix.bias != nullptr)
    four = make_float4(four.x + bias.x, four.y + bias.y, four.z + bias.z, four.w + bias.w);
  if (args.gain != nullptr) {
    const float4 g = FourFrom(args.gain, row);
    four = make_float4(four.x * g.x, four.y * g.y, four.z * g.z, four.w * g.w);
  }
  if (args.add)
    four = make_float4(before.x + four.x, before.y + four.y, before.z + four.z, before.w + four.w);
  return four;
}
__device__ __forceinline__ float4 FinishFour(const ProductArgs& args, const MatrixView& matrix, uint32_t row,
                                             const float4& four, const float4& before) {
  return FinishFour(args, matrix, row, four,
                    matrix.bias != nullptr ? FourFrom(matrix.bias, row) : make_float4(0, 0, 0, 0), before);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PRODUCT_ARGS_CUH_
