// Frames of a playout that are sent once more: because the path that they left by was dead, or because the
// voice faded out and goes on from an earlier place.
//
//   sent frames ──▶ [sent again ··· next ··· size) ──Claim──▶ clock
//                                   Stop claims all that is left
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

// The end of a track, sent once more although the far end received it. These frames stay counted as sent.
struct Repeat {
  uint32_t track;
  size_t faded;  // 1: the last frame that left is repeated in any case, because it left faded
  size_t back;   // frames up to the last one that counts as sent
};

class Replay {
 public:
  // Callers, while the clock uses neither. `before`: the replay that was made last; null if it was stopped.
  // Frames that left after `received_timestamp` were not received.
  Replay(PlayoutQueue& queue, const Replay* before, uint32_t received_timestamp);
  Replay(PlayoutQueue& queue, const Replay* before, const Repeat& repeat);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // The clock. Null: nothing is left. The frame is sent with this RTP timestamp. `at` is its place.
  const SentFrame* Claim(uint32_t timestamp, size_t* at);

  // Any thread.
  size_t left() const {
    const size_t next = next_.load();
    return next < frames_.size() ? frames_.size() - next : 0;
  }
  bool Waits(size_t at) const { return next_.load() <= at && at < frames_.size(); }
  // Frames of the track that do not count as sent.
  uint64_t LeftOf(uint32_t track) const;
  // The frame that the clock takes next, and its place. Null: nothing is left.
  const SentFrame* LookAtNext(size_t* at) const;
  // Up to `most` frames before that place, oldest first.
  std::vector<SentFrame> Before(size_t at, size_t most) const;
  size_t size() const { return frames_.size(); }
  // Number of the entry of the queue that left first after this was made.
  uint64_t sent_up_to() const { return sent_up_to_; }

  // Callers. Nothing can be claimed any more; hands out what is left.
  struct Rest {
    std::vector<SentFrame> sent;  // up to `most_sent` frames before those that are left, oldest first
    std::vector<SentFrame> left;  // in order
  };
  Rest Stop(size_t most_sent);
  // Its frames are of a generation that was cleared.
  bool stopped() const { return stopped_; }

 private:
  // Everything that the queue and the replay before still hold, oldest first.
  struct Held {
    std::vector<SentFrame> frames;
    size_t left_end;     // frames before it left
    size_t waiting_end;  // frames from left_end to it wait to be sent once more; those behind it left
  };
  Held Gather(PlayoutQueue& queue, const Replay* before);
  void Begin(Held held, size_t first);

  std::vector<SentFrame> frames_;  // the first ones are there for the sake of a decoder only
  // RTP timestamps of the frames when they left last. The clock writes them while other threads read.
  std::vector<std::atomic<uint32_t>> timestamps_;
  std::atomic<size_t> next_{0};
  bool stopped_ = false;
  uint64_t sent_up_to_ = 0;  // entries of the queue from there on left after this was made
};

}  // namespace parley

#endif  // PARLEY_MEDIA_REPLAY_H_
