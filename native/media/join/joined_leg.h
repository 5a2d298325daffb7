// One side of joined calls, between its socket and its mixer: the far end's packets on their way in, and the
// frames for the stream that the socket has.
//
//   intake ──▶ inbox ──▶ mixer ──▶ JoinedSound ──▶ clock
#ifndef PARLEY_MEDIA_JOIN_JOINED_LEG_H_
#define PARLEY_MEDIA_JOIN_JOINED_LEG_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "media/hear/inbox.h"
#include "media/join/joined_sound.h"

namespace parley {

class PlayoutQueue;
class RtpStream;

class JoinedLeg {
 public:
  // Written by the thread that receives, read by the joining thread.
  Inbox& inbox() { return inbox_; }

  // The socket, when its stream changes. Null: it has none. Returns the sound that the stream takes.
  std::shared_ptr<JoinedSound> Follow(std::shared_ptr<RtpStream> stream);

  // The joining thread. The version changes with the stream.
  uint32_t version() const { return version_.load(std::memory_order_acquire); }
  // The sound is null while nothing can be encoded for the leg.
  struct Way {
    std::shared_ptr<JoinedSound> sound;
    std::shared_ptr<RtpStream> stream;
  };
  Way way() {
    std::lock_guard<std::mutex> lock(mutex_);
    return way_;
  }

 private:
  Inbox inbox_;
  std::atomic<uint32_t> version_{0};
  std::mutex mutex_;  // guards what follows
  Way way_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_JOINED_LEG_H_
