// An output holds what one member hears: the last 60 ms of its mix, and the frame that is encoded of it.
// Members that hear the same share the output of one of them.
#ifndef PARLEY_MEDIA_JOIN_MIX_OUTPUT_H_
#define PARLEY_MEDIA_JOIN_MIX_OUTPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "media/join/joined_sound.h"
#include "media/join/limiter.h"
#include "media/playout_queue.h"

namespace parley {

class MixOutput {
 public:
  static constexpr size_t kMostSamples =
      static_cast<size_t>(JoinedSound::kMostPeriodNs / JoinedSound::kQuantumNs) * JoinedSound::kQuantum;

  // Appends a quantum. It is limited in place. Null: silence.
  void Append(float* quantum);
  // Goes on from where the other one is.
  void CopyFrom(const MixOutput& other);
  // The last `samples` samples are silent, and so are those before that a codec still has to sound.
  bool IsSilent(size_t samples) const { return silent_ >= samples + kTail; }
  bool limits() const { return !limiter_.idle(); }
  const float* Last(size_t samples) const { return history_.data() + kMostSamples - samples; }

  // Encodes the last frame, once in a quantum. Returns its bytes: 0 for silence, or where the codec refuses.
  size_t Encode(int64_t quantum, JoinedSound& sound);
  // Encodes these samples instead.
  size_t EncodeThese(const float* samples, JoinedSound& sound);
  bool IsEncoded(int64_t quantum) const { return encoded_ == quantum; }
  const uint8_t* payload() const { return payload_.data(); }
  // The next frame does not depend on the one before: its decoder followed another encoder.
  void BeginAnew() { begins_anew_ = true; }

 private:
  static constexpr size_t kTail = 2 * JoinedSound::kQuantum;  // longer than the delay of any codec

  std::array<float, kMostSamples> history_{};
  size_t silent_ = kMostSamples + kTail;  // last samples that are silent; so many at the most
  Limiter limiter_;
  int64_t encoded_ = -1;  // quantum of the payload
  size_t bytes_ = 0;
  bool begins_anew_ = true;
  std::array<uint8_t, PlayoutQueue::kMaxPayload> payload_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_MIX_OUTPUT_H_
