// Products of up to some hundred vectors with weights of 8 bits, by clusters: as split_vectors.cuh, by way of registers (byte_tiles.cuh).
#ifndef PARLEY_KERNELS_CUDA_SPLIT_BYTES_CUH_
#define PARLEY_KERNELS_CUDA_SPLIT_BYTES_CUH_

#include <cstdint>

#include "kernels/cuda/products/byte_tiles.cuh"
#include "kernels/cuda/products/split_vectors.cuh"
#include "kernels/cuda/products/wide_bytes.cuh"

namespace parley::cuda {

// Of 64 vectors and 64 rows of weights in shared memory, by one warpgroup.
template <Format kFormat, bool kGated>
using SplitBytesShape = SplitShape<kGated, 64, ByteShape<kFormat, kGated, 64, 64>>;

// A block's part of the columns.
template <class Shape>
struct SplitBytesPart : SplitPart<Shape> {
  using Base = SplitPart<Shape>;

  // One thread's: weights, then what they meet.
  __device__ __forceinline__ void Ask(const WideArgs& args, const WideTile& tile) const {
    for (uint32_t stage = 0; stage < this->stages; stage++) {
      ArriveExpecting(this->full + stage, Shape::kStageBytes);
      AskBytes<Shape>(args, tile.block, this->ColumnOf(stage), this->Weights(stage), this->full + stage);
    }
    AwaitInputs();
    for (uint32_t stage = 0; stage < this->stages; stage++) {
      CopyTile(this->Terms(stage), args.vectors, this->ColumnOf(stage), 0, tile.position, tile.stream, this->full + stage);
    }
  }

  __device__ __forceinline__ void MultiplyChunk(uint32_t place, uint32_t stage, uint32_t c, float (&acc)[Shape::kAllOctets][4]) const {
    uint32_t weights[2][4];
    WidenChunk<Shape>(place + stage * Shape::kStageBytes, c, weights);
    FenceTiles();
    MmaRows<Shape::kRow>(acc, weights[0], this->Terms(stage), c * 2, stage + c == 0);
    MmaRows<Shape::kRow>(acc, weights[1], this->Terms(stage), c * 2 + 1, false);
    CommitTiles();
  }

  // The part's sums to shared memory, [vector][row of weights in the tile]; of a part without columns zeros.
  __device__ __forceinline__ void Multiply(const WideArgs&, const WideTile&) const {
    constexpr uint32_t kWidth = Shape::kStagedRow;
    if (this->chunks == 0) {
      for (uint32_t i = threadIdx.x; i < 64 * kWidth; i += kSplitThreads) this->staged[i] = 0;
      return __syncthreads();  // as the others of the cluster
    }
    const ByteRows<Shape> mine = ByteRows<Shape>::Of(0);
    float acc[Shape::kAllOctets][4];
    const uint32_t whole = this->chunks / Shape::kStageChunks, place = SharedPlace(this->Weights(0) + mine.Place());
    static_assert(Shape::kStageChunks == 2);
    for (uint32_t stage = 0; stage < whole; stage++) {
      AwaitPhaseOrTrap(this->full + stage, 0);
#pragma unroll
      for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
        MultiplyChunk(place, stage, c, acc);
        AwaitTiles<1>();
      }
    }
    AwaitTiles<0>();
    // The other chunk of the last stage is the next part's.
    if (whole < this->stages) {
      AwaitPhaseOrTrap(this->full + whole, 0);
      MultiplyChunk(place, whole, 0, acc);
      AwaitTiles<0>();
    }
    __syncthreads();  // all are done with the tiles
    float* const to = this->staged + threadIdx.x % 4 * 2 * kWidth;
#pragma unroll
    for (int n = 0; n < Shape::kAllOctets; n++) {
#pragma unroll
      for (uint32_t i = 0; i < 2; i++) {
        to[(n * 8 + i) * kWidth + mine.first] = acc[n][i];
        to[(n * 8 + i) * kWidth + mine.Second()] = acc[n][i + 2];
      }
    }
  }

  // This block's eighth of the vectors: silu(gate) * up of four neighbouring rows at a time.
  __device__ __forceinline__ void FinishGatedRows(const WideArgs& args, const WideTile& tile, const VectorCounts& counts) const {
    constexpr uint32_t kRows = Shape::kRows, kItems = 8 * kRows / 4;
    const WideRows rows = WideRows::Of(args, tile.block, kRows);
    const float *const gates = rows.matrix.scales, *const ups = args.product.matrices[1].scales;
    for (uint32_t item = threadIdx.x; item < kItems; item += kSplitThreads) {
      const uint32_t of = blockIdx.x % kParts * 8 + item / (kRows / 4), row = item % (kRows / 4) * 4, at = rows.row + row;
      const uint32_t vector = at < rows.matrix.rows ? ResultOf(args, counts, tile, of) : kNoVector;
      if (vector == kNoVector) continue;
      const float4 gate = this->Total(of, row), up = this->Total(of, kRows + row), ones = make_float4(1, 1, 1, 1);
      const float4 g = gates != nullptr ? FourFrom(gates, at) : ones, u = ups != nullptr ? FourFrom(ups, at) : ones;
      PutGated(args.product, static_cast<uint64_t>(vector) * rows.matrix.rows + at,
               make_float4(GatedWith({g.x, u.x}, gate.x, up.x), GatedWith({g.y, u.y}, gate.y, up.y), GatedWith({g.z, u.z}, gate.z, up.z),
                           GatedWith({g.w, u.w}, gate.w, up.w)));
    }
  }

  __device__ __forceinline__ void Finish(const WideArgs& args, const WideTile& tile, const VectorCounts& counts) const {
    if constexpr (Shape::kGated) FinishGatedRows(args, tile, counts);
    else Base::Finish(args, tile, counts);
  }
};

template <class Shape>
__global__ void PARLEY_CLUSTER(kParts) __launch_bounds__(kSplitThreads) MultiplySplitBytes(const __grid_constant__ SplitArgs split) {
  if constexpr (kHasTiles) RunSplit<Shape>(split.wide, SplitBytesPart<Shape>{SplitPart<Shape>::Of(split.wide.product)});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SPLIT_BYTES_CUH_
