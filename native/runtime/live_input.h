// Keeps the sound of a live caller and the orders about its turns, each order at its place in the sound.
// Sound and orders of the next turn wait here while the engine computes the last text of a turn.
#ifndef PARLEY_RUNTIME_LIVE_INPUT_H_
#define PARLEY_RUNTIME_LIVE_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runtime/recogniser.h"
#include "runtime/sound_reader.h"

namespace parley::runtime {

class LiveInput {
 public:
  // Most samples that wait here. Later sound stays in the source.
  static constexpr size_t kMost = size_t{60} * SoundReader::kRate;

  explicit LiveInput(const RecognitionRequest& request);

  void Add(const PlacedOrder& order);
  // Reads what there is. False with `problem` set: the sound cannot be used.
  bool Read(SoundReader& reader, std::string* problem);
  // Takes the sound before the next order, which may be none.
  std::vector<float> TakeSound(const SoundReader& reader);
  // Takes the order whose place TakeSound has reached.
  std::optional<TurnOrder> TakeOrder(const SoundReader& reader);
  // True once everything was taken and nothing will follow.
  bool Finished(const SoundReader& reader) const;
  size_t Bytes() const { return sound_.capacity() * sizeof(float); }

 private:
  bool IsDue(const SoundReader& reader) const;

  const uint32_t rate_;  // of the source
  std::deque<PlacedOrder> orders_;
  std::vector<float> sound_;  // from the sample taken_ on
  uint64_t taken_ = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_LIVE_INPUT_H_
