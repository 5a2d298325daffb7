#include "audio/time_stretch.h"

#include <cmath>

namespace parley {

size_t TimeStretch::RemovePeriod(float* place, double likeness) {
  const Period period = IsQuiet(place, kAhead) ? Period{kLongest, 1} : MostAlike(place, 1);
  if (period.samples == 0 || period.likeness < likeness) return 0;
  const size_t count = period.samples;
  float* const later = place + count;
  const float step = 1.0F / static_cast<float>(count);
  for (size_t n = 0; n < count; n++) {
    const float weight = static_cast<float>(n) * step;
    later[n] = place[n] + (later[n] - place[n]) * weight;
  }
  return count;
}

size_t TimeStretch::InsertPeriod(float* place, double likeness) {
  const Period period = IsQuiet(place - kLongest, 2 * kLongest) ? Period{kLongest, 1} : MostAlike(place, -1);
  if (period.samples == 0 || period.likeness < likeness) return 0;
  const size_t count = period.samples;
  float* const earlier = place - count;
  const float step = 1.0F / static_cast<float>(count);
  for (size_t n = 0; n < count; n++) {
    const float weight = static_cast<float>(n) * step;
    earlier[n] = place[n] + (earlier[n] - place[n]) * weight;
  }
  return count;
}

TimeStretch::Period TimeStretch::MostAlike(const float* place, int direction) {
  const double own = Product(place, place);
  Period best{0, 0};
  for (size_t lag = kShortest; lag <= kLongest; lag++) {
    const float* const other = direction > 0 ? place + lag : place - lag;
    const double product = Product(place, other);
    if (product <= 0) continue;
    const double likeness = product / std::sqrt(own * Product(other, other) + 1e-12);
    if (likeness > best.likeness) best = {lag, likeness};
  }
  return best;
}

// Four sums, which the processor adds at the same time.
double TimeStretch::Product(const float* a, const float* b) {
  float sums[4] = {};
  for (size_t n = 0; n < kWindow; n += 4)
    for (size_t lane = 0; lane < 4; lane++) sums[lane] += a[n + lane] * b[n + lane];
  return static_cast<double>(sums[0]) + sums[1] + sums[2] + sums[3];
}

bool TimeStretch::IsQuiet(const float* samples, size_t count) {
  constexpr float kLeastPower = 1e-6F;  // -60 dBFS
  float energy = 0;
  for (size_t n = 0; n < count; n++) energy += samples[n] * samples[n];
  return energy < kLeastPower * static_cast<float>(count);
}

}  // namespace parley
