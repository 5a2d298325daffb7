// L16 (RFC 3551, section 4.5.11) at 24 kHz behind the interfaces of voice_codec.h: 16-bit samples, the most
// significant byte first. For calls whose sound does not cross a network as RTP.
#ifndef PARLEY_AUDIO_L16_CODEC_H_
#define PARLEY_AUDIO_L16_CODEC_H_

#include <memory>

#include "audio/voice_codec.h"

namespace parley {

// Null for a rate other than 16,000 and 24,000 Hz, or without memory. At 16 kHz a payload must have whole
// milliseconds, and the sound is delayed by 1.3 ms.
std::unique_ptr<VoiceDecoder> MakeL16Decoder(int rate);
// Null for a rate other than 16,000 and 24,000 Hz, or without memory. At 16 kHz a frame must have an even
// number of samples, and the sound is delayed by 1.5 ms.
std::unique_ptr<VoiceEncoder> MakeL16Encoder(int rate);

}  // namespace parley

#endif  // PARLEY_AUDIO_L16_CODEC_H_
