// Sounds for tests of codecs, and measures of them.
#ifndef PARLEY_TEST_SOUNDS_H_
#define PARLEY_TEST_SOUNDS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "media/random.h"

namespace parley::test {

using Sound = std::vector<float>;

constexpr double kTwoPi = 6.283185307179586;

inline Sound Tone(double hz, double level, int rate, size_t count) {
  Sound sound(count);
  for (size_t n = 0; n < count; n++)
    sound[n] = static_cast<float>(level * std::sin(kTwoPi * hz * static_cast<double>(n) / rate));
  return sound;
}

// A voice: harmonics of a pitch that wanders between 105 and 135 Hz, weaker with their frequency, up to 3.2
// kHz, louder and softer four times a second, with a little noise.
inline Sound Voice(int rate, size_t count, uint64_t seed = 7) {
  Random random(seed);
  Sound sound(count);
  double phase = 0;
  for (size_t n = 0; n < count; n++) {
    const double at = static_cast<double>(n) / rate;
    const double pitch = 120 + 15 * std::sin(kTwoPi * 0.7 * at);
    phase += pitch / rate;
    double value = 0;
    for (int k = 1; k * pitch < 3200; k++)
      value += std::sin(kTwoPi * k * phase + 0.7 * k * k) / (1 + 0.4 * k);
    const double loud = 0.6 + 0.4 * std::sin(kTwoPi * 4 * at);
    sound[n] = static_cast<float>(0.12 * loud * value + 0.002 * (random.Unit() - 0.5));
  }
  return sound;
}

inline double Energy(const float* samples, size_t count) {
  double sum = 0;
  for (size_t n = 0; n < count; n++) sum += static_cast<double>(samples[n]) * samples[n];
  return sum;
}

// Decibels by which `wanted` is above its difference from `seen`.
inline double SignalToNoise(const float* wanted, const float* seen, size_t count) {
  double noise = 1e-12;
  for (size_t n = 0; n < count; n++) noise += std::pow(static_cast<double>(wanted[n]) - seen[n], 2);
  return 10 * std::log10(Energy(wanted, count) / noise);
}

// The same at the delay of `seen` that fits best, up to `most_delay` samples.
inline double BestSignalToNoise(const Sound& wanted, const Sound& seen, size_t most_delay, size_t skip) {
  double best = -1e9;
  const size_t count = std::min(wanted.size(), seen.size()) - most_delay - skip;
  for (size_t delay = 0; delay <= most_delay; delay++)
    best = std::max(best, SignalToNoise(wanted.data() + skip, seen.data() + skip + delay, count));
  return best;
}

// The biggest difference of two neighbours from `from` to `to`, the sample before `from` included.
inline float BiggestStep(const Sound& sound, size_t from, size_t to) {
  float most = 0;
  for (size_t n = std::max<size_t>(from, 1); n < to; n++)
    most = std::max(most, std::abs(sound[n] - sound[n - 1]));
  return most;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_SOUNDS_H_
