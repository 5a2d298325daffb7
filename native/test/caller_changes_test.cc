// The caller's sound where the stream itself changes: pauses, comfort noise, telephone events, other
// sources and codecs, jumps of timestamps, floods and packets that lie.
#include <cmath>
#include <string>

#include "media/hear/caller_sound.h"
#include "test/check.h"
#include "test/far_end.h"

namespace parley::test {
namespace {

constexpr int kPacketSamples = 320;

// The longest run of silent samples after `from`.
size_t LongestSilence(const std::vector<float>& sound, size_t from) {
  size_t longest = 0, run = 0;
  for (size_t n = from; n < sound.size(); n++) {
    run = sound[n] == 0 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

size_t SamplesEqual(const std::vector<float>& sound, float value) {
  return static_cast<size_t>(std::count(sound.begin(), sound.end(), value));
}

// The sample at which packet `number` begins if it has the least delay. The first pull yields sample 0.
size_t PlaceOf(int number) { return static_cast<size_t>(((number + 1) * 20 + 50 + 20 - 5) * 16); }

// The tone is there sample for sample from `from` to `to` of the far end's packets, 4 ms after its beginning.
bool IsHeard(const std::vector<float>& sound, int from, int to) {
  for (int64_t n = 64; n < static_cast<int64_t>(to - from) * kPacketSamples; n++)
    if (sound[PlaceOf(from) + static_cast<size_t>(n)] != ToneAt(int64_t{from} * kPacketSamples + n))
      return false;
  return true;
}

void APauseWithoutPacketsIsSilenceOfItsLength() {
  FarEnd far;
  far.seconds = 12;
  far.sends = [](int number) { return number < 100 || (number >= 150 && number < 300) || number >= 500; };
  const Heard heard = Hear(far, {});
  CHECK(IsHeard(heard.sound, 0, 100));
  CHECK(IsHeard(heard.sound, 150, 300));
  CHECK(IsHeard(heard.sound, 500, 590));
  CHECK_EQ(heard.figures.concealed, uint64_t{0});
  CHECK_EQ(heard.figures.lost_packets, uint64_t{0});
  CHECK_EQ(heard.figures.stretched, uint64_t{0});
  CHECK_EQ(heard.figures.restarts, uint64_t{0});
  // The end of speech was not known: the decoder went on for 120 ms.
  CHECK(LongestSilence(heard.sound, PlaceOf(300)) >= 200 * kPacketSamples - 1920 - 64);
}

// Packet `number` of the far end becomes comfort noise, which is sent in `pauses`.
std::vector<Sent> WithComfortNoise(FarEnd far, const std::function<bool(int)>& is_noise) {
  std::vector<Sent> arrivals = Travel(far, {}).arrivals;
  for (Sent& sent : arrivals)
    if (is_noise(static_cast<int>(sent.payload.index / kPacketSamples)))
      sent.packet.kind = HeardPacket::kComfortNoise;
  return arrivals;
}

void ComfortNoiseIsSilenceUntilTheNextSound() {
  FarEnd far;
  far.seconds = 10;
  // Comfort noise at the beginning of the pause, and each 200 ms.
  const auto pause = [](int number) { return number >= 100 && number < 200; };
  far.sends = [&](int number) { return !pause(number) || number % 10 == 0; };
  Listener listener;
  listener.Hear(WithComfortNoise(far, pause), 10'000);
  const Heard& heard = listener.heard;
  CHECK(IsHeard(heard.sound, 0, 100));
  CHECK(IsHeard(heard.sound, 200, 490));
  CHECK_EQ(heard.figures.concealed + heard.figures.lost_packets + heard.figures.stretched, uint64_t{0});
  CHECK_EQ(SamplesEqual(heard.sound, ToneDecoder::kConcealed), size_t{0});
  CHECK_EQ(LongestSilence(heard.sound, PlaceOf(50)), size_t{100 * kPacketSamples - 64});
}

void TelephoneEventsTakeTheirNumbersAndTheirTime() {
  FarEnd far;
  far.seconds = 8;
  std::vector<Sent> arrivals = Travel(far, {}).arrivals;
  // Packets 100 to 109 are a digit: one timestamp, and a clock rate that is not the codec's.
  for (Sent& sent : arrivals) {
    const auto number = static_cast<int>(sent.payload.index / kPacketSamples);
    if (number < 100 || number >= 110) continue;
    sent.packet.kind = HeardPacket::kEvent;
    sent.packet.timestamp = 4'294'000'000 + 100 * 160;
    sent.packet.clock_rate = 48'000;
  }
  Listener listener;
  listener.Hear(arrivals, 8000);
  const Heard& heard = listener.heard;
  CHECK(IsHeard(heard.sound, 0, 100));
  CHECK(IsHeard(heard.sound, 110, 390));
  CHECK_EQ(heard.figures.concealed + heard.figures.lost_packets + heard.figures.stretched, uint64_t{0});
  CHECK_EQ(heard.figures.restarts + heard.figures.late_packets, uint64_t{0});
  CHECK_EQ(LongestSilence(heard.sound, PlaceOf(50)), size_t{10 * kPacketSamples - 64});
}

void AnOpusPauseIsSilenceFromItsFirstEmptyPacket() {
  // Two bytes are 20 ms of silence.
  class WithEmptyPackets : public ToneDecoder {
   public:
    size_t SamplesIn(const uint8_t* payload, size_t bytes) const override {
      return bytes == 2 ? kPacketSamples : ToneDecoder::SamplesIn(payload, bytes);
    }
    size_t Decode(const uint8_t* payload, size_t bytes, float* out) override {
      if (bytes != 2) return ToneDecoder::Decode(payload, bytes, out);
      std::fill_n(out, kPacketSamples, 0.0F);
      return kPacketSamples;
    }
  };
  CallerSound sound({}, [](VoiceCodec) { return std::make_unique<WithEmptyPackets>(); });
  FarEnd far;
  far.codec = VoiceCodec::kOpus;
  far.clock_rate = 48'000;
  far.seconds = 10;
  far.sends = [](int number) { return number <= 100 || number >= 160; };
  size_t next = 0, concealed = 0;
  const std::vector<Sent> arrivals = Travel(far, {}).arrivals;
  for (int64_t now = 5 * kMs; now < 10'000 * kMs; now += 16 * kMs) {
    for (; next < arrivals.size() && arrivals[next].packet.arrival_ns <= now; next++) {
      HeardPacket packet = arrivals[next].packet;
      packet.payload = reinterpret_cast<const uint8_t*>(&arrivals[next].payload);
      packet.bytes = arrivals[next].payload.index == 100 * kPacketSamples ? 2 : sizeof(TonePayload);
      sound.Put(packet);
    }
    float out[CallerSound::kQuantum];
    sound.Pull(now, out);
    concealed += static_cast<size_t>(std::count(out, out + CallerSound::kQuantum, ToneDecoder::kConcealed));
  }
  CHECK_EQ(concealed, size_t{0});
  CHECK_EQ(sound.figures().concealed + sound.figures().lost_packets, uint64_t{0});
}

void AnotherSourceGoesOnWithoutAGap() {
  FarEnd one, other;
  one.seconds = 4;
  other.seconds = 4;
  other.first_sequence = 5;
  other.first_timestamp = 77;
  std::vector<Sent> first = Travel(one, {}).arrivals, second = Travel(other, {}).arrivals;
  for (Sent& sent : second) sent.packet.arrival_ns += 4000 * kMs;
  Listener listener;
  listener.Hear(first, 4070 - 16);
  listener.sound.Restart();
  listener.next = 0;
  listener.Hear(second, 8000, 0);
  const Heard& heard = listener.heard;
  CHECK_EQ(heard.figures.restarts, uint64_t{1});
  CHECK_EQ(heard.figures.lost_packets + heard.figures.late_packets + heard.figures.concealed, uint64_t{0});
  CHECK(IsHeard(heard.sound, 0, 200));
  CHECK_EQ(LongestSilence(heard.sound, PlaceOf(0)), size_t{0});
  CHECK(heard.last_delay < 20.001);
  // The tone begins again at its index 0, where the first source ended.
  const size_t place = PlaceOf(200);
  for (size_t n = 64; n < 3 * 16'000; n++) CHECK_EQ(heard.sound[place + n], ToneAt(static_cast<int64_t>(n)));
}

void AnotherCodecInMidStreamGoesOnWithoutAGap() {
  for (const bool other_rate : {false, true}) {
    FarEnd far;
    far.seconds = 8;
    std::vector<Sent> arrivals = Travel(far, {}).arrivals;
    for (Sent& sent : arrivals) {
      if (sent.payload.index < 200 * kPacketSamples) continue;
      sent.packet.codec = other_rate ? VoiceCodec::kOpus : VoiceCodec::kPcma;
      if (!other_rate) continue;
      sent.packet.clock_rate = 48'000;
      sent.packet.timestamp = 1'000'000 + uint64_t{3} * sent.payload.index;
    }
    Listener listener;
    listener.Hear(arrivals, 8000);
    const Heard& heard = listener.heard;
    CHECK(IsHeard(heard.sound, 0, 200));
    CHECK(IsHeard(heard.sound, 200, 390));
    CHECK_EQ(heard.figures.restarts, uint64_t{other_rate ? 1U : 0U});
    CHECK_EQ(heard.figures.lost_packets + heard.figures.concealed + heard.figures.stretched, uint64_t{0});
  }
}

void JumpsOfTimestampsAndNumbersGoOnWithoutAGap() {
  const int64_t jumps[] = {8000LL * 3600 * 5, -8000LL * 3600 * 5, -4000, 1LL << 62, 20'000};
  for (const int64_t jump : jumps) {
    for (const uint64_t skipped : {uint64_t{0}, uint64_t{5000}}) {
      FarEnd far;
      far.seconds = 8;
      std::vector<Sent> arrivals = Travel(far, {}).arrivals;
      for (Sent& sent : arrivals) {
        if (sent.payload.index < 200 * kPacketSamples) continue;
        sent.packet.timestamp += static_cast<uint64_t>(jump);
        sent.packet.sequence += skipped;
      }
      Listener listener;
      listener.Hear(arrivals, 8000);
      CHECK(IsHeard(listener.heard.sound, 0, 200));
      CHECK(IsHeard(listener.heard.sound, 200, 390));
      CHECK_EQ(listener.heard.figures.restarts, uint64_t{1});
      CHECK_EQ(listener.heard.figures.lost_packets + listener.heard.figures.late_packets, uint64_t{0});
      CHECK(listener.heard.last_delay < 20.001);
    }
  }
}

void NumbersThatBeginAgainAreFollowedAfterFourPackets() {
  FarEnd far;
  far.seconds = 8;
  std::vector<Sent> arrivals = Travel(far, {}).arrivals;
  for (Sent& sent : arrivals)
    if (sent.payload.index >= 200 * kPacketSamples) sent.packet.sequence -= 50'000;
  Listener listener;
  listener.Hear(arrivals, 8000);
  CHECK_EQ(listener.heard.figures.restarts, uint64_t{1});
  CHECK_EQ(listener.heard.figures.late_packets, uint64_t{3});
  CHECK(listener.heard.last_delay < 36);
  CHECK(IsHeard(listener.heard.sound, 0, 200));
}

void OneFalsePacketDoesNotSilenceTheOthers() {
  for (const int64_t ahead_ms : {-900LL, 900LL, 100'000LL}) {
    for (const uint64_t skipped : {uint64_t{1}, uint64_t{900}}) {
      FarEnd far;
      far.seconds = 8;
      std::vector<Sent> arrivals = Travel(far, {}).arrivals;
      Sent wrong = arrivals[100];
      wrong.packet.sequence += skipped;
      wrong.packet.timestamp += static_cast<uint64_t>(ahead_ms * 8);
      arrivals.insert(arrivals.begin() + 101, wrong);
      Listener listener;
      listener.Hear(arrivals, 8000, 7000);
      // The numbers that it skips count as lost if its time comes before theirs.
      CHECK(listener.heard.figures.lost_packets <= (ahead_ms == 900 ? skipped : 0));
      CHECK(listener.heard.figures.late_packets <= 4);
      CHECK(listener.heard.most_delay <= 40);
      CHECK(LongestSilence(listener.heard.sound, PlaceOf(200)) == 0);
    }
  }
}

void AFarEndThatStopsForSecondsStartsAfresh() {
  for (const bool counts_on : {true, false}) {
    FarEnd far;
    far.seconds = 30;
    far.sends = [](int number) { return number < 200 || number >= 700; };
    std::vector<Sent> arrivals = Travel(far, {}).arrivals;
    for (Sent& sent : arrivals) {
      if (sent.payload.index < 700 * kPacketSamples) continue;
      sent.packet.arrival_ns += 40 * kMs;                            // the way is longer now
      if (!counts_on) sent.packet.timestamp -= uint64_t{500 * 160};  // the timestamps stood still
    }
    Listener listener;
    listener.Hear(arrivals, 12'000);
    CHECK_EQ(listener.heard.figures.concealed, uint64_t{0});
    CHECK_EQ(listener.heard.figures.lost_packets, uint64_t{0});
    const size_t pauses = listener.heard.pauses;
    CHECK(pauses * 16 >= 7000);
    listener.Hear(arrivals, 29'900, 14'200);
    CHECK(listener.heard.least_delay > 19.9);
    CHECK(listener.heard.most_delay < 20.001);
    CHECK_EQ(listener.heard.figures.lost_packets + listener.heard.figures.late_packets, uint64_t{0});
    CHECK_EQ(listener.heard.figures.stretched, uint64_t{0});
  }
}

void ABurstAfterAStopIsBoundedToOneSecond() {
  FarEnd far;
  far.seconds = 20;
  Network net;
  net.extra_ms = [](double at) { return at > 5000 && at < 9000 ? 9000 - at : 0; };
  Listener listener;
  const Journey journey = Travel(far, net);
  listener.Hear(journey.arrivals, 9080, 9050);
  CHECK(listener.heard.figures.discarded >= 148);  // 4 s came at once
  CHECK(listener.heard.figures.discarded <= 152);
  CHECK(listener.heard.most_delay <= 1040);
  listener.Hear(journey.arrivals, 19'900);
  CHECK(listener.heard.last_delay <= 32);
  CHECK_EQ(listener.heard.figures.late_packets, uint64_t{0});
}

void AFloodIsBounded() {
  Listener listener;
  FarEnd far;
  far.seconds = 200;  // sent within 2 s
  std::vector<Sent> arrivals = Travel(far, {}).arrivals;
  for (Sent& sent : arrivals) sent.packet.arrival_ns = 50 * kMs + sent.packet.arrival_ns / 100;
  listener.Hear(arrivals, 2100, 0);
  CHECK(listener.heard.figures.discarded >= arrivals.size() - 200);
  CHECK(listener.heard.most_delay <= 1100);
  CHECK_EQ(listener.heard.sound.size(), listener.heard.pulls * CallerSound::kQuantum);
}

void MalformedPacketsAreDiscarded() {
  CallerSound sound({}, MakeToneDecoders());
  TonePayload payload{0, kPacketSamples, 0};
  HeardPacket packet;
  packet.payload = reinterpret_cast<const uint8_t*>(&payload);
  packet.bytes = sizeof(payload);
  const auto refused = [&](const HeardPacket& one) {
    const uint64_t before = sound.figures().discarded;
    sound.Put(one);
    return sound.figures().discarded == before + 1;
  };
  HeardPacket wrong = packet;
  wrong.bytes = 0;
  CHECK(refused(wrong));
  wrong.bytes = 3;
  CHECK(refused(wrong));
  wrong.bytes = 1 << 20;  // never read
  CHECK(refused(wrong));
  wrong = packet;
  wrong.clock_rate = 0;
  CHECK(refused(wrong));
  wrong = packet;
  wrong.codec = static_cast<VoiceCodec>(200);
  CHECK(refused(wrong));
  payload.samples = 121 * 16;
  CHECK(refused(packet));
  payload.samples = 120 * 16;
  CHECK(!refused(packet));
}

void PacketsLongerThanTheirTimestampsSayOverlap() {
  FarEnd far;
  far.seconds = 10;
  std::vector<Sent> arrivals = Travel(far, {}).arrivals;
  for (Sent& sent : arrivals) sent.payload.samples = 120 * 16;  // and 20 ms later the next one
  Listener listener;
  listener.Hear(arrivals, 9900, 1000);
  CHECK(listener.heard.most_delay <= 40);
  CHECK_EQ(listener.heard.figures.concealed, uint64_t{0});
  CHECK_EQ(LongestSilence(listener.heard.sound, PlaceOf(0)), size_t{0});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(caller_changes) {
  using namespace parley::test;
  return Run(
      {{"a pause without packets is silence of its length", APauseWithoutPacketsIsSilenceOfItsLength},
       {"comfort noise is silence until the next sound", ComfortNoiseIsSilenceUntilTheNextSound},
       {"telephone events take their numbers and their time", TelephoneEventsTakeTheirNumbersAndTheirTime},
       {"an Opus pause is silence from its first empty packet", AnOpusPauseIsSilenceFromItsFirstEmptyPacket},
       {"another source goes on without a gap", AnotherSourceGoesOnWithoutAGap},
       {"another codec in mid-stream goes on without a gap", AnotherCodecInMidStreamGoesOnWithoutAGap},
       {"jumps of timestamps and numbers go on without a gap", JumpsOfTimestampsAndNumbersGoOnWithoutAGap},
       {"numbers that begin again are followed after four packets",
        NumbersThatBeginAgainAreFollowedAfterFourPackets},
       {"one false packet does not silence the others", OneFalsePacketDoesNotSilenceTheOthers},
       {"a far end that stops for seconds starts afresh", AFarEndThatStopsForSecondsStartsAfresh},
       {"a burst after a stop is bounded to one second", ABurstAfterAStopIsBoundedToOneSecond},
       {"a flood is bounded", AFloodIsBounded},
       {"malformed packets are discarded", MalformedPacketsAreDiscarded},
       {"packets longer than their timestamps say overlap", PacketsLongerThanTheirTimestampsSayOverlap}});
}
