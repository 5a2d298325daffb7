// Tiled GEMM with weights of 8 bits (compute capability 9.0): as tiled_gemm.cuh, but the weights pass through
// registers, where they are widened.
#ifndef PARLEY_KERNELS_CUDA_TILED_GEMM_BYTES_CUH_
#define PARLEY_KERNELS_CUDA_TILED_GEMM_BYTES_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/terms.cuh"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "kernels/cuda/products/tiled_gemm.cuh"

namespace parley::cuda {

// Weights of 8 bits in tiles of shared memory, and how warpgroups take them (9.0): a product's rows are
// weights, which a thread widens to bf16 in its registers, and its columns are vectors, whose terms lie in
// tiles. So each weight is read and widened once for all vectors of a tile, and nothing is written back to
// shared memory for the tensor cores. Rows and vectors change places against tiled_gemm.cuh; sums are the
// same, bit for bit.

// Shape for kVectors vectors and kLoaded rows of weights in shared memory; in a gated product half of these
// rows are the gate's. A stage has 64 columns.
template <Format kFormat_, bool kGated_, int kVectors_, int kLoaded_>
struct ByteShape {
  static constexpr Format kFormat = kFormat_;
  static constexpr bool kGated = kGated_;
  static constexpr int kVectors = kVectors_, kLoaded = kLoaded_;
  static constexpr int kRows = kGated ? kLoaded / 2 : kLoaded;
  static constexpr uint32_t kBox = 64, kStageChunks = kBox / kChunk;
  static constexpr uint32_t kTogether = 1;                     // blocks of a multiprocessor
  static constexpr uint32_t kRow = kBox * 2, kByteRow = kBox;  // bytes of a row of terms, and of weights

  // A warpgroup of two has 64 of the rows, or where there are no more all of them and half of the vectors.
  static constexpr bool kHalvesVectors = kLoaded == 64;
  static constexpr int kOctets = (kHalvesVectors ? kVectors / 2 : kVectors) / 8;
  static constexpr int kPieces = kGated ? 2 : 1;  // boxes of weights
  static constexpr int kBoxRows = kLoaded / kPieces;
  static_assert(kLoaded == 64 || kLoaded == 128);

  static constexpr uint32_t kTermBytes = kVectors * kRow, kWeightBytes = kLoaded * kByteRow,
                            kStageBytes = kTermBytes + kWeightBytes;
  // Results of a warp: up to 64 vectors at a time, of each its rows, with room between two vectors so that
  // they do not meet in a bank.
  static constexpr int kStagedOctets = kOctets < 8 ? kOctets : 8;
  // Staged floats are per warp.
  static constexpr uint32_t kResultRows = kGated ? 8 : 16, kStagedRow = kResultRows + 4,
                            kStagedFloats = kStagedOctets * 8 * kStagedRow;
  static constexpr uint32_t kStagedBytes = 8 * kStagedFloats * 4;
  static constexpr uint32_t kMostStages = ((225u << 10) - kStagedBytes) / kStageBytes,
                            kStages = kMostStages < 8 ? kMostStages : 8;
  static constexpr uint32_t kRingBytes = kStages * kStageBytes;
  static constexpr uint32_t kShared =
      kRingBytes + kStagedBytes + 1024;  // the tiles begin at a multiple of 1024
  static_assert(kStageBytes % 1024 == 0 && kStages >= 3);
};

// The two rows of weights in a tile that this thread holds as rows g and g + 8 of its warp's sixteen (g =
// lane / 4): of gated ones a row of the gate, and the same row of what it gates. `own`: which 64 rows.
template <class Shape>
struct ByteRows {
  static constexpr uint32_t kApart = Shape::kGated ? Shape::kLoaded / 2 : 8;
  uint32_t first;

  __device__ __forceinline__ static ByteRows Of(uint32_t own) {
    constexpr uint32_t kOfWarp = Shape::kGated ? 8 : 16;
    return {(own * 4 + threadIdx.x / 32 % 4) * kOfWarp + threadIdx.x % 32 / 4};
  }
  __device__ __forceinline__ uint32_t Second() const { return first + kApart; }

  // Offset of the first row's first two columns in the first piece of sixteen, as TMA lays out rows of 64
  // bytes. Piece p has them at this offset XOR 16 p.
  __device__ __forceinline__ uint32_t Place() const {
    return first * Shape::kByteRow + first / 2 % 4 * 16 + threadIdx.x % 4 * 2;
  }
};

// This thread's of the sixteen columns `step` of a box, whose ByteRows::Place is `place`.
template <class Shape>
__device__ __forceinline__ void WidenSixteen(uint32_t place, uint32_t step, uint32_t (&to)[4]) {
  const uint32_t at = place ^ (step * 16);
  uint32_t two[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; i++)
    two[i] = TwoBytesAt(at + i % 2 * ByteRows<Shape>::kApart * Shape::kByteRow + i / 2 * 8);
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) to[i] = PairOfBytes<Shape::kFormat>(TakeBytes(two[i], 0x1100));
}

// Widens a chunk of the box.
template <class Shape>
__device__ __forceinline__ void WidenChunk(uint32_t place, uint32_t chunk, uint32_t (&to)[2][4]) {
  WidenSixteen<Shape>(place, chunk * 2, to[0]);
  WidenSixteen<Shape>(place, chunk * 2 + 1, to[1]);
  HoldRows(to[0]);
  HoldRows(to[1]);
}

// gate and up are sums; their scales come first, as in FinishGated.
__device__ __forceinline__ float GatedWith(const float2& scales, float gate, float up) {
  return Gated(gate * scales.x, up * scales.y);
}

// The stages in shared memory, as one side goes through them again and again.
template <class Shape>
struct ByteRing {
  unsigned char* tiles;
  Barrier* full;   // the requested tiles are there
  Barrier* empty;  // all eight warps are done with it
  RingTurn<Shape::kStages> turn = {};

  __device__ __forceinline__ unsigned char* Terms() const { return tiles + turn.place * Shape::kStageBytes; }
  __device__ __forceinline__ unsigned char* Weights() const { return Terms() + Shape::kTermBytes; }
  // Waits until the consumers have used every requested stage.
  __device__ __forceinline__ void Drain() const {
    const RingTurn<Shape::kStages> last = turn.Before();
    AwaitPhaseOrTrap(empty + last.place, last.parity);
  }
};

// The rows `block` of a matrix, and of what it gates, to shared memory; bytes of a stage.
template <class Shape>
__device__ __forceinline__ void RequestBytes(const TiledGemmArgs& args, uint32_t block, uint32_t column,
                                             unsigned char* to, Barrier* full) {
  const TiledGemmRows rows = TiledGemmRows::Of(args, block, Shape::kRows);
#pragma unroll
  for (int piece = 0; piece < Shape::kPieces; piece++) {
    const TileMap& map = piece == 1 ? args.second : *rows.map;
    CopyTile(to + piece * Shape::kBoxRows * Shape::kByteRow, map, column / 2, 0, rows.row, 0, full);
  }
}

// Asks for what a block multiplies. One thread's.
template <class Shape>
struct ByteProducer {
  const TiledGemmArgs& args;
  ByteRing<Shape> ring;

  __device__ __forceinline__ void RequestWeights(const TiledGemmTile& tile, uint32_t stage) {
    ArriveExpecting(ring.full + ring.turn.place, Shape::kStageBytes);
    RequestBytes<Shape>(args, tile.block, stage * Shape::kBox, ring.Weights(), ring.full + ring.turn.place);
  }
  __device__ __forceinline__ void RequestTerms(const TiledGemmTile& tile, uint32_t stage) {
    CopyTile(ring.Terms(), args.vectors, stage * Shape::kBox, 0, tile.position, tile.stream,
             ring.full + ring.turn.place);
  }

  // The first weights before the vectors are there.
  __device__ __forceinline__ void Run(const VectorCounts& counts) {
    const TiledGemmWork work = TiledGemmWork::Of<Shape>(args, counts);
    const uint32_t stages = (args.product.columns + Shape::kBox - 1) / Shape::kBox;
    const uint32_t early = blockIdx.x < work.Count() ? min(stages, Shape::kStages) : 0;
    const ByteRing<Shape> begin = ring;
    for (uint32_t stage = 0; stage < early; stage++, ring.turn.Next())
      RequestWeights(work.At<Shape>(args.cut, blockIdx.x), stage);
    ring = begin;
    GridDependencyWait();
    for (uint32_t stage = 0; stage < early; stage++, ring.turn.Next())
      RequestTerms(work.At<Shape>(args.cut, blockIdx.x), stage);
    for (uint32_t tile = blockIdx.x; tile < work.Count(); tile += gridDim.x) {
      const TiledGemmTile its = work.At<Shape>(args.cut, tile);
      for (uint32_t stage = tile == blockIdx.x ? early : 0; stage < stages; stage++, ring.turn.Next()) {
        AwaitPhaseOrTrap(ring.empty + ring.turn.place, ring.turn.parity ^ 1);
        RequestWeights(its, stage);
        RequestTerms(its, stage);
      }
    }
    ring.Drain();
  }
};

// A warpgroup that multiplies: `own` of two.
template <class Shape>
struct ByteConsumer {
  const TiledGemmArgs& args;
  ByteRing<Shape> ring;
  const ByteRows<Shape> mine;
  const uint32_t first_vector;  // among the tile's vectors
  const uint32_t place;         // this thread's weights in the first stage
  float acc[Shape::kOctets][4], total[Shape::kOctets][4];

  __device__ __forceinline__ ByteConsumer(const TiledGemmArgs& args, const ByteRing<Shape>& ring,
                                          uint32_t own)
      : args(args),
        ring(ring),
        mine(ByteRows<Shape>::Of(Shape::kHalvesVectors ? 0 : own)),
        first_vector(Shape::kHalvesVectors ? own * Shape::kOctets * 8 : 0),
        place(SharedPlace(ring.tiles + Shape::kTermBytes + mine.Place())) {}

  __device__ __forceinline__ void MultiplyChunk(uint32_t c, bool from_zero) {
    uint32_t weights[2][4];
    WidenChunk<Shape>(place + ring.turn.place * Shape::kStageBytes, c, weights);
    const unsigned char* const terms = ring.Terms() + first_vector * Shape::kRow;
    FenceTiles();
    MmaRows<Shape::kRow>(acc, weights[0], terms, c * 2, from_zero);
    MmaRows<Shape::kRow>(acc, weights[1], terms, c * 2 + 1, false);
    CommitTiles();
  }

  // One arrival a warp: what its lanes read of the stage went into products that are done.
  __device__ __forceinline__ void Release(uint32_t stage) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) Arrive(ring.empty + stage);
  }

  __device__ __forceinline__ void MultiplyTile(uint32_t chunks) {
#pragma unroll
    for (int n = 0; n < Shape::kOctets; n++) total[n][0] = total[n][1] = total[n][2] = total[n][3] = 0;
    uint32_t part = PartAfter(0, chunks), end = PartBegin(part + 1, chunks), last = 0;
    bool is_new = true;
    for (uint32_t first = 0; first < chunks; first += Shape::kStageChunks, ring.turn.Next()) {
      AwaitPhase(ring.full + ring.turn.place, ring.turn.parity);
#pragma unroll
      for (uint32_t c = 0; c < Shape::kStageChunks; c++) {
        // A chunk beyond the last is of zeros, and no part's. A branch around it would make the compiler end
        // every product before the next.
        MultiplyChunk(c, is_new);
        // All but this chunk are done, so that the next may have its registers.
        AwaitTiles<1>();
        if (c == 0 && first > 0) Release(last);
        is_new = first + c + 1 == end;
        if (!is_new) continue;
        AwaitTiles<0>();
        AddPart(total, acc);
        // The next that is not empty.
        for (end = PartBegin(++part + 1, chunks); part < kParts && end <= first + c + 1;
             end = PartBegin(++part + 1, chunks)) {
        }
      }
      last = ring.turn.place;
    }
    AwaitTiles<0>();
    Release(last);
  }

  // Copies some octets to this warp's part of shared memory, [vector][row]. A thread has two adjacent vectors
  // of its two rows in each octet.
  __device__ __forceinline__ void Stage(int octet, const float2& scales, float* staged) const {
    constexpr uint32_t kWidth = Shape::kStagedRow;
    float* const to = staged + threadIdx.x % 4 * 2 * kWidth + threadIdx.x % 32 / 4;
#pragma unroll
    for (int n = 0; n < Shape::kStagedOctets; n++) {
      const float* const values = total[octet + n];
#pragma unroll
      for (uint32_t i = 0; i < 2; i++) {
        float* const to_vector = to + (n * 8 + i) * kWidth;
        if constexpr (Shape::kGated) {
          *to_vector = GatedWith(scales, values[i], values[i + 2]);
        } else {
          to_vector[0] = values[i];
          to_vector[8] = values[i + 2];
        }
      }
    }
  }

  // Writes those vectors to y, from `begin` on, so that a lane reads and writes four adjacent rows of y.
  __device__ __forceinline__ void Write(const TiledGemmRows& rows, uint32_t begin, uint32_t vectors,
                                        const float* staged) const {
    constexpr uint32_t kOfVector = Shape::kResultRows / 4, kItems = Shape::kStagedOctets * 8 * kOfVector,
                       kTogether = 2;
    const uint32_t first_row = rows.row + mine.first - threadIdx.x % 32 / 4;
#pragma unroll 1
    for (uint32_t from = threadIdx.x % 32; from < kItems; from += 32 * kTogether) {
      float4* places[kTogether];
      float4 before[kTogether];
      const uint32_t row = first_row + from % kOfVector * 4;
#pragma unroll
      for (uint32_t i = 0; i < kTogether; i++) {
        const uint32_t vector = begin + from / kOfVector + i * (32 / kOfVector);
        const bool is_there = row < rows.matrix.rows && vector < vectors;
        places[i] = is_there ? reinterpret_cast<float4*>(
                                   rows.matrix.y + static_cast<uint64_t>(vector) * rows.matrix.rows + row)
                             : nullptr;
        before[i] = args.product.add && is_there ? *places[i] : make_float4(0, 0, 0, 0);
      }
#pragma unroll
      for (uint32_t i = 0; i < kTogether; i++) {
        if (places[i] == nullptr) continue;
        const float4 four = *reinterpret_cast<const float4*>(
            staged + (from / kOfVector + i * (32 / kOfVector)) * Shape::kStagedRow + from % kOfVector * 4);
        if constexpr (Shape::kGated)
          PutGated(args.product, static_cast<uint64_t>(reinterpret_cast<float*>(places[i]) - rows.matrix.y),
                   four);
        else *places[i] = FinishFour(args.product, rows.matrix, row, four, before[i]);
      }
    }
  }

  __device__ __forceinline__ void Finish(const TiledGemmTile& tile, const VectorCounts& counts,
                                         float* staged) const {
    const TiledGemmRows rows = TiledGemmRows::Of(args, tile.block, Shape::kRows);
    float2 scales = make_float2(1, 1);
    if (Shape::kGated) {
      const uint32_t row = min(rows.row + mine.first, rows.matrix.rows - 1);
      if (rows.matrix.scales != nullptr) scales.x = __ldg(rows.matrix.scales + row);
      if (args.product.matrices[1].scales != nullptr) scales.y = __ldg(args.product.matrices[1].scales + row);
    }
#pragma unroll
    for (int octet = 0; octet < Shape::kOctets; octet += Shape::kStagedOctets) {
      Stage(octet, scales, staged);
      __syncwarp();
      Write(rows, tile.position + first_vector + octet * 8, counts.vectors, staged);
      __syncwarp();
    }
  }

  __device__ __forceinline__ void Run(const VectorCounts& counts) {
    const TiledGemmWork work = TiledGemmWork::Of<Shape>(args, counts);
    const uint32_t chunks = args.product.columns / kChunk;
    float* const staged = reinterpret_cast<float*>(ring.tiles + Shape::kRingBytes) +
                          (threadIdx.x / 32 - 4) * Shape::kStagedFloats;
    GridDependencyWait();
    for (uint32_t tile = blockIdx.x; tile < work.Count(); tile += gridDim.x) {
      MultiplyTile(chunks);
      Finish(work.At<Shape>(args.cut, tile), counts, staged);
    }
  }
};

// A grid as MultiplyTiledGemm's, of vectors that are no windows; scales lie at a multiple of 16 bytes.
template <class Shape>
__global__ void __launch_bounds__(kTiledGemmThreads, 1)
    MultiplyTiledGemmBytes(const __grid_constant__ TiledGemmArgs args) {
  if constexpr (kHasTiles) {
    __shared__ Barrier full[Shape::kStages], empty[Shape::kStages];
    unsigned char* const tiles = TilesBegin();
    if (threadIdx.x == 0) {
      InitRing<Shape::kStages>(full, empty, 8);
      FenceBarriers();
    }
    LaunchDependents();
    __syncthreads();
    const VectorCounts counts = *args.product.x.counts;
    const ByteRing<Shape> ring{tiles, full, empty};
    if (threadIdx.x < 128) {
      DecreaseRegisters<40>();
      if (threadIdx.x == 0) ByteProducer<Shape>{args, ring}.Run(counts);
      else GridDependencyWait();
    } else {
      IncreaseRegisters<232>();
      ByteConsumer<Shape>(args, ring, threadIdx.x / 128 - 1).Run(counts);
    }
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILED_GEMM_BYTES_CUH_
