// Selects the attention kernels for a batch and enqueues them.
#ifndef PARLEY_KERNELS_CUDA_ATTEND_CUH_
#define PARLEY_KERNELS_CUDA_ATTEND_CUH_

#include <stdexcept>

#include "kernels/cuda/attention/attention_any.cuh"
#include "kernels/cuda/attention/attention_rows.cuh"

namespace parley::cuda {

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

// Whether the kernels of slots attend: they alone can hand over terms.
inline bool FitsSlots(const KvLayout& layout) { return layout.head_dim == 128 || layout.head_dim == 64; }

template <uint32_t kDim, uint32_t kGroup, class Cached>
void EnqueueAttend(Queue& queue, Grid grid, const AttendArgs& args) {
  grid.threads = AttendShape<kDim, Cached>::kThreads;
  queue.Launch<&AttendKernel<kDim, kGroup, Cached>>(grid, args);
}

// By row: the rows are placed. Else every stream has one, which is not; then `room` may be used.
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

// Whether rows of a stream go together. They see all positions from the first on, none of whose lanes has a
// second chunk.
inline bool GoRowsTogether(const AttentionBatch& batch) {
  return batch.longest >= kLeastRowsTogether && batch.window == 0 && batch.furthest <= kPositions * kLanes &&
         batch.layout.head_dim == kRowsDim && batch.query_heads / batch.layout.heads % 2 == 0 &&
         BytesOf(batch.layout.format) == 2;
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
