// G.711 and G.722 behind the interfaces of voice_codec.h.
#ifndef PARLEY_AUDIO_WAVEFORM_CODEC_H_
#define PARLEY_AUDIO_WAVEFORM_CODEC_H_

#include <memory>

#include "audio/voice_codec.h"

namespace parley {

// Null for another codec or rate, or without memory.
std::unique_ptr<VoiceDecoder> MakeWaveformDecoder(VoiceCodec codec, int rate);
std::unique_ptr<VoiceEncoder> MakeWaveformEncoder(VoiceCodec codec, int rate);

}  // namespace parley

#endif  // PARLEY_AUDIO_WAVEFORM_CODEC_H_
