// Time stretching by one period of the pitch: how much, and what it does to the sound.
#include "audio/time_stretch.h"

#include <cmath>
#include <vector>

#include "media/random.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr int kRate = 16'000;
constexpr size_t kPlace = 1000;

struct Stretched {
  size_t changed;
  Sound sound;
};

Stretched Shorten(Sound sound, double likeness = 0.9) {
  const size_t removed = TimeStretch::RemovePeriod(sound.data() + kPlace, likeness);
  sound.erase(sound.begin() + kPlace, sound.begin() + static_cast<std::ptrdiff_t>(kPlace + removed));
  return {removed, sound};
}

// The samples before the place that were overwritten are inserted: the originals stand before them.
Stretched Lengthen(Sound sound, double likeness = 0.9) {
  const Sound before(sound.begin(), sound.begin() + kPlace);
  const size_t inserted = TimeStretch::InsertPeriod(sound.data() + kPlace, likeness);
  Sound longer = before;
  longer.insert(longer.end(), sound.begin() + static_cast<std::ptrdiff_t>(kPlace - inserted), sound.end());
  return {inserted, longer};
}

void ATonesPeriodsAreRemovedAndInsertedWithoutASteeperStep() {
  for (const double hz : {85.0, 120.0, 200.0, 313.0, 440.0, 1000.0, 3000.0}) {
    const Sound tone = Tone(hz, 0.5, kRate, 3000);
    const float steepest = BiggestStep(tone, 0, tone.size());
    for (const Stretched& one : {Shorten(tone), Lengthen(tone)}) {
      CHECK(one.changed >= TimeStretch::kShortest && one.changed <= TimeStretch::kLongest);
      CHECK(BiggestStep(one.sound, 0, one.sound.size()) < 1.1F * steepest);
      // A multiple of the period, but for the half sample that remains.
      const double periods = static_cast<double>(one.changed) * hz / kRate;
      CHECK(std::abs(periods - std::round(periods)) <= 0.51 * hz / kRate);
    }
  }
}

void TheLengthChangesByWhatIsReturned() {
  const Sound voice = Voice(kRate, 3000);
  const Stretched shorter = Shorten(voice, 0.7), longer = Lengthen(voice, 0.7);
  CHECK(shorter.changed > 0 && longer.changed > 0);
  CHECK_EQ(shorter.sound.size(), voice.size() - shorter.changed);
  CHECK_EQ(longer.sound.size(), voice.size() + longer.changed);
  for (size_t n = 0; n < kPlace; n++) {
    CHECK_EQ(shorter.sound[n], voice[n]);
    CHECK_EQ(longer.sound[n], voice[n]);
  }
  for (size_t n = 1; n <= voice.size() - kPlace - TimeStretch::kAhead; n++) {
    CHECK_EQ(shorter.sound[shorter.sound.size() - n], voice[voice.size() - n]);
    CHECK_EQ(longer.sound[longer.sound.size() - n], voice[voice.size() - n]);
  }
}

void NoiseIsLeftAloneUnlessLittleLikenessIsAsked() {
  Random random(5);
  Sound noise(3000);
  for (float& sample : noise) sample = static_cast<float>(random.Unit() - 0.5);
  const Stretched shorter = Shorten(noise), longer = Lengthen(noise);
  CHECK_EQ(shorter.changed, size_t{0});
  CHECK_EQ(longer.changed, size_t{0});
  CHECK(shorter.sound == noise);
  CHECK(longer.sound == noise);
  CHECK(Shorten(noise, 0.0).changed > 0);
  CHECK(Lengthen(noise, 0.0).changed > 0);
}

void SilenceIsStretchedByTheMost() {
  Random random(6);
  Sound quiet(3000);
  for (float& sample : quiet) sample = static_cast<float>((random.Unit() - 0.5) * 1e-3);
  CHECK_EQ(Shorten(quiet).changed, TimeStretch::kLongest);
  CHECK_EQ(Lengthen(quiet).changed, TimeStretch::kLongest);
  CHECK_EQ(Shorten(Sound(3000, 0.0F)).changed, TimeStretch::kLongest);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(time_stretch) {
  using namespace parley::test;
  return Run(
      {{"a tone's periods are removed and inserted without a steeper step",
        ATonesPeriodsAreRemovedAndInsertedWithoutASteeperStep},
       {"the length changes by what is returned, and the rest is as before",
        TheLengthChangesByWhatIsReturned},
       {"noise is left alone unless little likeness is asked", NoiseIsLeftAloneUnlessLittleLikenessIsAsked},
       {"silence is stretched by the most", SilenceIsStretchedByTheMost}});
}
