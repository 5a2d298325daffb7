// Time as the plane counts it: int64 nanoseconds of CLOCK_MONOTONIC, the clock
// of process.hrtime. At the border with JavaScript it is doubles of milliseconds.
#ifndef PARLEY_MEDIA_TIME_H_
#define PARLEY_MEDIA_TIME_H_

#include <time.h>

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

}  // namespace parley

#endif  // PARLEY_MEDIA_TIME_H_
