#include "model/recognition/mel_features.h"

#include <algorithm>
#include <limits>

#include "model/recognition/recognition_config.h"

namespace parley::model {
namespace {

constexpr float kLeast = std::numeric_limits<float>::lowest();
constexpr float kMost = std::numeric_limits<float>::max();

float LargestOf(const float* values, size_t count) {
  return count == 0 ? kLeast : *std::max_element(values, values + count);
}
float SmallestOf(const float* values, size_t count) {
  return count == 0 ? kMost : *std::min_element(values, values + count);
}

}  // namespace

MelFeatures::MelFeatures(const LogMel& mel)
    : mel_(mel), bands_(mel.shape().bands), settled_most_(kLeast), most_(kLeast) {}

void MelFeatures::Push(const float* samples, size_t count) {
  tail_.insert(tail_.end(), samples, samples + count);
  samples_ += count;
}

// Computes frames from `first` on, which end the values.
float* MelFeatures::Frames(size_t first, size_t count) {
  values_.resize((first + count) * bands_);
  return values_.data() + first * bands_;
}

bool MelFeatures::Settle(size_t most_frames) {
  if (samples_ < kLeastSamples) return false;
  const size_t all = mel_.SettledFrames(samples_);
  const size_t settled = settled_ + std::min(most_frames, all - std::min(all, settled_));
  if (settled > settled_) {
    float* const fresh = Frames(settled_, settled - settled_);
    mel_.Of(tail_.data(), tail_begin_, samples_, settled_, settled - settled_, fresh);
    settled_most_ = std::max(settled_most_, LargestOf(fresh, (settled - settled_) * bands_));
    for (size_t t = settled_; t < settled; t++) {
      const size_t chunk = t / kChunkFrames;
      if (chunk == least_.size()) least_.push_back(kMost);
      least_[chunk] = std::min(least_[chunk], SmallestOf(values_.data() + t * bands_, bands_));
    }
    settled_ = settled;
  }
  return settled_ < all;
}

size_t MelFeatures::End(LastFrame last, size_t most_frames) {
  ended_ = samples_;
  if (samples_ < kLeastSamples) return frames_ = 0;
  const size_t hop = mel_.shape().hop;
  Settle(SIZE_MAX);
  // Samples that no frame to come is made of are dropped.
  const size_t needed = std::min(mel_.FirstSampleOf(settled_), samples_);
  if (needed > tail_begin_) {
    tail_.erase(tail_.begin(), tail_.begin() + static_cast<ptrdiff_t>(needed - tail_begin_));
    tail_begin_ = needed;
  }
  const size_t filled = last == LastFrame::kFilled ? (samples_ + hop - 1) / hop * hop : samples_;
  tail_.resize(filled - tail_begin_, 0.0f);
  frames_ = mel_.FramesOf(filled);
  const size_t loose = frames_ - std::min(frames_, settled_);
  float* const at = Frames(settled_, loose);
  if (loose > 0) mel_.Of(tail_.data(), tail_begin_, filled, settled_, loose, at);
  tail_.resize(samples_ - tail_begin_);
  most_ = std::max(settled_most_, LargestOf(at, loose * bands_));
  return frames_ = std::min(frames_, most_frames);
}

ChunkKey MelFeatures::KeyOf(size_t chunk) const {
  const size_t first = chunk * kChunkFrames, end = std::min(first + kChunkFrames, frames_);
  float least = chunk < least_.size() ? least_[chunk] : kMost;
  if (end > settled_) {
    const size_t from = std::max(first, settled_);
    least = std::min(least, SmallestOf(values_.data() + from * bands_, (end - from) * bands_));
  }
  ChunkKey key;
  key.frames = end - first;
  key.samples = end > settled_ ? ended_ : 0;
  key.floor = least < FloorNow() ? FloorNow() : kLeast;
  return key;
}

void MelFeatures::Read(size_t first, size_t count, float* features) const {
  const float floor = FloorNow();
  const float* const from = values_.data() + first * bands_;
  for (size_t i = 0; i < count * bands_; i++) features[i] = (std::max(from[i], floor) + 4) / 4;
}

}  // namespace parley::model
