#include "audio/dtmf_detector.h"

#include <algorithm>
#include <cmath>

#include "audio/kaiser.h"

namespace parley {
namespace {

constexpr size_t kGroup = 4;  // tones of a group
constexpr double kFrequencies[DtmfDetector::kTones] = {697, 770, 852, 941, 1209, 1336, 1477, 1633};
constexpr uint8_t kEvents[kGroup][kGroup] = {{1, 2, 3, 12}, {4, 5, 6, 13}, {7, 8, 9, 14}, {10, 0, 11, 15}};

// Powers of sines; one of 0 dBm0 has an amplitude of 0.697 (ITU-T G.711).
constexpr float kLeastStronger = 1.2e-4F;            // -33 dBm0: of the stronger tone
constexpr float kLeastWeaker = 2.4e-5F;              // -40 dBm0
constexpr float kKeyShare = 0.86F;                   // of the window's power
constexpr float kMostTwist = 7.9F;                   // 9 dB: low over high
constexpr float kMostReverse = 3.2F;                 // 5 dB: high over low
constexpr float kHopTwist = 12.6F, kHopReverse = 5;  // of one hop: 2 dB more
constexpr float kMostDeviation = 0.025F;             // share of the frequency
constexpr float kHopDeviation = 0.034F;              // of one hop
constexpr int kLeastHops = 6;                        // a tone of 40 ms has 7 pure ones, one of 23 ms has 4
constexpr int kBridged = 8;  // a gap of 10 ms costs 5 or 6 pure hops, a pause of 50 ms 15
// The middle of a pure window lies so far within the tone. In samples.
constexpr int64_t kWithin = 40;

// Hann window of the correlations, times the tones; and the window's own sums.
struct KeyTables {
  alignas(32) float waves[160][2 * DtmfDetector::kTones];
  alignas(32) float window[160];
  float power_scale;

  KeyTables() {
    constexpr size_t kLength = 160;
    double sum = 0, squares = 0;
    for (size_t n = 0; n < kLength; n++) {
      const double value = 0.5 - 0.5 * std::cos(2 * kPi * (static_cast<double>(n) + 0.5) / kLength);
      window[n] = static_cast<float>(value);
      sum += value;
      squares += value * value;
    }
    for (size_t n = 0; n < kLength; n++) {
      for (size_t tone = 0; tone < DtmfDetector::kTones; tone++) {
        const double angle = 2 * kPi * kFrequencies[tone] * static_cast<double>(n) / DtmfDetector::kRate;
        const double scale = 2 / sum * static_cast<double>(window[n]);
        waves[n][tone] = static_cast<float>(scale * std::cos(angle));
        waves[n][DtmfDetector::kTones + tone] = static_cast<float>(-scale * std::sin(angle));
      }
    }
    power_scale = static_cast<float>(1 / squares);
  }
};

const KeyTables& SharedKeyTables() {
  static const KeyTables tables;
  return tables;
}

// Share of the amplitude that the window leaves of a tone which is so many Hz off.
float ResponseAt(float deviation) {
  const double x = std::abs(static_cast<double>(deviation)) * 160 / DtmfDetector::kRate;
  if (x < 1e-3) return 1;
  if (std::abs(x - 1) < 1e-3) return 0.5F;
  return static_cast<float>(std::sin(kPi * x) / (kPi * x) / (1 - x * x));
}

}  // namespace

bool DtmfDetector::Take(const float* samples, Key* key) {
  std::copy(window_.begin() + kHop, window_.end(), window_.begin());
  std::copy_n(samples, kHop, window_.end() - kHop);
  std::copy(powers_.begin() + 1, powers_.end(), powers_.begin());
  float power = 0;
  for (size_t n = 0; n < kHop; n++) power += samples[n] * samples[n];
  powers_.back() = power;
  position_ += kHop;

  has_before_ = has_bins_;
  before_ = bins_;
  float sum = 0;
  for (const float one : powers_) sum += one;
  has_bins_ = sum >= kLeastStronger * kWindow / 2;
  if (has_bins_) Correlate();

  Tone low, high;
  if (has_bins_ && has_before_ && Measure(&low, &high)) {
    const uint8_t event = kEvents[low.index][high.index];
    const bool goes_on = run_.hops > 0 && event == run_.event;
    const bool ended = run_.hops > 0 && !goes_on && EndRun(key);
    Add(event, low, high);
    return ended;
  }
  return run_.hops > 0 && ++run_.missing > kBridged && EndRun(key);
}

bool DtmfDetector::Break(Key* key) {
  has_bins_ = false;
  window_.fill(0);
  powers_.fill(0);
  return run_.hops > 0 && EndRun(key);
}

void DtmfDetector::Correlate() {
  const KeyTables& tables = SharedKeyTables();
  float sums[2 * kTones] = {};
  for (size_t n = 0; n < kWindow; n++) {
    const float sample = window_[n];
    for (size_t i = 0; i < 2 * kTones; i++) sums[i] += sample * tables.waves[n][i];
  }
  for (size_t tone = 0; tone < kTones; tone++) bins_[tone] = {sums[tone], sums[kTones + tone]};
}

DtmfDetector::Tone DtmfDetector::Strongest(size_t group) const {
  size_t best = 0;
  float most = -1;
  for (size_t i = 0; i < kGroup; i++) {
    const Bin& bin = bins_[group * kGroup + i];
    const float power = bin.real * bin.real + bin.imaginary * bin.imaginary;
    if (power > most) most = power, best = i;
  }
  // The phase advances by the true frequency, from hop to hop.
  const Bin &now = bins_[group * kGroup + best], &before = before_[group * kGroup + best];
  const double turn = std::atan2(now.imaginary * before.real - now.real * before.imaginary,
                                 now.real * before.real + now.imaginary * before.imaginary);
  const double hz = kFrequencies[group * kGroup + best];
  const double turns = turn / (2 * kPi) - hz * kHop / kRate;
  const double deviation = (turns - std::round(turns)) * kRate / kHop;
  return {best, most / 2, static_cast<float>(deviation)};
}

// False: the window is not that of one key.
bool DtmfDetector::Measure(Tone* low, Tone* high) const {
  *low = Strongest(0);
  *high = Strongest(1);
  for (Tone* tone : {low, high}) {
    const auto hz = static_cast<float>(kFrequencies[(tone == high ? kGroup : 0) + tone->index]);
    if (std::abs(tone->deviation) > kHopDeviation * hz) return false;
    const float response = ResponseAt(tone->deviation);
    tone->power /= response * response;
  }
  if (std::max(low->power, high->power) < kLeastStronger) return false;
  if (std::min(low->power, high->power) < kLeastWeaker) return false;
  if (low->power > kHopTwist * high->power || high->power > kHopReverse * low->power) return false;
  const KeyTables& tables = SharedKeyTables();
  float power = 0;
  for (size_t n = 0; n < kWindow; n++) {
    const float sample = window_[n] * tables.window[n];
    power += sample * sample;
  }
  return low->power + high->power >= kKeyShare * power * tables.power_scale;
}

void DtmfDetector::Add(uint8_t event, const Tone& low, const Tone& high) {
  const int64_t middle = position_ - static_cast<int64_t>(kWindow / 2);
  if (run_.hops == 0) {
    run_ = Run();
    run_.event = event;
    run_.begin = middle - kWithin;
  }
  run_.hops++;
  run_.missing = 0;
  run_.low_power += low.power;
  run_.high_power += high.power;
  run_.low_deviation += low.deviation;
  run_.high_deviation += high.deviation;
  run_.end = middle + kWithin;
}

bool DtmfDetector::IsKey() const {
  if (run_.hops < kLeastHops) return false;
  if (run_.low_power > kMostTwist * run_.high_power || run_.high_power > kMostReverse * run_.low_power)
    return false;
  const auto hops = static_cast<float>(run_.hops);
  for (size_t row = 0; row < kGroup; row++) {
    for (size_t column = 0; column < kGroup; column++) {
      if (kEvents[row][column] != run_.event) continue;
      const auto low = static_cast<float>(kFrequencies[row]);
      const auto high = static_cast<float>(kFrequencies[kGroup + column]);
      return std::abs(run_.low_deviation) <= kMostDeviation * low * hops &&
             std::abs(run_.high_deviation) <= kMostDeviation * high * hops;
    }
  }
  return false;
}

// False: it was no key.
bool DtmfDetector::EndRun(Key* key) {
  const bool is_key = IsKey();
  if (is_key) *key = {run_.event, std::max<int64_t>(run_.begin, 0), run_.end};
  run_ = Run();
  return is_key;
}

}  // namespace parley
