// Keys and tones in the sound of one caller, at their times on the plane's clock.
//
// An object belongs to one thread at a time.
#ifndef PARLEY_MEDIA_HEAR_TONE_WATCH_H_
#define PARLEY_MEDIA_HEAR_TONE_WATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "audio/tone_detector.h"
#include "media/hear/caller_sound.h"

namespace parley {

struct HeardTone {
  bool is_key;
  uint8_t event;  // of a key: RFC 4733. Otherwise a ToneKind
  double hz;      // 0 of a key
  int64_t at_ns, duration_ns;
};

struct HeardTones {
  // The list has room for the tones of a break and for those of the sound behind it.
  std::array<HeardTone, 2 * ToneDetector::kMostAtOnce> list;
  size_t count = 0;
};

class ToneWatch {
 public:
  explicit ToneWatch(ToneWishes wishes) : detector_(CallerSound::kRate, std::move(wishes)) {}

  // Takes CallerSound::kQuantum samples, of which the first is due at `at_ns`. Appends what they show.
  void Take(const float* samples, int64_t at_ns, HeardTones* tones);
  // Sound was left out: what was taken ends at `end_ns`.
  void Break(int64_t end_ns, HeardTones* tones);

 private:
  ToneDetector detector_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_TONE_WATCH_H_
