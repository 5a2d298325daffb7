// Keys in sound: each limit of ITU-T Q.24 from both sides, with every key, at every phase of the windows.
#include "audio/dtmf_detector.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/tone_detector.h"
#include "media/random.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr int kRate = 8000;
constexpr double kLow[] = {697, 770, 852, 941}, kHigh[] = {1209, 1336, 1477, 1633};
constexpr uint8_t kEvents[] = {1, 2, 3, 12, 4, 5, 6, 13, 7, 8, 9, 14, 10, 0, 11, 15};
constexpr size_t kKeys = 16;
constexpr size_t kPresses = 20 * kKeys;

// A sequence of presses: each key in turn.
struct Presses {
  double ms = 40, pause_ms = 50;
  double low_off = 0, high_off = 0;  // share of the frequency
  double low_dbm0 = -10, high_dbm0 = -10;
  double noise_db = 200;  // below the sum of both tones
  double gap_ms = 0;      // of silence in the middle
  bool same = false;      // always the key 5
};

double Amplitude(double dbm0) { return std::pow(10, (dbm0 - 3.14) / 20); }

size_t SamplesIn(double ms, int rate) { return static_cast<size_t>(ms * rate / 1000); }

size_t KeyOf(const Presses& presses, size_t number) { return presses.same ? 5 : number % kKeys; }

void AddPress(const Presses& presses, size_t key, int rate, Random& random, Sound* sound) {
  const double low = kLow[key / 4] * (1 + presses.low_off), high = kHigh[key % 4] * (1 + presses.high_off);
  const double low_phase = kTwoPi * random.Unit(), high_phase = kTwoPi * random.Unit();
  const size_t count = SamplesIn(presses.ms, rate), gap = SamplesIn(presses.gap_ms, rate);
  for (size_t n = 0; n < count; n++) {
    const bool silent = n >= (count - gap) / 2 && n < (count + gap) / 2;
    const double angle = kTwoPi * static_cast<double>(n) / rate;
    const double value = Amplitude(presses.low_dbm0) * std::sin(low * angle + low_phase) +
                         Amplitude(presses.high_dbm0) * std::sin(high * angle + high_phase);
    sound->push_back(silent ? 0 : static_cast<float>(value));
  }
  sound->resize(sound->size() + SamplesIn(presses.pause_ms, rate));
}

// White noise over the whole band, and full scale as the end of all samples.
void AddNoise(const Presses& presses, Random& random, Sound* sound) {
  const double low = Amplitude(presses.low_dbm0), high = Amplitude(presses.high_dbm0);
  const double deviation = std::sqrt((low * low + high * high) / 2 / std::pow(10, presses.noise_db / 10));
  for (float& sample : *sound) {
    double sum = -6;  // about normal, of deviation 1
    for (int n = 0; n < 12; n++) sum += random.Unit();
    sample = std::clamp(static_cast<float>(sample + deviation * sum), -1.0F, 1.0F);
  }
}

Sound SoundOf(const Presses& presses, size_t count, int rate) {
  Random random(3);
  Sound sound(SamplesIn(100, rate));
  for (size_t n = 0; n < count; n++) {
    AddPress(presses, KeyOf(presses, n), rate, random, &sound);
    sound.resize(sound.size() + SamplesIn(4 * random.Unit(), rate));  // any phase of the windows
  }
  sound.resize(sound.size() + SamplesIn(200, rate));
  AddNoise(presses, random, &sound);
  return sound;
}

std::vector<FoundTone> KeysIn(const Sound& sound, int rate) {
  ToneDetector detector(rate, {true, false, {}});
  const size_t quantum = SamplesIn(ToneDetector::kQuantumMs, rate);
  std::vector<FoundTone> keys;
  for (size_t at = 0; at + quantum <= sound.size(); at += quantum) {
    FoundTone found[ToneDetector::kMostAtOnce];
    const size_t count = detector.Take(sound.data() + at, found);
    keys.insert(keys.end(), found, found + count);
  }
  return keys;
}

// All presses are found, once each.
void CheckAll(const Presses& presses, int rate = kRate, size_t count = kPresses) {
  const std::vector<FoundTone> keys = KeysIn(SoundOf(presses, count, rate), rate);
  CHECK_EQ(keys.size(), count);
  for (size_t n = 0; n < std::min(count, keys.size()); n++)
    CHECK_EQ(int{keys[n].event}, int{kEvents[KeyOf(presses, n)]});
}

void CheckNone(const Presses& presses) {
  CHECK_EQ(KeysIn(SoundOf(presses, kPresses, kRate), kRate).size(), size_t{0});
}

void AToneOf40MsIsAKey() {
  CheckAll({});
  CheckAll({}, 2 * kRate);
}

void AToneOf23MsIsNone() {
  Presses presses;
  presses.ms = 23;
  CheckNone(presses);
}

void FrequenciesWithin1_5PercentAreAKey() {
  for (const double low : {-0.015, 0.0, 0.015}) {
    for (const double high : {-0.015, 0.0, 0.015}) {
      Presses presses;
      presses.low_off = low;
      presses.high_off = high;
      CheckAll(presses);
    }
  }
}

void AFrequency3_5PercentOffIsNone() {
  for (const double off : {-0.035, 0.035}) {
    Presses low, high;
    low.low_off = high.high_off = off;
    low.ms = high.ms = 100;
    CheckNone(low);
    CheckNone(high);
  }
}

void TheLowGroupMayBe8DbStronger() {
  Presses presses;
  presses.low_dbm0 = -6;
  presses.high_dbm0 = -14;
  CheckAll(presses);
  presses.high_dbm0 = -16;
  CheckNone(presses);
}

void TheHighGroupMayBe4DbStronger() {
  Presses presses;
  presses.low_dbm0 = -12;
  presses.high_dbm0 = -8;
  CheckAll(presses);
  presses.low_dbm0 = -14;
  CheckNone(presses);
}

void LevelsOver26DbAreKeys() {
  for (const double dbm0 : {-3.0, -10.0, -20.0, -29.0}) {
    Presses presses;
    presses.low_dbm0 = presses.high_dbm0 = dbm0;
    CheckAll(presses);
  }
  Presses faint;
  faint.low_dbm0 = faint.high_dbm0 = -40;
  CheckNone(faint);
}

void Noise15DbBelowTheTonesChangesNothing() {
  for (const double off : {-0.015, 0.0, 0.015}) {
    Presses presses;
    presses.noise_db = 15;
    presses.low_off = presses.high_off = off;
    CheckAll(presses);
  }
  Presses other;
  other.noise_db = 15;
  other.ms = 23;
  CheckNone(other);
  other.ms = 100;
  other.low_off = 0.035;
  CheckNone(other);
}

void NoiseAsLoudAsTheTonesHidesThem() {
  Presses presses;
  presses.noise_db = 3;
  CheckNone(presses);
}

void AGapOf10MsIsNoPause() {
  for (const double noise_db : {200.0, 15.0}) {
    Presses presses;
    presses.ms = 70;
    presses.gap_ms = 10;
    presses.noise_db = noise_db;
    CheckAll(presses);
  }
}

void APauseOf50MsPartsTheSameKeyInTwo() {
  Presses presses;
  presses.same = true;
  CheckAll(presses);
  presses.pause_ms = 8;
  const std::vector<FoundTone> keys = KeysIn(SoundOf(presses, 1, kRate), kRate);
  CHECK_EQ(keys.size(), size_t{1});
}

void AKeyHasTheTimeOfItsTone() {
  for (const int rate : {kRate, 2 * kRate}) {
    Sound sound(SamplesIn(1000, rate));
    Random random(1);
    Presses presses;
    presses.ms = 200;
    AddPress(presses, 5, rate, random, &sound);
    sound.resize(sound.size() + SamplesIn(200, rate));
    const std::vector<FoundTone> keys = KeysIn(sound, rate);
    CHECK_EQ(keys.size(), size_t{1});
    if (keys.size() != 1) return;
    CHECK(std::abs(keys[0].begin_us - 1'000'000) <= 8000);
    CHECK(std::abs(keys[0].length_us - 200'000) <= 8000);
  }
}

void ABreakEndsAKeyThatIsDown() {
  Sound sound;
  Random random(1);
  Presses presses;
  presses.ms = 160;
  AddPress(presses, 5, kRate, random, &sound);
  ToneDetector detector(kRate, {true, false, {}});
  FoundTone found[ToneDetector::kMostAtOnce];
  for (size_t at = 0; at + 128 <= SamplesIn(160, kRate); at += 128)
    CHECK_EQ(detector.Take(sound.data() + at, found), size_t{0});
  CHECK_EQ(detector.Break(found), size_t{1});
  CHECK_EQ(int{found[0].event}, 5);
  CHECK_EQ(detector.Break(found), size_t{0});
}

void AVoiceIsNoKey() {
  for (uint64_t seed = 1; seed <= 4; seed++)
    CHECK_EQ(KeysIn(Voice(kRate, 60 * kRate, seed), kRate).size(), size_t{0});
}

}  // namespace

TEST_GROUP(dtmf_detector) {
  return Run({
      {"a tone of 40 ms is a key", AToneOf40MsIsAKey},
      {"a tone of 23 ms is none", AToneOf23MsIsNone},
      {"frequencies within 1.5 % are a key", FrequenciesWithin1_5PercentAreAKey},
      {"a frequency 3.5 % off is none", AFrequency3_5PercentOffIsNone},
      {"the low group may be 8 dB stronger", TheLowGroupMayBe8DbStronger},
      {"the high group may be 4 dB stronger", TheHighGroupMayBe4DbStronger},
      {"levels over 26 dB are keys", LevelsOver26DbAreKeys},
      {"noise 15 dB below the tones changes nothing", Noise15DbBelowTheTonesChangesNothing},
      {"noise as loud as the tones hides them", NoiseAsLoudAsTheTonesHidesThem},
      {"a gap of 10 ms is no pause", AGapOf10MsIsNoPause},
      {"a pause of 50 ms parts the same key in two", APauseOf50MsPartsTheSameKeyInTwo},
      {"a key has the time of its tone", AKeyHasTheTimeOfItsTone},
      {"a break ends a key that is down", ABreakEndsAKeyThatIsDown},
      {"a voice is no key", AVoiceIsNoKey},
  });
}

}  // namespace parley::test
