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
  // Most orders that wait here.
  static constexpr size_t kMostOrders = 1024;
  // Most samples that wait here. Later sound stays in the source.
  static constexpr size_t kMost = size_t{60} * SoundReader::kRate;

  explicit LiveInput(const RecognitionRequest& request);

  void Add(const PlacedOrder& order);
  // Reads what there is. False with `problem` set: the sound cannot be used, or too many orders wait.
  bool Read(SoundReader& reader, std::string* problem);
  // Hands sound and orders over in the order of the sound, while `takes()`. True if there was something.
  template <class Takes, class Sound, class Order>
  bool HandOver(const SoundReader& reader, const Takes& takes, const Sound& sound, const Order& order) {
    bool any = false;
    while (takes()) {
      const std::vector<float> samples = TakeSound(reader);
      sound(samples);
      const std::optional<TurnOrder> next = TakeOrder(reader);
      any = any || next || !samples.empty();
      if (!next) break;
      order(*next);
    }
    return any;
  }
  // True once everything was taken and nothing will follow.
  bool Finished(const SoundReader& reader) const;
  size_t Bytes() const { return sound_.capacity() * sizeof(float); }

 private:
  // The sound before the next order, or all of it.
  std::vector<float> TakeSound(const SoundReader& reader);
  // The order whose place TakeSound has reached.
  std::optional<TurnOrder> TakeOrder(const SoundReader& reader);
  bool IsDue(const SoundReader& reader) const;

  const uint32_t rate_;  // of the source
  std::deque<PlacedOrder> orders_;
  std::vector<float> sound_;  // from the sample taken_ on
  uint64_t taken_ = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_LIVE_INPUT_H_
