// The end of a pass inside of a grid that runs on: a code of logits that are told (as choose.cuh chooses), and its row in a table.
#ifndef PARLEY_KERNELS_CUDA_RUN_CHOICE_CUH_
#define PARLEY_KERNELS_CUDA_RUN_CHOICE_CUH_

#include "kernels/cuda/choose.cuh"
#include "kernels/cuda/fused/layer_run_args.h"
#include "kernels/cuda/products/terms.cuh"

namespace parley::cuda {

using RunRow = HeldRow<2>;  // no code predictor has more logits

struct RunChoiceShared {
  TopShared top;
  ChooseShared many;
};

// Of all choosers' threads, once the logits of `step` are told.
__device__ __forceinline__ void AwaitLogits(const Told* logits, uint32_t count, uint32_t step, RunRow* row) {
#pragma unroll
  for (uint32_t j = 0; j < 2; j++) row->fours[j] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  AwaitAll([&] {
    uint32_t off = 0;
#pragma unroll
    for (uint32_t j = 0; j < 2; j++) {
      if (RunRow::At(j) >= count) continue;
      const TwoTold low = Ask(logits + RunRow::At(j)), high = Ask(logits + RunRow::At(j) + 2);
      row->fours[j] = make_float4(__uint_as_float(low.first.bits), __uint_as_float(low.second.bits), __uint_as_float(high.first.bits),
                                  __uint_as_float(high.second.bits));
      off |= (low.first.step ^ step) | (low.second.step ^ step) | (high.first.step ^ step) | (high.second.step ^ step);
    }
    return off;
  });
}

// Far from the code that most choices take.
static __device__ __apart__ int32_t ChooseOtherwise(ChooseShared& shared, float* logits, uint32_t count, const Choice& choice, double unit) {
  return ChooseOfMany({shared, logits, count}, choice, unit);
}

// The code of one stream and pass: to its place, and told. A function of its own, so that its registers do not crowd out the products'.
static __device__ __apart__ void ChooseInRun(const RunPasses& passes, uint32_t stream, uint32_t pass, uint32_t step, unsigned char* scratch) {
  RunChoiceShared& shared = *reinterpret_cast<RunChoiceShared*>(scratch);
  const uint32_t vocabulary = passes.vocabulary;
  const Choice choice = passes.choices[stream];
  const double unit = UnitOf({choice.seed, passes.sequence + pass, choice.step});
  float* const logits = passes.logits + stream * vocabulary;
  RunRow held;
  AwaitLogits(passes.told_logits + stream * vocabulary, vocabulary, step, &held);
  held.Store(logits, vocabulary);
  int32_t id = -1;
  if (!TopChooser<2>::Fits(choice, vocabulary) || !TopChooser<2>{shared.top, held, vocabulary}.Choose(choice, unit, &id)) {
    MeetChoosers();
    id = ChooseOtherwise(shared.many, logits, vocabulary, choice, unit);
  }
  if (ThisThread() != 0) return;
  Tell(passes.told_codes + 2 * stream, static_cast<uint32_t>(id), step + 1);
  passes.codes[stream * passes.stride + pass] = id;
  if (id >= 0 && choice.seen != nullptr) choice.seen[id] = 1;
}

// Four neighbours of the row of a code that was chosen; of none zeros.
__device__ __forceinline__ float4 FourOfTable(const RunPasses& passes, uint32_t pass, int32_t code, uint32_t columns, uint32_t k) {
  if (code < 0) return make_float4(0, 0, 0, 0);
  const size_t at = static_cast<size_t>(code) * columns + k;
  const void* const table = passes.pass[pass].table;
  if (passes.narrow_tables == 0) return *reinterpret_cast<const float4*>(static_cast<const float*>(table) + at);
  const uint2 four = *reinterpret_cast<const uint2*>(static_cast<const Bf16*>(table) + at);
  const float2 low = UnpackBf16(four.x), high = UnpackBf16(four.y);
  return make_float4(low.x, low.y, high.x, high.y);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RUN_CHOICE_CUH_
