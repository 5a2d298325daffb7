// A flag that one thread waits for and any thread sets. Setting takes no lock and costs a system call only
// when the waiting thread sleeps.
#ifndef PARLEY_MEDIA_EVENT_H_
#define PARLEY_MEDIA_EVENT_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace parley {

class Event {
 public:
  void Set() {
    if (state_.exchange(kSet) == kSleeping) Futex(FUTEX_WAKE_PRIVATE, 1);
  }

  // Returns once set, and clears it.
  void Wait() {
    for (;;) {
      if (state_.exchange(kClear) == kSet) return;
      uint32_t expected = kClear;
      if (!state_.compare_exchange_strong(expected, kSleeping)) continue;
      Futex(FUTEX_WAIT_PRIVATE, kSleeping);
    }
  }

 private:
  static constexpr uint32_t kClear = 0, kSet = 1, kSleeping = 2;

  void Futex(int operation, uint32_t value) {
    static_assert(sizeof(state_) == sizeof(uint32_t), "a futex is one 32-bit word");
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&state_), operation, value, nullptr, nullptr, 0);
  }

  std::atomic<uint32_t> state_{kClear};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_EVENT_H_
