// Chooses an id from logits by the model's sampling rules: repetition penalty, suppression, and unless
// greedy, temperature, top-k, top-p, softmax and one draw from Philox.
#ifndef PARLEY_KERNELS_SAMPLING_H_
#define PARLEY_KERNELS_SAMPLING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley {

// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011): random numbers that are a function of a key and a counter. A draw
// has a place (seed, stream, step), so a batch draws what each stream would have
// drawn alone, and a step can be repeated.
using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter Philox(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; round++) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

// Position of a draw in the sequence of all draws.
struct Draw {
  uint64_t seed = 0;    // the request's
  uint64_t stream = 0;  // which sequence of the seed
  uint64_t step = 0;    // which draw of the sequence
};

// In [0, 1), a multiple of 2^-53.
constexpr double UnitOf(const Draw& draw) {
  const PhiloxCounter word =
      Philox({static_cast<uint32_t>(draw.step), static_cast<uint32_t>(draw.step >> 32),
              static_cast<uint32_t>(draw.stream), static_cast<uint32_t>(draw.stream >> 32)},
             {static_cast<uint32_t>(draw.seed), static_cast<uint32_t>(draw.seed >> 32)});
  const uint64_t bits = uint64_t{word[0]} << 32 | word[1];
  return static_cast<double>(bits >> 11) / 9007199254740992.0;
}

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
