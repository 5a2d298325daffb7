// A voice in packets of the real codecs, as a listener hears it.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "media/hear/caller_sound.h"
#include "media/random.h"
#include "test/check.h"
#include "test/coded_voice.h"

namespace parley::test {
namespace {

constexpr VoiceCodec kCodecs[] = {VoiceCodec::kPcmu, VoiceCodec::kPcma, VoiceCodec::kG722, VoiceCodec::kOpus,
                                  VoiceCodec::kL16};
constexpr int64_t kMs = 1'000'000;
constexpr size_t kPackets = 500;

struct Hearing {
  Sound sound;  // from the least delay after the first arrival
  HearingFigures figures;
};

// Packet n comes at 20 n ms, if it is not lost; sound begins 20 ms later.
Hearing Hear(const CodedVoice& coded, VoiceCodec codec, double loss) {
  CallerSound sound{CallerSound::Limits{}};
  Random random(11);
  Hearing hearing;
  size_t next = 0;
  for (int64_t now = 20 * kMs; now < static_cast<int64_t>(kPackets) * 20 * kMs; now += 16 * kMs) {
    for (; next < kPackets && static_cast<int64_t>(next) * 20 * kMs <= now; next++) {
      HeardPacket packet;
      packet.codec = codec;
      packet.clock_rate = coded.clock_rate;
      packet.sequence = next;
      packet.timestamp = next * coded.clock_rate / 50;
      packet.arrival_ns = static_cast<int64_t>(next) * 20 * kMs;
      packet.payload = coded.packets[next].data();
      packet.bytes = coded.packets[next].size();
      if (next == 0 || random.Unit() >= loss) sound.Put(packet);
    }
    float out[CallerSound::kQuantum];
    sound.Pull(now, out);
    hearing.sound.insert(hearing.sound.end(), std::begin(out), std::end(out));
  }
  hearing.figures = sound.figures();
  return hearing;
}

void ACleanStreamIsWhatTheDecoderYields() {
  for (const VoiceCodec codec : kCodecs) {
    const CodedVoice coded = Coded(codec, kPackets);
    const Hearing hearing = Hear(coded, codec, 0);
    const std::unique_ptr<VoiceDecoder> decoder = VoiceDecoder::Make(codec, 16'000);
    Sound decoded;
    for (const std::vector<uint8_t>& packet : coded.packets) {
      float out[kCodedSamples];
      CHECK_EQ(decoder->Decode(packet.data(), packet.size(), out), kCodedSamples);
      decoded.insert(decoded.end(), std::begin(out), std::end(out));
    }
    // 4 ms lead from silence into the sound.
    CHECK(std::equal(hearing.sound.begin() + 64, hearing.sound.end(), decoded.begin() + 64));
    CHECK_EQ(hearing.figures.concealed + hearing.figures.stretched, uint64_t{0});
  }
}

double Level(const Sound& sound) { return std::sqrt(Energy(sound.data(), sound.size()) / sound.size()); }

// Loss changes the level by the concealment's fading, and adds no louder sound.
void LossIsConcealedWithoutClicks() {
  for (const VoiceCodec codec : kCodecs) {
    const CodedVoice coded = Coded(codec, kPackets);
    const Hearing clean = Hear(coded, codec, 0), hearing = Hear(coded, codec, 0.05);
    CHECK(hearing.figures.lost_packets > 15 && hearing.figures.lost_packets < 40);
    CHECK_EQ(hearing.figures.concealed + hearing.figures.recovered, hearing.figures.lost_packets * 320);
    CHECK((hearing.figures.recovered > 0) == (codec == VoiceCodec::kOpus));
    const double change = 20 * std::log10(Level(hearing.sound) / Level(clean.sound));
    CHECK(std::abs(change) < 1);
    const float steepest = BiggestStep(clean.sound, 64, clean.sound.size());
    CHECK(BiggestStep(hearing.sound, 64, hearing.sound.size()) < 1.25F * steepest);
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(caller_codecs) {
  using namespace parley::test;
  return Run({{"a clean stream is what the decoder yields", ACleanStreamIsWhatTheDecoderYields},
              {"loss is concealed without clicks", LossIsConcealedWithoutClicks}});
}
