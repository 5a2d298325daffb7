// The softmax of an attention in parts that are joined: a part has its largest score, the sum of its weights relative
// to that, and the values that they weigh. Scores are exponents of two: what attention makes of a query and a key, times log2(e).
//
// Positions are taken in chunks of 256 by their number, chunk c in lane c % 8. Of a lane the chunks are joined in their order,
// then the lanes in theirs; so that a row's result is the same whoever computes which lane.
#ifndef PARLEY_KERNELS_CUDA_SOFTMAX_STATE_CUH_
#define PARLEY_KERNELS_CUDA_SOFTMAX_STATE_CUH_

#include <cmath>

#include "kernels/cuda/device/intrinsics.h"

namespace parley::cuda {

constexpr uint32_t kPositions = 256;  // of a chunk
constexpr uint32_t kLanes = 8;
constexpr float kLog2OfE = 1.44269504f;

// What weights relative to `largest` are multiplied by so that they are relative to `most`, which is no less. Nothing has
// been seen where it is -infinity; no NaN comes of that.
__device__ __forceinline__ float Rescaling(float largest, float most) {
  return largest == -INFINITY ? 0.0f : exp2f(largest - most);
}

struct SoftmaxPart {
  float largest = -INFINITY;
  float sum = 0;
  float value = 0;  // of one dimension

  __device__ __forceinline__ void Join(const SoftmaxPart& next) {
    if (next.largest == -INFINITY) return;
    const float most = fmaxf(largest, next.largest);
    const float own = Rescaling(largest, most), other = exp2f(next.largest - most);
    sum = fmaf(sum, own, next.sum * other);
    value = fmaf(value, own, next.value * other);
    largest = most;
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_SOFTMAX_STATE_CUH_
