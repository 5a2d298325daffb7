#include "audio/tone_detector.h"

#include <algorithm>
#include <utility>

namespace parley {

ToneDetector::ToneDetector(int rate, ToneWishes wishes) : halves_(rate == 2 * kRate) {
  if (wishes.keys) keys_.emplace();
  if (wishes.tones) tones_.emplace(std::move(wishes.cadences));
}

size_t ToneDetector::Take(const float* samples, FoundTone out[kMostAtOnce]) {
  if (halves_) {
    halver_.Process(samples, kQuantum, quantum_.data());
    samples = quantum_.data();
  }
  taken_ += kQuantum;
  size_t count = 0;
  for (size_t at = 0; keys_ && at < kQuantum; at += DtmfDetector::kHop) {
    DtmfDetector::Key key;
    if (!keys_->Take(samples + at, &key)) continue;
    out[count++] = {true, key.event, 0, TimeOf(key.begin), TimeOf(key.end) - TimeOf(key.begin)};
  }
  if (!tones_) return count;
  CallTone tones[CallTones::kMostAtOnce];
  const size_t found = tones_->Take(samples, tones);
  for (size_t n = 0; n < found; n++) {
    const CallTone& tone = tones[n];
    const int64_t begin_us = TimeOf(tone.begin);
    out[count++] = {false, static_cast<uint8_t>(tone.kind), tone.hz, begin_us, TimeOf(tone.end) - begin_us};
  }
  return count;
}

size_t ToneDetector::Break(FoundTone out[kMostAtOnce]) {
  halver_.Reset();
  if (tones_) tones_->Break();
  DtmfDetector::Key key;
  if (!keys_ || !keys_->Break(&key)) return 0;
  out[0] = {true, key.event, 0, TimeOf(key.begin), TimeOf(key.end) - TimeOf(key.begin)};
  return 1;
}

// Without the delay of the filter.
int64_t ToneDetector::TimeOf(int64_t sample) const {
  const int64_t delay = halves_ ? static_cast<int64_t>(kHalfBandDelay) / 2 : 0;
  return std::max<int64_t>(0, sample - delay) * 1'000'000 / kRate;
}

}  // namespace parley
