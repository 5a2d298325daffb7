#include "model/recognition/speech_energy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace parley::model {
namespace {

constexpr size_t kAbove = 10, kQuietest = 55;  // dB
constexpr uint64_t kLeastFrames = 5;

}  // namespace

void SpeechEnergy::Push(const float* samples, size_t count) {
  for (size_t n = 0; n < count; n++) {
    energy_ += static_cast<double>(samples[n]) * samples[n];
    if (++filled_ < kFrame) continue;
    const double decibels = -10 * std::log10(energy_ / kFrame + 1e-13);
    frames_[static_cast<size_t>(std::clamp(decibels, 0.0, kLevels - 1.0))]++;
    energy_ = 0;
    filled_ = 0;
  }
}

bool SpeechEnergy::HasSpeech() const {
  const uint64_t all = std::accumulate(frames_.begin(), frames_.end(), uint64_t{0});
  uint64_t quieter = 0;
  size_t floor = kLevels;
  while (floor > 0 && quieter * 5 <= all) quieter += frames_[--floor];
  const size_t limit = std::min(kQuietest, floor < kAbove ? 0 : floor - kAbove);
  const uint64_t louder =
      std::accumulate(frames_.begin(), frames_.begin() + static_cast<ptrdiff_t>(limit) + 1, uint64_t{0});
  return floor >= kAbove && louder >= kLeastFrames;
}

}  // namespace parley::model
