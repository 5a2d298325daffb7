// Prefill attention: several adjacent rows of one stream, as in prompts. It supports heads of 128 dimensions,
// a 16-bit cache and two query heads per block. Slots, steps and joins are in the order of AttendKernel, so
// the bits are the same. But a thread computes whole scores, one warp computes the softmax of the slots, and
// a loaded key or value serves all rows.
//
// Query 2 r + g of a block is head g of its row r; warp w has queries 4 w .. 4 w + 3. Their scores lie in
// shared memory, chunk by chunk, and are turned into weights there.
#ifndef PARLEY_KERNELS_CUDA_ATTENTION_ROWS_CUH_
#define PARLEY_KERNELS_CUDA_ATTENTION_ROWS_CUH_

#include "kernels/cuda/attention/attention.cuh"

namespace parley::cuda {

constexpr uint32_t kRowsTogether = 16, kRowsThreads = 256, kRowsDim = 128;
constexpr uint32_t kRowsSlots = 16,
                   kRowsSteps = kPositions /
                                (4 * kRowsSlots);  // as AttendShape has them: four positions of a slot a step

struct RowsShared {
  float queries[2 * kRowsTogether][kRowsDim];
  float scores[kPositions][2 * kRowsTogether + 4];  // 4 more: no two lanes meet in a bank
  uint2 keys[4 * kRowsSlots][kRowsDim / 4 + 1];     // one step's
  // Rescaling factors of a slot's values: before each step but the first, when two slots are joined, and when
  // pairs of slots are joined.
  float steps[kRowsSteps - 1][kRowsSlots][2 * kRowsTogether];
  float slots[kRowsSlots][2 * kRowsTogether];
  float pairs[kRowsSlots / 2][2 * kRowsTogether];
};

// One warp's four queries.
template <class Cached>
struct RowsWarp {
  using Cache128 = CachedShare<kRowsDim, Cached>;

  RowsShared& shared;
  const Cached *keys, *values;  // the kv head's, from position 0 on
  uint32_t pitch;               // from position to position
  uint32_t warp, lane;
  SoftmaxPart whole[4];  // without values
  float4 sums[4];        // the lane's four dimensions of `whole`

  __device__ __forceinline__ static float4 Unpacked(const uint2& four) {
    const float2 low = Cache128::Unpack(four.x, Cached{}), high = Cache128::Unpack(four.y, Cached{});
    return make_float4(low.x, low.y, high.x, high.y);
  }
  __device__ __forceinline__ float4 ValueAt(uint32_t position) const {
    return Unpacked(
        *reinterpret_cast<const uint2*>(values + static_cast<size_t>(position) * pitch + lane * 4));
  }
  __device__ __forceinline__ static float4 Times(const float4& v, float by) {
    return make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
  }
  __device__ __forceinline__ static float4 Fma(const float4& v, float by, const float4& to) {
    return make_float4(fmaf(by, v.x, to.x), fmaf(by, v.y, to.y), fmaf(by, v.z, to.z), fmaf(by, v.w, to.w));
  }
  // Each half of the warp has two queries' values; afterwards every lane has all four.
  __device__ __forceinline__ static void Spread(const float (&two)[2], float (&four)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) four[i] = __shfl_sync(0xffffffffu, two[i % 2], i / 2 * 16);
  }

  // Adds the rows' own positions; each half of the warp has one of two rows.
  __device__ __forceinline__ void SeeOwn(uint32_t own, uint32_t last) {
    using Share = HeadShare<kRowsDim>;
    Cache128 key;
    key.Load(keys + static_cast<size_t>(min(own + lane / 16, last)) * pitch + Share::First());
    float its[8], two[2], four[4];
    key.Unpack(its);
#pragma unroll
    for (uint32_t g = 0; g < 2; g++) {
      Share query;
      query.Load(shared.queries[warp * 4 + lane / 16 * 2 + g]);
      two[g] = query.Dot(its);
    }
    Spread(two, four);
#pragma unroll
    for (uint32_t q = 0; q < 4; q++) {
      whole[q] = {four[q], 1, 0};
      sums[q] = ValueAt(min(own + q / 2, last));
    }
  }

  // Adds to `dots` what thread `of` of a head's sixteen adds of two positions, those of lane and lane + 32.
  __device__ __forceinline__ void Dot(uint32_t of, float (&dots)[4][2]) const {
    float4 low[2], high[2];
#pragma unroll
    for (uint32_t k = 0; k < 2; k++) {
      low[k] = Unpacked(shared.keys[lane + k * 32][of]);
      high[k] = Unpacked(shared.keys[lane + k * 32][kRowsDim / 8 + of]);
    }
#pragma unroll
    for (uint32_t q = 0; q < 4; q++) {
      const float* const query = shared.queries[warp * 4 + q] + of * 4;
      const float4 a = *reinterpret_cast<const float4*>(query),
                   b = *reinterpret_cast<const float4*>(query + kRowsDim / 2);
#pragma unroll
      for (uint32_t k = 0; k < 2; k++) {
        const float first =
            fmaf(a.w, low[k].w, fmaf(a.z, low[k].z, fmaf(a.y, low[k].y, fmaf(a.x, low[k].x, 0.0f))));
        dots[q][k] =
            fmaf(b.w, high[k].w, fmaf(b.z, high[k].z, fmaf(b.y, high[k].y, fmaf(b.x, high[k].x, first))));
      }
    }
  }
  __device__ __forceinline__ static void Join(float (&to)[4][2], const float (&from)[4][2]) {
#pragma unroll
    for (uint32_t q = 0; q < 4; q++) {
#pragma unroll
      for (uint32_t k = 0; k < 2; k++) to[q][k] += from[q][k];
    }
  }

  // Scores of a step's keys, joined as sixteen threads join them: those that are 8, 4, 2 and 1 apart.
  __device__ __forceinline__ void Score(uint32_t step) const {
    float all[4][2];
#pragma unroll 1
    for (uint32_t of = 0; of < 2; of++) {
      float even[4][2];
#pragma unroll
      for (uint32_t two = 0; two < 2; two++) {
        float first[4][2], second[4][2], other[4][2];
        Dot(of + two * 2, first);
        Dot(of + two * 2 + 8, other);
        Join(first, other);
        Dot(of + two * 2 + 4, second);
        Dot(of + two * 2 + 12, other);
        Join(second, other);
        Join(first, second);
#pragma unroll
        for (uint32_t q = 0; q < 4; q++) {
#pragma unroll
          for (uint32_t k = 0; k < 2; k++) even[q][k] = two == 0 ? first[q][k] : even[q][k] + first[q][k];
        }
      }
#pragma unroll
      for (uint32_t q = 0; q < 4; q++) {
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) all[q][k] = of == 0 ? even[q][k] : all[q][k] + even[q][k];
      }
    }
#pragma unroll
    for (uint32_t k = 0; k < 2; k++) {
      float* const to = shared.scores[step * 4 * kRowsSlots + k * 32 + lane] + warp * 4;
      *reinterpret_cast<float4*>(to) = make_float4(all[0][k], all[1][k], all[2][k], all[3][k]);
    }
  }

  // Turns the scores of the chunk's first `most_seen` positions into softmax weights; this lane's row sees
  // `count` of them. A lane has a slot of two queries. Writes the largest scores and the sums of weights,
  // without values, to `parts`.
  __device__ __forceinline__ void Weigh(uint32_t most_seen, uint32_t count, SoftmaxPart (&parts)[4]) const {
    const uint32_t slot = lane % kRowsSlots, query = warp * 4 + lane / 16 * 2;
    float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
#pragma unroll 1
    for (uint32_t step = 0; step * 4 * kRowsSlots < most_seen; step++) {
      float scores[4][2];
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        const uint32_t j = (step * 4 + i) * kRowsSlots + slot;
        const float2 two = *reinterpret_cast<const float2*>(shared.scores[j] + query);
        scores[i][0] = j < count ? two.x : -INFINITY;
        scores[i][1] = j < count ? two.y : -INFINITY;
      }
#pragma unroll
      for (uint32_t g = 0; g < 2; g++) {
        float most = largest[g];
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) most = fmaxf(most, scores[i][g]);
        const float own = Rescaling(largest[g], most);
        largest[g] = most;
        sum[g] *= own;
        if (step > 0) shared.steps[step - 1][slot][query + g] = own;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
          scores[i][g] = Rescaling(scores[i][g], most);
          sum[g] += scores[i][g];
        }
      }
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        *reinterpret_cast<float2*>(shared.scores[(step * 4 + i) * kRowsSlots + slot] + query) =
            make_float2(scores[i][0], scores[i][1]);
      }
    }
    JoinSlots(largest, sum, parts);
  }

  // Slots to pairs, as a warp of AttendKernel joins its two, then the pairs, as its block does.
  __device__ __forceinline__ void JoinSlots(float (&largest)[2], float (&sum)[2],
                                            SoftmaxPart (&parts)[4]) const {
    const uint32_t slot = lane % kRowsSlots, query = warp * 4 + lane / 16 * 2;
    float joined[2], total[2];
#pragma unroll
    for (uint32_t g = 0; g < 2; g++) {
      const float most = fmaxf(largest[g], __shfl_xor_sync(0xffffffffu, largest[g], 1));
      const float own = Rescaling(largest[g], most);
      shared.slots[slot][query + g] = own;
      sum[g] *= own;
      sum[g] += __shfl_xor_sync(0xffffffffu, sum[g], 1);
      joined[g] = most;
#pragma unroll
      for (uint32_t apart = 2; apart < kRowsSlots; apart *= 2)
        joined[g] = fmaxf(joined[g], __shfl_xor_sync(0xffffffffu, joined[g], apart));
      const float weight = Rescaling(most, joined[g]);
      if (slot % 2 == 0) shared.pairs[slot / 2][query + g] = weight;
      total[g] = 0;
#pragma unroll
      for (uint32_t pair = 0; pair < kRowsSlots / 2; pair++) {
        const uint32_t from = lane / 16 * 16 + pair * 2;
        total[g] =
            fmaf(__shfl_sync(0xffffffffu, sum[g], from), __shfl_sync(0xffffffffu, weight, from), total[g]);
      }
    }
    float all[4], totals[4];
    Spread(joined, all);
    Spread(total, totals);
#pragma unroll
    for (uint32_t q = 0; q < 4; q++) parts[q] = {all[q], totals[q], 0};
  }

  // The values of a slot's positions, of the chunk that begins at `begin`, weighed.
  __device__ __forceinline__ void AddSlot(uint32_t slot, uint32_t begin, uint32_t most_seen,
                                          float4 (&slot_sums)[4]) const {
#pragma unroll
    for (uint32_t q = 0; q < 4; q++) slot_sums[q] = make_float4(0, 0, 0, 0);
#pragma unroll 1
    for (uint32_t step = 0; step * 4 * kRowsSlots + slot < most_seen; step++) {
      float4 seen[4];
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        const uint32_t j = (step * 4 + i) * kRowsSlots + slot;
        seen[i] = j < most_seen ? ValueAt(begin + j) : make_float4(0, 0, 0, 0);
      }
      if (step > 0) {
        const float4 by = *reinterpret_cast<const float4*>(shared.steps[step - 1][slot] + warp * 4);
        slot_sums[0] = Times(slot_sums[0], by.x), slot_sums[1] = Times(slot_sums[1], by.y);
        slot_sums[2] = Times(slot_sums[2], by.z), slot_sums[3] = Times(slot_sums[3], by.w);
      }
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        const uint32_t j = (step * 4 + i) * kRowsSlots + slot;
        if (j >= most_seen) break;
        const float4 weights = *reinterpret_cast<const float4*>(shared.scores[j] + warp * 4);
        slot_sums[0] = Fma(seen[i], weights.x, slot_sums[0]),
        slot_sums[1] = Fma(seen[i], weights.y, slot_sums[1]);
        slot_sums[2] = Fma(seen[i], weights.z, slot_sums[2]),
        slot_sums[3] = Fma(seen[i], weights.w, slot_sums[3]);
      }
    }
    const float4 by = *reinterpret_cast<const float4*>(shared.slots[slot] + warp * 4);
    slot_sums[0] = Times(slot_sums[0], by.x), slot_sums[1] = Times(slot_sums[1], by.y);
    slot_sums[2] = Times(slot_sums[2], by.z), slot_sums[3] = Times(slot_sums[3], by.w);
  }

  // The chunk's values, joined to the whole.
  __device__ __forceinline__ void AddChunk(uint32_t begin, uint32_t most_seen,
                                           const SoftmaxPart (&parts)[4]) {
    float4 chunk[4] = {};
#pragma unroll 1
    for (uint32_t pair = 0; pair < kRowsSlots / 2 && pair * 2 < most_seen; pair++) {
      float4 even[4], odd[4];
      AddSlot(pair * 2, begin, most_seen, even);
      AddSlot(pair * 2 + 1, begin, most_seen, odd);
      const float4 by = *reinterpret_cast<const float4*>(shared.pairs[pair] + warp * 4);
      const float weights[4] = {by.x, by.y, by.z, by.w};
#pragma unroll
      for (uint32_t q = 0; q < 4; q++) {
        const float4 both = make_float4(even[q].x + odd[q].x, even[q].y + odd[q].y, even[q].z + odd[q].z,
                                        even[q].w + odd[q].w);
        chunk[q] = Fma(both, weights[q], chunk[q]);
      }
    }
#pragma unroll
    for (uint32_t q = 0; q < 4; q++) {
      SoftmaxPart joined[4];
      const float own[4] = {sums[q].x, sums[q].y, sums[q].z, sums[q].w},
                  next[4] = {chunk[q].x, chunk[q].y, chunk[q].z, chunk[q].w};
#pragma unroll
      for (uint32_t d = 0; d < 4; d++) {
        joined[d] = {whole[q].largest, whole[q].sum, own[d]};
        joined[d].Join({parts[q].largest, parts[q].sum, next[d]});
      }
      whole[q] = joined[0];
      sums[q] = make_float4(joined[0].value, joined[1].value, joined[2].value, joined[3].value);
    }
  }
};

// A block's rows in the batch: the z-th group of kRowsTogether rows of stream y, for the x-th pair of query
// heads.
struct RowsPlace {
  size_t query;  // offset of its first row's first head, in floats
  size_t pitch;  // from row to row
  uint32_t rows;

  __device__ __forceinline__ static RowsPlace Of(const HeadsArgs& heads, const AttentionStream& stream,
                                                 uint32_t first) {
    const size_t pitch = static_cast<size_t>(heads.query_heads) * kRowsDim;
    return {(stream.row + first) * pitch + blockIdx.x * (2 * kRowsDim), pitch,
            min(kRowsTogether, stream.count - first)};
  }
  __device__ __forceinline__ size_t At(uint32_t query_of_block) const {
    return query + query_of_block / 2 * pitch + query_of_block % 2 * kRowsDim;
  }
};

// Scaled like scores; zeros beyond the last row.
template <class Cached>
__device__ __forceinline__ void LoadQueries(const HeadsArgs& heads, const RowsPlace& place,
                                            RowsShared* shared) {
  const float scale = heads.scale * kLog2OfE;
  for (uint32_t i = threadIdx.x; i < 2 * kRowsTogether * kRowsDim / 4; i += kRowsThreads) {
    const uint32_t q = i / (kRowsDim / 4), four = i % (kRowsDim / 4) * 4;
    float4 its = make_float4(0, 0, 0, 0);
    if (q / 2 < place.rows) its = *reinterpret_cast<const float4*>(heads.queries + place.At(q) + four);
    *reinterpret_cast<float4*>(shared->queries[q] + four) = RowsWarp<Cached>::Times(its, scale);
  }
}

// Loads the keys of `count` adjacent positions, at most one step.
template <class Cached>
__device__ __forceinline__ void LoadKeys(const Cached* keys, uint32_t pitch, uint32_t count,
                                         RowsShared* shared) {
  for (uint32_t i = threadIdx.x; i < 4 * kRowsSlots * kRowsDim / 8; i += kRowsThreads) {
    const uint32_t j = i / (kRowsDim / 8), eight = i % (kRowsDim / 8);
    if (j >= count) continue;
    const uint4 its = *reinterpret_cast<const uint4*>(keys + static_cast<size_t>(j) * pitch + eight * 8);
    shared->keys[j][eight * 2] = make_uint2(its.x, its.y);
    shared->keys[j][eight * 2 + 1] = make_uint2(its.z, its.w);
  }
}

template <class Cached>
__device__ __forceinline__ void PutRows(const AttendArgs& args, const RowsPlace& place,
                                        const RowsWarp<Cached>& warp) {
#pragma unroll
  for (uint32_t q = 0; q < 4; q++) {
    const uint32_t query = warp.warp * 4 + q;
    if (query / 2 >= place.rows) return;
    const float sum = warp.whole[q].sum;
    const float4 four =
        make_float4(warp.sums[q].x / sum, warp.sums[q].y / sum, warp.sums[q].z / sum, warp.sums[q].w / sum);
    const size_t at = place.At(query) + warp.lane * 4;
    if (args.handed.terms != nullptr) PutFour(args.handed, at, four);
    else *reinterpret_cast<float4*>(args.heads.output + at) = four;
  }
}

// Rows that are placed, of streams that see all positions from the first on.
template <class Cached>
static __global__ void __launch_bounds__(kRowsThreads, 2) AttendRowsKernel(const AttendArgs args) {
  LaunchDependents();
  GridDependencyWait();
  const HeadsArgs& heads = args.heads;
  const uint32_t first = blockIdx.z * kRowsTogether;
  if (blockIdx.y >= *heads.stream_count) return;
  const AttentionStream stream = heads.streams[blockIdx.y];
  if (first >= stream.count) return;
  const RowsPlace place = RowsPlace::Of(heads, stream, first);
  const Cache<Cached> cache = CacheOf<Cached>(heads, stream, heads.layer);
  const uint32_t kv = blockIdx.x * 2 / (heads.query_heads / heads.heads) * kRowsDim;
  const uint32_t own = static_cast<uint32_t>(stream.position) + first, last = own + place.rows - 1;
  auto& shared = *reinterpret_cast<RowsShared*>(SharedBytes());
  LoadQueries<Cached>(heads, place, &shared);
  __syncthreads();
  RowsWarp<Cached> warp{shared,
                        cache.keys + kv,
                        cache.values + kv,
                        heads.heads * kRowsDim,
                        threadIdx.x / 32,
                        threadIdx.x % 32,
                        {},
                        {}};
  const uint32_t its_first = own + warp.warp * 2;  // position of the warp's first row
  warp.SeeOwn(min(its_first, last), last);
  for (uint32_t begin = 0; begin < last; begin += kPositions) {
    const auto seen_by = [&](uint32_t position) {
      return position <= begin ? 0 : min(position - begin, kPositions);
    };
    const uint32_t all = seen_by(last), most_seen = its_first > last ? 0 : seen_by(min(its_first + 1, last));
    for (uint32_t at = 0; at < all; at += 4 * kRowsSlots) {
      __syncthreads();
      LoadKeys(warp.keys + static_cast<size_t>(begin + at) * warp.pitch, warp.pitch, all - at, &shared);
      __syncthreads();
      if (at < most_seen) warp.Score(at / (4 * kRowsSlots));
    }
    __syncwarp();
    SoftmaxPart parts[4];
    warp.Weigh(most_seen, seen_by(min(its_first + warp.lane / 16, last)), parts);
    __syncwarp();
    warp.AddChunk(begin, most_seen, parts);
    __syncwarp();
  }
  PutRows(args, place, warp);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ATTENTION_ROWS_CUH_
