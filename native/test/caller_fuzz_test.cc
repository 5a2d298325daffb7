// Feeds packets that far ends should not send, and asks for sound at any time: whatever comes, each pull
// yields finite samples, and counters only grow. The codecs are the real ones.
#include <cmath>
#include <string>

#include "media/hear/caller_sound.h"
#include "media/random.h"
#include "test/fuzz_run.h"

namespace parley::test {
namespace {

class Attack {
 public:
  explicit Attack(uint64_t seed) : random_(seed), sound_(CallerSound::Limits{}) {}

  size_t Run() {
    for (size_t n = 0; n < kSteps; n++) {
      if (Chance(0.02)) mood_ = random_.Next() % 6;
      const size_t packets = mood_ == 5 ? random_.Next() % 40 : random_.Next() % 3;
      for (size_t k = 0; k < packets; k++) Put();
      if (Chance(0.002)) sound_.Restart();
      if (mood_ != 4 || Chance(0.2)) Pull();
    }
    return fed_;
  }

 private:
  static constexpr size_t kSteps = 3000;

  bool Chance(double share) { return random_.Unit() < share; }

  void Put() {
    HeardPacket packet;
    const uint64_t kind = random_.Next() % 20;
    packet.kind = kind == 0   ? HeardPacket::kComfortNoise
                  : kind == 1 ? HeardPacket::kEvent
                              : HeardPacket::kSound;
    if (Chance(0.01)) codec_ = static_cast<VoiceCodec>(random_.Next() % 6);
    packet.codec = codec_;
    packet.clock_rate = codec_ == VoiceCodec::kOpus ? 48'000 : 8000;
    if (Chance(0.01)) packet.clock_rate = static_cast<uint32_t>(random_.Next() % 300'000);
    sequence_ += Chance(0.9) ? 1 : random_.Next() % 30 - 15;
    timestamp_ += Chance(0.9) ? packet.clock_rate / 50 : random_.Next() % 100'000 - 50'000;
    packet.sequence = mood_ == 1   ? random_.Next()
                      : mood_ == 2 ? sequence_ + random_.Next() % 2000
                                   : sequence_;
    packet.timestamp = mood_ == 3 ? random_.Next() : timestamp_;
    if (Chance(0.003)) packet.timestamp += uint64_t{1} << (random_.Next() % 64);
    packet.arrival_ns = now_ns_ + static_cast<int64_t>(random_.Next() % 40'000'000) - 20'000'000;
    packet.redundant = Chance(0.1);
    packet.bytes = Chance(0.7) ? 160 : random_.Next() % sizeof(payload_);
    if (Chance(0.1)) packet.bytes = random_.Next() % 4;
    for (size_t n = 0; n < packet.bytes; n += 8) {
      const uint64_t bits = random_.Next();
      std::copy_n(reinterpret_cast<const uint8_t*>(&bits), std::min<size_t>(8, sizeof(payload_) - n),
                  payload_ + n);
    }
    packet.payload = payload_;
    sound_.Put(packet);
    fed_++;
  }

  void Pull() {
    now_ns_ += Chance(0.98) ? 16'000'000 : static_cast<int64_t>(random_.Next() % 10'000'000'000);
    float out[CallerSound::kQuantum];
    const bool any = sound_.Pull(now_ns_, out);
    bool heard = false, finite = true;
    for (const float sample : out) {
      heard = heard || sample != 0;
      finite = finite && std::isfinite(sample) && std::abs(sample) < 10;
    }
    CHECK(finite);
    CHECK_EQ(any, heard);
    const HearingFigures& figures = sound_.figures();
    CHECK(figures.samples == 0 || figures.samples == before_.samples + CallerSound::kQuantum);
    CHECK(figures.concealed >= before_.concealed && figures.recovered >= before_.recovered);
    CHECK(figures.stretched >= before_.stretched && figures.lost_packets >= before_.lost_packets);
    CHECK(std::isfinite(figures.delay_ms) && std::isfinite(figures.drift_ppm));
    CHECK(figures.target_ms >= 20 && figures.target_ms <= 200);
    before_ = figures;
  }

  Random random_;
  CallerSound sound_;
  HearingFigures before_;
  uint64_t mood_ = 0, sequence_ = 1000, timestamp_ = 1 << 20;
  VoiceCodec codec_ = VoiceCodec::kPcmu;
  int64_t now_ns_ = 1'000'000'000;
  uint8_t payload_[2200] = {};
  size_t fed_ = 0;
};

void AnyPackets() {
  fuzz::RunPart("caller", 1, [](uint64_t seed) { return Attack(seed).Run(); });
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(caller_fuzz) {
  return parley::test::Run(
      {{"any packets yield finite samples and exact counters", parley::test::AnyPackets}});
}
