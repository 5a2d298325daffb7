#include "media/phase_plan.h"

#include <algorithm>
#include <numeric>

namespace parley {
namespace {

// Near the golden section of the phases and without a common factor with their
// number, so that neighbours in time of birth are far apart in phase.
int64_t StrideOf(int64_t phases) {
  int64_t stride = std::max<int64_t>(1, phases * 618 / 1000);
  while (std::gcd(stride, phases) != 1) stride++;
  return stride;
}

}  // namespace

int64_t PhasePlan::Take(int64_t period_ns) {
  const int64_t phases = std::max<int64_t>(1, period_ns / kStepNs);
  const int64_t stride = StrideOf(phases);
  const int64_t first = static_cast<int64_t>(taken_++ % static_cast<uint64_t>(phases)) * stride % phases;
  if (!Counted(period_ns)) return first * kStepNs;

  int64_t best = first;
  uint64_t best_cost = UINT64_MAX;
  for (int64_t n = 0; n < phases; n++) {
    const int64_t phase = (first + n * stride) % phases;
    uint64_t busiest = 0, sum = 0;
    for (int64_t step = phase; step < kSteps; step += phases) {
      busiest = std::max<uint64_t>(busiest, load_[static_cast<size_t>(step)]);
      sum += load_[static_cast<size_t>(step)];
    }
    const uint64_t cost = busiest << 32 | sum;
    if (cost < best_cost) {
      best = phase;
      best_cost = cost;
    }
  }
  Add(period_ns, best * kStepNs, 1);
  return best * kStepNs;
}

void PhasePlan::Release(int64_t period_ns, int64_t phase_ns) {
  if (Counted(period_ns)) Add(period_ns, phase_ns, -1);
}

uint32_t PhasePlan::Busiest() const { return *std::max_element(load_.begin(), load_.end()); }

void PhasePlan::Add(int64_t period_ns, int64_t phase_ns, int32_t change) {
  for (int64_t step = phase_ns / kStepNs; step < kSteps; step += period_ns / kStepNs) {
    load_[static_cast<size_t>(step)] += static_cast<uint32_t>(change);
  }
}

}  // namespace parley
