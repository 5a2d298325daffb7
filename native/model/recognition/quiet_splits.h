// Cuts long sound at quiet places into pieces that are recognised on their own. The places are those of the
// package qwen-asr 0.0.6 (inference/utils.py), found while the sound comes, in the memory of one piece.
#ifndef PARLEY_MODEL_RECOGNITION_QUIET_SPLITS_H_
#define PARLEY_MODEL_RECOGNITION_QUIET_SPLITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace parley::model {

// Divides a sound by its peak where that is above 1, as the package does with what it is given.
void Level(std::vector<float>* samples);

// The first least sample of the first quietest tenth of a second.
size_t QuietestPlace(const float* samples, size_t count);

class QuietSplits {
 public:
  static constexpr size_t kRate = 16'000;
  static constexpr size_t kSearch = 5 * kRate;  // samples around the limit in which the quiet place is
  static constexpr size_t kWindow = kRate / 10;
  static constexpr size_t kLeastPiece = kRate / 2;  // a shorter piece of cut sound is filled up with zeros

  struct Piece {
    uint64_t first = 0;          // its place in the sound, in samples
    std::vector<float> samples;  // of 16 kHz
  };

  // `limit`: samples of a piece, from which on up to kSearch may be added.
  explicit QuietSplits(size_t limit);

  void Push(const float* samples, size_t count);
  // Samples that may come before Next() has a piece. More do no harm.
  size_t Missing() const;
  // The next piece, if it is certain where it ends.
  std::optional<Piece> Next();
  bool HasMore() const { return !samples_.empty(); }
  // The sound is over: Next() gives all that is left.
  void Finish() { finished_ = true; }

 private:
  size_t BoundaryOf(size_t count) const;
  Piece Cut(size_t count);

  const size_t limit_;
  std::vector<float> samples_;  // not given yet
  uint64_t first_ = 0;
  bool finished_ = false;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_QUIET_SPLITS_H_
