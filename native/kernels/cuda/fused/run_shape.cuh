// The sizes of the persistent grid that runs a transformer's layers, and the layout of its blocks' shared
// memory.
#ifndef PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_
#define PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_

#include "kernels/cuda/choose.cuh"
#include "kernels/cuda/fused/layer_run_args.h"
#include "kernels/cuda/fused/run_attention.cuh"
#include "kernels/cuda/fused/slab_product.cuh"
#include "kernels/cuda/products/terms.cuh"

namespace parley::cuda {

// The end of a pass within a persistent grid: chooses a code from the published logits (as choose.cuh does),
// and finds its row in a table.

using RunRow = HeldRow<2>;  // no code predictor has more logits

struct RunChoiceShared {
  TopShared top;
  ChooseShared many;
};

// Waits until the logits of `step` are published, and loads them. All choosers' threads call it.
__device__ __forceinline__ void AwaitLogits(const TaggedWord* logits, uint32_t count, uint32_t step,
                                            RunRow* row) {
#pragma unroll
  for (uint32_t j = 0; j < 2; j++) row->fours[j] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  AwaitAll([&] {
    uint32_t off = 0;
#pragma unroll
    for (uint32_t j = 0; j < 2; j++) {
      if (RunRow::At(j) >= count) continue;
      const TaggedPair low = Poll(logits + RunRow::At(j)), high = Poll(logits + RunRow::At(j) + 2);
      row->fours[j] = make_float4(__uint_as_float(low.first.bits), __uint_as_float(low.second.bits),
                                  __uint_as_float(high.first.bits), __uint_as_float(high.second.bits));
      off |= (low.first.step ^ step) | (low.second.step ^ step) | (high.first.step ^ step) |
             (high.second.step ^ step);
    }
    return off;
  });
}

// Far from the code that most choices take.
static __device__ __apart__ int32_t ChooseOtherwise(ChooseShared& shared, float* logits, uint32_t count,
                                                    const Choice& choice, double unit) {
  return ChooseOfMany({shared, logits, count}, choice, unit);
}

// The code of one stream and pass: to its place, and tagged. A function of its own, so that its registers do
// not crowd out the products'.
static __device__ __apart__ void ChooseInRun(const RunPasses& passes, uint32_t stream, uint32_t pass,
                                             uint32_t step, unsigned char* scratch) {
  RunChoiceShared& shared = *reinterpret_cast<RunChoiceShared*>(scratch);
  const uint32_t vocabulary = passes.vocabulary;
  const Choice choice = passes.choices[stream];
  const double unit = UnitOf({choice.seed, passes.sequence + pass, choice.step});
  float* const logits = passes.logits + stream * vocabulary;
  RunRow held;
  AwaitLogits(passes.tagged_logits + stream * vocabulary, vocabulary, step, &held);
  held.Store(logits, vocabulary);
  int32_t id = -1;
  if (!TopChooser<2>::Fits(choice, vocabulary) ||
      !TopChooser<2>{shared.top, held, vocabulary}.Choose(choice, unit, &id)) {
    ChooserBarrier();
    id = ChooseOtherwise(shared.many, logits, vocabulary, choice, unit);
  }
  if (ThisThread() != 0) return;
  Publish(passes.tagged_codes + 2 * stream, static_cast<uint32_t>(id), step + 1);
  passes.codes[stream * passes.stride + pass] = id;
  if (id >= 0 && choice.seen != nullptr) choice.seen[id] = 1;
}

// Four neighbours of the row of a code that was chosen; of none zeros.
__device__ __forceinline__ float4 FourOfTable(const RunPasses& passes, uint32_t pass, int32_t code,
                                              uint32_t columns, uint32_t k) {
  if (code < 0) return make_float4(0, 0, 0, 0);
  const size_t at = static_cast<size_t>(code) * columns + k;
  const void* const table = passes.pass[pass].table;
  if (passes.narrow_tables == 0)
    return *reinterpret_cast<const float4*>(static_cast<const float*>(table) + at);
  const uint2 four = *reinterpret_cast<const uint2*>(static_cast<const Bf16*>(table) + at);
  const float2 low = UnpackBf16(four.x), high = UnpackBf16(four.y);
  return make_float4(low.x, low.y, high.x, high.y);
}

// Chunks of a part of such columns.
template <int kHidden_, int kAttended_, int kExpanded_, class Cached_>
struct RunShape {
  static constexpr int kHidden = kHidden_, kAttended = kAttended_, kExpanded = kExpanded_;
  static constexpr uint32_t kHiddenColumns = kHidden * kParts * kChunk,
                            kExpandedColumns = kExpanded * kParts * kChunk;
  static constexpr uint32_t kQueryHeads = kAttended * kParts * kChunk / kRunDim;
  using Cached = Cached_;
  using Attention = RunAttention<Cached>;

  // The most slabs that a block has in one product.
  __host__ __device__ static uint32_t MostSlabs(uint32_t kv_heads, uint32_t head_slabs, uint32_t blocks) {
    const auto share = [&](uint32_t slabs) { return (slabs + blocks - 1) / blocks; };
    const uint32_t raw = share((kQueryHeads + 2 * kv_heads) * kRunDim / kSlabRows),
                   inner = 2 * share(kExpandedColumns / kSlabRows);
    const uint32_t most = raw > inner ? raw : inner, head = share(head_slabs);
    return most > head ? most : head;
  }
  // Bytes that a block's attention or choice shares.
  __host__ __device__ static uint32_t Scratch(bool passes) {
    const uint32_t attention = sizeof(typename Attention::Shared),
                   choice = passes ? sizeof(RunChoiceShared) : 0;
    return attention > choice ? attention : choice;
  }
};

// Layout of a block's shared memory.
struct RunRoom {
  static constexpr uint32_t kBars = sizeof(WeightRing::Bars);

  uint32_t pitch, sums_pitch;  // floats
  uint32_t sums, all;          // floats of one of two; bytes without the ring

  __host__ __device__ static RunRoom Of(uint32_t hidden, uint32_t most_rows, uint32_t most_slabs,
                                        uint32_t scratch) {
    RunRoom room;
    room.pitch = hidden + 4;
    room.sums_pitch = most_slabs * kSlabRows + 4;
    room.sums = kParts * most_rows * room.sums_pitch;
    const uint32_t vectors = most_rows * room.pitch * 4;
    room.all = kBars + ((vectors > scratch ? vectors : scratch) + 15) / 16 * 16 + 2 * room.sums * 4;
    return room;
  }
};

// Number of slabs of each matrix.
struct RunSlabs {
  uint32_t queries, kv, hidden, inner, head;

  template <class Shape, bool kPasses>
  __device__ __forceinline__ static RunSlabs Of(const LayerRunArgs& args) {
    return {Shape::kQueryHeads * kRunDim / kSlabRows, args.heads.heads * kRunDim / kSlabRows,
            Shape::kHiddenColumns / kSlabRows, Shape::kExpandedColumns / kSlabRows,
            kPasses ? args.passes->vocabulary / kSlabRows : 0};
  }
  __device__ __forceinline__ uint32_t Heads() const { return queries + 2 * kv; }
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RUN_SHAPE_CUH_
