// Chooses an id from logits, by the rules that the model was trained to be sampled with.
//
// In this order: repetition penalty, suppression, and unless greedy: temperature, top-k, top-p, softmax, one
// draw.
#ifndef PARLEY_KERNELS_SAMPLING_H_
#define PARLEY_KERNELS_SAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/philox.h"

namespace parley {

struct SamplingRules {
  bool greedy = false;           // the largest, the first of equals
  float temperature = 1;         // >= 0.0001
  uint32_t top_k = 0;            // 0: all; values equal to the k-th largest stay
  float top_p = 1;               // in (0, 1]; 1: all
  float repetition_penalty = 1;  // > 0; of ids that were chosen before
  // [suppress_from, suppress_to) cannot be chosen, `spared` excepted.
  int32_t suppress_from = 0;
  int32_t suppress_to = 0;
  int32_t spared = -1;
  int32_t forbidden = -1;  // cannot be chosen either: the end, while it is too early
};

// Rules, seed and step for choosing an id from a row of logits.
struct Choice {
  SamplingRules rules;
  uint64_t seed = 0;
  uint64_t step = 0;
  // [count] or null: nonzero for the ids that the penalty applies to. The chosen id is marked too.
  uint8_t* seen = nullptr;
};

// Scratch memory for a choice, kept between choices so that none allocates.
struct SamplingScratch {
  std::vector<float> sorted;
  std::vector<uint32_t> order;
};

// Throws std::invalid_argument for rules out of their range.
void ValidateRules(const SamplingRules& rules, size_t count);

// The rules applied to logits [count]: afterwards as the draw sees them; what cannot be chosen becomes
// -infinity. Throws as ValidateRules.
void ApplyRules(const SamplingRules& rules, const uint8_t* seen, float* logits, size_t count,
                SamplingScratch* scratch);

// An index whose softmax interval holds `unit`, in [0, 1); never one of -infinity.
// Summed in double, in the order of the indexes. -1 if all are -infinity or one is NaN.
int32_t Pick(const float* logits, size_t count, double unit);

// The first of the largest; -1 as above.
int32_t Largest(const float* logits, size_t count);

// ApplyRules, then Largest or Pick at UnitOf({seed, sequence, step}); what was chosen is seen from then on.
int32_t ChooseOne(const Choice& choice, uint64_t sequence, float* logits, size_t count,
                  SamplingScratch* scratch);

}  // namespace parley

#endif  // PARLEY_KERNELS_SAMPLING_H_
