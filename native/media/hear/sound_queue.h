// Decoded sound that waits to be pulled, with a little of what was pulled before it, which time stretching
// reads. Where sound follows that does not continue the sound before, a decaying offset bridges the step.
#ifndef PARLEY_MEDIA_HEAR_SOUND_QUEUE_H_
#define PARLEY_MEDIA_HEAR_SOUND_QUEUE_H_

#include <cstddef>
#include <vector>

namespace parley {

class SoundQueue {
 public:
  // Room for `waiting` samples, and `history` before them.
  SoundQueue(size_t history, size_t waiting);

  size_t size() const { return tail_ - head_; }
  // Returns a place for `count` more samples, valid until the next call. Append makes them part of the queue.
  float* Room(size_t count);
  // Leaves out the first `skip` samples that were written into Room, and appends `count` after them.
  void Append(size_t count, size_t skip = 0);
  void AppendSilence(size_t count);
  // The next samples do not continue the sound before.
  void Break() { broken_ = true; }

  // The first sample that waits; at least `history` samples are before it.
  float* head() { return sound_.data() + head_; }
  // Moves the head: samples were removed, or (negative) inserted there in place.
  void Move(std::ptrdiff_t count) { head_ = static_cast<size_t>(static_cast<std::ptrdiff_t>(head_) + count); }
  void Take(size_t count, float* out);

 private:
  static constexpr size_t kBridge = 64;  // samples: 4 ms

  void Bridge(float* samples, size_t count);

  const size_t history_;
  std::vector<float> sound_;
  size_t head_, tail_;
  bool broken_ = false, silent_ = true;
  float offset_ = 0;
  size_t offset_left_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_SOUND_QUEUE_H_
