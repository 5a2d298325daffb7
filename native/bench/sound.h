// Made-up sound for the benches of recognition.
#ifndef PARLEY_BENCH_SOUND_H_
#define PARLEY_BENCH_SOUND_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "media/random.h"

namespace parley::bench {

constexpr size_t kSoundRate = 16'000;  // Hz

// Noise whose loudness comes and goes as that of syllables.
inline std::vector<float> Sound(double seconds, uint64_t seed = 1) {
  Random random(seed);
  std::vector<float> samples(static_cast<size_t>(seconds * static_cast<double>(kSoundRate)));
  for (size_t n = 0; n < samples.size(); n++) {
    const double time = static_cast<double>(n) / static_cast<double>(kSoundRate);
    const double loudness = std::fabs(std::sin(time * 11));
    samples[n] = static_cast<float>(0.2 * loudness * (2 * random.Unit() - 1));
  }
  return samples;
}

}  // namespace parley::bench

#endif  // PARLEY_BENCH_SOUND_H_
