// How much of a kind of work is done in some time: a running mean.
#ifndef PARLEY_RUNTIME_WORK_RATE_H_
#define PARLEY_RUNTIME_WORK_RATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/engine.h"

namespace parley::runtime {

class WorkRate {
 public:
  // `guess`: what may be done at once while nothing was measured.
  explicit WorkRate(size_t guess) : guess_(guess) {}

  // What may be done in `time`, at least `least`.
  size_t In(Clock::duration time, size_t least) const {
    if (units_ <= 0) return guess_;
    const double units = units_ * (time / std::chrono::duration<double>(time_));
    return units < kMost ? std::max(least, static_cast<size_t>(units)) : SIZE_MAX;  // it takes no time
  }

  void Did(size_t units, Clock::duration time) {
    units_ += static_cast<double>(units);
    time_ += time;
    units_ *= kKept;
    time_ = std::chrono::duration_cast<Clock::duration>(time_ * kKept);
  }

  // Of one unit; zero while nothing was measured.
  Clock::duration Each() const {
    if (units_ <= 0) return Clock::duration::zero();
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_) / units_);
  }

 private:
  static constexpr double kKept = 0.9;  // of what was known, each time
  static constexpr double kMost = 1e12;

  const size_t guess_;
  double units_ = 0;
  Clock::duration time_{};
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_WORK_RATE_H_
