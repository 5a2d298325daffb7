// Weights of 8 bits in tiles of shared memory, and how warpgroups take them (9.0): a product's rows are weights, which a thread widens to bf16 in its registers,
// and its columns are vectors, whose terms lie in tiles. So each weight is read and widened once for all vectors of a tile, and nothing is written back to
// shared memory for the tensor cores. Rows and vectors change places against wide_vectors.cuh; sums are the same, bit for bit.
#ifndef PARLEY_KERNELS_CUDA_BYTE_TILES_CUH_
#define PARLEY_KERNELS_CUDA_BYTE_TILES_CUH_

#include <cstdint>

#include "kernels/cuda/byte_pairs.cuh"
#include "kernels/cuda/tile_words.h"
#include "kernels/cuda/wide_args.cuh"
#include "kernels/cuda/words.h"

namespace parley::cuda {

// Of V vectors and so many rows of weights in shared memory, half of them of a gate and half of what it gates; a stage has 64 columns.
template <Format kFormat_, bool kGated_, int kVectors_, int kLoaded_>
struct ByteShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr bool kGated = kGated_;
  static constexpr int kVectors = kVectors_, kLoaded = kLoaded_;
  static constexpr int kRows = kGated ? kLoaded / 2 : kLoaded;
  static constexpr uint32_t kBox = 64, kStageChunks = kBox / kChunk;
  static constexpr uint32_t kRow = kBox * 2, kByteRow = kBox;  // bytes of a row of terms, and of weights

  // A warpgroup of two has 64 of the rows, or where there are no more all of them and half of the vectors.
  static constexpr bool kHalvesVectors = kLoaded == 64;
  static constexpr int kOctets = (kHalvesVectors ? kVectors / 2 : kVectors) / 8;
  static constexpr int kPieces = kGated ? 2 : 1;  // boxes of weights
  static constexpr int kBoxRows = kLoaded / kPieces;
  static_assert(kLoaded == 64 || kLoaded == 128);

  static constexpr uint32_t kTermBytes = kVectors * kRow, kWeightBytes = kLoaded * kByteRow, kStageBytes = kTermBytes + kWeightBytes;
  // Results of a warp: 32 vectors, of each its rows, with room between two vectors so that they do not meet in a bank.
  static constexpr uint32_t kResultRows = kGated ? 8 : 16, kStagedRow = kResultRows + 4, kStagedBytes = 8 * 32 * kStagedRow * 4;
  static constexpr uint32_t kMostStages = ((225u << 10) - kStagedBytes) / kStageBytes, kStages = kMostStages < 8 ? kMostStages : 8;
  static constexpr uint32_t kRingBytes = kStages * kStageBytes;
  static constexpr uint32_t kShared = kRingBytes + kStagedBytes + 1024;  // the tiles begin at a multiple of 1024
  static_assert(kStageBytes % 1024 == 0 && kStages >= 3);
};

// The two rows of weights in a tile that this thread holds as rows g and g + 8 of its warp's sixteen (g = lane / 4): of gated ones a row of the gate, and
// the same row of what it gates. `own`: which 64 rows.
template <class Shape>
struct ByteRows {
  uint32_t first, second;

  __device__ __forceinline__ static ByteRows Of(uint32_t own) {
    const uint32_t warp = threadIdx.x / 32 % 4, g = threadIdx.x % 32 / 4;
    if constexpr (Shape::kGated) return {own * 32 + warp * 8 + g, Shape::kLoaded / 2 + own * 32 + warp * 8 + g};
    return {own * 64 + warp * 16 + g, own * 64 + warp * 16 + g + 8};
  }
};

// A pair of columns, each byte twice: `weights` is a box of rows of 64 bytes as the copy engine lays them.
template <class Shape>
__device__ __forceinline__ uint32_t TwoBytes(const unsigned char* weights, uint32_t row, uint32_t step, uint32_t column) {
  const uint32_t piece = step ^ (row / 2 % 4);
  return TakeBytes(*reinterpret_cast<const uint16_t*>(weights + row * Shape::kByteRow + piece * 16 + column), 0x1100);
}

// This thread's of sixteen columns, `step` of the box.
template <class Shape>
__device__ __forceinline__ void WidenSixteen(const unsigned char* weights, const ByteRows<Shape>& rows, uint32_t step, uint32_t (&to)[4]) {
  const uint32_t column = threadIdx.x % 4 * 2;
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) {
    to[i] = PairOfBytes<Shape::kFormat>(TwoBytes<Shape>(weights, i % 2 == 0 ? rows.first : rows.second, step, column + i / 2 * 8));
  }
}

// The same of a chunk of the box.
template <class Shape>
__device__ __forceinline__ void WidenChunk(const unsigned char* weights, const ByteRows<Shape>& rows, uint32_t chunk, uint32_t (&to)[2][4]) {
  WidenSixteen<Shape>(weights, rows, chunk * 2, to[0]);
  WidenSixteen<Shape>(weights, rows, chunk * 2 + 1, to[1]);
}

// gate and up are sums; their scales come first, as in FinishGated.
__device__ __forceinline__ float GatedWith(const float2& scales, float gate, float up) { return Gated(gate * scales.x, up * scales.y); }

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_BYTE_TILES_CUH_
