// How much of a kind of work is done in some time: a running mean.
#ifndef PARLEY_RUNTIME_WORK_RATE_H_
#define PARLEY_RUNTIME_WORK_RATE_H_

#include <algorithm>
#include <cstddef>

#include "runtime/engine.h"

namespace parley::runtime {

class WorkRate {
 public:
  // What may be done in `time`, at least `least`; `least` too while nothing was measured.
  size_t In(Clock::duration time, size_t least) const {
    if (units_ <= 0 || time_.count() <= 0) return least;
    return std::max(least, static_cast<size_t>(units_ * (time / std::chrono::duration<double>(time_))));
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
  double units_ = 0;
  Clock::duration time_{};
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_WORK_RATE_H_
