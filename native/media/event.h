// A flag that one thread waits for and any thread sets. Setting takes no lock and costs a system call only
// when the waiting thread sleeps.
#ifndef PARLEY_MEDIA_EVENT_H_
#define PARLEY_MEDIA_EVENT_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "media/time.h"

namespace parley {

class Event {
 public:
  void Set() {
    if (state_.exchange(kSet) == kSleeping) Futex(FUTEX_WAKE_PRIVATE, 1);
  }

  // Returns once set, and clears it.
  void Wait() {
    while (!TryClear()) Futex(FUTEX_WAIT_PRIVATE, kSleeping);
  }

  // As Wait, but returns at the moment `at_ns` of the monotonic clock at the latest.
  void WaitUntil(int64_t at_ns) {
    const timespec at{static_cast<time_t>(at_ns / kNsPerSecond), static_cast<long>(at_ns % kNsPerSecond)};
    while (!TryClear()) {
      if (Futex(FUTEX_WAIT_BITSET_PRIVATE, kSleeping, &at) == 0 || errno != ETIMEDOUT) continue;
      state_.exchange(kClear);
      return;
    }
  }

 private:
  static constexpr uint32_t kClear = 0, kSet = 1, kSleeping = 2;

  // True if it was set. False: the caller is about to sleep.
  bool TryClear() {
    for (;;) {
      if (state_.exchange(kClear) == kSet) return true;
      uint32_t expected = kClear;
      if (state_.compare_exchange_strong(expected, kSleeping)) return false;
    }
  }

  long Futex(int operation, uint32_t value, const timespec* until = nullptr) {
    static_assert(sizeof(state_) == sizeof(uint32_t), "a futex is one 32-bit word");
    auto* const word = reinterpret_cast<uint32_t*>(&state_);
    return syscall(SYS_futex, word, operation, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
  }

  std::atomic<uint32_t> state_{kClear};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_EVENT_H_
