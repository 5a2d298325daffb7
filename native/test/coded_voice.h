// A voice in packets of a real codec, for tests and benches of hearing.
#ifndef PARLEY_TEST_CODED_VOICE_H_
#define PARLEY_TEST_CODED_VOICE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "audio/voice_codec.h"
#include "test/sounds.h"

namespace parley::test {

constexpr size_t kCodedSamples = 320;  // of a decoded packet: 20 ms at 16 kHz

struct CodedVoice {
  Sound sound;  // 16 kHz; 24 kHz for L16
  std::vector<std::vector<uint8_t>> packets;
  uint32_t clock_rate;
};

inline CodedVoice Coded(VoiceCodec codec, size_t packets) {
  CodedVoice coded;
  const bool is_l16 = codec == VoiceCodec::kL16;
  const int rate = is_l16 ? 24'000 : 16'000;
  const size_t samples = static_cast<size_t>(rate) / 50;
  coded.clock_rate = is_l16 ? 24'000 : codec == VoiceCodec::kOpus ? 48'000 : 8000;
  coded.sound = Voice(rate, packets * samples);
  const std::unique_ptr<VoiceEncoder> encoder = VoiceEncoder::Make(codec, rate);
  for (size_t n = 0; n < packets; n++) {
    uint8_t payload[1500];
    const size_t bytes = encoder->Encode(coded.sound.data() + n * samples, samples, payload, sizeof(payload));
    coded.packets.emplace_back(payload, payload + bytes);
  }
  return coded;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_CODED_VOICE_H_
