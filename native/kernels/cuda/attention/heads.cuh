// Heads of queries, keys and values: their norm and rotation, and their places in a stream's cache.
#ifndef PARLEY_KERNELS_CUDA_HEADS_CUH_
#define PARLEY_KERNELS_CUDA_HEADS_CUH_

#include "kernels/cuda/attention/seen_positions.cuh"
#include "kernels/cuda/norms.cuh"
#include "kernels/kernels.h"
#include "kernels/number_formats.h"

namespace parley::cuda {

// Arguments common to all attention kernels.
struct HeadsArgs {
  const AttentionStream* streams;  // [stream_count], in the order of their rows
  const uint32_t* stream_count;
  const uint32_t* rows;  // total over all streams
  float *queries, *keys, *values, *output;
  uint32_t heads, query_heads, head_dim;
  uint32_t layer;
  uint32_t window;
  float scale;
  // For raw heads: the norms and rotation that turn them into queries and keys. Null angles: heads are not
  // raw.
  const float* angles;  // [rows, head_dim]
  const float* q_norm;  // [head_dim], or none
  const float* k_norm;
  float eps;
  uint32_t whole;  // not 0: every row of a stream sees up to the stream's last position in the batch
};

// Norms and rotary angles that turn raw heads into queries and keys. Null angles: heads are not raw.
struct RawHeads {
  const float* angles = nullptr;
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  float eps = 0;
};

inline HeadsArgs HeadsArgsOf(Queue& queue, const AttentionBatch& batch, size_t layer,
                             const AttentionRows& rows, const RawHeads& raw) {
  const auto streams = static_cast<uint32_t>(batch.count), all = static_cast<uint32_t>(batch.rows);
  return {batch.streams,
          queue.Data(streams),
          queue.Data(all),
          rows.queries,
          rows.keys,
          rows.values,
          rows.output,
          static_cast<uint32_t>(batch.layout.heads),
          static_cast<uint32_t>(batch.query_heads),
          static_cast<uint32_t>(batch.layout.head_dim),
          static_cast<uint32_t>(layer),
          static_cast<uint32_t>(batch.sight.window),
          batch.scale,
          raw.angles,
          raw.q_norm,
          raw.k_norm,
          raw.eps,
          batch.sight.whole ? 1u : 0u};
}

// The arrays of one layer of one stream.
template <class Cached>
struct Cache {
  Cached* keys;
  Cached* values;
  uint64_t capacity;

  // Offset of the head at `position`; a head is [head_dim].
  __device__ __forceinline__ size_t Place(uint64_t position, uint32_t heads, uint32_t head,
                                          uint32_t head_dim) const {
    return (static_cast<size_t>(RowOf(position, capacity)) * heads + head) * head_dim;
  }
};

template <class Cached>
__device__ __forceinline__ Cache<Cached> CacheOf(const HeadsArgs& args, const AttentionStream& stream,
                                                 uint32_t layer) {
  const size_t array = (stream.capacity * args.heads * args.head_dim * sizeof(Cached) + 63) / 64 * 64;
  char* const keys = static_cast<char*>(stream.cache) + 2 * array * layer;
  return {reinterpret_cast<Cached*>(keys), reinterpret_cast<Cached*>(keys + array), stream.capacity};
}

// The last position that the i-th row of a stream sees.
__device__ __forceinline__ uint64_t LastSeenBy(const HeadsArgs& args, const AttentionStream& stream,
                                               uint32_t i) {
  return stream.position + (args.whole != 0 ? stream.count - 1 : i);
}

// The stream that a row of the batch belongs to: the last one that begins there or before.
__device__ __forceinline__ const AttentionStream& StreamOfRow(const HeadsArgs& args, uint32_t row) {
  uint32_t low = 0, high = *args.stream_count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (args.streams[middle].row <= row) low = middle;
    else high = middle;
  }
  return args.streams[low];
}

__device__ __forceinline__ void Put(float* to, float value) { *to = value; }
__device__ __forceinline__ void Put(Bf16* to, float value) { *to = Bf16Of(value); }
__device__ __forceinline__ void Put(F16* to, float value) { *to = F16Of(value); }

// A head as it is rotated, `to` [head_dim]; one warp. Without angles a copy.
template <class To>
__device__ __forceinline__ void PrepareHead(const float* raw, const float* norm, float eps,
                                            const float* angles, uint32_t head_dim, To* to) {
  const uint32_t lane = threadIdx.x % 32, half = head_dim / 2;
  if (angles == nullptr) {
    for (uint32_t j = lane; j < head_dim; j += 32) Put(to + j, raw[j]);
    return;
  }
  const float factor = norm == nullptr ? 1.0f : RmsFactor(raw, head_dim, eps);
  if (norm != nullptr) LanesHaveLoaded();  // `to` may be raw
  for (uint32_t j = lane; j < half; j += 32) {
    float low = raw[j], high = raw[half + j];
    if (norm != nullptr) {
      low = Normed(low, factor, norm[j]);
      high = Normed(high, factor, norm[half + j]);
    }
    const float2 turned = Rotated(low, high, angles[j], angles[half + j]);
    Put(to + j, turned.x);
    Put(to + half + j, turned.y);
  }
}

constexpr uint32_t kPlaceWarps = 8;

// All rows' heads to where attention reads them: queries in place, keys and values to the caches. A warp a
// head: of a row first the queries (where they are raw), then keys, then values.
template <class Cached>
static __global__ void __launch_bounds__(kPlaceWarps * 32) PlaceHeadsKernel(const HeadsArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const uint32_t row = blockIdx.y;
  uint32_t head = blockIdx.x * kPlaceWarps + threadIdx.x / 32;
  if (row >= *args.rows) return;
  const uint32_t queries = args.angles == nullptr ? 0 : args.query_heads;
  if (head >= queries + 2 * args.heads) return;
  const float* const angles =
      args.angles == nullptr ? nullptr : args.angles + static_cast<size_t>(row) * args.head_dim;
  if (head < queries) {
    float* const query = args.queries + (static_cast<size_t>(row) * args.query_heads + head) * args.head_dim;
    return PrepareHead(query, args.q_norm, args.eps, angles, args.head_dim, query);
  }
  head -= queries;
  const AttentionStream& stream = StreamOfRow(args, row);
  if (row - stream.row >= stream.count) return;
  const Cache<Cached> cache = CacheOf<Cached>(args, stream, args.layer);
  const bool is_key = head < args.heads;
  const uint32_t kv = is_key ? head : head - args.heads;
  const size_t from = (static_cast<size_t>(row) * args.heads + kv) * args.head_dim;
  const size_t to = cache.Place(stream.position + (row - stream.row), args.heads, kv, args.head_dim);
  if (is_key) PrepareHead(args.keys + from, args.k_norm, args.eps, angles, args.head_dim, cache.keys + to);
  else PrepareHead(args.values + from, nullptr, args.eps, nullptr, args.head_dim, cache.values + to);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_HEADS_CUH_
