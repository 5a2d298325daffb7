// The sound that a call sends, as samples of the local clock, delayed so that it lies beside the caller's
// sound of the same moment. Pauses are zeros.
//
//   tap ──▶ decode ──▶ samples at their due time ──▶ Read: those that are due at `now - delay`
//
// An object belongs to one thread at a time.
#ifndef PARLEY_MEDIA_HEAR_SENT_SOUND_H_
#define PARLEY_MEDIA_HEAR_SENT_SOUND_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "audio/voice_codec.h"
#include "media/hear/caller_sound.h"
#include "media/hear/packet_buffer.h"
#include "media/hear/sent_tap.h"
#include "media/time.h"

namespace parley {

class SentSound {
 public:
  static constexpr int64_t kQuantumNs = kNsPerSecond * int64_t{CallerSound::kQuantum} / CallerSound::kRate;
  static constexpr int64_t kMostOffNs = 4 * kNsPerMs;

  explicit SentSound(std::shared_ptr<SentTap> tap) : tap_(std::move(tap)) {}

  // Writes CallerSound::kQuantum samples that were due at `now_ns - delay_ns`. A change of the delay waits
  // for a pause, unless it is more than kMostOffNs. A delay below one quantum counts as one: later samples
  // have not left yet. False: all are zero.
  bool Read(int64_t now_ns, int64_t delay_ns, float* out);

 private:
  // Samples: the longest delay of a jitter buffer, a quantum, and the longest frame before and after.
  static constexpr int64_t kKept = 24'576;
  static_assert(kKept >= PacketBuffer::kMostSamples + CallerSound::kQuantum +
                             2 * CallerSound::kRate * VoiceDecoder::kMostMs / 1000,
                "our side is kept for as long as the caller's waits");

  void Decode(int64_t now_ns);
  void DecodeOne(const SentVoice& voice, const uint8_t* payload);
  void Write(int64_t at, size_t count);
  bool Copy(int64_t at, float* out) const;
  int64_t IndexOf(int64_t ns) const;

  const std::shared_ptr<SentTap> tap_;
  std::optional<VoiceCodec> codec_;  // of decoder_
  std::unique_ptr<VoiceDecoder> decoder_;
  int64_t delay_ns_ = -1;   // in use; negative: none yet
  int64_t origin_ns_ = -1;  // the due time of sample 0; negative: nothing was sent yet
  int64_t end_ = 0;         // samples before this one were written, those of pauses excepted
  std::array<float, kKept> samples_{};
  std::array<float, CallerSound::kRate * VoiceDecoder::kMostMs / 1000> frame_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_SENT_SOUND_H_
