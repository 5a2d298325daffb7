// After Make, codecs ask for no memory.
#include <vector>

#include "audio/voice_codec.h"
#include "test/check.h"
#include "test/counted_memory.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

void UseAll(VoiceEncoder& encoder, VoiceDecoder& decoder, const Sound& sound, size_t frame, Sound& out) {
  uint8_t payload[1500];
  for (size_t at = 0; at + frame <= sound.size(); at += frame) {
    const size_t bytes = encoder.Encode(&sound[at], frame, payload, sizeof(payload));
    const bool lost = at / frame % 4 == 3;
    if (lost && !decoder.Recover(payload, bytes, frame, out.data())) decoder.Conceal(frame - 7, out.data());
    decoder.Decode(payload, bytes, out.data());
    decoder.Decode(payload, bytes / 2, out.data());
  }
  decoder.Conceal(5 * frame, out.data());
  encoder.Reset();
  decoder.Reset();
}

void NothingIsAllocatedAfterMake() {
  for (const VoiceCodec codec :
       {VoiceCodec::kPcmu, VoiceCodec::kPcma, VoiceCodec::kG722, VoiceCodec::kOpus, VoiceCodec::kL16}) {
    const int rate = codec == VoiceCodec::kL16 ? 24'000 : 16'000;
    const auto encoder = VoiceEncoder::Make(codec, rate);
    const auto decoder = VoiceDecoder::Make(codec, rate);
    const Sound sound = Voice(rate, 16'000);
    Sound out(2880);
    const size_t before = Allocations().own;
    UseAll(*encoder, *decoder, sound, static_cast<size_t>(rate) / 50, out);
    CHECK_EQ(Allocations().own, before);
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(voice_codec_memory) {
  using namespace parley::test;
  return Run({{"nothing is allocated after Make", NothingIsAllocatedAfterMake}});
}
