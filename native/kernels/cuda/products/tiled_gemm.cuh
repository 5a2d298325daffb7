// Tiled GEMM: products of many vectors by warpgroups (wgmma, compute capability 9.0), in a warp-specialised
// producer-consumer pipeline. One thread requests tiles of weights, another tiles of prepared terms, as many
// stages ahead as shared memory holds. Two warpgroups multiply them. Blocks are persistent: the next tile's
// stages are loaded while results are written. Sums are those of the other kernels.
#ifndef PARLEY_KERNELS_CUDA_TILED_GEMM_CUH_
#define PARLEY_KERNELS_CUDA_TILED_GEMM_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/product_args.cuh"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/products/tile_map.h"

namespace parley::cuda {

// Vectors of a tile: `positions` neighbouring ones of each of some streams. Vectors that are no windows are
// those of one stream.
struct TiledGemmCut {
  uint32_t positions;       // 2^shift
  uint32_t position_tiles;  // per stream; 0: as many as there are vectors
  uint32_t rows_first;      // tiles that follow one another have the same vectors, not the same rows
  uint32_t shift;
};

struct TiledGemmArgs {
  TileMap vectors;               // [streams][positions][segments][columns], terms
  TileMap first, second, third;  // [rows][columns] of the matrices
  TiledGemmCut cut;
  ProductArgs product;
};
// The struct must have no gap at its end, because lists are compared byte for byte.
static_assert(sizeof(TiledGemmArgs) % 64 == 0 &&
              sizeof(TiledGemmArgs) == 4 * sizeof(TileMap) + sizeof(TiledGemmCut) + sizeof(ProductArgs));

// Shape for kVectors vectors and kLoaded rows of weights in shared memory; in a gated product half of these
// rows are the gate's. A stage has kBoxes boxes of kBox columns.
template <Format kFormat_, bool kGated_, int kVectors_, int kLoaded_, uint32_t kBox_>
struct TiledGemmShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr bool kGated = kGated_;
  static constexpr int kVectors = kVectors_, kLoaded = kLoaded_;
  static constexpr int kRows = kGated ? kLoaded / 2 : kLoaded;
  static constexpr uint32_t kBox = kBox_, kBoxes = kBox == 64 ? 1 : 3;
  static constexpr uint32_t kStageChunks = kBox * kBoxes / kChunk;
  static constexpr uint32_t kRow = kBox * 2;  // bytes of a tile's row

  // Two warpgroups multiply: each has 64 of the vectors, or half of the rows.
  static constexpr bool kHalvesRows = kVectors == 64;
  static constexpr int kOctets = (kHalvesRows ? kLoaded / 2 : kLoaded) / 8;
  static constexpr int kPieces = (kGated ? 2 : 1) * (kGated && kHalvesRows ? 2 : 1);  // boxes of weights
  static constexpr int kBoxRows = kLoaded / kPieces;

  static constexpr uint32_t kTermBytes = kVectors * kRow, kWeightBytes = kLoaded * kRow;  // per box
  static constexpr uint32_t kStageBytes = kBoxes * (kTermBytes + kWeightBytes);
  // Results of a warp's eight vectors, with room between two so that they do not meet in a bank.
  static constexpr uint32_t kResultRows = kOctets * 8 / (kGated ? 2 : 1), kStagedRow = kResultRows + 8,
                            kStagedBytes = 8 * 8 * kStagedRow * 4;
  // Blocks of few vectors have little to do, and wait: two share a multiprocessor, of this grid or of this
  // one and the next.
  static constexpr uint32_t kTogether = kVectors == 64 ? 2 : 1;
  static constexpr uint32_t kMostStages =
                                ((kTogether == 2 ? 111u << 10 : 225u << 10) - kStagedBytes) / kStageBytes,
                            kStages = kMostStages < 8 ? kMostStages : 8;
  static constexpr uint32_t kRingBytes = kStages * kStageBytes;
  static constexpr uint32_t kShared =
      kRingBytes + kStagedBytes + 1024;  // the tiles begin at a multiple of 1024
  static_assert(kStageBytes % 1024 == 0 && kStages >= 3);
};

// One tile of the work.
struct TiledGemmTile {
  uint32_t block;     // block of rows
  uint32_t position;  // its vectors' first position ..
  uint32_t stream;    // .. and first stream
};

struct TiledGemmWork {
  uint32_t row_tiles, vector_tiles;

  template <class Shape>
  __device__ __forceinline__ static TiledGemmWork Of(const TiledGemmArgs& args, const VectorCounts& counts) {
    const MatrixView(&matrices)[3] = args.product.matrices;
    const uint32_t streams = Shape::kVectors / args.cut.positions;
    const uint32_t vector_tiles = args.cut.position_tiles == 0
                                      ? (counts.vectors + Shape::kVectors - 1) / Shape::kVectors
                                      : args.cut.position_tiles * ((counts.streams + streams - 1) / streams);
    return {matrices[0].blocks + matrices[1].blocks + matrices[2].blocks, vector_tiles};
  }
  __device__ __forceinline__ uint32_t Count() const { return row_tiles * vector_tiles; }

  template <class Shape>
  __device__ __forceinline__ TiledGemmTile At(const TiledGemmCut& cut, uint32_t tile) const {
    const uint32_t block = cut.rows_first ? tile % row_tiles : tile / vector_tiles;
    const uint32_t vectors = cut.rows_first ? tile / row_tiles : tile % vector_tiles;
    if (cut.position_tiles == 0) return {block, vectors * Shape::kVectors, 0};
    const uint32_t streams = vectors / cut.position_tiles;
    return {block, (vectors - streams * cut.position_tiles) * cut.positions,
            streams * (Shape::kVectors / cut.positions)};
  }
};

// The row of y for a tile's vector, or kNoVector beyond the last.
constexpr uint32_t kNoVector = 0xffffffff;

__device__ __forceinline__ uint32_t ResultOf(const TiledGemmArgs& args, const VectorCounts& counts,
                                             const TiledGemmTile& tile, uint32_t of) {
  if (args.cut.position_tiles == 0)
    return tile.position + of < counts.vectors ? tile.position + of : kNoVector;
  const uint32_t stream = tile.stream + (of >> args.cut.shift),
                 position = tile.position + (of & (args.cut.positions - 1));
  if (stream >= counts.streams) return kNoVector;
  const Windows* const windows = args.product.x.windows;
  const uint32_t begin = windows[stream].begin,
                 end = stream + 1 < counts.streams ? windows[stream + 1].begin : counts.vectors;
  return position < end - begin ? begin + position : kNoVector;
}

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
  // Waits until the consumers have used every requested stage.
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
        // Computes PartAfter from the part before: of more than eight chunks the next one.
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

  // Finishes a product without a gate. It requests the old values of y all at once, in place of the chunks'
  // sums, so that the latency is paid once.
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
      if (rows.matrix.bias != nullptr && row + column(i) < rows.matrix.rows)
        bias[i] = FourFrom(rows.matrix.bias, row + column(i));
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
