#include "audio/tone_bursts.h"

#include <algorithm>
#include <cmath>

namespace parley {
namespace {

constexpr size_t kFirstBin = 8;         // 125 Hz: below it is hum
constexpr size_t kLastBin = 230;        // 3600 Hz
constexpr float kLeastLevel = 2.4e-5F;  // -40 dBm0
constexpr double kBurstShare = 0.85;    // of the power of the window
constexpr double kLeastSecond = 0.05;   // 13 dB below the first sine
constexpr size_t kLobe = 2;             // bins of a sine to either side of its strongest one
constexpr int kLeastViews = 3;
constexpr int kMostMissing = 4;  // windows without the tone that a burst bridges: a gap of 30 ms
// The middle of the first window with a tone is so far behind its beginning, on average.
constexpr int64_t kLead = 88;

// Frequency of one sine; of two that are too close to be told apart, one between them.
double CentroidHz(const std::array<float, Spectrum::kBins>& powers, size_t peak) {
  double sum = 0, moment = 0;
  for (size_t k = peak - kLobe; k <= peak + kLobe; k++) {
    sum += static_cast<double>(powers[k]);
    moment += static_cast<double>(powers[k]) * static_cast<double>(k);
  }
  return moment / sum * Spectrum::kBinHz;
}

}  // namespace

bool ToneBursts::Take(const float* samples, ToneBurst* ended) {
  std::copy(window_.begin() + kHop, window_.end(), window_.begin());
  std::copy_n(samples, kHop, window_.end() - kHop);
  std::copy(powers_.begin() + 1, powers_.end(), powers_.begin());
  float power = 0;
  for (size_t n = 0; n < kHop; n++) power += samples[n] * samples[n];
  powers_.back() = power;
  position_ += kHop;

  const View view = Look();
  if (view.low_hz == 0) return views_ > 0 && ++missing_ > kMostMissing && End(ended);
  const bool has_ended = views_ > 0 && !Continues(view) && End(ended);
  Add(view);
  return has_ended;
}

bool ToneBursts::Open(ToneBurst* burst) const {
  if (views_ < kLeastViews) return false;
  *burst = Sum();
  return true;
}

bool ToneBursts::Break(ToneBurst* ended) {
  window_.fill(0);
  powers_.fill(0);
  return views_ > 0 && End(ended);
}

ToneBursts::View ToneBursts::Look() {
  float sum = 0;
  for (const float one : powers_) sum += one;
  if (sum < kLeastLevel * Spectrum::kSamples) return {};
  spectrum_.Compute(window_.data());
  const auto& powers = spectrum_.powers();
  double total = 0;
  size_t first = kFirstBin;
  for (size_t k = kFirstBin; k <= kLastBin; k++) {
    total += static_cast<double>(powers[k]);
    if (powers[k] > powers[first]) first = k;
  }
  size_t second = 0;
  for (size_t k = kFirstBin; k <= kLastBin; k++) {
    const bool apart = k + kLobe < first || k > first + kLobe;
    const bool is_peak = powers[k] >= powers[k - 1] && powers[k] >= powers[k + 1];
    if (apart && is_peak && (second == 0 || powers[k] > powers[second])) second = k;
  }
  double tone = 0, both = 0;
  for (size_t k = kFirstBin; k <= kLastBin; k++) {
    const bool in_first = k + kLobe >= first && k <= first + kLobe;
    const bool in_second = second > 0 && k + kLobe >= second && k <= second + kLobe;
    if (in_first) tone += static_cast<double>(powers[k]);
    if (in_first || in_second) both += static_cast<double>(powers[k]);
  }
  const bool is_dual =
      second > 0 && static_cast<double>(powers[second]) >= kLeastSecond * static_cast<double>(powers[first]);
  const double share = (is_dual ? both : tone) / total;
  if (share < kBurstShare) return {};
  View view{CentroidHz(powers, first), 0, 0, is_dual ? both : tone, share};
  view.strongest_hz = view.low_hz;
  if (is_dual) {
    const double first_hz = spectrum_.PeakHz(first);
    const double second_hz = spectrum_.PeakHz(second);
    view.low_hz = std::min(first_hz, second_hz);
    view.high_hz = std::max(first_hz, second_hz);
  }
  return view;
}

// A modulated tone has its sidebands in some windows only.
bool ToneBursts::Continues(const View& view) const {
  const ToneBurst burst = Sum();
  const auto is_near = [&view](double hz) {
    const double most = std::max(16.0, 0.01 * hz);
    return std::abs(view.low_hz - hz) <= most || std::abs(view.high_hz - hz) <= most;
  };
  return is_near(burst.low_hz) || (burst.high_hz > 0 && is_near(burst.high_hz));
}

void ToneBursts::Add(const View& view) {
  const int64_t middle = position_ - static_cast<int64_t>(Spectrum::kSamples / 2);
  if (views_ == 0) {
    duals_ = 0;
    first_ = middle;
    low_sum_ = high_sum_ = single_sum_ = share_sum_ = 0;
    least_hz_ = most_hz_ = view.strongest_hz;
    least_power_ = most_power_ = 0;
  } else if (views_ > 1) {
    // The window before is neither the first nor the last.
    least_power_ = least_power_ == 0 ? last_power_ : std::min(least_power_, last_power_);
    most_power_ = std::max(most_power_, last_power_);
  }
  views_++;
  missing_ = 0;
  last_ = middle;
  last_power_ = view.power;
  share_sum_ += view.share;
  least_hz_ = std::min(least_hz_, view.strongest_hz);
  most_hz_ = std::max(most_hz_, view.strongest_hz);
  if (view.high_hz > 0) {
    duals_++;
    low_sum_ += view.low_hz;
    high_sum_ += view.high_hz;
  } else {
    single_sum_ += view.low_hz;
  }
}

ToneBurst ToneBursts::Sum() const {
  ToneBurst burst;
  burst.begin = std::max<int64_t>(0, first_ - kLead);
  burst.end = last_ + kLead;
  const bool is_dual = 2 * duals_ > views_;
  if (is_dual) {
    burst.low_hz = low_sum_ / duals_;
    burst.high_hz = high_sum_ / duals_;
  } else {
    burst.low_hz = single_sum_ / (views_ - duals_);
  }
  burst.spread_hz = most_hz_ - least_hz_;
  burst.rise = least_power_ > 0 ? most_power_ / least_power_ : 1;
  burst.share = share_sum_ / views_;
  return burst;
}

// False: it was too short.
bool ToneBursts::End(ToneBurst* ended) {
  const bool counts = views_ >= kLeastViews;
  if (counts) *ended = Sum();
  views_ = missing_ = 0;
  return counts;
}

}  // namespace parley
