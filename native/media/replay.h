// Frames of a playout that are sent once more, because the path that they left by was dead.
//
//   sent frames ──Of──▶ [sent again ··· next ··· size) ──Claim──▶ clock
//                                       Stop claims all that is left
//
// Callers make it while the clock does not use it, and the clock sends it. A frame belongs to the side that
// moved `next` past it, as in the queue.
#ifndef PARLEY_MEDIA_REPLAY_H_
#define PARLEY_MEDIA_REPLAY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "media/playout_queue.h"

namespace parley {

class Replay {
 public:
  // Callers, while the clock uses neither. `before`: the replay that was made last; null if it was stopped.
  Replay(PlayoutQueue& queue, const Replay* before, uint32_t received_timestamp);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // The clock. Null: nothing is left. The frame is sent with this RTP timestamp.
  const SentFrame* Claim(uint32_t timestamp);

  // Any thread.
  size_t left() const {
    const size_t next = next_.load();
    return next < frames_.size() ? frames_.size() - next : 0;
  }
  uint64_t LeftOf(uint32_t track) const;

  // Callers. Nothing can be claimed any more; hands out what is left.
  struct Rest {
    std::vector<TakenEntry> sent;  // up to `most_sent` frames before those that are left, oldest first
    std::vector<TakenEntry> left;  // in order
  };
  Rest Stop(size_t most_sent);
  // Its frames are of a generation that was cleared.
  bool stopped() const { return stopped_; }

 private:
  std::vector<SentFrame> frames_;  // the first ones are there for the sake of a decoder only
  std::atomic<size_t> next_{0};
  bool stopped_ = false;
  uint64_t sent_up_to_ = 0;  // entries of the queue from there on left after this was made
};

}  // namespace parley

#endif  // PARLEY_MEDIA_REPLAY_H_
