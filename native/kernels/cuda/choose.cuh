// Top-k and top-p sampling, one block per row of logits, with the rules of kernels/sampling.cc in the same
// order.
//
// Sums are doubles in a fixed order that differs from the CPU's. A draw within their last bits of a boundary
// may choose the neighbouring id.
#ifndef PARLEY_KERNELS_CUDA_CHOOSE_CUH_
#define PARLEY_KERNELS_CUDA_CHOOSE_CUH_

#include <cmath>
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/sampling.h"

namespace parley::cuda {

// Sampling by temperature and top-k alone, as most requests have it, of a row that the block holds in its
// registers: the few that may be among the k largest are collected, and everything else is done to them.

constexpr uint32_t kChooseThreads = 256;
constexpr uint32_t kChooseWarps = kChooseThreads / 32;
constexpr uint32_t kHeldFours = 4;  // per thread, at most
constexpr uint32_t kMostCandidates = kChooseThreads;

// The threads that choose: all of a block, or its first ones.
__device__ __forceinline__ void ChooserBarrier() { NamedBarrier<kChooseThreads, 3>(); }

// Rises with the value; -0 is 0.
__device__ __forceinline__ uint32_t Rank(float value) {
  const uint32_t bits = __float_as_uint(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float ValueOf(uint32_t rank) {
  return __uint_as_float((rank & 0x80000000u) != 0 ? rank & 0x7fffffffu : ~rank);
}

struct TopShared {
  double weights[kMostCandidates];    // per candidate, in the order of indexes; 0: not among the k largest
  uint2 candidates[kMostCandidates];  // rank and index
  uint32_t order[kMostCandidates];    // indexes
  uint32_t largest[kChooseWarps];     // ranks
  uint32_t least[kChooseWarps];
  uint32_t count;  // number of candidates
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
  // Calls use(value, its index, the number of its four) for each value.
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
    return !rules.greedy && rules.top_p >= 1 && rules.top_k > 0 && rules.top_k < count &&
           rules.top_k <= kMostCandidates && (reinterpret_cast<uintptr_t>(choice.seen) & 3) == 0;
  }

  // All that is done to single logits.
  __device__ __forceinline__ void Apply(const Choice& choice) const {
    const SamplingRules& rules = choice.rules;
    if (choice.seen != nullptr && rules.repetition_penalty != 1)
      Penalize(rules.repetition_penalty, choice.seen);
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

  // Sets `least` to a rank that at least k values reach, and `largest` to the largest rank. In each warp, a
  // share of k lanes has maxima that reach the warp's bound. False: a value is NaN, or there are too few
  // values.
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
    const uint32_t its_largest =
        __reduce_max_sync(0xffffffffu, broken ? 0xffffffffu : own);  // beyond every number
    if (threadIdx.x % 32 == 0) {
      shared.least[threadIdx.x / 32] = its_least;
      shared.largest[threadIdx.x / 32] = its_largest;
    }
    if (threadIdx.x == 0) shared.count = 0, shared.kept = 0xffffffffu;
    ChooserBarrier();
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
    ChooserBarrier();
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
    ChooserBarrier();
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
    const double target = unit * __shfl_sync(0xffffffffu, until, 31),
                 last = __shfl_up_sync(0xffffffffu, until, 1);
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

struct ChooseArgs {
  const Choice* choices;
  const uint32_t* count;
  float* logits;
  uint32_t vocabulary;
  uint64_t sequence;
  int32_t* ids;
  size_t stride;
};

struct ChooseShared {
  double doubles[kChooseWarps];
  float floats[kChooseWarps];
  uint32_t words[kChooseWarps];
  uint32_t counts[256];
  uint32_t found[2];
};

// One row and the block that chooses of it. Thread t has the logits t, t + 256, ... where order does not
// matter, and a run of neighbours where it does.
struct Chooser {
  ChooseShared& shared;
  float* logits;
  uint32_t count;

  template <class Use>
  __device__ __forceinline__ void ForEach(const Use& use) const {
    for (uint32_t i = threadIdx.x; i < count; i += kChooseThreads) use(i);
  }

  // Calls use(logit, its index) for each of the thread's, with rising indexes. A vocabulary of text is bound
  // by the loads, of which many are in flight.
  template <class Use>
  __device__ __forceinline__ void ForEachInOrder(const Use& use) const {
    uint32_t first = 0;
    if (IsAligned16(logits)) {
      first = count / 4 * 4;
#pragma unroll 8
      for (uint32_t i = threadIdx.x * 4; i < first; i += 4 * kChooseThreads) {
        const float4 four = *reinterpret_cast<const float4*>(logits + i);
        use(four.x, i), use(four.y, i + 1), use(four.z, i + 2), use(four.w, i + 3);
      }
    }
    for (uint32_t i = first + threadIdx.x; i < count; i += kChooseThreads) use(logits[i], i);
  }

  // In every thread, by the same tree.
  __device__ double Sum(double value) const {
    for (uint32_t apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
    ChooserBarrier();
    if (threadIdx.x % 32 == 0) shared.doubles[threadIdx.x / 32] = value;
    ChooserBarrier();
    double sum = 0;
    for (uint32_t w = 0; w < kChooseWarps; w++) sum += shared.doubles[w];
    return sum;
  }

  // The first of the largest; -1 if all are -infinity or one is NaN. And its value.
  __device__ int32_t Largest(float* value) const {
    float best = -INFINITY;
    uint32_t at = 0xffffffffu;
    bool broken = false;
    ForEachInOrder([&](float logit, uint32_t i) {
      broken = broken || isnan(logit);
      if (logit > best) best = logit, at = i;
    });
    ChooserBarrier();
    for (uint32_t apart = 16; apart > 0; apart /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, best, apart);
      const uint32_t its = __shfl_xor_sync(0xffffffffu, at, apart);
      if (other > best || (other == best && its < at)) best = other, at = its;
    }
    const bool any = __any_sync(0xffffffffu, broken ? 1 : 0) != 0;
    if (threadIdx.x % 32 == 0) {
      shared.floats[threadIdx.x / 32] = best;
      shared.words[threadIdx.x / 32] = any ? 0xfffffffeu : at;
    }
    ChooserBarrier();
    best = -INFINITY;
    at = 0xffffffffu;
    broken = false;
    for (uint32_t w = 0; w < kChooseWarps; w++) {
      broken = broken || shared.words[w] == 0xfffffffeu;
      if (shared.floats[w] > best || (shared.floats[w] == best && shared.words[w] < at)) {
        best = shared.floats[w], at = shared.words[w];
      }
    }
    *value = best;
    return broken || best == -INFINITY ? -1 : static_cast<int32_t>(at);
  }

  __device__ void Penalize(float penalty, const uint8_t* seen) const {
    if (penalty == 1 || seen == nullptr) return;
    ForEach([&](uint32_t i) {
      if (seen[i] != 0) logits[i] = logits[i] < 0 ? logits[i] * penalty : logits[i] / penalty;
    });
  }

  __device__ void Suppress(const SamplingRules& rules) const {
    if (rules.suppress_from >= rules.suppress_to && rules.forbidden < 0) return;
    ForEach([&](uint32_t i) {
      const auto id = static_cast<int32_t>(i);
      const bool suppressed = id >= rules.suppress_from && id < rules.suppress_to && id != rules.spared;
      if (suppressed || id == rules.forbidden) logits[i] = -INFINITY;
    });
  }

  // The highest byte that k are not below, and how many of those that have it are among the k: by one warp,
  // each lane of which has eight counts, the highest bytes' first.
  __device__ void FindByte(uint32_t k) const {
    const uint32_t highest = 255 - threadIdx.x * 8;
    uint32_t own = 0;
    for (uint32_t n = 0; n < 8; n++) own += shared.counts[highest - n];
    uint32_t until = own;
    for (uint32_t apart = 1; apart < 32; apart *= 2) {
      const uint32_t earlier = __shfl_up_sync(0xffffffffu, until, apart);
      if (threadIdx.x >= apart) until += earlier;
    }
    if (until < k || until - own >= k) return;
    uint32_t byte = highest, left = k - (until - own);
    while (shared.counts[byte] < left) left -= shared.counts[byte--];
    shared.found[0] = byte;
    shared.found[1] = left;
  }

  // The rank of the k-th largest, by its bytes from the highest on.
  __device__ uint32_t RankOfLargest(uint32_t k) const {
    uint32_t known = 0, mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
      ChooserBarrier();
      shared.counts[threadIdx.x] = 0;
      ChooserBarrier();
      ForEach([&](uint32_t i) {
        const uint32_t rank = Rank(logits[i]);
        if ((rank & mask) == known) atomicAdd(&shared.counts[rank >> shift & 255], 1u);
      });
      ChooserBarrier();
      if (threadIdx.x < 32) FindByte(k);
      ChooserBarrier();
      known |= shared.found[0] << shift;
      mask |= 255u << shift;
      k = shared.found[1];
    }
    return known;
  }

  __device__ void KeepTopK(uint32_t k) const {
    if (k == 0 || k >= count) return;
    const uint32_t least = RankOfLargest(k);
    ForEach([&](uint32_t i) {
      if (Rank(logits[i]) < least) logits[i] = -INFINITY;
    });
  }

  __device__ double Weight(uint32_t i, double largest) const {
    return logits[i] == -INFINITY ? 0.0 : exp(static_cast<double>(logits[i]) - largest);
  }

  // Sum of the weights of ids whose rank is below `rank`.
  __device__ double Mass(uint32_t rank, double largest) const {
    double mass = 0;
    ForEach([&](uint32_t i) {
      if (Rank(logits[i]) < rank) mass += Weight(i, largest);
    });
    return Sum(mass);
  }

  // Exclusive prefix sum over the block's threads, in their order; `all` gets the total.
  template <class Value>
  __device__ Value Before(Value own, Value (&sums)[kChooseWarps], Value* all) const {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Value until = own;
    for (uint32_t apart = 1; apart < 32; apart *= 2) {
      const Value earlier = __shfl_up_sync(0xffffffffu, until, apart);
      if (lane >= apart) until = earlier + until;
    }
    ChooserBarrier();
    if (lane == 31) sums[warp] = until;
    const Value before = __shfl_up_sync(0xffffffffu, until, 1);
    ChooserBarrier();
    Value base = 0;
    *all = 0;
    for (uint32_t w = 0; w < kChooseWarps; w++) {
      if (w == warp) base = *all;
      *all += sums[w];
    }
    return lane == 0 ? base : base + before;
  }

  // This thread's run of neighbours.
  __device__ uint32_t RunBegin(uint32_t thread) const {
    const uint32_t run = (count + kChooseThreads - 1) / kChooseThreads;
    return thread * run < count ? thread * run : count;
  }

  // Ranks below `kept` go, and of those that have it the first ones, as long as what goes is no more than the
  // limit; but not the last of the largest.
  __device__ void KeepTopP(float p, float most) const {
    if (p >= 1) return;
    const double largest = most, total = Mass(0xffffffffu, largest);
    const double limit = (1.0 - static_cast<double>(p)) * total;
    uint32_t kept = 0;
    for (uint32_t bit = 0x80000000u; bit != 0; bit /= 2) {
      if (Mass(kept | bit, largest) <= limit) kept |= bit;
    }
    if (kept > Rank(most) || isinf(most)) kept = Rank(most);
    double gone = Mass(kept, largest);
    uint32_t own = 0, equals;
    for (uint32_t i = RunBegin(threadIdx.x); i < RunBegin(threadIdx.x + 1); i++)
      own += Rank(logits[i]) == kept ? 1 : 0;
    uint32_t place = Before(own, shared.words, &equals);
    if (kept == Rank(most)) equals--;
    // All of them weigh the same.
    const double weight = exp(static_cast<double>(ValueOf(kept)) - largest);
    uint32_t going = 0;
    while (going < equals && gone + weight <= limit) gone += weight, going++;
    if (isinf(most)) going = equals;  // it has all of the softmax
    for (uint32_t i = RunBegin(threadIdx.x); i < RunBegin(threadIdx.x + 1); i++) {
      const uint32_t rank = Rank(logits[i]);
      if (rank < kept || (rank == kept && place++ < going)) logits[i] = -INFINITY;
    }
  }

  // The index whose share of the softmax holds `unit`.
  __device__ int32_t Pick(double unit) const {
    ChooserBarrier();
    float most;
    const int32_t best = Largest(&most);
    if (best < 0 || isinf(most)) return best;
    const double largest = most;
    const uint32_t begin = RunBegin(threadIdx.x), end = RunBegin(threadIdx.x + 1);
    double own = 0, total;
    uint32_t last = 0;  // last index that can be chosen
    for (uint32_t i = begin; i < end; i++) {
      const double weight = Weight(i, largest);
      own += weight;
      if (weight != 0) last = i;
    }
    const double before = Before(own, shared.doubles, &total), target = unit * total;
    if (threadIdx.x == 0) shared.found[0] = kChooseThreads, shared.found[1] = 0;
    ChooserBarrier();
    if (own > 0) atomicMax(&shared.found[1], last);
    if (own > 0 && before + own > target) atomicMin(&shared.found[0], threadIdx.x);
    ChooserBarrier();
    if (shared.found[0] == threadIdx.x) {
      double sum = before;
      for (uint32_t i = begin; i < last && sum <= target; i++) {
        sum += Weight(i, largest);
        if (sum > target) last = i;
      }
      shared.found[1] = last;
    }
    ChooserBarrier();
    return static_cast<int32_t>(shared.found[1]);
  }
};

__device__ inline int32_t ChooseOfMany(const Chooser& chooser, const Choice& choice, double unit) {
  const SamplingRules& rules = choice.rules;
  chooser.Penalize(rules.repetition_penalty, choice.seen);
  ChooserBarrier();
  chooser.Suppress(rules);
  ChooserBarrier();
  float most;
  const int32_t id = chooser.Largest(&most);
  if (rules.greedy || id < 0) return id;
  ChooserBarrier();
  chooser.ForEach([&](uint32_t i) { chooser.logits[i] /= rules.temperature; });
  ChooserBarrier();
  chooser.KeepTopK(rules.top_k);
  ChooserBarrier();
  chooser.KeepTopP(rules.top_p, most / rules.temperature);
  ChooserBarrier();
  return chooser.Pick(unit);
}

static __global__ void __launch_bounds__(kChooseThreads, 1) ChooseKernel(const ChooseArgs args) {
  __shared__ ChooseShared shared;
  __shared__ TopShared top;
  LaunchDependents();
  const uint32_t row = blockIdx.x, count = *args.count;
  GridDependencyWait();
  if (row >= count) return;
  float* const logits = args.logits + static_cast<size_t>(row) * args.vocabulary;
  const bool fits = HeldRow<kHeldFours>::Fits(logits, args.vocabulary);
  HeldRow<kHeldFours> held;
  if (fits) {
    const LoadsAhead ahead;  // unused by Top where ChooseOfMany writes to the row at once
    held.Load(logits, args.vocabulary);
  }
  const Choice choice = args.choices[row];
  const double unit = UnitOf({choice.seed, args.sequence, choice.step});
  int32_t id = -1;
  using Top = TopChooser<kHeldFours>;
  const Top chooser{top, held, args.vocabulary};
  const bool few = fits && Top::Fits(choice, args.vocabulary) && chooser.Choose(choice, unit, &id);
  if (few) chooser.Leave(logits);
  else id = ChooseOfMany({shared, logits, args.vocabulary}, choice, unit);
  if (threadIdx.x != 0) return;
  args.ids[row * args.stride] = id;
  if (id >= 0 && choice.seen != nullptr) choice.seen[id] = 1;
}

// Kernels::Choose. choices: [count] in the device's memory.
inline void EnqueueChoose(Queue& queue, const Choice* choices, size_t count, float* logits, size_t vocabulary,
                          uint64_t sequence, int32_t* ids, size_t stride) {
  if (count == 0) return;
  const auto rows = static_cast<uint32_t>(count);
  Grid grid;
  grid.x = static_cast<uint32_t>(BucketOf(count));
  grid.threads = kChooseThreads;
  queue.Launch<&ChooseKernel>(grid, ChooseArgs{choices, queue.Data(rows), logits,
                                               static_cast<uint32_t>(vocabulary), sequence, ids, stride});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_CHOOSE_CUH_
