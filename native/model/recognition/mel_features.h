// The log-mel features of a sound that grows (Whisper's: the logarithm's floor lies 8 below its maximum over
// the whole sound, so a louder sound changes frames that came before).
#ifndef PARLEY_MODEL_RECOGNITION_MEL_FEATURES_H_
#define PARLEY_MODEL_RECOGNITION_MEL_FEATURES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/log_mel.h"

namespace parley::model {

// The number of frames of a sound whose samples are no multiple of the hop.
enum class LastFrame {
  kDropped,  // what is left over has none: for whole sounds
  kFilled,   // it is filled up with zeros: for streams
};

// Equal for two states of a chunk whose features are equal.
struct ChunkKey {
  size_t frames = 0;
  size_t samples = 0;  // of the sound, if its end is seen in the chunk; else 0
  float floor = 0;     // of its values, if there are lower ones; else the least number

  bool operator==(const ChunkKey& other) const {
    return frames == other.frames && samples == other.samples && floor == other.floor;
  }
  bool operator!=(const ChunkKey& other) const { return !(*this == other); }
};

class MelFeatures {
 public:
  // Fewer samples have no features: the margin cannot be reflected.
  static constexpr size_t kLeastSamples = kRecognitionMel.margin + 1;

  // `mel` outlives it.
  explicit MelFeatures(const LogMel& mel);

  void Push(const float* samples, size_t count);  // of 16 kHz
  size_t samples() const { return samples_; }
  size_t Bytes() const { return (tail_.capacity() + values_.capacity()) * sizeof(float); }

  // Computes frames that no later sample changes, at most so many. Returns true if there are more. End
  // computes the rest. Calls of this function divide that time.
  bool Settle(size_t most_frames);
  // Ends the sound here, until more is pushed, or before that after so many frames. Returns its frames.
  size_t End(LastFrame last, size_t most_frames = SIZE_MAX);

  // Returns the key of a chunk of the sound as it ended last.
  ChunkKey KeyOf(size_t chunk) const;
  // Frames [first, first + count) as the encoder reads them: [count, bands].
  void Read(size_t first, size_t count, float* features) const;

 private:
  float* Frames(size_t first, size_t count);
  float FloorNow() const { return most_ - 8; }

  const LogMel& mel_;
  const size_t bands_;
  std::vector<float> tail_;  // samples from tail_begin_ on
  size_t tail_begin_ = 0, samples_ = 0;
  size_t settled_ = 0;             // frames that no later sample changes
  size_t frames_ = 0, ended_ = 0;  // as it ended last; its samples then
  std::vector<float> values_;      // [frames, bands] without a floor
  std::vector<float> least_;       // of each chunk's settled frames
  float settled_most_;             // of all settled frames
  float most_;                     // as it ended last
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_MEL_FEATURES_H_
