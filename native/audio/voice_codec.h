// Encoders and decoders of the codecs that calls use. Samples are mono floats from -1 to 1 at the rate that
// the codec object was made for, whatever the rate inside the codec is.
//
// An object belongs to one thread at a time. After Make nothing is allocated.
//
// Encoder and decoder together delay G.722 by 1.4 ms and Opus by 6.5 ms or more. At 16 kHz the decoder of
// G.711 delays by 1.7 ms, and so does its encoder; those of L16 delay by 1.3 and 1.5 ms.
#ifndef PARLEY_AUDIO_VOICE_CODEC_H_
#define PARLEY_AUDIO_VOICE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace parley {

enum class VoiceCodec : uint8_t { kPcmu, kPcma, kG722, kOpus, kL16 };  // L16 at 24 kHz

class VoiceDecoder {
 public:
  static constexpr int kMostMs = 120;  // of one payload (RFC 6716, section 2.1.4)

  // `rate` in Hz: 8000 for G.711 and Opus, 16,000 for every codec, 24,000 for L16, 48,000 for Opus. Null for
  // another rate, or without memory.
  static std::unique_ptr<VoiceDecoder> Make(VoiceCodec codec, int rate);
  virtual ~VoiceDecoder() = default;

  // Samples of the payload, at most kMostMs of them. 0 for a payload that is malformed, empty or longer.
  // Decodes nothing.
  virtual size_t SamplesIn(const uint8_t* payload, size_t bytes) const = 0;
  // Decodes the payload that follows what was decoded or concealed before. Writes SamplesIn samples and
  // returns their number. 0 for a malformed payload: the decoder is as before.
  virtual size_t Decode(const uint8_t* payload, size_t bytes, float* out) = 0;
  // Replaces `samples` samples that were lost just before `next`, from the error correction in `next`
  // (Opus, RFC 6716, section 2.1.7). The loss is one Opus frame, or longer by multiples of 10 ms, which are
  // concealed. False: there is none, nothing was written, and the decoder is as before.
  virtual bool Recover(const uint8_t* next, size_t bytes, size_t samples, float* out) = 0;
  // Conceals `samples` lost samples, any number: they continue the sound before and fade to silence, for
  // Opus to the background noise. Opus is concealed in pieces of 10 ms: the rest of a piece overlaps the
  // next payload.
  virtual void Conceal(size_t samples, float* out) = 0;
  // As after Make.
  virtual void Reset() = 0;
};

class VoiceEncoder {
 public:
  // Rates as for decoders. Opus has 32 kbit/s and error correction for a loss of 10 %.
  static std::unique_ptr<VoiceEncoder> Make(VoiceCodec codec, int rate);
  // Opus by its CELT layer alone, whose loudness may fall steeply within a frame: 64 kbit/s, 2.5 ms of delay,
  // no error correction, and no prediction from the frame before, so that a decoder in any state plays it.
  // Other codecs as by Make.
  static std::unique_ptr<VoiceEncoder> MakeLowDelay(VoiceCodec codec, int rate);
  virtual ~VoiceEncoder() = default;

  // Encodes one frame of 10 to 60 ms, for Opus 10, 20, 40 or 60 ms. Returns the bytes written; 0 where
  // `room` is too small or the length is none of the codec's.
  virtual size_t Encode(const float* samples, size_t count, uint8_t* out, size_t room) = 0;
  virtual void Reset() = 0;
  // The next frame does not depend on the frames before it: its decoder has followed another encoder.
  virtual void BeginAnew() {}
  // States that the sound from the next frame on has nothing above 4 kHz, as G.711 has: Opus then encodes
  // a narrow band, for half of the work. A change of the band would click in the far end's decoder. So Opus
  // changes at the first pause, and without one in steps that take 10 s.
  virtual void SetNarrow(bool) {}
  // The sound pauses: no frame was encoded.
  virtual void Pause() {}
};

}  // namespace parley

#endif  // PARLEY_AUDIO_VOICE_CODEC_H_
