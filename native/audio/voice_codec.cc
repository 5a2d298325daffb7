#include "audio/voice_codec.h"

#include "audio/l16_codec.h"
#include "audio/opus_codec.h"
#include "audio/waveform_codec.h"

namespace parley {

std::unique_ptr<VoiceDecoder> VoiceDecoder::Make(VoiceCodec codec, int rate) {
  if (codec == VoiceCodec::kL16) return MakeL16Decoder(rate);
  return codec == VoiceCodec::kOpus ? MakeOpusDecoder(rate) : MakeWaveformDecoder(codec, rate);
}

std::unique_ptr<VoiceEncoder> VoiceEncoder::Make(VoiceCodec codec, int rate) {
  if (codec == VoiceCodec::kL16) return MakeL16Encoder(rate);
  return codec == VoiceCodec::kOpus ? MakeOpusEncoder(rate, false) : MakeWaveformEncoder(codec, rate);
}

std::unique_ptr<VoiceEncoder> VoiceEncoder::MakeLowDelay(VoiceCodec codec, int rate) {
  if (codec == VoiceCodec::kL16) return MakeL16Encoder(rate);
  return codec == VoiceCodec::kOpus ? MakeOpusEncoder(rate, true) : MakeWaveformEncoder(codec, rate);
}

}  // namespace parley
