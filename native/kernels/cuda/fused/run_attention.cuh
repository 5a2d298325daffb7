// Attention within the persistent grid. A block handles one query head of one row: it receives the raw heads
// and publishes the attended head. The arithmetic of a position and the order of all sums are those of
// attention.cuh. The code is small, because code that runs once in a step misses the instruction cache.
#ifndef PARLEY_KERNELS_CUDA_RUN_ATTENTION_CUH_
#define PARLEY_KERNELS_CUDA_RUN_ATTENTION_CUH_

#include "kernels/cuda/attention/attention_slots.cuh"
#include "kernels/cuda/attention/heads.cuh"
#include "kernels/cuda/fused/layer_run_args.h"

namespace parley::cuda {

constexpr uint32_t kRunDim = 128;  // head_dim

// A row of a stream, the row's place in the batch, and one of its heads.
struct RunPlace {
  AttentionStream stream;
  uint32_t i, query_head;

  __device__ __forceinline__ uint32_t Row() const { return stream.row + i; }
  __device__ __forceinline__ uint32_t KvHead(const HeadsArgs& heads) const {
    return query_head / (heads.query_heads / heads.heads);
  }
};

template <class Cached>
struct RunAttention {
  using Shape = AttendShape<kRunDim, Cached>;
  using Share = HeadShare<kRunDim>;
  using Loads = SlotLoads<kRunDim, Cached>;
  using State = SlotState<kRunDim, 1, Cached>;
  static constexpr uint32_t kLastWarp = Shape::kWarps - 1;

  struct Shared {
    float4 values[Shape::kWarps][kRunDim / 4];
    float4 own_value[kRunDim / 4];
    float largest[Shape::kWarps], sums[Shape::kWarps], own_score;
  };

  const LayerRunArgs& args;
  const RunPlace& place;
  const float* const turned;  // angles of all rows
  Shared& shared;
  CachedHead<kRunDim, Cached> cache;

  __device__ __forceinline__ RunAttention(const LayerRunArgs& its, const RunPlace& where,
                                          const float* its_angles, uint32_t layer, unsigned char* scratch)
      : args(its), place(where), turned(its_angles), shared(*reinterpret_cast<Shared*>(scratch)) {
    const Cache<Cached> all = CacheOf<Cached>(args.heads, place.stream, layer);
    const uint32_t offset = place.KvHead(args.heads) * kRunDim + Share::First();
    cache = {all.keys + offset, all.values + offset, args.heads.heads * kRunDim,
             static_cast<uint32_t>(all.capacity)};
  }

  // The first threads of the block attend.
  __device__ __forceinline__ static bool HasPart() { return ThisThread() < Shape::kThreads; }
  __device__ __forceinline__ static void BlockBarrier() { NamedBarrier<Shape::kThreads>(); }
  // The last warp has the row's own key in its first slot, and the value in the other.
  __device__ __forceinline__ static bool IsLast() { return ThisThread() / 32 == kLastWarp; }
  __device__ __forceinline__ static bool IsFirstSlot() { return ThisThread() % 32 < Share::kThreads; }

  __device__ __forceinline__ static void Take(const TaggedPair* tagged, Share* to) {
#pragma unroll
    for (int m = 0; m < 4; m++) {
      to->values[2 * m] = __uint_as_float(tagged[m].first.bits);
      to->values[2 * m + 1] = __uint_as_float(tagged[m].second.bits);
    }
  }

  // Prepares the query in every slot; in the last warp also the row's own key and value, as they are
  // published. Both slots of a warp normalise and rotate their part of the query or of the key at the same
  // time.
  __device__ __forceinline__ void Prepare(const RunLayer& layer, uint32_t step, uint32_t own_row,
                                          Share (&query)[1]) const {
    const HeadsArgs& heads = args.heads;
    const bool has_key = IsLast() && IsFirstSlot();
    Share norm, angles, head, value;
    const float* const weights = has_key ? layer.k_norm : layer.q_norm;
    if (weights != nullptr) norm.Load(weights);
    angles.Load(turned + place.Row() * kRunDim);
    const uint32_t key = heads.query_heads + place.KvHead(heads),
                   of_head = (has_key ? key : place.query_head) * kRunDim;
    const uint32_t of_value = (key + heads.heads) * kRunDim;
    TaggedPair tagged[8];
    AwaitTagged(
        args.raw + place.Row() * ((heads.query_heads + 2 * heads.heads) * kRunDim) + Share::First(),
        [&](int m) { return (m < 4 ? of_head : of_value) + m % 4 / 2 * (kRunDim / 2) + m % 2 * 2; }, step,
        tagged);
    Take(tagged, &head);
    Take(tagged + 4, &value);
    if (weights != nullptr) head.Norm(norm, heads.eps);
    head.Rotate(angles);
    const float scale = heads.scale * kLog2OfE;
#pragma unroll
    for (int i = 0; i < 8; i++)
      query[0].values[i] =
          __shfl_sync(0xffffffffu, head.values[i], ThisThread() % 32 | Share::kThreads) * scale;
    if (IsLast()) PrepareOwn(own_row, head, value, query[0]);
  }

  // To the cache; score and value, as the cache has them, to what the block shares. Each block of a kv head
  // stores the same for itself.
  __device__ __forceinline__ void PrepareOwn(uint32_t row, const Share& key, const Share& value,
                                             const Share& query) const {
    CachedShare<kRunDim, Cached> own;
    Share seen;
#pragma unroll
    for (int i = 0; i < 8; i++) seen.values[i] = IsFirstSlot() ? key.values[i] : value.values[i];
    own.Round(seen.values);
    own.StoreWithOthers((IsFirstSlot() ? cache.keys : cache.values) + static_cast<size_t>(row) * cache.pitch);
    own.Unpack(seen.values);
    const float score = query.Dot(seen.values);
    if (ThisThread() % 32 == 0) shared.own_score = score;
    if (!IsFirstSlot()) Share::PutSame(shared.own_value, seen.values);
  }

  __device__ __forceinline__ SoftmaxPart Own(uint32_t at) const {
    return {shared.own_score, 1, reinterpret_cast<const float*>(shared.own_value)[at]};
  }

  // Joins the softmax parts of all warps, at value `at`.
  __device__ __forceinline__ SoftmaxPart Joined(uint32_t at) const {
    SoftmaxPart joined;
#pragma unroll
    for (uint32_t w = 0; w < Shape::kWarps; w++) joined.largest = fmaxf(joined.largest, shared.largest[w]);
#pragma unroll
    for (uint32_t w = 0; w < Shape::kWarps; w++) {
      const float weight = Rescaling(shared.largest[w], joined.largest);
      joined.sum = fmaf(shared.sums[w], weight, joined.sum);
      joined.value = fmaf(reinterpret_cast<const float*>(shared.values[w])[at], weight, joined.value);
    }
    return joined;
  }

  __device__ __forceinline__ void LeaveWarp(State* state) const {
    const uint32_t warp = ThisThread() / 32;
    state->JoinWarp();
    if (IsFirstSlot()) Share::Put(shared.values[warp], state->values[0]);
    if (ThisThread() % 32 == 0) shared.largest[warp] = state->largest[0], shared.sums[warp] = state->sums[0];
  }

  // Scores of the positions that the row sees; thread t < kRunDim has value t.
  __device__ __forceinline__ SoftmaxPart See(const RunLayer& layer, uint32_t step) const {
    constexpr uint32_t kStep = Shape::kAhead * Shape::kSlots;
    const uint32_t at = ThisThread() % kRunDim;
    const SeenPositions seen =
        SeenPositions::Of(place.stream.position + place.i, args.heads.window, place.stream.capacity, 1);
    uint32_t chunk = seen.FromLane(0);
    Span span = seen.SpanOf(chunk);
    Loads keys, values;
    keys.Load(cache, cache.keys, span);
    values.Load(cache, cache.values, span);
    Share query[1];
    Prepare(layer, step, seen.OwnRow(), query);
    SoftmaxPart whole;
    State state;
    state.Clear();
    bool is_begun = false;
#pragma unroll 1
    while (span.count > 0) {
      const uint32_t count = span.count, now = chunk;
      const bool goes_on = count > kStep;
      if (!goes_on) chunk = seen.After(now);
      span = goes_on ? Span{cache.Wrapped(span.row + kStep), count - kStep} : seen.SpanOf(chunk);
      float weights[Shape::kAhead][1];
      State::Score(query, keys, count, weights);
      keys.Load(cache, cache.keys, span);
      state.Weigh(weights, count);
      state.Add(weights, values, count);
      values.Load(cache, cache.values, span);
      if (goes_on || chunk == now + kLanes) continue;
      if (is_begun) BlockBarrier();  // the last join's sums have been read
      LeaveWarp(&state);
      BlockBarrier();
      if (!is_begun) whole = Own(at);
      is_begun = true;
      whole.Join(Joined(at));
      state.Clear();
    }
    if (is_begun) return whole;
    BlockBarrier();
    return Own(at);
  }

  __device__ __forceinline__ void Attend(const RunLayer& layer, uint32_t step) const {
    const SoftmaxPart whole = See(layer, step);
    const uint32_t at = ThisThread();
    if (at >= kRunDim) return;
    const float value = whole.value / whole.sum, next = __shfl_down_sync(0xffffffffu, value, 1);
    TaggedWord* const to =
        args.attended + (place.Row() * args.heads.query_heads + place.query_head) * (kRunDim / 2);
    if (at % 2 == 0) Publish(to + at / 2, PackBf16(value, next), step + 1);
  }

  // Prefetches the head's cached keys and values. All threads of the block call it.
  __device__ __forceinline__ void Fetch(uint32_t threads) const {
    constexpr uint32_t kLine = 128 / sizeof(Cached), kLines = kRunDim / kLine;
    const SeenPositions seen =
        SeenPositions::Of(place.stream.position, args.heads.window, place.stream.capacity, 1);
#pragma unroll 1
    for (uint32_t i = ThisThread(); i < seen.count * kLines; i += threads) {
      const size_t at =
          static_cast<size_t>(seen.Wrapped(seen.row + i / kLines)) * cache.pitch + i % kLines * kLine;
      FetchLine(cache.keys + at - Share::First());
      FetchLine(cache.values + at - Share::First());
    }
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RUN_ATTENTION_CUH_
