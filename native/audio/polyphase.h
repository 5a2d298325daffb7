// The taps of a polyphase FIR filter of linear phase that changes a sample rate: a sinc in a Kaiser window at
// the rate of all phases together.
#ifndef PARLEY_AUDIO_POLYPHASE_H_
#define PARLEY_AUDIO_POLYPHASE_H_

#include <cmath>
#include <cstddef>

#include "audio/kaiser.h"

namespace parley {

template <size_t kPhases, size_t kTaps>
class Polyphase {
 public:
  // `cutoff` as a share of half the rate of all phases together.
  explicit Polyphase(double cutoff) {
    constexpr double kMiddle = (kPhases * kTaps - 1) / 2.0;
    for (size_t phase = 0; phase < kPhases; phase++) {
      double taps[kTaps], sum = 0;
      for (size_t i = 0; i < kTaps; i++) {
        const double distance = static_cast<double>(kPhases * (kTaps - 1 - i) + phase) - kMiddle;
        const double sinc = distance == 0 ? kPi * cutoff : std::sin(kPi * cutoff * distance) / distance;
        taps[i] = sinc * KaiserWindow(distance / (kMiddle + 0.5));
        sum += taps[i];
      }
      for (size_t i = 0; i < kTaps; i++) taps_[phase][i] = static_cast<float>(taps[i] / sum);
    }
  }

  // Reads kTaps samples, the oldest first. The taps of a phase sum to 1, so that it passes 0 Hz unchanged.
  float Output(size_t phase, const float* samples) const {
    constexpr size_t kLanes = 8;
    static_assert(kTaps % kLanes == 0);
    float sums[kLanes] = {};
    for (size_t i = 0; i < kTaps; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; lane++) sums[lane] += taps_[phase][i + lane] * samples[i + lane];
    }
    float sum = 0;
    for (const float part : sums) sum += part;
    return sum;
  }

 private:
  float taps_[kPhases][kTaps];
};

}  // namespace parley

#endif  // PARLEY_AUDIO_POLYPHASE_H_
