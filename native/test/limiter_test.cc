// The limiter of a mix.
#include "media/join/limiter.h"

#include "media/join/joined_sound.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr size_t kQuantumSamples = JoinedSound::kQuantum;

Sound Limited(Limiter& limiter, Sound sound) {
  for (size_t at = 0; at + kQuantumSamples <= sound.size(); at += kQuantumSamples)
    limiter.Process(&sound[at], kQuantumSamples);
  return sound;
}

void SoundBelowTheThresholdIsUnchanged() {
  Limiter limiter;
  const Sound sound = Tone(300, 0.89, JoinedSound::kRate, 16'000);
  CHECK(Limited(limiter, sound) == sound);
  CHECK(limiter.idle());
}

void NothingIsLouderThanTheThreshold() {
  for (const double level : {1.0, 2.0, 5.0}) {
    Limiter limiter;
    const Sound out = Limited(limiter, Tone(200, level, JoinedSound::kRate, 16'000));
    for (const float sample : out) CHECK(std::abs(sample) <= Limiter::kMost);
    // The wave keeps its form: a limiter, and no clipping.
    const Sound wanted = Tone(200, double{Limiter::kMost}, JoinedSound::kRate, 16'000);
    CHECK(SignalToNoise(&wanted[1600], &out[1600], 8000) > 30);
    CHECK(!limiter.idle());
  }
}

// After a burst the gain rises without a step, and is 1 again within a second.
void TheGainRisesAgain() {
  Limiter limiter;
  Sound sound = Tone(100, 0.4, JoinedSound::kRate, 32'000);
  for (size_t n = 1600; n < 3200; n++) sound[n] *= 4;
  const Sound out = Limited(limiter, sound);
  CHECK(limiter.idle());
  CHECK(std::equal(out.begin() + 19'200, out.end(), sound.begin() + 19'200));
  const float natural = BiggestStep(sound, 4000, 16'000);
  CHECK(BiggestStep(out, 3300, 19'200) < natural * 1.1F);
  CHECK(Energy(&out[3300], 800) < 0.8 * Energy(&sound[3300], 800));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(limiter) {
  using namespace parley::test;
  return Run({{"sound below the threshold is unchanged", SoundBelowTheThresholdIsUnchanged},
              {"nothing is louder than the threshold", NothingIsLouderThanTheThreshold},
              {"the gain rises again", TheGainRisesAgain}});
}
