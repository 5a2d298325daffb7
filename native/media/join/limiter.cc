#include "media/join/limiter.h"

#include <algorithm>
#include <cmath>

namespace parley {

void Limiter::Process(float* samples, size_t count) {
  float peak = 0;
  for (size_t n = 0; n < count; n++) peak = std::max(peak, std::abs(samples[n]));
  if (gain_ == 1 && peak <= kMost) return;
  const float most = peak > kMost ? kMost / peak : 1;
  if (most < gain_) {
    Fall(samples, count, most);
  } else {
    const float to = gain_ + (1 - gain_) * kRise;
    Rise(samples, count, std::min(most, to > kAlmost ? 1 : to));
  }
}

// The gain falls in a line up to the first sample that needs it.
void Limiter::Fall(float* samples, size_t count, float to) {
  size_t first = 0;
  while (first < count && std::abs(samples[first]) * gain_ <= kMost) first++;
  const float step = first == 0 ? 0 : (to - gain_) / static_cast<float>(first);
  for (size_t n = 0; n < first; n++) samples[n] *= gain_ + step * static_cast<float>(n + 1);
  for (size_t n = first; n < count; n++) samples[n] *= to;
  for (size_t n = 0; n < count; n++) samples[n] = std::clamp(samples[n], -kMost, kMost);  // for rounding
  gain_ = to;
}

void Limiter::Rise(float* samples, size_t count, float to) {
  const float step = (to - gain_) / static_cast<float>(count);
  for (size_t n = 0; n < count; n++) {
    samples[n] = std::clamp(samples[n] * (gain_ + step * static_cast<float>(n + 1)), -kMost, kMost);
  }
  gain_ = to;
}

}  // namespace parley
