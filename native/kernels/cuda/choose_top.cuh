// Sampling by temperature and top-k alone, as most requests have it, of a row that the block holds in its registers: the few
// that may be among the k largest are collected, and everything else is done to them.
#ifndef PARLEY_KERNELS_CUDA_CHOOSE_TOP_CUH_
#define PARLEY_KERNELS_CUDA_CHOOSE_TOP_CUH_

#include <cmath>
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/sampling.h"

namespace parley::cuda {

constexpr uint32_t kChooseThreads = 256;
constexpr uint32_t kChooseWarps = kChooseThreads / 32;
constexpr uint32_t kHeldFours = 4;  // of a thread, at most
constexpr uint32_t kMostCandidates = kChooseThreads;

// The threads that choose: all of a block, or its first ones.
__device__ __forceinline__ void MeetChoosers() { MeetFirst<kChooseThreads, 3>(); }

// Rises with the value; -0 is 0.
__device__ __forceinline__ uint32_t Rank(float value) {
  const uint32_t bits = __float_as_uint(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float ValueOf(uint32_t rank) {
  return __uint_as_float((rank & 0x80000000u) != 0 ? rank & 0x7fffffffu : ~rank);
}

struct TopShared {
  double weights[kMostCandidates];  // of the candidates, in the order of their indexes; 0: none of the k largest
  uint2 candidates[kMostCandidates];  // rank and index
  uint32_t order[kMostCandidates];    // indexes
  uint32_t largest[kChooseWarps];     // ranks
  uint32_t least[kChooseWarps];
  uint32_t count;  // of candidates
  uint32_t kept;   // the lowest rank that stays
};

// A row in registers: four j of thread t begins at 4 (t + 256 j). Beyond the row there is -infinity.
template <uint32_t kFours>
struct HeldRow {
  static constexpr uint32_t kMost = 4 * kFours * kChooseThreads;
  float4 fours[kFours];

  __device__ static uint32_t At(uint32_t j) { return 4 * (threadIdx.x + kChooseThreads * j); }
  __device__ static bool Fits(const float* logits, uint32_t count) {
    return count % 4 == 0 && count <= kMost && (reinterpret_cast<uintptr_t>(logits) & 15) == 0;
  }
  __device__ __forceinline__ void Load(const float* logits, uint32_t count) {
#pragma unroll
    for (uint32_t j = 0; j < kFours; j++) {
      fours[j] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
      if (At(j) < count) fours[j] = *reinterpret_cast<const float4*>(logits + At(j));
    }
  }
  __device__ __forceinline__ void Store(float* logits, uint32_t count) const {
#pragma unroll
    for (uint32_t j = 0; j < kFours; j++) {
      if (At(j) < count) *reinterpret_cast<float4*>(logits + At(j)) = fours[j];
    }
  }
  // Of each value, its index and the number of its four.
  template <class Use>
  __device__ __forceinline__ void ForEach(const Use& use) {
#pragma unroll
    for (uint32_t j = 0; j < kFours; j++) {
      use(fours[j].x, At(j), j);
      use(fours[j].y, At(j) + 1, j);
      use(fours[j].z, At(j) + 2, j);
      use(fours[j].w, At(j) + 3, j);
    }
  }
};

template <uint32_t kFours>
struct TopChooser {
  using Row = HeldRow<kFours>;
  TopShared& shared;
  Row& row;
  uint32_t count;

  __device__ static bool Fits(const Choice& choice, uint32_t count) {
    const SamplingRules& rules = choice.rules;
    return !rules.greedy && rules.top_p >= 1 && rules.top_k > 0 && rules.top_k < count && rules.top_k <= kMostCandidates &&
           (reinterpret_cast<uintptr_t>(choice.seen) & 3) == 0;
  }

  // All that is done to single logits.
  __device__ __forceinline__ void Apply(const Choice& choice) const {
    const SamplingRules& rules = choice.rules;
    if (choice.seen != nullptr && rules.repetition_penalty != 1) Penalize(rules.repetition_penalty, choice.seen);
    row.ForEach([&](float& value, uint32_t i, uint32_t) {
      const auto id = static_cast<int32_t>(i);
      const bool suppressed = id >= rules.suppress_from && id < rules.suppress_to && id != rules.spared;
      if (suppressed || id == rules.forbidden) value = -INFINITY;
      value = value / rules.temperature;
    });
  }
  __device__ __forceinline__ void Penalize(float penalty, const uint8_t* all) const {
    uint32_t seen[kFours] = {};
#pragma unroll
    for (uint32_t j = 0; j < kFours; j++) {
      if (Row::At(j) < count) seen[j] = *reinterpret_cast<const uint32_t*>(all + Row::At(j));
    }
    row.ForEach([&](float& value, uint32_t i, uint32_t j) {
      if ((seen[j] >> i % 4 * 8 & 255) != 0) value = value < 0 ? value * penalty : value / penalty;
    });
  }

  // A rank that k values at least are not below, and the largest. Of each warp's lanes a share of k has largest values that are
  // not below the warp's. False: there is no number, or not enough of them.
  __device__ bool Bound(uint32_t k, uint32_t* least, uint32_t* largest) const {
    bool broken = false;
    uint32_t own = 0, above = 0;
    row.ForEach([&](float value, uint32_t, uint32_t) {
      broken = broken || isnan(value);
      own = Rank(value) > own ? Rank(value) : own;
    });
#pragma unroll
    for (int lane = 0; lane < 32; lane++) above += __shfl_sync(0xffffffffu, own, lane) > own ? 1 : 0;
    const uint32_t share = (k + kChooseWarps - 1) / kChooseWarps;
    const uint32_t its_least = __reduce_min_sync(0xffffffffu, above < share ? own : 0xffffffffu);
    const uint32_t its_largest = __reduce_max_sync(0xffffffffu, broken ? 0xffffffffu : own);  // beyond every number
    if (threadIdx.x % 32 == 0) {
      shared.least[threadIdx.x / 32] = its_least;
      shared.largest[threadIdx.x / 32] = its_largest;
    }
    if (threadIdx.x == 0) shared.count = 0, shared.kept = 0xffffffffu;
    MeetChoosers();
    *least = 0xffffffffu;
    *largest = 0;
    for (uint32_t w = 0; w < kChooseWarps; w++) {
      *least = shared.least[w] < *least ? shared.least[w] : *least;
      *largest = shared.largest[w] > *largest ? shared.largest[w] : *largest;
    }
    return *largest < Rank(INFINITY) && *least > Rank(-INFINITY);
  }

  // Values that are not below the rank, in any order. Their number, which may be more than there is room for.
  __device__ uint32_t Collect(uint32_t least) const {
    uint32_t own = 0;
    row.ForEach([&](float value, uint32_t, uint32_t) { own += Rank(value) >= least ? 1 : 0; });
    uint32_t place = own > 0 ? atomicAdd(&shared.count, own) : 0;
    row.ForEach([&](float value, uint32_t i, uint32_t) {
      if (Rank(value) < least) return;
      if (place < kMostCandidates) shared.candidates[place] = make_uint2(Rank(value), i);
      place++;
    });
    MeetChoosers();
    return shared.count;
  }

  // The candidates' weights in the order of their indexes.
  __device__ void Weigh(uint32_t k, uint32_t candidates, uint32_t largest) const {
    uint32_t above = 0, before = 0;
    const bool is_one = threadIdx.x < candidates;
    const uint2 mine = is_one ? shared.candidates[threadIdx.x] : make_uint2(0, 0);
#pragma unroll 8
    for (uint32_t c = 0; c < candidates; c++) {
      const uint2 other = shared.candidates[c];
      above += other.x > mine.x ? 1 : 0;
      before += other.y < mine.y ? 1 : 0;
    }
    const bool stays = is_one && above < k;
    const uint32_t kept = __reduce_min_sync(0xffffffffu, stays ? mine.x : 0xffffffffu);
    if (threadIdx.x % 32 == 0) atomicMin(&shared.kept, kept);
    if (is_one) {
      shared.order[before] = mine.y;
      shared.weights[before] =
          stays ? exp(static_cast<double>(ValueOf(mine.x)) - static_cast<double>(ValueOf(largest))) : 0.0;
    }
    MeetChoosers();
  }

  // The index whose share of the weights holds `unit`: by one warp.
  __device__ int32_t Pick(uint32_t candidates, double unit) const {
    const uint32_t lane = threadIdx.x % 32, run = (candidates + 31) / 32;
    const uint32_t begin = lane * run < candidates ? lane * run : candidates;
    const uint32_t end = begin + run < candidates ? begin + run : candidates;
    double own = 0;
    for (uint32_t i = begin; i < end; i++) own += shared.weights[i];
    double until = own;
#pragma unroll
    for (uint32_t apart = 1; apart < 32; apart *= 2) {
      const double earlier = __shfl_up_sync(0xffffffffu, until, apart);
      if (lane >= apart) until = earlier + until;
    }
    const double target = unit * __shfl_sync(0xffffffffu, until, 31), last = __shfl_up_sync(0xffffffffu, until, 1);
    double sum = lane == 0 ? 0.0 : last;
    const uint32_t some = __ballot_sync(0xffffffffu, own > 0 ? 1 : 0);
    const uint32_t holds = __ballot_sync(0xffffffffu, own > 0 && sum + own > target ? 1 : 0);
    // Rounding may leave the target at the very end.
    const int at = holds != 0 ? __ffs(static_cast<int>(holds)) - 1 : 31 - __clz(static_cast<int>(some));
    int32_t id = -1;
    for (uint32_t i = begin; static_cast<int>(lane) == at && i < end && (id < 0 || sum <= target); i++) {
      if (shared.weights[i] == 0) continue;
      sum += shared.weights[i];
      id = static_cast<int32_t>(shared.order[i]);
    }
    return __shfl_sync(0xffffffffu, id, at);
  }

  // To the first warp's id. False: it takes other ways, from the logits as they were.
  __device__ bool Choose(const Choice& choice, double unit, int32_t* id) const {
    Apply(choice);
    uint32_t least, largest;
    if (!Bound(choice.rules.top_k, &least, &largest)) return false;
    const uint32_t candidates = Collect(least);
    if (candidates > kMostCandidates) return false;
    Weigh(choice.rules.top_k, candidates, largest);
    if (threadIdx.x < 32) *id = Pick(candidates, unit);
    return true;
  }

  // Once it is chosen, the logits as the draw saw them.
  __device__ void Leave(float* logits) const {
    const uint32_t kept = shared.kept;
    row.ForEach([&](float& value, uint32_t, uint32_t) { value = Rank(value) < kept ? -INFINITY : value; });
    row.Store(logits, count);
  }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_CHOOSE_TOP_CUH_
