// Split-K GEMM over thread block clusters, for up to some hundred vectors (compute capability 9.0).
//
// The kernel is bound by latency. A cluster of eight blocks shares a tile, and each block handles one part of
// the columns. A block requests as much of its part as fits at once, the weights before the vectors are
// there. Each block then reduces an eighth of the tile's vectors: it adds up their parts from the shared
// memory of all blocks, in order, so that the sums are those of the other kernels.
#ifndef PARLEY_KERNELS_CUDA_SPLIT_K_GEMM_CUH_
#define PARLEY_KERNELS_CUDA_SPLIT_K_GEMM_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/products/tiled_gemm.cuh"
#include "kernels/cuda/products/tiled_gemm_bytes.cuh"

namespace parley::cuda {

struct SplitKArgs {
  static constexpr uint32_t kCluster = kParts;
  TiledGemmArgs wide;
};

constexpr uint32_t kSplitKThreads = 128;

// Shape for 64 vectors and kLoaded_ rows of weights in shared memory.
template <bool kGated_, int kLoaded_, class Wide_ = TiledGemmShape<Format::kBf16, kGated_, 64, kLoaded_, 64>>
struct SplitKShape : Wide_ {
  using Wide = Wide_;
  static constexpr int kAllOctets = kLoaded_ / 8;
  static constexpr uint32_t kStagedRow = kLoaded_ + 8, kStagedBytes = 64 * kStagedRow * 4;

  // The most stages of a part, each with a barrier, and how many of them are in shared memory at once. With
  // 128 rows they pass through a ring, which leaves room for another block.
  static constexpr uint32_t kMostOfPart = 32, kSlots = kLoaded_ == 128 ? 4 : kMostOfPart;

  // Stages of a part, at most.
  static constexpr uint32_t StagesOf(uint32_t chunks) {
    return ((chunks + kParts - 1) / kParts + Wide::kStageChunks - 1) / Wide::kStageChunks;
  }
  // Sums take the place of tiles that are done with.
  static constexpr uint32_t SlotsOf(uint32_t stages) { return stages < kSlots ? stages : kSlots; }
  static constexpr uint32_t TileBytes(uint32_t stages) {
    return SlotsOf(stages) * Wide::kStageBytes > kStagedBytes ? SlotsOf(stages) * Wide::kStageBytes
                                                              : (kStagedBytes + 15) / 16 * 16;
  }
  static constexpr uint32_t SharedOf(uint32_t stages) {
    return 1024 + TileBytes(stages) + stages * sizeof(Barrier);
  }
};

// A block's part of the columns.
template <class Shape>
struct SplitKPart {
  unsigned char* tiles;
  float* staged;
  Barrier* full;
  uint32_t first, chunks, stages;
  uint32_t most;  // stages of any part

  __device__ __forceinline__ static SplitKPart Of(const ProductArgs& args) {
    const uint32_t all = args.columns / kChunk, part = blockIdx.x % kParts;
    const uint32_t first = PartBegin(part, all), chunks = PartBegin(part + 1, all) - first,
                   most = Shape::StagesOf(all);
    unsigned char* const tiles = TilesBegin();
    return {tiles,
            reinterpret_cast<float*>(tiles),
            reinterpret_cast<Barrier*>(tiles + Shape::TileBytes(most)),
            first,
            chunks,
            (chunks + Shape::kStageChunks - 1) / Shape::kStageChunks,
            most};
  }
  __device__ __forceinline__ unsigned char* Terms(uint32_t stage) const {
    return tiles + stage % Shape::kSlots * Shape::kStageBytes;
  }
  __device__ __forceinline__ unsigned char* Weights(uint32_t stage) const {
    return Terms(stage) + Shape::kTermBytes;
  }
  __device__ __forceinline__ uint32_t ColumnOf(uint32_t stage) const {
    return first * kChunk + stage * Shape::kBox;
  }

  __device__ __forceinline__ static TiledGemmRows RowsOf(const TiledGemmArgs& args,
                                                         const TiledGemmTile& tile) {
    return TiledGemmRows::Of(args, tile.block, Shape::kLoaded / (Shape::kGated ? 2 : 1));
  }

  // One thread's, as the others that ask.
  __device__ __forceinline__ void RequestWeights(const TiledGemmArgs& args, const TiledGemmRows& rows,
                                                 uint32_t stage) const {
    constexpr uint32_t kOfMatrix = Shape::kLoaded / (Shape::kGated ? 2 : 1),
                       kMatrices = Shape::kGated ? 2 : 1;
    ArriveExpecting(full + stage, Shape::kStageBytes);
    for (uint32_t i = 0; i < kMatrices; i++) {
      // A box has as many rows as the tiles of one warpgroup of two.
      for (uint32_t piece = 0; piece < kOfMatrix / Shape::kBoxRows; piece++) {
        unsigned char* const to = Weights(stage) + (i * kOfMatrix + piece * Shape::kBoxRows) * Shape::kRow;
        CopyTile(to, i == 1 ? args.second : *rows.map, ColumnOf(stage), 0, rows.row + piece * Shape::kBoxRows,
                 0, full + stage);
      }
    }
  }
  __device__ __forceinline__ void RequestTerms(const TiledGemmArgs& args, const TiledGemmTile& tile,
                                               uint32_t stage) const {
    const uint32_t segment = ColumnOf(stage) / args.product.x.length;
    CopyTile(Terms(stage), args.vectors, ColumnOf(stage) - segment * args.product.x.length, segment,
             tile.position, tile.stream, full + stage);
  }
  // Requests the stages that fit: weights first, then the vectors that they meet.
  __device__ __forceinline__ void Request(const TiledGemmArgs& args, const TiledGemmTile& tile) const {
    const uint32_t first_ones = Shape::SlotsOf(stages), length = args.product.x.length;
    const TiledGemmRows rows = RowsOf(args, tile);
    for (uint32_t stage = 0; stage < first_ones; stage++) RequestWeights(args, rows, stage);
    uint32_t segment = ColumnOf(0) / length, column = ColumnOf(0) - segment * length;
    GridDependencyWait();
    for (uint32_t stage = 0; stage < first_ones; stage++) {
      CopyTile(Terms(stage), args.vectors, column, segment, tile.position, tile.stream, full + stage);
      column += Shape::kBox;
      if (column < length) continue;
      column = 0;
      segment++;
    }
  }

  // The part's sums to shared memory, [vector][row]; of a part without columns zeros.
  __device__ __forceinline__ void Multiply(const TiledGemmArgs& args, const TiledGemmTile& tile) const {
    float acc[Shape::kAllOctets][4];
    if (chunks == 0) {
      for (uint32_t i = threadIdx.x; i < 64 * Shape::kStagedRow; i += kSplitKThreads) staged[i] = 0;
      return __syncthreads();  // as the others of the cluster
    }
    for (uint32_t stage = 0; stage < stages; stage++) {
      AwaitPhaseOrTrap(full + stage, 0);
      FenceTiles();
#pragma unroll
      for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
        if (stage * Shape::kStageChunks + c >= chunks) break;
        MmaTiles<Shape::kRow>(acc, Terms(stage), Weights(stage), c * 2, stage + c == 0);
        MmaTiles<Shape::kRow>(acc, Terms(stage), Weights(stage), c * 2 + 1, false);
      }
      CommitTiles();
      // The stage before is done with, and its place another's. All blocks of the cluster meet as often.
      const uint32_t next = stage + Shape::kSlots - 1;
      if (stage == 0 || next >= most) continue;
      AwaitTiles<1>();
      __syncthreads();
      if (threadIdx.x != 0 || next >= stages) continue;
      RequestWeights(args, RowsOf(args, tile), next);
      RequestTerms(args, tile, next);
    }
    AwaitTiles<0>();
    __syncthreads();  // all are done with the tiles
    float* const mine =
        staged + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * Shape::kStagedRow + threadIdx.x % 4 * 2;
#pragma unroll
    for (int n = 0; n < Shape::kAllOctets; n++) {
      *reinterpret_cast<float2*>(mine + n * 8) = make_float2(acc[n][0], acc[n][1]);
      *reinterpret_cast<float2*>(mine + 8 * Shape::kStagedRow + n * 8) = make_float2(acc[n][2], acc[n][3]);
    }
  }

  // The sums of four neighbouring rows over all parts.
  __device__ __forceinline__ float4 Total(uint32_t vector, uint32_t row) const {
    float4 four[kParts], sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (uint32_t part = 0; part < kParts; part++)
      four[part] = LoadOfPeer(staged + vector * Shape::kStagedRow + row, part);
#pragma unroll
    for (uint32_t part = 0; part < kParts; part++) {
      sum =
          make_float4(sum.x + four[part].x, sum.y + four[part].y, sum.z + four[part].z, sum.w + four[part].w);
    }
    return sum;
  }

  // This block's eighth of the vectors.
  __device__ __forceinline__ void Finish(const TiledGemmArgs& args, const TiledGemmTile& tile,
                                         const VectorCounts& counts) const {
    constexpr uint32_t kRows = Shape::kRows, kItems = 8 * kRows / 4;
    const TiledGemmRows rows = TiledGemmRows::Of(args, tile.block, kRows);
    for (uint32_t item = threadIdx.x; item < kItems; item += kSplitKThreads) {
      const uint32_t of = blockIdx.x % kParts * 8 + item / (kRows / 4), row = item % (kRows / 4) * 4;
      const uint32_t vector =
          rows.row + row < rows.matrix.rows ? ResultOf(args, counts, tile, of) : kNoVector;
      if (vector == kNoVector) continue;
      const uint64_t place = static_cast<uint64_t>(vector) * rows.matrix.rows + rows.row + row;
      float4* const y = reinterpret_cast<float4*>(rows.matrix.y + place);
      const float4 before = args.product.add ? *y : make_float4(0, 0, 0, 0), first = Total(of, row);
      if constexpr (Shape::kGated) {
        const float4 up = Total(of, kRows + row);
        PutGated(args.product, place,
                 make_float4(Gated(first.x, up.x), Gated(first.y, up.y), Gated(first.z, up.z),
                             Gated(first.w, up.w)));
      } else {
        *y = FinishFour(args.product, rows.matrix, rows.row + row, first, before);
      }
    }
  }
};

// A cluster for each tile of the work of a bucket. Part: a SplitKPart of the shape, or what multiplies other
// weights in its place.
template <class Shape, class Part>
__device__ __forceinline__ void RunSplit(const TiledGemmArgs& args, const Part& part) {
  if (threadIdx.x == 0) {
    for (uint32_t stage = 0; stage < part.stages; stage++) InitBarrier(part.full + stage, 1);
    FenceBarriers();
  }
  LaunchDependents();
  __syncthreads();
  const VectorCounts counts = *args.product.x.counts;
  const TiledGemmWork work = TiledGemmWork::Of<Shape>(args, counts);
  const bool has_work = blockIdx.x / kParts < work.Count();
  const TiledGemmTile tile = work.At<Shape>(args.cut, has_work ? blockIdx.x / kParts : 0);
  if (threadIdx.x == 0 && has_work) part.Request(args, tile);
  else GridDependencyWait();
  if (has_work) part.Multiply(args, tile);
  ClusterBarrier();
  if (has_work) part.Finish(args, tile, counts);
  ClusterBarrier();  // all blocks have finished reading this block's memory
}

template <class Shape>
__global__ void PARLEY_CLUSTER(kParts) __launch_bounds__(kSplitKThreads)
    MultiplySplitK(const __grid_constant__ SplitKArgs split) {
  if constexpr (kHasTiles) RunSplit<Shape>(split.wide, SplitKPart<Shape>::Of(split.wide.product));
}

// Shape for 64 vectors and 64 rows of weights in shared memory, computed by one warpgroup.
template <Format kFormat, bool kGated>
using SplitKBytesShape = SplitKShape<kGated, 64, ByteShape<kFormat, kGated, 64, 64>>;

// A block's part of the columns.
template <class Shape>
struct SplitKBytesPart : SplitKPart<Shape> {
  using Base = SplitKPart<Shape>;

  // One thread's: weights, then what they meet.
  __device__ __forceinline__ void Request(const TiledGemmArgs& args, const TiledGemmTile& tile) const {
    for (uint32_t stage = 0; stage < this->stages; stage++) {
      ArriveExpecting(this->full + stage, Shape::kStageBytes);
      RequestBytes<Shape>(args, tile.block, this->ColumnOf(stage), this->Weights(stage), this->full + stage);
    }
    GridDependencyWait();
    for (uint32_t stage = 0; stage < this->stages; stage++) {
      CopyTile(this->Terms(stage), args.vectors, this->ColumnOf(stage), 0, tile.position, tile.stream,
               this->full + stage);
    }
  }

  __device__ __forceinline__ void MultiplyChunk(uint32_t place, uint32_t stage, uint32_t c,
                                                float (&acc)[Shape::kAllOctets][4]) const {
    uint32_t weights[2][4];
    WidenChunk<Shape>(place + stage * Shape::kStageBytes, c, weights);
    FenceTiles();
    MmaRows<Shape::kRow>(acc, weights[0], this->Terms(stage), c * 2, stage + c == 0);
    MmaRows<Shape::kRow>(acc, weights[1], this->Terms(stage), c * 2 + 1, false);
    CommitTiles();
  }

  // The part's sums to shared memory, [vector][row of weights in the tile]; of a part without columns zeros.
  __device__ __forceinline__ void Multiply(const TiledGemmArgs&, const TiledGemmTile&) const {
    constexpr uint32_t kWidth = Shape::kStagedRow;
    if (this->chunks == 0) {
      for (uint32_t i = threadIdx.x; i < 64 * kWidth; i += kSplitKThreads) this->staged[i] = 0;
      return __syncthreads();  // as the others of the cluster
    }
    const ByteRows<Shape> mine = ByteRows<Shape>::Of(0);
    float acc[Shape::kAllOctets][4];
    const uint32_t whole = this->chunks / Shape::kStageChunks,
                   place = SharedPlace(this->Weights(0) + mine.Place());
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
  __device__ __forceinline__ void FinishGatedRows(const TiledGemmArgs& args, const TiledGemmTile& tile,
                                                  const VectorCounts& counts) const {
    constexpr uint32_t kRows = Shape::kRows, kItems = 8 * kRows / 4;
    const TiledGemmRows rows = TiledGemmRows::Of(args, tile.block, kRows);
    const float *const gates = rows.matrix.scales, *const ups = args.product.matrices[1].scales;
    for (uint32_t item = threadIdx.x; item < kItems; item += kSplitKThreads) {
      const uint32_t of = blockIdx.x % kParts * 8 + item / (kRows / 4), row = item % (kRows / 4) * 4,
                     at = rows.row + row;
      const uint32_t vector = at < rows.matrix.rows ? ResultOf(args, counts, tile, of) : kNoVector;
      if (vector == kNoVector) continue;
      const float4 gate = this->Total(of, row), up = this->Total(of, kRows + row),
                   ones = make_float4(1, 1, 1, 1);
      const float4 g = gates != nullptr ? FourFrom(gates, at) : ones,
                   u = ups != nullptr ? FourFrom(ups, at) : ones;
      PutGated(args.product, static_cast<uint64_t>(vector) * rows.matrix.rows + at,
               make_float4(GatedWith({g.x, u.x}, gate.x, up.x), GatedWith({g.y, u.y}, gate.y, up.y),
                           GatedWith({g.z, u.z}, gate.z, up.z), GatedWith({g.w, u.w}, gate.w, up.w)));
    }
  }

  __device__ __forceinline__ void Finish(const TiledGemmArgs& args, const TiledGemmTile& tile,
                                         const VectorCounts& counts) const {
    if constexpr (Shape::kGated) FinishGatedRows(args, tile, counts);
    else Base::Finish(args, tile, counts);
  }
};

template <class Shape>
__global__ void PARLEY_CLUSTER(kParts) __launch_bounds__(kSplitKThreads)
    MultiplySplitKBytes(const __grid_constant__ SplitKArgs split) {
  if constexpr (kHasTiles)
    RunSplit<Shape>(split.wide, SplitKBytesPart<Shape>{SplitKPart<Shape>::Of(split.wide.product)});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SPLIT_K_GEMM_CUH_
