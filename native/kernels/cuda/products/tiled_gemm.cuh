// Tiled GEMM: products of many vectors by warpgroups (wgmma, compute capability 9.0), in a warp-specialised
// producer-consumer pipeline. One thread requests tiles of weights, another tiles of prepared terms, as many
// stages ahead as shared memory holds. Two warpgroups multiply them. Blocks are persistent: the next tile's
// stages are loaded while results are written. Sums are those of the other kernels.
#ifndef PARLEY_KERNELS_CUDA_TILED_GEMM_CUH_
#define PARLEY_KERNELS_CUDA_TILED_GEMM_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/products/tile_ring.cuh"
#include "kernels/cuda/products/tiled_gemm_args.cuh"

namespace parley::cuda {

constexpr uint32_t kTiledGemmThreads = 384;

// The stages in shared memory, as one side goes through them again and again.
template <class Shape>
struct TiledGemmRing {
  TilePlace tiles;
  BarrierPlace full;   // the requested tiles are there
  BarrierPlace empty;  // both warpgroups are done with it
  RingTurn<Shape::kStages> turn = {};

  __device__ __forceinline__ TilePlace Terms(uint32_t box) const {
    return Beyond(tiles, turn.place * Shape::kStageBytes + box * Shape::kTermBytes);
  }
  __device__ __forceinline__ TilePlace Weights(uint32_t box) const {
    return Beyond(tiles, turn.place * Shape::kStageBytes + Shape::kBoxes * Shape::kTermBytes +
                             box * Shape::kWeightBytes);
  }
  __device__ __forceinline__ BarrierPlace Full() const { return Beyond(full, turn.place * sizeof(Barrier)); }
  __device__ __forceinline__ BarrierPlace Empty() const {
    return Beyond(empty, turn.place * sizeof(Barrier));
  }
  // Until the other side is done with all that was asked for.
  __device__ __forceinline__ void Drain() const {
    const RingTurn<Shape::kStages> last = turn.Before();
    AwaitPhaseOrTrap(Beyond(empty, last.place * sizeof(Barrier)), last.parity);
  }
};

// The matrix of a tile's rows, and which of them are its.
struct TiledGemmRows {
  MatrixView matrix;
  const TileMap* map;
  uint32_t row;

  __device__ __forceinline__ static TiledGemmRows Of(const TiledGemmArgs& args, uint32_t block,
                                                     uint32_t rows) {
    const MatrixView(&matrices)[3] = args.product.matrices;
    if (block < matrices[0].blocks) return {matrices[0], &args.first, block * rows};
    block -= matrices[0].blocks;
    if (block < matrices[1].blocks) return {matrices[1], &args.second, block * rows};
    return {matrices[2], &args.third, (block - matrices[1].blocks) * rows};
  }
};

// Asks for what a block multiplies: one thread for the weights, which no grid before this one writes, another
// for the terms.
template <class Shape>
struct TiledGemmProducer {
  const TiledGemmArgs& args;
  TiledGemmRing<Shape> ring;

  // Calls request(its place, column) for each stage of each tile of the block, when there is room for it;
  // begin(tile) before those of a tile.
  template <class Begin, class Request>
  __device__ __forceinline__ void Run(const VectorCounts& counts, const Begin& begin,
                                      const Request& request) {
    const TiledGemmWork work = TiledGemmWork::Of<Shape>(args, counts);
    const uint32_t columns = args.product.columns;
    for (uint32_t tile = blockIdx.x; tile < work.Count(); tile += gridDim.x) {
      begin(work.At<Shape>(args.cut, tile));
      for (uint32_t column = 0; column < columns; column += Shape::kStageChunks * kChunk, ring.turn.Next()) {
        AwaitPhaseOrTrap(ring.Empty(), ring.turn.parity ^ 1);
        request(column);
      }
    }
  }

  __device__ __forceinline__ void RunWeights(const VectorCounts& counts) {
    const TileMap* map = nullptr;
    uint32_t first = 0;
    const auto begin = [&](const TiledGemmTile& tile) {
      const TiledGemmRows rows = TiledGemmRows::Of(args, tile.block, Shape::kRows);
      map = rows.map;
      first = rows.row;
    };
    Run(counts, begin, [&](uint32_t column) {
      ArriveExpecting(ring.Full(), Shape::kStageBytes);
#pragma unroll
      for (uint32_t box = 0; box < Shape::kBoxes; box++) {
#pragma unroll
        for (int piece = 0; piece < Shape::kPieces; piece++) {
          const uint32_t row = first + (Shape::kGated ? piece / 2 : piece) * Shape::kBoxRows;
          CopyTile(Beyond(ring.Weights(box), piece * Shape::kBoxRows * Shape::kRow),
                   Shape::kGated && piece % 2 == 1 ? args.second : *map, column + box * Shape::kBox, 0, row,
                   0, ring.Full());
        }
      }
    });
    GridDependencyWait();
    ring.Drain();
  }

  // A box lies in one segment.
  __device__ __forceinline__ void RunTerms(const VectorCounts& counts) {
    GridDependencyWait();
    const uint32_t length = args.product.x.length;
    TiledGemmTile its{};
    uint32_t segment = 0, at = 0;
    const auto begin = [&](const TiledGemmTile& tile) {
      its = tile;
      segment = at = 0;
    };
    Run(counts, begin, [&](uint32_t) {
#pragma unroll
      for (uint32_t box = 0; box < Shape::kBoxes; box++) {
        CopyTile(ring.Terms(box), args.vectors, at, segment, its.position, its.stream, ring.Full());
        at += Shape::kBox;
        if (at < length) continue;
        at = 0;
        segment++;
      }
    });
  }
};

// A warpgroup that multiplies: `own` of two.
template <class Shape>
struct TiledGemmConsumer {
  const TiledGemmArgs& args;
  TiledGemmRing<Shape> ring;
  uint32_t own;
  float acc[Shape::kOctets][4], total[Shape::kOctets][4];

  __device__ __forceinline__ TiledGemmConsumer(const TiledGemmArgs& args, const TiledGemmRing<Shape>& ring,
                                               uint32_t own)
      : args(args), ring(ring), own(own) {}

  __device__ __forceinline__ void MultiplyChunk(uint32_t c, bool from_zero) {
    constexpr uint32_t kOfBox = Shape::kBox / kChunk;
    const TilePlace terms = Beyond(ring.Terms(c / kOfBox), Shape::kHalvesRows ? 0 : own * 64 * Shape::kRow);
    const TilePlace weights =
        Beyond(ring.Weights(c / kOfBox), Shape::kHalvesRows ? own * Shape::kOctets * 8 * Shape::kRow : 0);
    FenceTiles();
    MmaTiles<Shape::kRow>(acc, terms, weights, c % kOfBox * 2, from_zero);
    MmaTiles<Shape::kRow>(acc, terms, weights, c % kOfBox * 2 + 1, false);
    CommitTiles();
  }

  __device__ __forceinline__ void Release(uint32_t stage) {
    if (threadIdx.x % 128 == 0) Arrive(Beyond(ring.empty, stage * sizeof(Barrier)));
  }

  __device__ __forceinline__ void MultiplyTile(uint32_t chunks) {
#pragma unroll
    for (int n = 0; n < Shape::kOctets; n++) total[n][0] = total[n][1] = total[n][2] = total[n][3] = 0;
    uint32_t part = PartAfter(0, chunks), end = PartBegin(part + 1, chunks), last = 0;
    bool is_new = true;
    for (uint32_t first = 0; first < chunks; first += Shape::kStageChunks, ring.turn.Next()) {
      AwaitPhase(ring.Full(), ring.turn.parity);
#pragma unroll
      for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
        if (first + c >= chunks) break;
        MultiplyChunk(c, is_new);
        is_new = first + c + 1 == end;
        if (!is_new) continue;
        AwaitTiles<0>();
        AddPart(total, acc);
        // As PartAfter says, but from where it was: of more than eight chunks the next one.
        while (++part < kParts && PartBegin(part + 1, chunks) == end) continue;
        end = PartBegin(part + 1, chunks);
      }
      // All but this stage's chunks are done.
      AwaitTiles<static_cast<int>(Shape::kStageChunks)>();
      if (first > 0) Release(last);
      last = ring.turn.place;
    }
    AwaitTiles<0>();
    Release(last);
  }

  // Eight vectors of this warp at a time pass through its part of shared memory, so that what a lane reads
  // and writes of y are four neighbouring rows, and a warp's are whole lines.
  __device__ __forceinline__ void Finish(const TiledGemmTile& tile, const VectorCounts& counts,
                                         float* staged) {
    constexpr uint32_t kOfVector = Shape::kResultRows / 4, kWidth = Shape::kStagedRow,
                       kTogether = kOfVector < 16 ? 1 : 4;
    const TiledGemmRows rows = TiledGemmRows::Of(args, tile.block, Shape::kRows);
    const uint32_t lane = threadIdx.x % 32,
                   row = rows.row + (Shape::kHalvesRows ? own * Shape::kResultRows : 0);
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t first = (Shape::kHalvesRows ? 0 : own * 64) + threadIdx.x / 32 % 4 * 16 + half * 8;
      Stage(half, staged);
      __syncwarp();
      // A loop over four at a time, not fully unrolled: straight-line code that runs once misses the
      // instruction cache.
#pragma unroll 1
      for (uint32_t begin = lane; begin < 8 * kOfVector; begin += 32 * kTogether) {
        uint64_t places[kTogether];
#pragma unroll
        for (uint32_t i = 0; i < kTogether; i++) {
          const uint32_t item = begin + i * 32, at = row + item % kOfVector * 4;
          const uint32_t vector = item < 8 * kOfVector && at < rows.matrix.rows
                                      ? ResultOf(args, counts, tile, first + item / kOfVector)
                                      : kNoVector;
          places[i] =
              vector == kNoVector ? ~uint64_t{0} : static_cast<uint64_t>(vector) * rows.matrix.rows + at;
        }
#pragma unroll
        for (uint32_t i = 0; i < kTogether; i++) {
          if (places[i] == ~uint64_t{0}) continue;
          const uint32_t item = begin + i * 32, column = item % kOfVector * 4;
          PutGated(args.product, places[i],
                   *reinterpret_cast<const float4*>(staged + item / kOfVector * kWidth + column));
        }
      }
      __syncwarp();
    }
  }

  // The same without a gate. It requests the old values of y all at once, in place of the chunks' sums, so
  // that the latency is paid once.
  __device__ __forceinline__ void FinishPlain(const TiledGemmTile& tile, const VectorCounts& counts,
                                              float* staged) const {
    constexpr uint32_t kOfVector = Shape::kResultRows / 4, kOfHalf = kOfVector / 4,
                       kColumns = 32 % kOfVector == 0 ? 1 : 3;
    static_assert(32 * kColumns % kOfVector == 0 && kOfHalf % kColumns == 0,
                  "a lane's columns come again and again");
    const TiledGemmRows rows = TiledGemmRows::Of(args, tile.block, Shape::kRows);
    const uint32_t lane = threadIdx.x % 32,
                   row = rows.row + (Shape::kHalvesRows ? own * Shape::kResultRows : 0);
    const uint32_t result = ResultOf(
        args, counts, tile, (Shape::kHalvesRows ? 0 : own * 64) + threadIdx.x / 32 % 4 * 16 + lane % 16);
    const auto column = [&](uint32_t i) { return (lane + i * 32) % kOfVector * 4; };
    const auto place = [&](uint32_t i) -> float* {
      const uint32_t vector = __shfl_sync(0xffffffffu, result, (lane + i * 32) / kOfVector);
      return vector == kNoVector || row + column(i) >= rows.matrix.rows
                 ? nullptr
                 : rows.matrix.y + static_cast<uint64_t>(vector) * rows.matrix.rows + row + column(i);
    };
    float4 before[2 * kOfHalf], bias[kColumns];
#pragma unroll
    for (uint32_t i = 0; i < 2 * kOfHalf; i++) {
      const float* const y = place(i);
      before[i] = make_float4(0, 0, 0, 0);
      if (args.product.add && y != nullptr) before[i] = *reinterpret_cast<const float4*>(y);
    }
#pragma unroll
    for (uint32_t i = 0; i < kColumns; i++) {
      bias[i] = make_float4(0, 0, 0, 0);
      if (args.product.bias != nullptr && row + column(i) < rows.matrix.rows)
        bias[i] = FourFrom(args.product.bias, row + column(i));
    }
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      Stage(half, staged);
      __syncwarp();
#pragma unroll
      for (uint32_t n = 0; n < kOfHalf; n++) {
        const uint32_t i = half * kOfHalf + n, item = lane + n * 32;
        float* const y = place(i);
        const float4 four =
            *reinterpret_cast<const float4*>(staged + item / kOfVector * Shape::kStagedRow + column(i));
        if (y != nullptr)
          *reinterpret_cast<float4*>(y) =
              FinishFour(args.product, rows.matrix, row + column(i), four, bias[i % kColumns], before[i]);
      }
      __syncwarp();
    }
  }

  // A thread has two adjacent rows of each octet, for its warp's vectors g and g + 8.
  __device__ __forceinline__ void Stage(uint32_t half, float* staged) const {
    constexpr int kResults = Shape::kResultRows / 8;
    float* const mine = staged + threadIdx.x % 32 / 4 * Shape::kStagedRow + threadIdx.x % 4 * 2;
#pragma unroll
    for (int n = 0; n < kResults; n++) {
      const float* const values = total[n] + half * 2;
      float2 two = make_float2(values[0], values[1]);
      if constexpr (Shape::kGated) {
        const float* const ups = total[n + kResults] + half * 2;
        two = make_float2(Gated(values[0], ups[0]), Gated(values[1], ups[1]));
      }
      *reinterpret_cast<float2*>(mine + n * 8) = two;
    }
  }

  // all_staged: of the block, all warps'.
  __device__ __forceinline__ void Run(const VectorCounts& counts, float* all_staged) {
    const TiledGemmWork work = TiledGemmWork::Of<Shape>(args, counts);
    const uint32_t chunks = args.product.columns / kChunk;
    float* const staged = all_staged + (threadIdx.x / 32 - 4) * 8 * Shape::kStagedRow;
    GridDependencyWait();
    for (uint32_t tile = blockIdx.x; tile < work.Count(); tile += gridDim.x) {
      MultiplyTile(chunks);
      if constexpr (Shape::kGated) Finish(work.At<Shape>(args.cut, tile), counts, staged);
      else FinishPlain(work.At<Shape>(args.cut, tile), counts, staged);
    }
  }
};

// A grid of no more blocks than the multiprocessors have at once. Rows are a multiple of 8; y lies at a
// multiple of 16 bytes, and terms as the map of vectors says.
template <class Shape>
__global__ void __launch_bounds__(kTiledGemmThreads, Shape::kTogether)
    MultiplyTiledGemm(const __grid_constant__ TiledGemmArgs args) {
  if constexpr (kHasTiles) {
    __shared__ Barrier full[Shape::kStages], empty[Shape::kStages];
    unsigned char* const tiles = TilesBegin();
    if (threadIdx.x == 0) {
      InitRing<Shape::kStages>(full, empty, 2);
      FenceBarriers();
    }
    LaunchDependents();
    __syncthreads();
    const VectorCounts counts = *args.product.x.counts;
    const TiledGemmRing<Shape> ring{PlaceOf(tiles), PlaceOf(full), PlaceOf(empty)};
    if (threadIdx.x < 128) {
      if constexpr (Shape::kTogether == 1) DecreaseRegisters<40>();
      if (threadIdx.x == 0) TiledGemmProducer<Shape>{args, ring}.RunWeights(counts);
      else if (threadIdx.x == 32) TiledGemmProducer<Shape>{args, ring}.RunTerms(counts);
      else GridDependencyWait();
    } else {
      if constexpr (Shape::kTogether == 1) IncreaseRegisters<232>();
      TiledGemmConsumer<Shape>(args, ring, threadIdx.x / 128 - 1)
          .Run(counts, reinterpret_cast<float*>(tiles + Shape::kRingBytes));
    }
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILED_GEMM_CUH_
