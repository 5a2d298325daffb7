// Attention for any head_dim: one block per query head, one warp per position. The small models of tests have
// such sizes.
#ifndef PARLEY_KERNELS_CUDA_ATTENTION_ANY_CUH_
#define PARLEY_KERNELS_CUDA_ATTENTION_ANY_CUH_

#include "kernels/cuda/attention/attention.cuh"

namespace parley::cuda {

constexpr uint32_t kAnyThreads = 256;
static_assert(kAnyThreads >= kPositions);

// One query over the positions from `first` to `last`, in chunks that are joined in the lanes' order. shared:
// the query [head_dim], the weights [kPositions], then a lane and the whole as sums of values [head_dim]
// each.
template <class Cached>
struct PlainAttention {
  const HeadsArgs& args;
  Cache<Cached> cache;
  uint32_t kv;
  float *query, *weights, *lane_values, *whole_values;

  __device__ float FloatAt(const Cached* array, uint64_t position, uint32_t d) const {
    return FloatOf(array[cache.Place(position, args.heads, kv, args.head_dim) + d]);
  }

  // Weights of `count` positions; their largest score and their sum, in every thread.
  __device__ SoftmaxPart Weigh(uint64_t begin, uint32_t count) {
    for (uint32_t j = threadIdx.x / 32; j < count; j += kAnyThreads / 32) {
      float sum = 0;
      for (uint32_t d = threadIdx.x % 32; d < args.head_dim; d += 32)
        sum = fmaf(query[d], FloatAt(cache.keys, begin + j, d), sum);
      sum = SumOfLanes(sum);
      if (threadIdx.x % 32 == 0) weights[j] = sum * (args.scale * kLog2OfE);
    }
    __syncthreads();
    SoftmaxPart part;
    for (uint32_t j = 0; j < count; j++) part.largest = fmaxf(part.largest, weights[j]);
    __syncthreads();
    if (threadIdx.x < count) weights[threadIdx.x] = exp2f(weights[threadIdx.x] - part.largest);
    __syncthreads();
    for (uint32_t j = 0; j < count; j++) part.sum += weights[j];
    return part;
  }

  // Joins `next`, whose values are next_values, to `to`; every thread its dimensions.
  __device__ static void Join(SoftmaxPart* to, float* values, const SoftmaxPart& next,
                              const float* next_values, uint32_t dims) {
    SoftmaxPart joined = *to;
    for (uint32_t d = threadIdx.x; d < dims; d += kAnyThreads) {
      SoftmaxPart part = *to, other = next;
      part.value = values[d];
      other.value = next_values[d];
      part.Join(other);
      values[d] = part.value;
    }
    joined.Join(next);
    *to = joined;
  }

  __device__ void Attend(uint64_t position, float* output) {
    const uint64_t first = args.window == 0 || position < args.window ? 0 : position - args.window + 1;
    SoftmaxPart whole;
    for (uint32_t d = threadIdx.x; d < args.head_dim; d += kAnyThreads) whole_values[d] = 0;
    float* const chunk_values = whole_values + args.head_dim;
    for (uint32_t n = 0; n < kLanes; n++) {
      SoftmaxPart lane;
      for (uint32_t d = threadIdx.x; d < args.head_dim; d += kAnyThreads) lane_values[d] = 0;
      uint64_t chunk = first / kPositions;
      chunk += (n + kLanes - chunk % kLanes) % kLanes;
      for (; chunk <= position / kPositions; chunk += kLanes) {
        const uint64_t begin = chunk * kPositions > first ? chunk * kPositions : first;
        const uint64_t end = (chunk + 1) * kPositions <= position ? (chunk + 1) * kPositions : position + 1;
        const auto count = static_cast<uint32_t>(end - begin);
        const SoftmaxPart part = Weigh(begin, count);
        for (uint32_t d = threadIdx.x; d < args.head_dim; d += kAnyThreads) {
          float sum = 0;
          for (uint32_t j = 0; j < count; j++)
            sum = fmaf(weights[j], FloatAt(cache.values, begin + j, d), sum);
          chunk_values[d] = sum;
        }
        Join(&lane, lane_values, part, chunk_values, args.head_dim);
        __syncthreads();
      }
      Join(&whole, whole_values, lane, lane_values, args.head_dim);
    }
    for (uint32_t d = threadIdx.x; d < args.head_dim; d += kAnyThreads)
      output[d] = whole_values[d] / whole.sum;
  }
};

constexpr size_t PlainAttentionBytes(size_t head_dim) { return (4 * head_dim + kPositions) * sizeof(float); }

// Items are rows, whose keys are stored.
template <class Cached>
static __global__ void __launch_bounds__(kAnyThreads) AttendAnyKernel(const AttendArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const HeadsArgs& heads = args.heads;
  const uint32_t row = blockIdx.y, head = blockIdx.x, dims = heads.head_dim;
  if (row >= *args.items) return;
  const AttentionStream stream = StreamOfRow(heads, row);
  if (row - stream.row >= stream.count) return;
  auto* const room = reinterpret_cast<float*>(SharedBytes());
  PlainAttention<Cached> attention{heads,
                                   CacheOf<Cached>(heads, stream, heads.layer),
                                   head * heads.heads / heads.query_heads,
                                   room,
                                   room + dims,
                                   room + dims + kPositions,
                                   room + 2 * dims + kPositions};
  const size_t place = (static_cast<size_t>(row) * heads.query_heads + head) * dims;
  for (uint32_t d = threadIdx.x; d < dims; d += kAnyThreads) attention.query[d] = heads.queries[place + d];
  __syncthreads();
  attention.Attend(stream.position + (row - stream.row), heads.output + place);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ATTENTION_ANY_CUH_
