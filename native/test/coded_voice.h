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

constexpr size_t kCodedSamples = 320;  // of a packet: 20 ms at 16 kHz

struct CodedVoice {
  Sound sound;  // 16 kHz
  std::vector<std::vector<uint8_t>> packets;
  uint32_t clock_rate;
};

inline CodedVoice Coded(VoiceCodec codec, size_t packets) {
  CodedVoice coded;
  coded.clock_rate = codec == VoiceCodec::kOpus ? 48'000 : 8000;
  coded.sound = Voice(16'000, packets * kCodedSamples);
  const std::unique_ptr<VoiceEncoder> encoder = VoiceEncoder::Make(codec, 16'000);
  for (size_t n = 0; n < packets; n++) {
    uint8_t payload[1500];
    const size_t bytes =
        encoder->Encode(coded.sound.data() + n * kCodedSamples, kCodedSamples, payload, sizeof(payload));
    coded.packets.emplace_back(payload, payload + bytes);
  }
  return coded;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_CODED_VOICE_H_
