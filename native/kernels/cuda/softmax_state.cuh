// The softmax of an attention in parts that are joined: a part has its largest score, the sum of its weights relative
// to that, and the values that they weigh.
//
// Positions are taken in chunks of 256 by their number, chunk c in lane c % 8. Of a lane the chunks are joined in their order,
// then the lanes in theirs; so that a row's result is the same whoever computes which lane.
#ifndef PARLEY_KERNELS_CUDA_SOFTMAX_STATE_CUH_
#define PARLEY_KERNELS_CUDA_SOFTMAX_STATE_CUH_

#include <cmath>

#include "kernels/cuda/words.h"

namespace parley::cuda {

constexpr uint32_t kPositions = 256;  // of a chunk
constexpr uint32_t kLanes = 8;

struct SoftmaxPart {
  float largest = -INFINITY;
  float sum = 0;
  float value = 0;  // of one dimension

  __device__ __forceinline__ void Join(const SoftmaxPart& next) {
    if (next.largest == -INFINITY) return;
    const float most = fmaxf(largest, next.largest);
    const float own = largest == -INFINITY ? 0.0f : expf(largest - most), other = expf(next.largest - most);
    sum = fmaf(sum, own, next.sum * other);
    value = fmaf(value, own, next.value * other);
    largest = most;
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SOFTMAX_STATE_CUH_
