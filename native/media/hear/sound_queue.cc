#include "media/hear/sound_queue.h"

#include <algorithm>

namespace parley {

SoundQueue::SoundQueue(size_t history, size_t waiting)
    : history_(history), sound_(2 * history + waiting), head_(history), tail_(history) {}

float* SoundQueue::Room(size_t count) {
  if (tail_ + count > sound_.size()) {
    const size_t moved = head_ - std::min(head_, history_);
    std::copy(sound_.data() + moved, sound_.data() + tail_, sound_.data());
    head_ -= moved;
    tail_ -= moved;
  }
  return sound_.data() + tail_;
}

void SoundQueue::Append(size_t count, size_t skip) {
  float* const samples = sound_.data() + tail_;
  if (skip > 0) std::copy(samples + skip, samples + skip + count, samples);
  if (silent_) broken_ = true;
  silent_ = false;
  Bridge(samples, count);
  tail_ += count;
}

void SoundQueue::AppendSilence(size_t count) {
  float* const samples = Room(count);
  std::fill_n(samples, count, 0.0F);
  if (!silent_) broken_ = true;
  silent_ = true;
  Bridge(samples, count);
  tail_ += count;
}

void SoundQueue::Bridge(float* samples, size_t count) {
  if (broken_ && count > 0) {
    broken_ = false;
    offset_ = samples[-1] - samples[0];
    offset_left_ = kBridge;
  }
  for (size_t n = 0; n < count && offset_left_ > 0; n++, offset_left_--) {
    const float part = static_cast<float>(offset_left_) / (kBridge + 1);
    samples[n] += offset_ * part * part * (3 - 2 * part);
  }
}

void SoundQueue::Take(size_t count, float* out) {
  std::copy_n(head(), count, out);
  head_ += count;
}

}  // namespace parley
