// Products of up to 8 vectors within the persistent grid. A block has slabs of 8 rows, whose weights come
// through its ring, and each of its first 8 warps has one part of the columns. The bits are those of the GEMV
// kernel (gemv.cuh).
#ifndef PARLEY_KERNELS_CUDA_SLAB_PRODUCT_CUH_
#define PARLEY_KERNELS_CUDA_SLAB_PRODUCT_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/fused/layer_run_args.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/products/product_args.cuh"
#include "kernels/cuda/products/tile_intrinsics.h"

namespace parley::cuda {

// Weights on their way from memory to a block's products: a ring of places in shared memory, each for 8 rows
// of up to 1024 columns of bf16, which one warp fills, far ahead, by bulk copies, and 8 warps use.

constexpr uint32_t kSlabRows = 8;
constexpr uint32_t kSlabColumns = 1024;
// Neighbouring rows begin a quarter of all banks apart: lanes of four rows read what lies in different banks.
constexpr uint32_t kSlabPitch = kSlabColumns * 2 + 32;
constexpr uint32_t kSlabBytes = kSlabRows * kSlabPitch;
constexpr uint32_t kRingUsers = 8;  // warps

struct WeightRing {
  static constexpr uint32_t kMostPlaces = 16;
  struct Bars {
    Barrier full[kMostPlaces], empty[kMostPlaces];
  };

  unsigned char* bytes;
  Bars* bars;
  uint32_t places;
  uint32_t at = 0, turn = 0;  // the caller's next place, and the phase parity of its turn around the ring

  // The whole block calls it.
  __device__ __forceinline__ void Begin() const {
    if (threadIdx.x < places) {
      InitBarrier(&bars->full[threadIdx.x], 1);
      InitBarrier(&bars->empty[threadIdx.x], kRingUsers);
    }
    FenceBarriers();
    __syncthreads();
  }

  // Fills the next place with `columns` columns of 8 rows of `row_bytes`. One warp calls it.
  __device__ __forceinline__ void Fill(const unsigned char* rows, uint64_t row_bytes, uint32_t columns) {
    const uint32_t lane = threadIdx.x % 32;
    AwaitPhaseOrTrap(&bars->empty[at], turn ^ 1);
    if (lane == 0) ArriveExpecting(&bars->full[at], columns * 2 * kSlabRows);
    __syncwarp();
    if (lane < kSlabRows)
      CopyBulk(bytes + at * kSlabBytes + lane * kSlabPitch, rows + lane * row_bytes, columns * 2,
               &bars->full[at]);
    if (++at == places) at = 0, turn ^= 1;
  }

  // The place `ahead` of the next one.
  __device__ __forceinline__ uint32_t PlaceOf(uint32_t ahead) const {
    return at + ahead >= places ? at + ahead - places : at + ahead;
  }
  __device__ __forceinline__ const unsigned char* BytesOf(uint32_t ahead) const {
    return bytes + PlaceOf(ahead) * kSlabBytes;
  }
  __device__ __forceinline__ void AwaitFull(uint32_t ahead) const {
    AwaitPhase(&bars->full[PlaceOf(ahead)], at + ahead >= places ? turn ^ 1 : turn);
  }
  // The places from `begin` to `end` ahead, no more than 32: a lane waits for each.
  __device__ __forceinline__ void AwaitAllFull(uint32_t begin, uint32_t end) const {
    const uint32_t own = begin + ThisThread() % 32;
    if (own < end) AwaitFull(own);
    __syncwarp();
  }
  // This warp no longer needs the next `count` places, no more than 32: a lane each waits until it was
  // filled, as it may not have needed it.
  __device__ __forceinline__ void Release(uint32_t count) {
    const uint32_t lane = ThisThread() % 32;
    __syncwarp();
    if (lane < count) {
      AwaitFull(lane);
      Arrive(&bars->empty[PlaceOf(lane)]);
    }
    __syncwarp();
    at += count;
    if (at >= places) at -= places, turn ^= 1;
  }
};

constexpr uint32_t kRunThreads = kParts * 32;  // that compute

// The threads that compute, once all of them are here.
__device__ __forceinline__ void RunBarrier() { NamedBarrier<kRunThreads, 2>(); }

// This block's share of `all` slabs. There are 2^n blocks, so that a shift replaces a division of about a
// hundred instructions.
struct SlabShare {
  uint32_t first, count;

  __device__ __forceinline__ static SlabShare Of(uint32_t all) {
    const uint32_t block = ThisBlock(), shift = 31 - __clz(static_cast<int>(gridDim.x)),
                   begin = all * block >> shift;
    return {begin, (all * (block + 1) >> shift) - begin};
  }
};

// Slabs of a tile: two, where the ring has room for the next such tile too, which is on its way meanwhile.
__device__ __forceinline__ uint32_t TileWidth(const WeightRing& ring, uint32_t columns) {
  return 4 * ((columns + kSlabColumns - 1) / kSlabColumns) <= ring.places ? 2 : 1;
}

// One warp's part, kChunks chunks, of the columns of up to 8 vectors, as tensor cores take them. Code that
// runs but once in a step has to come from far each time if there is much of it: everything here is for one
// number of columns, and short.
template <int kChunks>
struct VectorPart {
  static constexpr uint32_t kColumns = kParts * kChunks * kChunk;   // in all parts together
  static constexpr int kTogether = kChunks % 6 == 0 ? 6 : kChunks;  // chunks on their way

  Eight<1> terms[kChunks];

  // The first of its columns.
  __device__ __forceinline__ static uint32_t First() { return ThisThread() / 32 * (kChunks * kChunk); }

  // Loads published rows of pairs. It polls one word until that is there, and only then reads the others,
  // some chunks at once. If a hundred blocks polled all words, the writers would stall (1.5 us of a layer's
  // 17 us). Lanes beyond the rows read the last row.
  __device__ __forceinline__ void AwaitPairs(const TaggedWord* pairs, uint32_t rows, uint32_t step) {
    const uint32_t lane = ThisThread() % 32;
    const TaggedWord* const own =
        pairs + (min(lane / 4, rows - 1) * kColumns + First() + FourOf(lane) * kFour) / 2;
    AwaitAll([&] {
      const TaggedPair tagged = Poll(own + (2 * kChunks - 1) * (kChunk / 4));
      return (tagged.first.step ^ step) | (tagged.second.step ^ step);
    });
#pragma unroll
    for (int begin = 0; begin < kChunks; begin += kTogether) {
      AwaitAll([&] {
        uint32_t off = 0;
#pragma unroll
        for (int n = 2 * begin; n < 2 * (begin + kTogether); n++) {
          const TaggedPair tagged = Poll(own + n * (kChunk / 4));
          terms[n / 2].pairs[0][n % 2 * 2] = tagged.first.bits;
          terms[n / 2].pairs[0][n % 2 * 2 + 1] = tagged.second.bits;
          off |= (tagged.first.step ^ step) | (tagged.second.step ^ step);
        }
        return off;
      });
    }
  }

  // Normalises floats in the block's shared memory, [rows] `pitch` apart: times factor, times weights.
  __device__ __forceinline__ void Norm(const float* x, uint32_t pitch, uint32_t rows, float factor,
                                       const EightFloats (&weights)[kChunks]) {
    const uint32_t lane = ThisThread() % 32;
    const float* const own = x + min(lane / 4, rows - 1) * pitch + First() + FourOf(lane) * kFour;
#pragma unroll
    for (int c = 0; c < kChunks; c++)
      terms[c] = TermsOf<1>(NormedEight(LoadTwoFours(own + c * kChunk), factor, weights[c]));
  }

  __device__ __forceinline__ static void LoadWeights(const float* norm, EightFloats (&weights)[kChunks]) {
    const float* const own = norm + First() + FourOf(ThisThread()) * kFour;
#pragma unroll
    for (int c = 0; c < kChunks; c++) weights[c] = LoadTwoFours(own + c * kChunk);
  }
};

// Sums of all parts: [part][row][8 * slabs + 4].
struct SlabSums {
  float* sums;
  uint32_t pitch, rows;

  __device__ __forceinline__ float* Of(uint32_t part, uint32_t vector) const {
    return sums + (part * rows + vector) * pitch;
  }
  __device__ __forceinline__ float Total(uint32_t vector, uint32_t of) const {
    float sum = 0;
#pragma unroll
    for (uint32_t part = 0; part < kParts; part++) sum += Of(part, vector)[of];
    return sum;
  }
};

// One tile of the product: two slabs, or one. Leaves its sums; its places are still to be released.
template <bool kTwo, int kChunks>
__device__ __forceinline__ void MultiplyTile(const WeightRing& ring, const VectorPart<kChunks>& part,
                                             uint32_t slab, const SlabSums& sums) {
  using W = Weights<Format::kBf16>;
  constexpr uint32_t kOfPlace = kSlabColumns / kChunk, kWidth = kTwo ? 2 : 1;
  constexpr bool kMayTurn = kOfPlace % kChunks != 0;  // a part may lie in two places
  const uint32_t lane = ThisThread() % 32, first = VectorPart<kChunks>::First();
  const uint32_t begin = first / kSlabColumns, end = (first + (kChunks - 1) * kChunk) / kSlabColumns;
  const uint32_t offset = lane / 4 * kSlabPitch + FourOf(lane) * (kFour * 2) + first % kSlabColumns * 2;
  ring.AwaitAllFull(begin * kWidth, (end + 1) * kWidth);
  const unsigned char* low = ring.BytesOf(begin * kWidth) + offset;
  const unsigned char* high = ring.BytesOf(begin * kWidth + kWidth - 1) + offset;
  const uint32_t turn = kOfPlace - first / kChunk % kOfPlace;
  float acc[1][1][4] = {};
#pragma unroll
  for (uint32_t c = 0; c < kChunks; c++) {
    if (kMayTurn && c == turn) {
      low = ring.BytesOf(end * kWidth) + offset - kSlabColumns * 2;
      high = ring.BytesOf(end * kWidth + kWidth - 1) + offset - kSlabColumns * 2;
    }
    Eight<1> a[1][2];
    a[0][0] = W::Terms(W::Shared(low + c * (kChunk * 2), low + c * (kChunk * 2) + W::kSecond));
    // With a single slab it is computed twice; the second result is unused.
    a[0][1] =
        kTwo ? W::Terms(W::Shared(high + c * (kChunk * 2), high + c * (kChunk * 2) + W::kSecond)) : a[0][0];
    const Eight<1> b[1] = {part.terms[c]};
    MultiplyChunk<0>(a, b, acc);
  }
#pragma unroll
  for (uint32_t i = 0; i < 2 * kWidth; i++) {
    const uint32_t vector = lane % 4 * 2 + i % 2;
    if (vector < sums.rows)
      sums.Of(ThisThread() / 32, vector)[slab * kSlabRows + i / 2 * 8 + lane / 4] = acc[0][0][i];
  }
}

// Multiplies up to kTiles tiles at once, so that none waits for another's sums. The columns lie in one
// place of the ring.
template <int kTiles, int kChunks>
__device__ __forceinline__ void MultiplyTiles(const WeightRing& ring, const VectorPart<kChunks>& part,
                                              uint32_t slab, uint32_t count, const SlabSums& sums) {
  using W = Weights<Format::kBf16>;
  static_assert(VectorPart<kChunks>::kColumns <= kSlabColumns);
  const uint32_t lane = ThisThread() % 32, offset = lane / 4 * kSlabPitch + FourOf(lane) * (kFour * 2) +
                                                    VectorPart<kChunks>::First() * 2;
  ring.AwaitAllFull(0, count);
  const unsigned char* rows[2 * kTiles];
#pragma unroll
  // Beyond the count, the last slab is read again; those results are unused.
  for (uint32_t n = 0; n < 2 * kTiles; n++) rows[n] = ring.BytesOf(min(n, count - 1)) + offset;
  float acc[kTiles][1][4] = {};
#pragma unroll
  for (uint32_t c = 0; c < kChunks; c++) {
    Eight<1> a[kTiles][2];
#pragma unroll
    for (uint32_t n = 0; n < 2 * kTiles; n++)
      a[n / 2][n % 2] =
          W::Terms(W::Shared(rows[n] + c * (kChunk * 2), rows[n] + c * (kChunk * 2) + W::kSecond));
    const Eight<1> b[1] = {part.terms[c]};
    MultiplyChunk<0>(a, b, acc);
  }
#pragma unroll
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t vector = lane % 4 * 2 + i;
    if (vector >= sums.rows) continue;
    float* const to = sums.Of(ThisThread() / 32, vector) + slab * kSlabRows + lane / 4;
#pragma unroll
    for (uint32_t n = 0; n < 2 * kTiles; n++) {
      if (n < count) to[n * kSlabRows] = acc[n / 2][0][n % 2 * 2 + i];
    }
  }
}

// Takes as many slabs, each in one place, as the ring has at once; returns their number.
template <int kChunks>
__device__ __forceinline__ uint32_t MultiplySome(const WeightRing& ring, const VectorPart<kChunks>& part,
                                                 uint32_t slab, uint32_t slabs, const SlabSums& sums) {
  const uint32_t left = min(slabs - slab, ring.places), most = left > 4 ? 6 : 4, count = min(left, most);
  if (left > 4) MultiplyTiles<3>(ring, part, slab, count, sums);
  else MultiplyTiles<2>(ring, part, slab, count, sums);
  return count;
}

template <int kChunks>
__device__ __forceinline__ void MultiplySlabs(WeightRing* ring, const VectorPart<kChunks>& part,
                                              uint32_t slabs, const SlabSums& sums) {
  constexpr uint32_t kPlaces = (VectorPart<kChunks>::kColumns + kSlabColumns - 1) / kSlabColumns;
  const uint32_t tile = TileWidth(*ring, VectorPart<kChunks>::kColumns);
#pragma unroll 1
  for (uint32_t slab = 0; slab < slabs;) {
    uint32_t count = tile == 2 && slab + 1 < slabs ? 2 : 1;
    if constexpr (kPlaces == 1) count = MultiplySome(*ring, part, slab, slabs, sums);
    else if (count == 2) MultiplyTile<true>(*ring, part, slab, sums);
    else MultiplyTile<false>(*ring, part, slab, sums);
    slab += count;
    if (slab >= slabs) RunBarrier();
    ring->Release(count * kPlaces);
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SLAB_PRODUCT_CUH_
