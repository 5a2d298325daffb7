// Mixing allocates nothing for a packet, a quantum or a frame.
#include "media/plane.h"
#include "test/check.h"
#include "test/coded_voice.h"
#include "test/counted_memory.h"

namespace parley::test {
namespace {

struct Leg {
  std::shared_ptr<JoinedLeg> leg = std::make_shared<JoinedLeg>();
  std::shared_ptr<JoinedSound> sound;
  CodedVoice voice;
  VoiceCodec codec;
  uint64_t number = 0;
};

void Say(Leg& leg, int64_t now_ns) {
  const std::vector<uint8_t>& payload = leg.voice.packets[leg.number % leg.voice.packets.size()];
  HeardPacket packet;
  packet.codec = leg.codec;
  packet.clock_rate = leg.voice.clock_rate;
  packet.sequence = leg.number;
  packet.timestamp = leg.number++ * leg.voice.clock_rate / 50;
  packet.arrival_ns = now_ns;
  packet.payload = payload.data();
  packet.bytes = payload.size();
  leg.leg->inbox().Put(packet, 1);
}

void MixingAllocatesNothing() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  Mixer mixer(3);
  std::vector<Leg> legs(5);
  const VoiceCodec codecs[] = {VoiceCodec::kPcmu, VoiceCodec::kOpus, VoiceCodec::kG722, VoiceCodec::kOpus,
                               VoiceCodec::kPcma};
  for (size_t n = 0; n < legs.size(); n++) {
    legs[n].codec = codecs[n];
    legs[n].voice = Coded(codecs[n], 100);
    StreamConfig config;
    config.codec = codecs[n];
    legs[n].sound = legs[n].leg->Follow(plane->MakeStream(config, nullptr));
    CHECK(mixer.AddMember(legs[n].leg, {}) != 0);
  }
  std::vector<Mixer::Job> jobs;
  jobs.reserve(64);
  size_t before = 0, frames = 0;
  for (int64_t now_ns = 0; now_ns < 4 * kNsPerSecond; now_ns += JoinedSound::kQuantumNs) {
    if (now_ns % (20 * kNsPerMs) == 0) {
      for (Leg& leg : legs) {
        Say(leg, now_ns);
        frames += leg.sound->Take(now_ns).payload ? 1 : 0;
      }
    }
    jobs.clear();
    mixer.Run(now_ns, now_ns, &jobs);
    for (const Mixer::Job& job : jobs) mixer.Encode(job, now_ns, now_ns);
    // Speakers have been told of by then, and the codecs have their decoders.
    if (now_ns == kNsPerSecond) before = Allocations().own;
  }
  CHECK(before > 0);
  CHECK_EQ(Allocations().own, before);
  CHECK(frames > 5 * 190);
  plane->Close();
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(mixer_memory) {
  using namespace parley::test;
  return Run({{"mixing allocates nothing", MixingAllocatesNothing}});
}
