// Weights of 8 bits in tiles of shared memory, and how warpgroups take them (9.0): a product's rows are weights, which a thread widens to bf16 in its registers,
// and its columns are vectors, whose terms lie in tiles. So each weight is read and widened once for all vectors of a tile, and nothing is written back to
// shared memory for the tensor cores. Rows and vectors change places against wide_vectors.cuh; sums are the same, bit for bit.
#ifndef PARLEY_KERNELS_CUDA_BYTE_TILES_CUH_
#define PARLEY_KERNELS_CUDA_BYTE_TILES_CUH_

#include <cstdint>

#include "kernels/cuda/products/byte_pairs.cuh"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/products/wide_args.cuh"
#include "kernels/cuda/device/intrinsics.h"

namespace parley::cuda {

// Of V vectors and so many rows of weights in shared memory, half of them of a gate and half of what it gates; a stage has 64 columns.
template <Format kFormat_, bool kGated_, int kVectors_, int kLoaded_>
struct ByteShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr bool kGated = kGated_;
  static constexpr int kVectors = kVectors_, kLoaded = kLoaded_;
  static constexpr int kRows = kGated ? kLoaded / 2 : kLoaded;
  static constexpr uint32_t kBox = 64, kStageChunks = kBox / kChunk;
  static constexpr uint32_t kTogether = 1;  // blocks of a multiprocessor
  static constexpr uint32_t kRow = kBox * 2, kByteRow = kBox;  // bytes of a row of terms, and of weights

  // A warpgroup of two has 64 of the rows, or where there are no more all of them and half of the vectors.
  static constexpr bool kHalvesVectors = kLoaded == 64;
  static constexpr int kOctets = (kHalvesVectors ? kVectors / 2 : kVectors) / 8;
  static constexpr int kPieces = kGated ? 2 : 1;  // boxes of weights
  static constexpr int kBoxRows = kLoaded / kPieces;
  static_assert(kLoaded == 64 || kLoaded == 128);

  static constexpr uint32_t kTermBytes = kVectors * kRow, kWeightBytes = kLoaded * kByteRow, kStageBytes = kTermBytes + kWeightBytes;
  // Results of a warp: up to 64 vectors at a time, of each its rows, with room between two vectors so that they do not meet in a bank.
  static constexpr int kStagedOctets = kOctets < 8 ? kOctets : 8;
  static constexpr uint32_t kResultRows = kGated ? 8 : 16, kStagedRow = kResultRows + 4, kStagedFloats = kStagedOctets * 8 * kStagedRow;  // of a warp
  static constexpr uint32_t kStagedBytes = 8 * kStagedFloats * 4;
  static constexpr uint32_t kMostStages = ((225u << 10) - kStagedBytes) / kStageBytes, kStages = kMostStages < 8 ? kMostStages : 8;
  static constexpr uint32_t kRingBytes = kStages * kStageBytes;
  static constexpr uint32_t kShared = kRingBytes + kStagedBytes + 1024;  // the tiles begin at a multiple of 1024
  static_assert(kStageBytes % 1024 == 0 && kStages >= 3);
};

// The two rows of weights in a tile that this thread holds as rows g and g + 8 of its warp's sixteen (g = lane / 4): of gated ones a row of the gate, and
// the same row of what it gates. `own`: which 64 rows.
template <class Shape>
struct ByteRows {
  static constexpr uint32_t kApart = Shape::kGated ? Shape::kLoaded / 2 : 8;
  uint32_t first;

  __device__ __forceinline__ static ByteRows Of(uint32_t own) {
    constexpr uint32_t kOfWarp = Shape::kGated ? 8 : 16;
    return {(own * 4 + threadIdx.x / 32 % 4) * kOfWarp + threadIdx.x % 32 / 4};
  }
  __device__ __forceinline__ uint32_t Second() const { return first + kApart; }

  // Of the first row, its first two columns of the first piece of sixteen as the copy engine lays rows of 64 bytes: of piece p 16 p more, by "exclusive or".
  __device__ __forceinline__ uint32_t Place() const { return first * Shape::kByteRow + first / 2 % 4 * 16 + threadIdx.x % 4 * 2; }
};

// This thread's of the sixteen columns `step` of a box, whose ByteRows::Place is `place`.
template <class Shape>
__device__ __forceinline__ void WidenSixteen(uint32_t place, uint32_t step, uint32_t (&to)[4]) {
  const uint32_t at = place ^ (step * 16);
  uint32_t two[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) two[i] = TwoBytesAt(at + i % 2 * ByteRows<Shape>::kApart * Shape::kByteRow + i / 2 * 8);
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) to[i] = PairOfBytes<Shape::kFormat>(TakeBytes(two[i], 0x1100));
}

// The same of a chunk of the box.
template <class Shape>
__device__ __forceinline__ void WidenChunk(uint32_t place, uint32_t chunk, uint32_t (&to)[2][4]) {
  WidenSixteen<Shape>(place, chunk * 2, to[0]);
  WidenSixteen<Shape>(place, chunk * 2 + 1, to[1]);
  HoldRows(to[0]);
  HoldRows(to[1]);
}

// gate and up are sums; their scales come first, as in FinishGated.
__device__ __forceinline__ float GatedWith(const float2& scales, float gate, float up) { return Gated(gate * scales.x, up * scales.y); }

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_BYTE_TILES_CUH_
