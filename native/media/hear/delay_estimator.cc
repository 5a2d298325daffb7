#include "media/hear/delay_estimator.h"

#include <algorithm>
#include <cmath>

namespace parley {

DelayEstimator::DelayEstimator(const Limits& limits) : limits_(limits), target_(limits.least) {
  shares_[0] = 1;
  SetTarget();
}

void DelayEstimator::Observe(double arrival, double transit) {
  if (has_base_) jitter_ += (std::abs(transit - last_transit_) - jitter_) / 16;
  last_transit_ = transit;
  MoveBase(arrival, transit);
  Count(transit - base_);
  drift_.Observe(arrival, transit);
}

void DelayEstimator::ObserveMissing(double transit, double earlier) {
  if (has_base_) Count(transit - base_ + earlier);
}

void DelayEstimator::Restart() {
  has_base_ = false;
  drift_.Restart();
}

void DelayEstimator::MoveBase(double arrival, double transit) {
  if (!has_base_) {
    has_base_ = true;
    base_ = least_now_ = least_before_ = transit;
    began_ = arrival;
    packets_ = 0;
  } else if (packets_ >= kBasePackets && arrival - began_ >= kBaseMs) {
    least_before_ = least_now_;
    least_now_ = transit;
    began_ = arrival;
    packets_ = 0;
  }
  packets_++;
  least_now_ = std::min(least_now_, transit);
  const double base = std::min(least_now_, least_before_);
  if (base - base_ >= kBaseJump) Lower(base - base_);
  base_ = base;
}

void DelayEstimator::Count(double excess) {
  const auto share = static_cast<float>(1 / std::min(kPackets, seen_ + 1));
  seen_ = std::min(kPackets, seen_ + 1);
  for (float& one : shares_) one *= 1 - share;
  const double bin = std::clamp(excess / kBinMs, 0.0, static_cast<double>(kBins - 1));
  shares_[static_cast<size_t>(bin)] += share;
  SetTarget();
}

void DelayEstimator::SetQuantum(double quantum) {
  if (quantum == limits_.quantum) return;
  limits_.quantum = quantum;
  SetTarget();
}

// All packets take longer now. The histogram is moved to the new base.
void DelayEstimator::Lower(double by) {
  const auto bins = static_cast<size_t>(std::min(by / kBinMs, static_cast<double>(kBins - 1)));
  for (size_t bin = 1; bin < kBins; bin++) {
    const float share = shares_[bin];
    shares_[bin] = 0;
    shares_[bin > bins ? bin - bins : 0] += share;
  }
  SetTarget();
}

void DelayEstimator::SetTarget() {
  size_t bin = kBins - 1;
  double above = shares_[bin];
  while (bin > 0 && above <= 1 - kQuantile) above += shares_[--bin];
  excess_ = kBinMs * static_cast<double>(bin + 1);
  target_ = std::clamp(limits_.quantum + excess_, limits_.least, limits_.most);
}

}  // namespace parley
