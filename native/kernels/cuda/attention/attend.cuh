// Selects the attention kernels for a batch and enqueues them, among them the plain kernel for any head_dim.
#ifndef PARLEY_KERNELS_CUDA_ATTEND_CUH_
#define PARLEY_KERNELS_CUDA_ATTEND_CUH_

#include <stdexcept>

#include "kernels/cuda/attention/attention.cuh"
#include "kernels/cuda/attention/attention_rows.cuh"

namespace parley::cuda {

// Attention for any head_dim: one block per query head, one warp per position. The small models of tests have
// such sizes.
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
  attention.Attend(LastSeenBy(heads, stream, row - stream.row), heads.output + place);
}

// Device memory for streams whose lanes are shared among blocks. The caller that enqueues the attention owns
// it.
struct AttendRoom {
  static constexpr size_t kStreams = 16;  // more of them fill the GPU without that

  float* parts = nullptr;        // PartsOf(...) floats, or none: lanes are not shared
  uint32_t* arrivals = nullptr;  // ArrivalsOf(...) zeros

  static constexpr size_t PartsOf(size_t query_heads, size_t head_dim) {
    return kStreams * query_heads * kLanes * (head_dim + 2);
  }
  static constexpr size_t ArrivalsOf(size_t query_heads) { return kStreams * query_heads; }
};

template <class Cached>
void EnqueuePlace(Queue& queue, const AttentionBatch& batch, const HeadsArgs& args) {
  const uint32_t heads = (args.angles == nullptr ? 0 : args.query_heads) + 2 * args.heads;
  Grid grid;
  grid.x = (heads + kPlaceWarps - 1) / kPlaceWarps;
  grid.y = static_cast<uint32_t>(BucketOf(batch.rows));
  grid.threads = kPlaceWarps * 32;
  queue.Launch<&PlaceHeadsKernel<Cached>>(grid, args);
}

// True if the kernels of slots attend: they alone can hand over terms.
inline bool FitsSlots(const KvLayout& layout) { return layout.head_dim == 128 || layout.head_dim == 64; }

template <uint32_t kDim, uint32_t kGroup, class Cached>
void EnqueueAttend(Queue& queue, Grid grid, const AttendArgs& args) {
  grid.threads = AttendShape<kDim, Cached>::kThreads;
  queue.Launch<&AttendKernel<kDim, kGroup, Cached>>(grid, args);
}

// by_row: the rows are placed. Otherwise every stream has one row, which is not placed; then `room` may be
// used.
template <class Cached>
void EnqueueAttend(Queue& queue, const AttentionBatch& batch, const HeadsArgs& heads, bool by_row,
                   const AttendRoom& room, const TermsPlace& handed) {
  AttendArgs args{heads, heads.rows, by_row ? 1u : 0u};
  args.handed = handed;
  const uint32_t group = heads.query_heads / heads.heads;
  Grid grid;
  grid.y = static_cast<uint32_t>(BucketOf(batch.rows));
  const bool in_pairs = group % 2 == 0;
  grid.x = in_pairs ? heads.query_heads / 2 : heads.query_heads;
  if (!by_row && batch.furthest > 2 * kPositions && grid.y <= AttendRoom::kStreams && room.parts != nullptr) {
    args.parts = room.parts;
    args.arrivals = room.arrivals;
    grid.z = grid.y <= kLanes ? kLanes : kLanes / 2;
  }
  if (heads.head_dim == 128 && in_pairs) return EnqueueAttend<128, 2, Cached>(queue, grid, args);
  if (heads.head_dim == 128) return EnqueueAttend<128, 1, Cached>(queue, grid, args);
  if (heads.head_dim == 64 && in_pairs) return EnqueueAttend<64, 2, Cached>(queue, grid, args);
  if (heads.head_dim == 64) return EnqueueAttend<64, 1, Cached>(queue, grid, args);
  grid.x = heads.query_heads;
  grid.threads = kAnyThreads;
  grid.shared = static_cast<uint32_t>(PlainAttentionBytes(heads.head_dim));
  queue.Launch<&AttendAnyKernel<Cached>>(grid, args);
}

// Streams of fewer rows are attended to row by row.
constexpr size_t kLeastRowsTogether = 4;

// True if rows of a stream are attended to together. They see all positions from the first to their own, none
// of whose lanes has a second chunk.
inline bool GoRowsTogether(const AttentionBatch& batch) {
  return batch.longest >= kLeastRowsTogether && batch.sight.window == 0 && !batch.sight.whole &&
         batch.furthest <= kPositions * kLanes && batch.layout.head_dim == kRowsDim &&
         batch.query_heads / batch.layout.heads % 2 == 0 && BytesOf(batch.layout.format) == 2;
}

// Rows that are placed.
template <class Cached>
void EnqueueAttendRows(Queue& queue, const AttentionBatch& batch, const HeadsArgs& heads,
                       const TermsPlace& handed) {
  AttendArgs args{heads, heads.rows, 1u};
  args.handed = handed;
  Grid grid;
  grid.x = heads.query_heads / 2;
  grid.y = static_cast<uint32_t>(BucketOf(batch.count));
  grid.z = static_cast<uint32_t>((BucketOf(batch.longest) + kRowsTogether - 1) / kRowsTogether);
  grid.threads = kRowsThreads;
  grid.shared = sizeof(RowsShared);
  queue.Launch<&AttendRowsKernel<Cached>>(grid, args);
}

// Heads, raw or not, placed and attended to. `placed`: they are in the caches already, and are not raw.
template <class Cached>
void EnqueueAttention(Queue& queue, const AttentionBatch& batch, size_t layer, const AttentionRows& rows,
                      const RawHeads& raw, bool placed, const AttendRoom& room, const TermsPlace& handed) {
  HeadsArgs heads = HeadsArgsOf(queue, batch, layer, rows, raw);
  const bool wide = FitsSlots(batch.layout);
  const bool is_one_each = batch.longest == 1 && batch.rows == batch.count;
  if (!placed && wide && raw.angles != nullptr && is_one_each) {
    return EnqueueAttend<Cached>(queue, batch, heads, false, room, handed);
  }
  if (!placed) EnqueuePlace<Cached>(queue, batch, heads);
  heads.angles = nullptr;
  if constexpr (sizeof(Cached) == 2) {
    if (GoRowsTogether(batch)) return EnqueueAttendRows<Cached>(queue, batch, heads, handed);
  }
  EnqueueAttend<Cached>(queue, batch, heads, true, room, handed);
}

// Calls use(a value of the cache's format).
template <class Use>
void WithCached(Format format, const Use& use) {
  switch (format) {
    case Format::kF32:
      return use(float{});
    case Format::kF16:
      return use(F16{});
    case Format::kBf16:
      return use(Bf16{});
    case Format::kInt8:
    case Format::kFp8:
      throw std::invalid_argument("a KV cache holds f32, f16 or bf16");
  }
}

// Kernels::Store.
inline void EnqueueStore(Queue& queue, const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  if (batch.rows == 0) return;
  WithCached(batch.layout.format, [&](auto cached) {
    EnqueuePlace<decltype(cached)>(queue, batch, HeadsArgsOf(queue, batch, layer, rows, {}));
  });
}

// Kernels::Attend.
inline void EnqueueAttend(Queue& queue, const AttentionBatch& batch, size_t layer,
                          const AttentionRows& rows) {
  if (batch.rows == 0) return;
  WithCached(batch.layout.format, [&](auto cached) {
    EnqueueAttention<decltype(cached)>(queue, batch, layer, rows, {}, true, {}, {});
  });
}

// Attention after the projections of Kernels::AttendRows: heads are raw, without norm and rotation.
inline void EnqueueRawAttend(Queue& queue, const AttentionBatch& batch, size_t layer,
                             const AttentionRows& rows, const RawHeads& raw, const AttendRoom& room,
                             const TermsPlace& handed = {}) {
  if (batch.rows == 0) return;
  WithCached(batch.layout.format, [&](auto cached) {
    EnqueueAttention<decltype(cached)>(queue, batch, layer, rows, raw, false, room, handed);
  });
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ATTEND_CUH_
