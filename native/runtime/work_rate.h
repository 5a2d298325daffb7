// The measured rate at which a device does one kind of work.
#ifndef PARLEY_RUNTIME_WORK_RATE_H_
#define PARLEY_RUNTIME_WORK_RATE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/outcome.h"

namespace parley::runtime {

// A running mean of the rate at which one kind of work is done.
class WorkRate {
 public:
  // `guess`: units that In returns before the first measurement.
  explicit WorkRate(size_t guess) : guess_(guess) {}

  // Units that can be done in `time`, at least `least`.
  size_t In(Clock::duration time, size_t least) const {
    if (units_ <= 0) return guess_;
    const double units = units_ * (time / std::chrono::duration<double>(time_));
    return units < kMost ? std::max(least, static_cast<size_t>(units)) : SIZE_MAX;  // no measurable time
  }

  void Record(size_t units, Clock::duration time) {
    units_ += static_cast<double>(units);
    time_ += time;
    units_ *= kKept;
    time_ = std::chrono::duration_cast<Clock::duration>(time_ * kKept);
  }

  // Time for one unit; zero before the first measurement.
  Clock::duration Each() const {
    if (units_ <= 0) return Clock::duration::zero();
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_) / units_);
  }

 private:
  static constexpr double kKept = 0.9;  // weight of the old mean, each time
  static constexpr double kMost = 1e12;

  const size_t guess_;
  double units_ = 0;
  Clock::duration time_{};
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_WORK_RATE_H_
