#include "media/hear/drift_estimator.h"

#include <cmath>

namespace parley {

void DriftEstimator::Observe(double arrival, double transit) {
  if (packets_ >= kPointPackets && arrival - began_ >= kPointMs) {
    Add(least_);
    packets_ = 0;
  }
  if (packets_ == 0) began_ = arrival;
  if (packets_ == 0 || transit < least_.transit) least_ = {arrival, transit};
  packets_++;
}

void DriftEstimator::Restart() {
  count_ = 0;
  packets_ = 0;
}

void DriftEstimator::Add(Point point) {
  if (count_ > 0) {
    const Point& before = points_[(next_ + kPoints - 1) % kPoints];
    if (std::abs(point.transit - before.transit) > kJump) count_ = 0;
  }
  points_[next_] = point;
  next_ = (next_ + 1) % kPoints;
  if (count_ < kPoints) count_++;
  if (count_ >= kLeastPoints) Fit();
}

void DriftEstimator::Fit() {
  double arrival = 0, transit = 0;
  for (size_t n = 1; n <= count_; n++) {
    const Point& point = points_[(next_ + kPoints - n) % kPoints];
    arrival += point.arrival;
    transit += point.transit;
  }
  arrival /= static_cast<double>(count_);
  transit /= static_cast<double>(count_);
  double product = 0, square = 0;
  for (size_t n = 1; n <= count_; n++) {
    const Point& point = points_[(next_ + kPoints - n) % kPoints];
    product += (point.arrival - arrival) * (point.transit - transit);
    square += (point.arrival - arrival) * (point.arrival - arrival);
  }
  if (square > 0) ppm_ = -product / square * 1e6;
}

}  // namespace parley
