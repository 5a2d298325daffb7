// How many frames are decoded at a time: one, so that the sound begins, then
// more, because many together cost less than each alone.
#ifndef PARLEY_RUNTIME_CHUNK_RAMP_H_
#define PARLEY_RUNTIME_CHUNK_RAMP_H_

#include <cstddef>

#include "runtime/engine.h"

namespace parley::runtime {

class ChunkRamp {
 public:
  static constexpr size_t kSizes[] = {1, 2, 4, 8, 12};  // frames

  // Frames of the chunk that is being gathered: a step more than the last one had, but only as
  // many as can be made, with as much time to spare, before what was written is played.
  size_t Size(Clock::duration ahead, Clock::duration frame) {
    rung_ = next_;
    while (rung_ > 0 && ahead / 2 < static_cast<Clock::rep>(kSizes[rung_]) * frame) rung_--;
    return kSizes[rung_];
  }

  // The chunk was decoded: the next one may be larger.
  void Next() {
    constexpr size_t kLast = sizeof kSizes / sizeof *kSizes - 1;
    next_ = rung_ < kLast ? rung_ + 1 : kLast;
  }

 private:
  size_t rung_ = 0;
  size_t next_ = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_CHUNK_RAMP_H_
