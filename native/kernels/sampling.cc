#include "kernels/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace parley {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kLeastTemperature = 1e-4f;  // below, quotients overflow; greedy is what is meant

void Penalize(float penalty, const uint8_t* seen, float* logits, size_t count) {
  if (penalty == 1 || seen == nullptr) return;
  for (size_t id = 0; id < count; id++) {
    if (seen[id] == 0) continue;
    float& logit = logits[id];
    logit = logit < 0 ? logit * penalty : logit / penalty;
  }
}

void Suppress(const SamplingRules& rules, float* logits) {
  if (rules.forbidden >= 0) logits[rules.forbidden] = kNever;
  for (int32_t i = rules.suppress_from; i < rules.suppress_to; i++) {
    if (i != rules.spared) logits[i] = kNever;
  }
}

void KeepTopK(float* logits, size_t count, size_t k, std::vector<float>* sorted) {
  if (k == 0 || k >= count) return;
  sorted->assign(logits, logits + count);
  std::nth_element(sorted->begin(), sorted->begin() + static_cast<std::ptrdiff_t>(k - 1), sorted->end(),
                   std::greater<float>());
  const float least = (*sorted)[k - 1];
  for (size_t i = 0; i < count; i++) {
    if (logits[i] < least) logits[i] = kNever;
  }
}

// Drops the longest run of the smallest whose probabilities sum to 1 - p or less, but not
// the largest; of equals the first in index order counts as the smaller.
void KeepTopP(float* logits, size_t count, float p, std::vector<uint32_t>* order) {
  if (p >= 1) return;
  order->resize(count);
  std::iota(order->begin(), order->end(), 0u);
  std::sort(order->begin(), order->end(), [logits](uint32_t a, uint32_t b) {
    return logits[a] != logits[b] ? logits[a] < logits[b] : a < b;
  });
  const double largest = logits[order->back()];
  double total = 0;
  for (const uint32_t i : *order) total += std::exp(logits[i] - largest);
  const double limit = (1.0 - static_cast<double>(p)) * total;
  double sum = 0;
  for (size_t n = 0; n + 1 < count; n++) {
    float& logit = logits[(*order)[n]];
    sum += std::exp(logit - largest);
    if (sum > limit) return;
    logit = kNever;
  }
}

}  // namespace

void ValidateRules(const SamplingRules& rules, size_t choices) {
  const auto count = static_cast<int64_t>(choices);
  if (count == 0 || count > INT32_MAX) throw std::invalid_argument("no logits to choose from, or too many");
  // Written so that NaN is refused too.
  if (!(rules.temperature >= kLeastTemperature))
    throw std::invalid_argument("temperature must be 0.0001 or more");
  if (!(rules.top_p > 0 && rules.top_p <= 1)) throw std::invalid_argument("top_p must be in (0, 1]");
  if (!(rules.repetition_penalty > 0)) throw std::invalid_argument("repetition_penalty must be above 0");
  if (rules.suppress_from < 0 || rules.suppress_to > count) {
    throw std::invalid_argument("suppressed ids lie outside the logits");
  }
  if (rules.forbidden >= count) throw std::invalid_argument("the forbidden id lies outside the logits");
}

void ApplyRules(const SamplingRules& rules, const uint8_t* seen, float* logits, size_t count,
                SamplingScratch* scratch) {
  ValidateRules(rules, count);
  Penalize(rules.repetition_penalty, seen, logits, count);
  Suppress(rules, logits);
  if (rules.greedy || Largest(logits, count) < 0) return;
  for (size_t i = 0; i < count; i++) logits[i] /= rules.temperature;
  KeepTopK(logits, count, rules.top_k, &scratch->sorted);
  KeepTopP(logits, count, rules.top_p, &scratch->order);
}

int32_t Largest(const float* logits, size_t count) {
  size_t best = 0;
  for (size_t i = 0; i < count; i++) {
    if (std::isnan(logits[i])) return -1;
    if (logits[i] > logits[best]) best = i;
  }
  return logits[best] == kNever ? -1 : static_cast<int32_t>(best);
}

int32_t Pick(const float* logits, size_t count, double unit) {
  const int32_t largest = Largest(logits, count);
  if (largest < 0) return -1;
  const double highest = logits[largest];
  if (std::isinf(highest)) return largest;
  double total = 0;
  for (size_t i = 0; i < count; i++) {
    if (logits[i] != kNever) total += std::exp(logits[i] - highest);
  }
  const double target = unit * total;
  double sum = 0;
  int32_t last = largest;
  for (size_t i = 0; i < count; i++) {
    if (logits[i] == kNever) continue;  // most of them, after top-k
    const double weight = std::exp(logits[i] - highest);
    if (weight == 0) continue;
    sum += weight;
    last = static_cast<int32_t>(i);
    if (sum > target) return last;
  }
  return last;  // rounding left the target at the very end
}

int32_t ChooseOne(const Choice& choice, uint64_t sequence, float* logits, size_t count,
                  SamplingScratch* scratch) {
  ApplyRules(choice.rules, choice.seen, logits, count, scratch);
  const int32_t id = choice.rules.greedy ? Largest(logits, count)
                                         : Pick(logits, count, UnitOf({choice.seed, sequence, choice.step}));
  if (id >= 0 && choice.seen != nullptr) choice.seen[id] = 1;
  return id;
}

}  // namespace parley
