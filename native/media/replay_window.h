// Replay window: records which of the last 128 indexes were received (RFC 3711, 3.3.2, asks for 64).
#ifndef PARLEY_MEDIA_REPLAY_WINDOW_H_
#define PARLEY_MEDIA_REPLAY_WINDOW_H_

#include <cstdint>

namespace parley {

class ReplayWindow {
 public:
  static constexpr uint64_t kWidth = 128;

  bool started() const { return started_; }
  uint64_t highest() const { return highest_; }

  // True: neither seen before nor too old to tell.
  bool IsNew(uint64_t index) const {
    if (!started_ || index > highest_) return true;
    const uint64_t behind = highest_ - index;
    if (behind >= kWidth) return false;
    return ((behind < 64 ? near_ >> behind : far_ >> (behind - 64)) & 1) == 0;
  }

  // Call it only for authenticated packets.
  void Add(uint64_t index) {
    if (!started_ || index > highest_) {
      Move(started_ ? index - highest_ : kWidth);
      highest_ = index;
      started_ = true;
      near_ |= 1;
      return;
    }
    const uint64_t behind = highest_ - index;
    if (behind < 64) {
      near_ |= uint64_t{1} << behind;
    } else if (behind < kWidth) {
      far_ |= uint64_t{1} << (behind - 64);
    }
  }

 private:
  void Move(uint64_t by) {
    if (by >= kWidth) {
      near_ = far_ = 0;
    } else if (by >= 64) {
      far_ = near_ << (by - 64);
      near_ = 0;
    } else if (by > 0) {
      far_ = far_ << by | near_ >> (64 - by);
      near_ <<= by;
    }
  }

  bool started_ = false;
  uint64_t highest_ = 0;
  uint64_t near_ = 0;  // bit n: highest - n
  uint64_t far_ = 0;   // bit n: highest - 64 - n
};

}  // namespace parley

#endif  // PARLEY_MEDIA_REPLAY_WINDOW_H_
