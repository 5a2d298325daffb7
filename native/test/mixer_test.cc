// A mixer on a plane with manual time: what each far end hears of the others.
#include "audio/half_band.h"
#include "test/mixer_rig.h"

namespace parley::test {
namespace {

constexpr size_t kSecond = 8000;  // samples of G.711

Sound Doubled(const Sound& sound) {
  HalfBandDoubler doubler;
  Sound out(2 * sound.size());
  doubler.Process(sound.data(), sound.size(), out.data());
  return out;
}

// At 16 kHz: what the far end says and hears.
Sound Wide(const MixedCall& call, const Sound& sound) { return call.rate() == 8000 ? Doubled(sound) : sound; }

// The lag at which two sounds are most alike, and how alike they are there: 1 is equal but for the loudness.
struct Likeness {
  size_t lag = 0;
  double correlation = 0;
};

Likeness BestLikeness(const Sound& said, const Sound& heard, size_t from, size_t count) {
  Likeness best;
  for (size_t lag = 0; lag <= 1200; lag++) {
    double both = 0, one = 1e-12, other = 1e-12;
    for (size_t n = from; n < from + count; n++) {
      both += double{said[n]} * heard[n + lag];
      one += double{said[n]} * said[n];
      other += double{heard[n + lag]} * heard[n + lag];
    }
    const double correlation = both / std::sqrt(one * other);
    if (correlation > best.correlation) best = {lag, correlation};
  }
  return best;
}

// `from` and `count` in ms.
Likeness Heard(const MixedCall& speaker, const MixedCall& hearer, size_t from, size_t count) {
  return BestLikeness(Wide(speaker, speaker.says), Wide(hearer, hearer.hears), from * 16, count * 16);
}

// The first packet came at 3 ms. G.711 and its rates delay by 3.4 ms, and Opus by 6.5 ms.
double DelayMs(const Likeness& likeness) { return static_cast<double>(likeness.lag) / 16 - 3; }

void TwoMembersHearEachOther() {
  MixerRig rig;
  MixedCall& one = rig.Add(kPcmuMember, Voice(8000, 4 * kSecond, 3));
  MixedCall& other = rig.Add(kPcmaMember, Voice(8000, 4 * kSecond, 5));
  rig.RunMs(4000);
  for (const Likeness& likeness : {Heard(one, other, 1000, 1000), Heard(other, one, 1000, 1000)}) {
    CHECK(likeness.correlation > 0.99);
    CHECK(DelayMs(likeness) < 40);
  }
  CHECK_EQ(rig.mixer->StatsOf(one.id)->late, uint64_t{0});
}

// The likeness that one coding alone leaves.
double Coded(const MemberCodec& codec, const Sound& said, bool is_narrow) {
  const auto encoder = VoiceEncoder::Make(codec.codec, codec.rate);
  encoder->SetNarrow(is_narrow);
  const auto decoder = VoiceDecoder::Make(codec.codec, codec.rate);
  const auto samples = static_cast<size_t>(codec.rate / 50);
  Sound heard(said.size());
  for (size_t at = 0; at + samples <= said.size(); at += samples) {
    uint8_t payload[1500];
    const size_t bytes = encoder->Encode(&said[at], samples, payload, sizeof(payload));
    decoder->Decode(payload, bytes, &heard[at]);
  }
  return BestLikeness(said, heard, 16'000, 16'000).correlation;
}

void ABridgeLosesNoMoreThanItsCodecs() {
  for (const MemberCodec& codec : {kOpusMember, kG722Member, kL16Member}) {
    MixerRig rig;
    MixedCall& one = rig.Add(kPcmuMember, Voice(8000, 4 * kSecond, 3));
    MixedCall& other = rig.Add(codec, Voice(codec.rate, codec.rate * 4, 5));
    rig.RunMs(4000);
    const Likeness to_other = Heard(one, other, 1000, 1000), to_one = Heard(other, one, 1000, 1000);
    CHECK(to_other.correlation > Coded(codec, Wide(one, one.says), true) - 0.01);
    CHECK(to_one.correlation > Coded(codec, Wide(other, other.says), false) - 0.01);
    CHECK(DelayMs(to_other) < 45 && DelayMs(to_one) < 45);
    CHECK(one.packets > 190 && other.packets > 190);
  }
}

void AMemberOfEachFrameLengthIsServed() {
  for (const int64_t ms : {10, 20, 30, 40, 60}) {
    MixerRig rig;
    MixedCall& one = rig.Add(kPcmuMember, Voice(8000, 4 * kSecond, 3));
    MixedCall& other = rig.Add(kPcmaMember, Voice(8000, 4 * kSecond, 5), {}, ms * kNsPerMs);
    rig.RunMs(3000);
    CHECK(Heard(one, other, 1000, 1000).correlation > 0.99);
    CHECK(Heard(other, one, 1000, 1000).correlation > 0.99);
    CHECK(other.packets >= static_cast<size_t>(2800 / ms));
  }
}

// The configuration of a payload of Opus says its bandwidth (RFC 6716, section 3.1).
bool IsNarrowBand(uint8_t first) {
  const int configuration = first >> 3;
  return configuration <= 3 || (configuration >= 16 && configuration <= 19);
}

// Shares of narrow payloads among those that came since packet `from`.
double NarrowShare(const MixedCall& call, size_t from) {
  CHECK(call.firsts.size() > from + 20);
  const auto narrow = std::count_if(call.firsts.begin() + static_cast<ptrdiff_t>(from), call.firsts.end(),
                                    [](uint8_t first) { return IsNarrowBand(first); });
  return static_cast<double>(narrow) / static_cast<double>(call.firsts.size() - from);
}

// Mean power of the last 200 ms.
double LastPower(const MixedCall& call) {
  const auto count = static_cast<size_t>(call.rate() / 5);
  return Energy(&call.hears[call.hears.size() - count], count) / static_cast<double>(count);
}

// A voice of G.711 needs no more than a narrow band. A tone of 6 kHz needs more: another member is first,
// and then it is a sound of ours.
void OpusIsNarrowWhereAllElseIsG711() {
  constexpr double kHighHz = 6000, kHighPower = 0.3 * 0.3 / 2;
  MixerRig rig;
  MixedCall& narrow = rig.Add(kPcmaMember, Voice(8000, 2 * kSecond, 3));
  MixedCall& hearer = rig.Add(kOpusMember, Voice(16'000, 4 * kSecond, 5));
  rig.RunMs(2200);
  CHECK_EQ(NarrowShare(hearer, 0), 1.0);
  size_t before = hearer.firsts.size();
  MixedCall& wide = rig.Add(kG722Member, Tone(kHighHz, 0.3, 16'000, 2 * kSecond));
  rig.RunMs(900);
  CHECK(LastPower(hearer) > 0.7 * kHighPower);
  CHECK(NarrowShare(hearer, before) < 0.1);
  rig.RunMs(400);
  rig.Leave(wide);
  rig.RunMs(1500);
  narrow.says = Voice(8000, 10 * kSecond, 3);
  before = hearer.firsts.size();
  rig.RunMs(600);
  CHECK(NarrowShare(hearer, before) > 0.9);
  narrow.says.clear();
  rig.RunMs(300);
  before = hearer.firsts.size();
  const auto ring = std::make_shared<ByteRing>(size_t{1} << 20);
  const Sound ours = Tone(kHighHz, 0.3, 16'000, 2 * kSecond);
  CHECK(rig.mixer->AddSource(ring, {}, 1) != 0);
  ring->Write(reinterpret_cast<const uint8_t*>(ours.data()), ours.size() * sizeof(float), sizeof(float));
  rig.RunMs(900);
  CHECK(LastPower(hearer) > 0.7 * kHighPower);
  CHECK(NarrowShare(hearer, before) < 0.1);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(mixer) {
  using namespace parley::test;
  return Run({{"two members hear each other", TwoMembersHearEachOther},
              {"a bridge loses no more than its codecs", ABridgeLosesNoMoreThanItsCodecs},
              {"a member of each frame length is served", AMemberOfEachFrameLengthIsServed},
              {"Opus is narrow where all else is G.711", OpusIsNarrowWhereAllElseIsG711}});
}
