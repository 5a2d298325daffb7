// Decode attention (FlashDecoding) over the KV caches of many streams, for head_dim 64 and 128 (other sizes:
// attend.cuh).
//
// A block handles one row, one kv head and kGroup of the query heads that share it. Its slots
// (attention_slots.cuh) visit the positions before the row's own in turn. The last warp computes and stores
// the row's own key and value, which are then joined to the slots' results. If the rows of a stream see each
// other, the last of its positions takes the place of each row's own. Every warp prepares the queries
// for itself, so that a block only synchronises for the slots' sums.
#ifndef PARLEY_KERNELS_CUDA_ATTENTION_CUH_
#define PARLEY_KERNELS_CUDA_ATTENTION_CUH_

#include "kernels/cuda/attention/attention_slots.cuh"
#include "kernels/cuda/attention/heads.cuh"
#include "kernels/cuda/products/product_args.cuh"

namespace parley::cuda {

struct AttendArgs {
  HeadsArgs heads;
  const uint32_t* items;
  // Nonzero if items are rows, whose keys are stored. Otherwise they are streams; stream i has row i alone,
  // whose key is stored and attended to.
  uint32_t by_row;
  uint32_t unused = 0;  // so that there is no gap
  // When blocks along z share an item's lanes: partial softmaxes [items, query_heads, kLanes, 2 + head_dim],
  // and counters [items, blocks of x], initially 0. Otherwise null.
  float* parts = nullptr;
  uint32_t* arrivals = nullptr;
  TermsPlace handed = {};  // destination of the result, if not the output
};

// A value of the output, [rows, query_heads, head_dim].
__device__ __forceinline__ void PutAttended(const AttendArgs& args, size_t place, float value) {
  if (args.handed.terms != nullptr) PutTerm(args.handed, place, value);
  else args.heads.output[place] = value;
}

// A block's share of an item: the `group`-th set of kGroup query heads, and every `lanes`-th lane from `lane`
// on.
struct AttendPlace {
  uint32_t item, group, lane, lanes;
};

template <uint32_t kDim, uint32_t kGroup, class Cached>
struct AttentionBlock {
  using Shape = AttendShape<kDim, Cached>;
  using Share = HeadShare<kDim>;
  using Loads = SlotLoads<kDim, Cached>;
  using State = SlotState<kDim, kGroup, Cached>;

  // Thread t owns value t of the values [kGroup][kDim] joined across slots, then every value a block's thread
  // count further.
  static constexpr uint32_t kHeads = kGroup, kValues = kGroup * kDim;
  static constexpr uint32_t kTurns = (kValues + Shape::kThreads - 1) / Shape::kThreads;
  using Parts = SoftmaxPart[kTurns];

  struct Shared {
    float4 values[Shape::kWarps][kValues / 4];
    float4 own_value[kDim / 4];
    float4 norms[2][kDim / 4];  // weights, of queries and of keys
    float largest[Shape::kWarps][kGroup], sums[Shape::kWarps][kGroup], own_scores[kGroup];
    uint32_t last;
  };

  const HeadsArgs& args;
  Shared& shared;
  const AttendPlace place;
  uint32_t query_head, kv;
  bool is_joined = false;  // there is a join whose sums may still be read

  Share angles;
  Share queries[kGroup];
  Share raw;  // last warp only: the row's own key in its first slot, the value in the others
  CachedHead<kDim, Cached> cache;

  __device__ __forceinline__ AttentionBlock(const HeadsArgs& heads, Shared& room, const AttendPlace& its)
      : args(heads), shared(room), place(its) {
    query_head = place.group * kGroup;
    kv = query_head / (heads.query_heads / heads.heads);
  }

  // Barrier of the threads that attend: all threads of the block, or its first ones.
  __device__ __forceinline__ static void BlockBarrier() { NamedBarrier<Shape::kThreads>(); }
  __device__ __forceinline__ static bool HasOwn() { return threadIdx.x / 32 == Shape::kWarps - 1; }
  __device__ __forceinline__ static bool HasKey() { return threadIdx.x % 32 < Share::kThreads; }

  __device__ __forceinline__ void TakeCache(const AttentionStream& stream, uint32_t layer) {
    const Cache<Cached> all = CacheOf<Cached>(args, stream, layer);
    const uint32_t offset = kv * kDim + Share::First();
    cache = {all.keys + offset, all.values + offset, args.heads * kDim, static_cast<uint32_t>(all.capacity)};
  }

  // Loads this thread's norm weights into registers; ShareNorms() puts them into shared memory. No earlier
  // grid writes weights, so the load waits for none.
  __device__ __forceinline__ float4 LoadNorms(const float* q_norm, const float* k_norm) const {
    const uint32_t which = threadIdx.x / (kDim / 4), place = threadIdx.x % (kDim / 4);
    const float* const weights = which == 0 ? q_norm : k_norm;
    if (args.angles == nullptr || which > 1 || weights == nullptr) return make_float4(0, 0, 0, 0);
    return reinterpret_cast<const float4*>(weights)[place];
  }
  __device__ __forceinline__ void ShareNorms(const float4& norms) {
    if (threadIdx.x < kDim / 2) shared.norms[threadIdx.x / (kDim / 4)][threadIdx.x % (kDim / 4)] = norms;
    BlockBarrier();
  }
  __device__ __forceinline__ void Norm(Share* head, uint32_t which) const {
    head->Norm(reinterpret_cast<const float*>(shared.norms[which]), args.eps);
  }

  // A row's heads as they are in the batch.
  __device__ __forceinline__ void LoadRow(size_t row) {
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++)
      queries[g].Load(args.queries + (row * args.query_heads + query_head + g) * kDim);
    if (args.angles == nullptr) return;
    angles.Load(args.angles + row * kDim);
    if (HasOwn()) raw.Load((HasKey() ? args.keys : args.values) + (row * args.heads + kv) * kDim);
  }

  __device__ __forceinline__ void PrepareQueries() {
    const float scale = args.scale * kLog2OfE;
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      if (args.angles != nullptr && args.q_norm != nullptr) Norm(&queries[g], 0);
      if (args.angles != nullptr) queries[g].Rotate(angles);
#pragma unroll
      for (int i = 0; i < 8; i++) queries[g].values[i] *= scale;
    }
  }

  // The row's own key and value: to the cache, where they are not yet (`row` of it) and the block is one that
  // stores; scores and value to what the block shares. The last warp calls it.
  __device__ __forceinline__ void PrepareOwn(uint32_t row, bool stores) {
    Cached* const place = (HasKey() ? cache.keys : cache.values) + static_cast<size_t>(row) * cache.pitch;
    CachedShare<kDim, Cached> own;
    if (args.angles == nullptr) {
      own.Load(place);
    } else {
      Share key = raw;
      if (args.k_norm != nullptr) Norm(&key, 1);
      key.Rotate(angles);
#pragma unroll
      for (int i = 0; i < 8; i++) key.values[i] = HasKey() ? key.values[i] : raw.values[i];
      own.Round(key.values);
      if (stores && threadIdx.x % 32 < 2 * Share::kThreads) own.Store(place);
    }
    Share seen;
    own.Unpack(seen.values);
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      const float score = queries[g].Dot(seen.values);
      if (threadIdx.x % 32 == 0) shared.own_scores[g] = score;
    }
    if (!HasKey()) Share::PutSame(shared.own_value, seen.values);
  }

  // Adds the visible positions of a span whose first loads are in flight. Later loads are issued as soon as
  // there is room.
  __device__ __forceinline__ void See(Span span, Loads* keys, Loads* values, State* state) const {
    constexpr uint32_t kStep = Shape::kAhead * Shape::kSlots;
#pragma unroll 1
    for (;;) {
      const uint32_t count = span.count;
      const bool goes_on = count > kStep;
      span = {cache.Wrapped(span.row + kStep), count - kStep};
      float weights[Shape::kAhead][kGroup];
      State::Score(queries, *keys, count, weights);
      if (goes_on) keys->Load(cache, cache.keys, span);
      state->Weigh(weights, count);
      state->Add(weights, *values, count);
      if (!goes_on) return;
      values->Load(cache, cache.values, span);
    }
  }

  // All warps' sums, to `parts`.
  __device__ __forceinline__ void JoinBlock(State* state, Parts& parts) {
    const uint32_t warp = threadIdx.x / 32;
    state->JoinWarp();
    if (is_joined) BlockBarrier();
    is_joined = true;
#pragma unroll
    for (uint32_t g = 0; g < kGroup; g++) {
      if (HasKey()) Share::Put(shared.values[warp] + g * (kDim / 4), state->values[g]);
      if (threadIdx.x % 32 == 0)
        shared.largest[warp][g] = state->largest[g], shared.sums[warp][g] = state->sums[g];
    }
    BlockBarrier();
    ForValues([&](uint32_t turn, uint32_t place) { parts[turn] = JoinedAt(place, place / kDim); });
  }

  __device__ __forceinline__ SoftmaxPart JoinedAt(uint32_t place, uint32_t g) const {
    SoftmaxPart joined;
#pragma unroll
    for (uint32_t w = 0; w < Shape::kWarps; w++) joined.largest = fmaxf(joined.largest, shared.largest[w][g]);
#pragma unroll
    for (uint32_t w = 0; w < Shape::kWarps; w++) {
      const float weight = Rescaling(shared.largest[w][g], joined.largest);
      joined.sum = fmaf(shared.sums[w][g], weight, joined.sum);
      joined.value = fmaf(reinterpret_cast<const float*>(shared.values[w])[place], weight, joined.value);
    }
    return joined;
  }

  // The softmax part of the row's own position, at value `place`.
  __device__ __forceinline__ SoftmaxPart OwnAt(uint32_t place) const {
    return {shared.own_scores[place / kDim], 1,
            reinterpret_cast<const float*>(shared.own_value)[place % kDim]};
  }

  // Calls take(lane, softmax part) for each of the block's lanes that has positions before the row's own. The
  // row's own position is then available too. load() must load the row; it is called while loads from the
  // cache are in flight.
  template <class Load, class Take>
  __device__ __forceinline__ void AttendRow(const SeenPositions& seen, const Load& load, const Take& take) {
    Loads keys, values;
    uint32_t chunk = seen.FromLane(place.lane);
    Span span = seen.SpanOf(chunk);
    keys.Load(cache, cache.keys, span);
    values.Load(cache, cache.values, span);
    load();
    PrepareQueries();
    if (HasOwn()) PrepareOwn(seen.OwnRow(), place.lane == 0);
    State state;
    state.Clear();
    is_joined = false;
#pragma unroll 1
    while (span.count > 0) {
      See(span, &keys, &values, &state);
      const uint32_t next = seen.After(chunk);
      if (next != chunk + kLanes) {
        Parts parts;
        JoinBlock(&state, parts);
        take(seen.LaneOf(chunk), parts);
        state.Clear();
      }
      chunk = next;
      span = seen.SpanOf(chunk);
      keys.Load(cache, cache.keys, span);
      values.Load(cache, cache.values, span);
    }
    if (!is_joined) BlockBarrier();
  }

  // Calls use(turn, which of the block's values) for each that this thread has.
  template <class Use>
  __device__ __forceinline__ static void ForValues(const Use& use) {
#pragma unroll
    for (uint32_t turn = 0; turn < kTurns; turn++) {
      const uint32_t place = turn * Shape::kThreads + threadIdx.x;
      if (place < kValues) use(turn, place);
    }
  }
};

// True if this block is the last of `all` that share an item; the results of the others are then visible.
template <uint32_t kThreads>
__device__ __forceinline__ bool CameLast(uint32_t* arrivals, uint32_t all, uint32_t* shared) {
  __threadfence();
  NamedBarrier<kThreads>();
  if (threadIdx.x == 0) *shared = atomicAdd(arrivals, 1u) == all - 1 ? 1 : 0;
  NamedBarrier<kThreads>();
  if (*shared == 0) return false;
  __threadfence();
  if (threadIdx.x == 0) *arrivals = 0;  // for the next grid
  return true;
}

// Blocks share the lanes: each writes its own to args.parts, and the last block joins them to `whole`.
// Returns true in that block.
template <class Block, class Load>
__device__ __forceinline__ bool AttendShared(const AttendArgs& args, Block* block, const SeenPositions& seen,
                                             const Load& load, typename Block::Parts& whole) {
  constexpr uint32_t kDim = Block::kValues / Block::kHeads;
  const size_t head = static_cast<size_t>(block->place.item) * args.heads.query_heads + block->query_head;
  const auto part_of = [&](uint32_t place, uint32_t lane) {
    return args.parts + ((head + place / kDim) * kLanes + lane) * (kDim + 2);
  };
  block->AttendRow(seen, load, [&](uint32_t lane, const typename Block::Parts& parts) {
    Block::ForValues([&](uint32_t turn, uint32_t place) {
      float* const to = part_of(place, lane);
      to[2 + place % kDim] = parts[turn].value;
      if (place % kDim == 0) to[0] = parts[turn].largest, to[1] = parts[turn].sum;
    });
  });
  const uint32_t group = block->place.item * (args.heads.query_heads / Block::kHeads) + block->place.group;
  if (!CameLast<Block::Shape::kThreads>(args.arrivals + group, block->place.lanes, &block->shared.last))
    return false;
  Block::ForValues([&](uint32_t turn, uint32_t place) {
    SoftmaxPart parts[kLanes];
#pragma unroll
    for (uint32_t lane = 0; lane < kLanes; lane++) {
      if (!seen.HasLane(lane)) continue;
      const float* const from = part_of(place, lane);
      parts[lane] = {__ldcg(from), __ldcg(from + 1), __ldcg(from + 2 + place % kDim)};
    }
    whole[turn] = block->OwnAt(place);
#pragma unroll
    for (uint32_t lane = 0; lane < kLanes; lane++) whole[turn].Join(parts[lane]);
  });
  return true;
}

// One block computes all lanes.
template <class Block, class Load>
__device__ __forceinline__ void AttendAlone(Block* block, const SeenPositions& seen, const Load& load,
                                            typename Block::Parts& whole) {
  // The row's own comes first, and is there when the first lane has been seen.
  bool is_begun = false;
  const auto begin = [&] {
    if (!is_begun)
      Block::ForValues([&](uint32_t turn, uint32_t place) { whole[turn] = block->OwnAt(place); });
    is_begun = true;
  };
  block->AttendRow(seen, load, [&](uint32_t, const typename Block::Parts& parts) {
    begin();
    Block::ForValues([&](uint32_t turn, uint32_t) { whole[turn].Join(parts[turn]); });
  });
  begin();
}

template <uint32_t kDim, uint32_t kGroup, class Cached>
static __global__ void __launch_bounds__(AttendShape<kDim, Cached>::kThreads,
                                         AttendShape<kDim, Cached>::kBlocks)
    AttendKernel(const AttendArgs args) {
  using Block = AttentionBlock<kDim, kGroup, Cached>;
  __shared__ typename Block::Shared shared;
  LaunchDependents();
  const HeadsArgs& heads = args.heads;
  const uint32_t item = blockIdx.y, items = *args.items;
  Block block(heads, shared, {item, blockIdx.x, blockIdx.z, gridDim.z});
  const float4 norms = block.LoadNorms(heads.q_norm, heads.k_norm);
  GridDependencyWait();
  if (item >= items) return;
  block.LoadRow(item);  // while the stream is looked for
  const AttentionStream stream = args.by_row != 0 ? StreamOfRow(heads, item) : heads.streams[item];
  block.ShareNorms(norms);
  block.TakeCache(stream, heads.layer);
  const uint32_t i = args.by_row != 0 ? item - stream.row : 0;
  if (i >= stream.count) return;
  const SeenPositions seen =
      SeenPositions::Of(LastSeenBy(heads, stream, i), heads.window, stream.capacity, gridDim.z);
  typename Block::Parts whole;
  const auto is_loaded = [] {};
  if (args.parts == nullptr) AttendAlone(&block, seen, is_loaded, whole);
  else if (!AttendShared(args, &block, seen, is_loaded, whole)) return;
  const size_t first = (static_cast<size_t>(item) * heads.query_heads + block.query_head) * kDim;
  Block::ForValues([&](uint32_t turn, uint32_t place) {
    PutAttended(args, first + place, whole[turn].value / whole[turn].sum);
  });
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ATTENTION_CUH_
