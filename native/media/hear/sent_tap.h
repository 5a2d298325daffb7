// The voice that a call's stream sends, on its way from the clock to the thread that listens. The clock
// neither waits nor allocates: a frame without room is dropped. A missing frame means silence.
#ifndef PARLEY_MEDIA_HEAR_SENT_TAP_H_
#define PARLEY_MEDIA_HEAR_SENT_TAP_H_

#include <cstddef>
#include <cstdint>

#include "audio/voice_codec.h"
#include "media/record_ring.h"

namespace parley {

struct SentVoice {
  int64_t due_ns;  // of its first sample
  uint32_t bytes;
  VoiceCodec codec;
};

class SentTap {
 public:
  static constexpr size_t kBytes = size_t{1} << 14;  // a second and a half of G.711

  // The clock. One stream at a time; a call's streams follow each other.
  void Put(int64_t due_ns, VoiceCodec codec, const uint8_t* payload, size_t bytes) {
    ring_.Write({due_ns, static_cast<uint32_t>(bytes), codec}, payload);
  }

  // Reader: the oldest frame, valid until Pop(). False when there is none.
  bool Front(SentVoice* voice, const uint8_t** payload) { return ring_.Front(voice, payload); }
  void Pop() { ring_.Pop(); }

 private:
  RecordRing<SentVoice> ring_{kBytes};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_SENT_TAP_H_
