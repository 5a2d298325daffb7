// Opus (RFC 6716) by libopus, behind the interfaces of voice_codec.h.
#ifndef PARLEY_AUDIO_OPUS_CODEC_H_
#define PARLEY_AUDIO_OPUS_CODEC_H_

#include <memory>

#include "audio/voice_codec.h"

namespace parley {

// Null for a rate other than 8000, 16,000 and 48,000 Hz, or without memory.
std::unique_ptr<VoiceDecoder> MakeOpusDecoder(int rate);
// 32 kbit/s for voice, with a copy of each frame of speech in the next payload (in-band FEC) for a loss of
// 10 %.
// With low delay: 64 kbit/s by the CELT layer alone, 2.5 ms of delay instead of 6.5 ms, no copies,
// and no prediction from the frame before.
std::unique_ptr<VoiceEncoder> MakeOpusEncoder(int rate, bool low_delay);

}  // namespace parley

#endif  // PARLEY_AUDIO_OPUS_CODEC_H_
