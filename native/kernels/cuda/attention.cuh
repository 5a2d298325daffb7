// Attention over the caches of many streams, for head_dim 64 and 128 (other sizes: attention_any.cuh).
//
// A block has a stream's (or a row's) kv head with kGroup of the query heads that share it. Threads stand in two ways:
// for scores and values a quarter or half of a warp (a slot) reads a position's head, eight values a thread; for what is joined
// of the slots, thread g * kDim + d has dimension d of query g.
#ifndef PARLEY_KERNELS_CUDA_ATTENTION_CUH_
#define PARLEY_KERNELS_CUDA_ATTENTION_CUH_

#include "kernels/cuda/heads.cuh"
#include "kernels/cuda/softmax_state.cuh"

namespace parley::cuda {

constexpr uint32_t kAttendThreads = 256;
constexpr uint32_t kAttendWarps = kAttendThreads / 32;

struct AttendArgs {
  HeadsArgs heads;
  const uint32_t* items;
  uint32_t by_row;  // an item is a row, whose keys are stored; else a stream, whose few rows are placed and attended to in turn
  // Where blocks of z share an item's lanes: [items, query_heads, kLanes, 2 + head_dim], and [items, blocks of x] zeros. Else none.
  float* parts;
  uint32_t* arrivals;
};

// Eight neighbouring values of a cache, as they are loaded.
struct EightF32 {
  float4 low, high;
  __device__ __forceinline__ void Load(const float* from) {
    low = reinterpret_cast<const float4*>(from)[0];
    high = reinterpret_cast<const float4*>(from)[1];
  }
  __device__ __forceinline__ void Unpack(float (&to)[8]) const {
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
  }
};

template <class Cached>
struct EightHalves {
  uint4 words;
  __device__ __forceinline__ static float2 Both(uint32_t pair, Bf16) { return UnpackBf16(pair); }
  __device__ __forceinline__ static float2 Both(uint32_t pair, F16) { return UnpackF16(pair); }
  __device__ __forceinline__ void Load(const Cached* from) { words = *reinterpret_cast<const uint4*>(from); }
  __device__ __forceinline__ void Unpack(float (&to)[8]) const {
    const uint32_t pairs[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float2 two = Both(pairs[i], Cached{});
      to[2 * i] = two.x;
      to[2 * i + 1] = two.y;
    }
  }
};

template <class Cached>
struct EightOf {
  using Type = EightHalves<Cached>;
};
template <>
struct EightOf<float> {
  using Type = EightF32;
};

template <uint32_t kDim, uint32_t kGroup, class Cached>
struct AttentionBlock {
  static constexpr uint32_t kSlotThreads = kDim / 8;
  static constexpr uint32_t kSlots = kAttendThreads / kSlotThreads;
  static constexpr uint32_t kAhead = 4;  // positions of a slot that are loaded before the first is used
  using Values = typename EightOf<Cached>::Type;

  struct Shared {
    float queries[kGroup][kDim];
    float weights[kGroup][kPositions];      // scores, then what they weigh
    float values[kAttendWarps][kGroup][kDim];
    float joined[2][kGroup][kAttendWarps];  // largest, sums
    uint32_t last;
  };
  static_assert(kGroup * kDim <= kAttendThreads);

  const HeadsArgs& args;
  Shared& shared;
  Cache<Cached> cache;
  uint32_t kv;

  // Calls use(position of the chunk, its eight values), `count` positions from `begin`, by turns of the slots.
  template <class Use>
  __device__ __forceinline__ void ForEach(const Cached* array, uint64_t begin, uint32_t count, const Use& use) {
    const uint32_t slot = threadIdx.x / kSlotThreads, sub = threadIdx.x % kSlotThreads;
    for (uint32_t first = 0; first < count; first += kAhead * kSlots) {
      Values ahead[kAhead];
#pragma unroll
      for (uint32_t i = 0; i < kAhead; i++) {
        const uint32_t j = first + i * kSlots + slot;
        if (j < count) ahead[i].Load(array + cache.Place(begin + j, args.heads, kv, kDim) + 8 * sub);
      }
#pragma unroll
      for (uint32_t i = 0; i < kAhead; i++) {
        // Whole warps go on together: shuffles follow.
        const uint32_t j = first + i * kSlots + slot;
        float eight[8] = {};
        if (j < count) ahead[i].Unpack(eight);
        use(j, eight);
      }
    }
  }

  __device__ __forceinline__ void Score(uint64_t begin, uint32_t count) {
    const uint32_t sub = threadIdx.x % kSlotThreads;
    ForEach(cache.keys, begin, count, [&](uint32_t j, const float(&key)[8]) {
#pragma unroll
      for (uint32_t g = 0; g < kGroup; g++) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) sum = fmaf(shared.queries[g][8 * sub + i], key[i], sum);
#pragma unroll
        for (uint32_t apart = kSlotThreads / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (sub == 0 && j < count) shared.weights[g][j] = sum * args.scale;
      }
    });
    __syncthreads();
  }

  // Scores to weights; of each query the largest score and the sum of the weights, of all warps, in every thread.
  __device__ __forceinline__ void Weigh(uint32_t count, float (&largest)[kGroup], float (&sums)[kGroup]) {
    const uint32_t t = threadIdx.x, warp = t / 32;
    float scores[kGroup];
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      scores[g] = t < count ? shared.weights[g][t] : -INFINITY;
      float most = scores[g];
#pragma unroll
      for (int apart = 16; apart > 0; apart /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, apart));
      if (t % 32 == 0) shared.joined[0][g][warp] = most;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      largest[g] = shared.joined[0][g][0];
#pragma unroll
      for (uint32_t w = 1; w < kAttendWarps; w++) largest[g] = fmaxf(largest[g], shared.joined[0][g][w]);
      const float weight = t < count ? expf(scores[g] - largest[g]) : 0.0f;
      shared.weights[g][t] = weight;
      const float sum = SumOfLanes(weight);
      if (t % 32 == 0) shared.joined[1][g][warp] = sum;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      sums[g] = 0;
#pragma unroll
      for (uint32_t w = 0; w < kAttendWarps; w++) sums[g] += shared.joined[1][g][w];
    }
  }

  // Of thread g * kDim + d what the weights make of dimension d.
  __device__ __forceinline__ float Weighed(uint64_t begin, uint32_t count) {
    const uint32_t sub = threadIdx.x % kSlotThreads, warp = threadIdx.x / 32;
    float sums[kGroup][8] = {};
    ForEach(cache.values, begin, count, [&](uint32_t j, const float(&value)[8]) {
      if (j >= count) return;
#pragma unroll
      for (uint32_t g = 0; g < kGroup; g++) {
        const float weight = shared.weights[g][j];
#pragma unroll
        for (int i = 0; i < 8; i++) sums[g][i] = fmaf(weight, value[i], sums[g][i]);
      }
    });
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
#pragma unroll
      for (int i = 0; i < 8; i++) {
        float sum = sums[g][i];
#pragma unroll
        for (uint32_t apart = kSlotThreads; apart < 32; apart *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (threadIdx.x % 32 < kSlotThreads) shared.values[warp][g][8 * sub + i] = sum;
      }
    }
    __syncthreads();
    if (threadIdx.x >= kGroup * kDim) return 0;
    const uint32_t g = threadIdx.x / kDim, d = threadIdx.x % kDim;
    float sum = 0;
#pragma unroll
    for (uint32_t w = 0; w < kAttendWarps; w++) sum += shared.values[w][g][d];
    return sum;
  }

  __device__ __forceinline__ SoftmaxPart Chunk(uint64_t begin, uint32_t count) {
    float largest[kGroup], sums[kGroup];
    Score(begin, count);
    Weigh(count, largest, sums);
    SoftmaxPart part;
    part.value = Weighed(begin, count);
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      if (threadIdx.x / kDim == g) part.largest = largest[g], part.sum = sums[g];
    }
    __syncthreads();  // the next chunk writes what this one reads
    return part;
  }

  // What the query at `position` sees of a lane.
  __device__ __forceinline__ SoftmaxPart Lane(uint32_t lane, uint64_t position) {
    const uint64_t first = args.window == 0 || position < args.window ? 0 : position - args.window + 1;
    SoftmaxPart joined;
    uint64_t chunk = first / kPositions;
    chunk += (lane + kLanes - chunk % kLanes) % kLanes;
    for (; chunk <= position / kPositions; chunk += kLanes) {
      const uint64_t begin = chunk * kPositions > first ? chunk * kPositions : first;
      const uint64_t end = (chunk + 1) * kPositions <= position ? (chunk + 1) * kPositions : position + 1;
      joined.Join(Chunk(begin, static_cast<uint32_t>(end - begin)));
    }
    return joined;
  }
};

// Whether this block came last of those that share an item; then all that they wrote is there.
__device__ __forceinline__ bool CameLast(uint32_t* arrivals, uint32_t* shared) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *shared = atomicAdd(arrivals, 1u) == gridDim.z - 1 ? 1 : 0;
  __syncthreads();
  if (*shared == 0) return false;
  __threadfence();
  if (threadIdx.x == 0) *arrivals = 0;  // for the next grid
  return true;
}

template <uint32_t kDim, uint32_t kGroup, class Cached>
static __global__ void __launch_bounds__(kAttendThreads) AttendKernel(const AttendArgs args) {
  using Block = AttentionBlock<kDim, kGroup, Cached>;
  __shared__ typename Block::Shared shared;
  AwaitInputs();
  LetNextBegin();
  const HeadsArgs& heads = args.heads;
  const uint32_t item = blockIdx.y, group = heads.query_heads / heads.heads;
  if (item >= *args.items) return;
  const uint32_t query_head = blockIdx.x * kGroup, kv = query_head / group, warp = threadIdx.x / 32;
  const AttentionStream stream = args.by_row != 0 ? StreamOfRow(heads, item) : heads.streams[item];
  Block block{heads, shared, CacheOf<Cached>(heads, stream), kv};
  const uint32_t begin = args.by_row != 0 ? item - stream.row : 0, end = args.by_row != 0 ? begin + 1 : stream.count;
  const uint32_t g = threadIdx.x / kDim, d = threadIdx.x % kDim;
  const bool has_place = threadIdx.x < kGroup * kDim;
  for (uint32_t i = begin; i < end && i < stream.count; i++) {
    const size_t row = stream.row + i;
    const uint64_t position = stream.position + i;
    const float* const angles = args.by_row != 0 ? nullptr : heads.angles + row * kDim;
    if (warp < kGroup) {
      PrepareHead(heads.queries + (row * heads.query_heads + query_head + warp) * kDim, heads.q_norm, heads.eps, angles, kDim,
                  shared.queries[warp]);
    } else if (args.by_row == 0 && warp < kGroup + 2) {
      const size_t from = (row * heads.heads + kv) * kDim, to = block.cache.Place(position, heads.heads, kv, kDim);
      if (warp == kGroup) PrepareHead(heads.keys + from, heads.k_norm, heads.eps, angles, kDim, block.cache.keys + to);
      else PrepareHead(heads.values + from, nullptr, 0, nullptr, kDim, block.cache.values + to);
    }
    __syncthreads();
    float* const output = heads.output + (row * heads.query_heads + query_head + g) * kDim + d;
    SoftmaxPart whole;
    if (args.parts == nullptr) {
      for (uint32_t lane = 0; lane < kLanes; lane++) whole.Join(block.Lane(lane, position));
    } else {
      const size_t place = (static_cast<size_t>(item) * heads.query_heads + query_head + g) * kLanes;
      for (uint32_t lane = blockIdx.z; lane < kLanes; lane += gridDim.z) {
        const SoftmaxPart part = block.Lane(lane, position);
        float* const to = args.parts + (place + lane) * (kDim + 2);
        if (has_place) to[2 + d] = part.value;
        if (has_place && d == 0) to[0] = part.largest, to[1] = part.sum;
      }
      if (!CameLast(args.arrivals + item * gridDim.x + blockIdx.x, &shared.last)) return;
      for (uint32_t lane = 0; has_place && lane < kLanes; lane++) {
        const float* const from = args.parts + (place + lane) * (kDim + 2);
        SoftmaxPart part;
        part.largest = __ldcg(from);
        part.sum = __ldcg(from + 1);
        part.value = __ldcg(from + 2 + d);
        whole.Join(part);
      }
    }
    if (has_place) *output = whole.value / whole.sum;
    __syncthreads();
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ATTENTION_CUH_
