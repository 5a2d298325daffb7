// Source of the current time for a plane: the machine's clock, or a number that a test sets.
#ifndef PARLEY_MEDIA_TIME_SOURCE_H_
#define PARLEY_MEDIA_TIME_SOURCE_H_

#include <atomic>
#include <cstdint>

#include "media/time.h"

namespace parley {

class TimeSource {
 public:
  // The machine's clock.
  TimeSource() : start_ns_(MonotonicNs()) {}

  // Stands still at `start_ns`, which is `unix_ns` on the wall, until Set.
  TimeSource(int64_t start_ns, int64_t unix_ns)
      : manual_(true), start_ns_(start_ns), start_unix_ns_(unix_ns), now_ns_(start_ns) {}

  bool manual() const { return manual_; }
  int64_t start_ns() const { return start_ns_; }
  int64_t Now() const { return manual_ ? now_ns_.load() : MonotonicNs(); }
  void Set(int64_t now_ns) { now_ns_.store(now_ns); }

  // Nanoseconds since 1970 at the moment `at_ns`. Asked anew each time: the
  // wall clock may be set while the plane runs.
  int64_t UnixNs(int64_t at_ns) const {
    if (manual_) return start_unix_ns_ + (at_ns - start_ns_);
    return ReadClock(CLOCK_REALTIME) - MonotonicNs() + at_ns;
  }

 private:
  const bool manual_ = false;
  const int64_t start_ns_;
  const int64_t start_unix_ns_ = 0;
  std::atomic<int64_t> now_ns_{0};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_TIME_SOURCE_H_
