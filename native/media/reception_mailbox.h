// Mailbox for the reception block of a stream's own reports: written by the receiving thread, read by the
// clock, neither ever waiting for the other. A read that meets a write fails, and the block waits for the
// next report.
#ifndef PARLEY_MEDIA_RECEPTION_MAILBOX_H_
#define PARLEY_MEDIA_RECEPTION_MAILBOX_H_

#include <atomic>
#include <cstdint>
#include <cstring>

namespace parley {

struct ReceptionState {
  uint32_t ssrc = 0;
  uint32_t highest = 0;   // extended sequence number
  uint64_t expected = 0;  // packets since the source began
  uint64_t received = 0;
  uint32_t jitter = 0;   // in units of the timestamp
  uint32_t last_sr = 0;  // middle of its NTP time; 0: none came
  int64_t last_sr_ns = 0;
};

class ReceptionMailbox {
 public:
  // One writer at a time. Each word is released after the odd turn: who reads a new word sees that turn too.
  void Put(const ReceptionState& state) {
    uint64_t words[kWords];
    std::memcpy(words, &state, sizeof(state));
    const uint32_t turn = turn_.load(std::memory_order_relaxed);
    turn_.store(turn + 1, std::memory_order_relaxed);
    for (size_t n = 0; n < kWords; n++) words_[n].store(words[n], std::memory_order_release);
    turn_.store(turn + 2, std::memory_order_release);
  }

  // False: nothing was put yet, or it is being put.
  bool Look(ReceptionState* state) const {
    const uint32_t turn = turn_.load(std::memory_order_acquire);
    if (turn == 0 || turn % 2 != 0) return false;
    uint64_t words[kWords];
    for (size_t n = 0; n < kWords; n++) words[n] = words_[n].load(std::memory_order_acquire);
    if (turn_.load(std::memory_order_relaxed) != turn) return false;
    std::memcpy(state, words, sizeof(*state));
    return true;
  }

 private:
  static constexpr size_t kWords = sizeof(ReceptionState) / sizeof(uint64_t);
  static_assert(sizeof(ReceptionState) % sizeof(uint64_t) == 0, "a state is whole words");

  std::atomic<uint32_t> turn_{0};  // odd while it is written
  std::atomic<uint64_t> words_[kWords] = {};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEPTION_MAILBOX_H_
