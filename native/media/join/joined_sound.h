// The frames that a mixer encodes for one stream, on their way from the joining thread to the clock.
//
//   joining thread ──Put(tick)──▶ ring ──Take(tick)──▶ clock        clock ──next tick──▶ joining thread
//
// A frame is made for one tick of the stream. A frame that comes after its tick is never sent: the delay
// does not grow by it. The clock neither waits nor allocates.
#ifndef PARLEY_MEDIA_JOIN_JOINED_SOUND_H_
#define PARLEY_MEDIA_JOIN_JOINED_SOUND_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "audio/voice_codec.h"
#include "media/counters.h"
#include "media/record_ring.h"

namespace parley {

class JoinedSound {
 public:
  static constexpr int kRate = 16'000;                      // Hz of the mix
  static constexpr size_t kQuantum = kRate / 200;           // samples of the joining thread's step
  static constexpr int64_t kQuantumNs = 5'000'000;          // of the same
  static constexpr int64_t kMostPeriodNs = 60'000'000;      // of a frame
  static constexpr uint64_t kReplacesNothing = UINT64_MAX;  // the frame is sent where the queue has none

  struct Frame {
    const uint8_t* payload = nullptr;  // null: there is none for this tick
    size_t bytes = 0;
    uint64_t replaces = kReplacesNothing;  // number of the queue's entry that the frame contains
  };

  // Null without a codec, for a period that is no multiple of the quantum, or without memory.
  static std::shared_ptr<JoinedSound> Make(std::optional<VoiceCodec> codec, int64_t period_ns);
  JoinedSound(VoiceCodec codec, int64_t period_ns, std::unique_ptr<VoiceEncoder> encoder);

  VoiceCodec codec() const { return codec_; }
  int64_t period_ns() const { return period_ns_; }
  size_t samples() const { return static_cast<size_t>(period_ns_ / kQuantumNs) * kQuantum; }

  // The joining thread.
  VoiceEncoder& encoder() { return *encoder_; }
  // The stream's next tick; 0 before its first one.
  int64_t next_tick_ns() const { return next_tick_ns_.load(std::memory_order_acquire); }
  // False: the clock has not taken the frames before.
  bool Put(int64_t tick_ns, const uint8_t* payload, size_t bytes, uint64_t replaces) {
    return ring_.Write({tick_ns, replaces, static_cast<uint32_t>(bytes)}, payload);
  }
  // Frames that came after their tick.
  uint64_t missed() const { return missed_.value(); }

  // The clock, once in each tick. The payload is valid until the next call.
  Frame Take(int64_t tick_ns);

 private:
  static constexpr size_t kBytes = 8192;  // some four frames of L16

  struct Head {
    int64_t tick_ns;
    uint64_t replaces;
    uint32_t bytes;
  };

  const VoiceCodec codec_;
  const int64_t period_ns_;
  const std::unique_ptr<VoiceEncoder> encoder_;
  RecordRing<Head> ring_{kBytes};
  std::atomic<int64_t> next_tick_ns_{0};
  Counter missed_;
  bool taken_ = false;  // the clock's: the first record was handed out
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_JOINED_SOUND_H_
