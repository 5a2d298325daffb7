// Positions of a cache that a row sees before its own, and the order in which a block visits them.
#ifndef PARLEY_KERNELS_CUDA_SEEN_POSITIONS_CUH_
#define PARLEY_KERNELS_CUDA_SEEN_POSITIONS_CUH_

#include <cmath>
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"

namespace parley::cuda {

// Online softmax (Milakov and Gimelshein; FlashAttention) in parts that can be joined. A part has its largest
// score, the sum of weights relative to that score, and the values that they weigh. Scores are base-2
// exponents: scaled dot products times log2(e).
//
// Positions are divided into chunks of 256 by absolute position; chunk c belongs to lane c % 8. A lane's
// chunks are joined in order, then the lanes in order. A row's result is therefore the same whichever block
// computes which lane.

constexpr uint32_t kPositions = 256;  // per chunk
constexpr uint32_t kLanes = 8;
constexpr float kLog2OfE = 1.44269504f;

// Factor that rescales weights relative to `largest` to weights relative to `most`, which is no less.
// `largest` is -infinity where nothing was seen; the result is then 0, never NaN.
__device__ __forceinline__ float Rescaling(float largest, float most) {
  return largest == -INFINITY ? 0.0f : exp2f(largest - most);
}

struct SoftmaxPart {
  float largest = -INFINITY;
  float sum = 0;
  float value = 0;  // one dimension's

  __device__ __forceinline__ void Join(const SoftmaxPart& next) {
    if (next.largest == -INFINITY) return;
    const float most = fmaxf(largest, next.largest);
    const float own = Rescaling(largest, most), other = exp2f(next.largest - most);
    sum = fmaf(sum, own, next.sum * other);
    value = fmaf(value, own, next.value * other);
    largest = most;
  }
};

// Row of the cache for a position: position % capacity. 64-bit division is avoided where possible: it takes
// about a hundred instructions.
__device__ __forceinline__ uint64_t RowOf(uint64_t position, uint64_t capacity) {
  if (position < capacity) return position;
  if (position >> 32 == 0) return static_cast<uint32_t>(position) % static_cast<uint32_t>(capacity);
  return position % capacity;
}

// Neighbouring positions: the first one's row of the cache, and how many there are, no more than the cache
// has.
struct Span {
  uint32_t row, count;
};

// The positions that a row sees before its own. A block has every `step`-th lane, and visits lane by lane,
// chunk by chunk; chunks are numbered here from the first that is seen.
struct SeenPositions {
  uint32_t capacity;  // the cache's: 2^32 positions would not fit into any memory
  uint32_t row;       // the first position's
  uint32_t count;     // less than the capacity
  uint32_t skipped;   // positions before the first, in its lanes
  uint32_t step;      // from a lane of the block to its next

  __device__ __forceinline__ static SeenPositions Of(uint64_t position, uint32_t window, uint64_t capacity,
                                                     uint32_t step) {
    const uint64_t first = window == 0 || position < window ? 0 : position - window + 1;
    return {static_cast<uint32_t>(capacity), static_cast<uint32_t>(RowOf(first, capacity)),
            static_cast<uint32_t>(position - first), static_cast<uint32_t>(first) % (kPositions * kLanes),
            step};
  }

  __device__ __forceinline__ uint32_t Wrapped(uint32_t at) const {
    return at >= capacity ? at - capacity : at;
  }
  __device__ __forceinline__ uint32_t OwnRow() const { return Wrapped(row + count); }

  __device__ __forceinline__ uint32_t LaneOf(uint32_t chunk) const {
    return (skipped / kPositions + chunk) % kLanes;
  }
  // A number beyond the last chunk where the lane has none.
  __device__ __forceinline__ uint32_t FirstChunkOf(uint32_t lane) const {
    return (lane - skipped / kPositions) % kLanes;
  }
  __device__ __forceinline__ bool Has(uint32_t chunk) const {
    return chunk * kPositions < skipped % kPositions + count && count > 0;
  }
  __device__ __forceinline__ bool HasLane(uint32_t lane) const { return Has(FirstChunkOf(lane)); }

  // The first chunk of the block's lanes from `lane` on; one that there is not when there is none.
  __device__ __forceinline__ uint32_t FromLane(uint32_t lane) const {
    while (lane < kLanes && !HasLane(lane)) lane += step;
    return lane < kLanes ? FirstChunkOf(lane) : UINT32_MAX / kPositions;
  }
  __device__ __forceinline__ uint32_t After(uint32_t chunk) const {
    if (!Has(1)) return UINT32_MAX / kPositions;  // at once: most have one chunk
    return Has(chunk + kLanes) ? chunk + kLanes : FromLane(LaneOf(chunk) + step);
  }
  __device__ __forceinline__ Span SpanOf(uint32_t chunk) const {
    if (!Has(chunk)) return {0, 0};
    const uint32_t before = skipped % kPositions, from = chunk == 0 ? 0 : chunk * kPositions - before;
    const uint32_t end = (chunk + 1) * kPositions - before;
    return {Wrapped(row + from), (end < count ? end : count) - from};
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SEEN_POSITIONS_CUH_
