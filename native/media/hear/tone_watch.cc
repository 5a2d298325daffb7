#include "media/hear/tone_watch.h"

#include <algorithm>

namespace parley {
namespace {

static_assert(CallerSound::kQuantum * 1000 == ToneDetector::kQuantumMs * CallerSound::kRate,
              "a quantum of sound is one of the detector");

// `at_ns` is the time of `at_us` in the sound.
void Append(const FoundTone* found, size_t count, int64_t at_us, int64_t at_ns, HeardTones* tones) {
  for (size_t n = 0; n < count && tones->count < tones->list.size(); n++) {
    const FoundTone& tone = found[n];
    tones->list[tones->count++] = {tone.is_key, tone.event, tone.hz, at_ns + (tone.begin_us - at_us) * 1000,
                                   tone.length_us * 1000};
  }
}

}  // namespace

void ToneWatch::Take(const float* samples, int64_t at_ns, HeardTones* tones) {
  FoundTone found[ToneDetector::kMostAtOnce];
  const int64_t at_us = detector_.position_us();
  Append(found, detector_.Take(samples, found), at_us, at_ns, tones);
}

void ToneWatch::Break(int64_t end_ns, HeardTones* tones) {
  FoundTone found[ToneDetector::kMostAtOnce];
  Append(found, detector_.Break(found), detector_.position_us(), end_ns, tones);
}

}  // namespace parley
