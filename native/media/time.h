// Time of the plane: int64 nanoseconds of CLOCK_MONOTONIC, the clock of process.hrtime, and a source of it
// that tests can set. JavaScript passes doubles of milliseconds.
#ifndef PARLEY_MEDIA_TIME_H_
#define PARLEY_MEDIA_TIME_H_

#include <time.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>

namespace parley {

constexpr int64_t kNsPerUs = 1'000;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;

inline int64_t ReadClock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

inline int64_t MonotonicNs() { return ReadClock(CLOCK_MONOTONIC); }

inline int64_t MsToNs(double ms) { return std::llround(ms * static_cast<double>(kNsPerMs)); }

inline double NsToMs(int64_t ns) { return static_cast<double>(ns) / static_cast<double>(kNsPerMs); }

// Sleeps until the moment is past; an interrupted sleep goes on.
inline void SleepUntilNs(int64_t at_ns) {
  const timespec at{static_cast<time_t>(at_ns / kNsPerSecond), static_cast<long>(at_ns % kNsPerSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

// Source of the current time for a plane: the machine's clock, or a number that a test sets.
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

#endif  // PARLEY_MEDIA_TIME_H_
