// Rooms on a plane with manual time: who is heard by whom, and how. Members have L16, which loses nothing.
#include "audio/half_band.h"
#include "test/mixer_rig.h"

namespace parley::test {
namespace {

constexpr int kWide = 16'000;
constexpr size_t kWideSecond = 16'000;

// Carried returns the sound after a coding in L16 at its rates.
Sound Carried(const Sound& sound) {
  const auto encoder = VoiceEncoder::Make(VoiceCodec::kL16, kWide);
  const auto decoder = VoiceDecoder::Make(VoiceCodec::kL16, kWide);
  Sound out(sound.size());
  for (size_t at = 0; at + 320 <= sound.size(); at += 320) {
    uint8_t payload[960];
    const size_t bytes = encoder->Encode(&sound[at], 320, payload, sizeof(payload));
    decoder->Decode(payload, bytes, &out[at]);
  }
  return out;
}

// Amplitude of a tone in some of what was heard.
double LevelOf(const Sound& heard, double hz, size_t from, size_t count) {
  double cosine = 0, sine = 0;
  for (size_t n = from; n < from + count; n++) {
    const double angle = kTwoPi * hz * static_cast<double>(n) / kWide;
    cosine += heard[n] * std::cos(angle);
    sine += heard[n] * std::sin(angle);
  }
  return 2 * std::sqrt(cosine * cosine + sine * sine) / static_cast<double>(count);
}

// In the last 200 ms.
double LastLevel(const MixedCall& call, double hz) {
  return LevelOf(call.hears, hz, call.hears.size() - 3200, 3200);
}

Sound Wide8(const Sound& narrow) {
  HalfBandDoubler doubler;
  Sound wide(2 * narrow.size());
  doubler.Process(narrow.data(), narrow.size(), wide.data());
  return wide;
}

Sound LongTone(double hz, double level, size_t seconds = 20) {
  return Tone(hz, level, kWide, seconds * kWideSecond);
}

// The sum of what the others say is what each hears, but for a delay.
void EachHearsWhatAnIndependentMixerMakes() {
  MixerRig rig;
  for (uint64_t seed = 3; seed < 8; seed++) {
    Sound voice = Voice(kWide, 4 * kWideSecond, seed);
    for (float& sample : voice) sample *= 0.3F;  // the limiter stays idle
    rig.Add(kL16Member, std::move(voice));
  }
  rig.RunMs(3500);
  for (const auto& hearer : rig.calls) {
    Sound sum(4 * kWideSecond);
    for (const auto& speaker : rig.calls) {
      if (speaker == hearer) continue;
      const Sound carried = Carried(speaker->says);
      for (size_t n = 0; n < sum.size(); n++) sum[n] += carried[n];
    }
    const Sound wanted = Carried(sum);
    double best = 0;
    for (size_t lag = 0; lag < 1200; lag++)
      best = std::max(best, SignalToNoise(&wanted[kWideSecond], &hearer->hears[kWideSecond + lag], 16'000));
    CHECK(best > 40);
  }
}

void NobodyHearsItself() {
  MixerRig rig;
  MixedCall& one = rig.Add(kL16Member, LongTone(700, 0.4));
  MixedCall& other = rig.Add(kL16Member, LongTone(1500, 0.4));
  rig.RunMs(2000);
  CHECK(LastLevel(one, 700) < 0.4 / 1000);
  CHECK(LastLevel(other, 1500) < 0.4 / 1000);
  CHECK(LastLevel(one, 1500) > 0.39 && LastLevel(other, 700) > 0.39);
}

void TheLoudestAreHeard() {
  MixerRig rig(2);
  MixedCall& listener = rig.Add(kL16Member);
  rig.Add(kL16Member, LongTone(500, 0.2));
  Sound ends = LongTone(900, 0.3);
  std::fill(ends.begin() + 2 * kWideSecond, ends.end(), 0.0F);
  rig.Add(kL16Member, std::move(ends));
  rig.Add(kL16Member, LongTone(1300, 0.1));
  rig.RunMs(1900);
  CHECK(LastLevel(listener, 500) > 0.19 && LastLevel(listener, 900) > 0.29);
  CHECK(LastLevel(listener, 1300) < 0.001);
  // The third takes the place of one that has been quiet for 400 ms.
  rig.RunMs(450);
  CHECK(LastLevel(listener, 1300) < 0.001);
  rig.RunMs(500);
  CHECK(LastLevel(listener, 500) > 0.19 && LastLevel(listener, 1300) > 0.095);
}

// Two members are louder in turns of 200 ms. The one that has the place keeps it.
void PlacesDoNotFlap() {
  MixerRig rig(1);
  MixedCall& listener = rig.Add(kL16Member);
  Sound one = LongTone(500, 0.3, 6), other = LongTone(900, 0.3, 6);
  for (size_t n = 0; n < one.size(); n++) (n / 3200 % 2 == 0 ? other : one)[n] *= 0.3F;
  rig.Add(kL16Member, std::move(one));
  rig.Add(kL16Member, std::move(other));
  rig.RunMs(5000);
  const size_t from = 2 * kWideSecond;
  CHECK(LevelOf(listener.hears, 500, from, 2 * kWideSecond) > 0.15);
  CHECK(LevelOf(listener.hears, 900, from, 2 * kWideSecond) < 0.001);
}

// One that stays louder gets the place after 400 ms, with a ramp.
void ALouderMemberTakesThePlace() {
  MixerRig rig(1);
  MixedCall& listener = rig.Add(kL16Member);
  rig.Add(kL16Member, LongTone(100, 0.1));
  Sound later(2 * kWideSecond);
  const Sound loud = LongTone(100, 0.4);
  later.insert(later.end(), loud.begin(), loud.end());
  rig.Add(kL16Member, std::move(later));
  rig.RunMs(2300);
  CHECK(LastLevel(listener, 100) < 0.11);
  rig.RunMs(700);
  CHECK(LastLevel(listener, 100) > 0.39);
  CHECK(BiggestStep(listener.hears, kWideSecond, listener.hears.size()) < 0.04F);
}

// A tone of 100 Hz changes by 0.02 from one sample to the next; a click would be a bigger step.
void ChangesHaveRamps() {
  MixerRig rig;
  MixedCall& one = rig.Add(kL16Member, LongTone(100, 0.5));
  MixedCall& other = rig.Add(kL16Member, LongTone(100, 0.01));
  rig.RunMs(1000);
  const auto change = [&](const std::function<void()>& work) {
    work();
    rig.RunMs(505);
    return LastLevel(other, 100);
  };
  const auto set = [&](MixedCall& call, std::optional<bool> muted, std::optional<bool> deaf,
                       std::optional<float> gain) {
    MemberChange all;
    all.muted = muted, all.deaf = deaf, all.gain = gain;
    rig.mixer->ChangeMember(call.id, all);
  };
  CHECK(change([&] { set(one, true, {}, {}); }) < 0.001);
  CHECK(change([&] { set(one, false, {}, {}); }) > 0.49);
  CHECK(change([&] { set(other, {}, true, {}); }) < 0.001);
  CHECK(change([&] { set(other, {}, false, {}); }) > 0.49);
  CHECK(std::abs(change([&] { set(one, {}, {}, 0.5F); }) - 0.25) < 0.01);
  CHECK(change([&] { set(one, {}, {}, 1.0F); }) > 0.49);
  CHECK(change([&] { rig.mixer->Hears(other.id, one.id, false); }) < 0.001);
  CHECK(change([&] { rig.mixer->Hears(other.id, one.id, true); }) > 0.49);
  CHECK(change([&] { rig.Leave(one); }) < 0.001);
  // The first sound came without a ramp.
  CHECK(BiggestStep(other.hears, kWideSecond / 2, other.hears.size()) < 0.08F);
  CHECK_EQ(rig.mixer->size(), size_t{1});
}

// A coach is heard by one member, and hears all.
void ACoachIsHeardByOne() {
  MixerRig rig;
  MixedCall& agent = rig.Add(kL16Member, LongTone(500, 0.2));
  MixedCall& customer = rig.Add(kL16Member, LongTone(900, 0.2));
  MixedCall& coach = rig.Add(kL16Member, LongTone(1300, 0.2));
  rig.mixer->Hears(customer.id, coach.id, false);
  rig.RunMs(2000);
  CHECK(LastLevel(agent, 900) > 0.19 && LastLevel(agent, 1300) > 0.19);
  CHECK(LastLevel(customer, 500) > 0.19 && LastLevel(customer, 1300) < 0.0002);
  CHECK(LastLevel(coach, 500) > 0.19 && LastLevel(coach, 900) > 0.19);
}

void ALateMemberHearsTheRest() {
  MixerRig rig;
  rig.Add(kL16Member, LongTone(500, 0.2));
  MixedCall& late = rig.Open(kL16Member, LongTone(900, 0.2));
  rig.RunMs(1313);
  rig.Join(late);
  rig.RunMs(60);
  const size_t joined = late.hears.size();
  rig.RunMs(500);
  CHECK(LevelOf(late.hears, 500, joined, 6400) > 0.19);
  CHECK(LastLevel(*rig.calls[0], 900) > 0.19);
}

void LossIsConcealed() {
  MixerRig rig;
  MixedCall& speaker = rig.Add(kPcmuMember, Tone(400, 0.3, 8000, 80'000));
  speaker.loses = [](uint32_t number) { return number % 20 == 19; };
  MixedCall& listener = rig.Add(kL16Member);
  rig.RunMs(4000);
  const HearingFigures figures = rig.mixer->StatsOf(speaker.id)->hearing;
  CHECK_EQ(figures.lost_packets, uint64_t{9});
  CHECK(figures.concealed > 8 * 250 && figures.concealed <= 9 * 320 + 320);
  for (size_t at = kWideSecond; at + 320 < listener.hears.size(); at += 320)
    CHECK(Energy(&listener.hears[at], 320) > 0.3 * 320 * 0.09 / 2);
}

// A bridge takes whole frames. Its delay is 4 ms of jitter, up to a packet's 20 ms and 6 ms of hysteresis,
// 1 ms of rounding, and the longest period that stretching leaves, 12.5 ms.
constexpr double kMostOfBridgeMs = 44;

// Ten minutes with a clock that is faster or slower by 100 ppm, which is 60 ms in all. A third member makes a
// room of the bridge.
void RunWithDrift(double ppm, bool is_bridge) {
  MixerRig rig;
  MixedCall& speaker = rig.Add(kPcmuMember, Voice(8000, 10 * 60 * 8000, 3));
  speaker.period_scale = 1 - ppm * 1e-6;
  rig.Add(kPcmaMember);
  if (!is_bridge) rig.Add(kPcmaMember);
  double most_ms = 0;
  for (int n = 0; n < 60; n++) {
    rig.RunMs(10'000);
    most_ms = std::max(most_ms, rig.mixer->StatsOf(speaker.id)->hearing.delay_ms);
  }
  const HearingFigures figures = rig.mixer->StatsOf(speaker.id)->hearing;
  CHECK(most_ms < (is_bridge ? kMostOfBridgeMs : 25));
  CHECK(std::abs(figures.drift_ppm - ppm) < 30);
  CHECK(figures.concealed < 16 * 20);
  CHECK_EQ(figures.lost_packets + figures.discarded, uint64_t{0});
}

void DriftDoesNotAddUp() {
  for (const double ppm : {-100.0, 100.0}) {
    RunWithDrift(ppm, true);
    RunWithDrift(ppm, false);
  }
}

// Members who are silent hear the same: one encoder for each place of the tick serves them.
void SilentMembersShareTheirEncoders() {
  MixerRig rig;
  for (int n = 0; n < 3; n++) rig.Add(kL16Member, LongTone(500 + 400 * n, 0.15));
  for (int n = 3; n < 100; n++) rig.Add(kPcmuMember);
  rig.RunMs(2000);
  uint64_t frames = 0, shared = 0, late = 0;
  for (const auto& call : rig.calls) {
    const MixerMemberStats stats = *rig.mixer->StatsOf(call->id);
    frames += stats.frames;
    shared += stats.shared;
    late += stats.late;
  }
  CHECK(frames > 100 * 90);
  CHECK_EQ(late, uint64_t{0});
  // In 200 ms they find each other. Then three who speak, and four places, remain.
  std::printf("       %zu frames, %zu of them encoded\n", static_cast<size_t>(frames),
              static_cast<size_t>(frames - shared));
  CHECK(frames - shared < 100 * 15 + 7 * 100);
  const Sound heard = Wide8(rig.calls[50]->hears);
  CHECK(LevelOf(heard, 500, kWideSecond, 3200) > 0.13 && LevelOf(heard, 1300, kWideSecond, 3200) > 0.13);
}

// One of those that share begins to speak, then the one whose encoder they use leaves.
void SharingEndsWhereSoundDiffers() {
  MixerRig rig;
  rig.Add(kL16Member, LongTone(500, 0.2));
  Sound speaks(2 * kWideSecond);
  const Sound tone = LongTone(900, 0.2, 4);
  speaks.insert(speaks.end(), tone.begin(), tone.end());
  for (int n = 0; n < 8; n++) rig.Add(kL16Member, n == 3 ? speaks : Sound());
  rig.RunMs(2900);
  CHECK(LastLevel(*rig.calls[4], 900) < 0.0002 && LastLevel(*rig.calls[4], 500) > 0.19);
  for (const int n : {1, 5, 8}) CHECK(LastLevel(*rig.calls[n], 900) > 0.19);
  for (const int n : {1, 2, 3}) {
    rig.Leave(*rig.calls[n]);
    rig.RunMs(300);
    CHECK(LastLevel(*rig.calls[n], 500) < 0.001);
    for (const int stays : {5, 6, 7, 8}) {
      const Sound& heard = rig.calls[stays]->hears;
      CHECK(LastLevel(*rig.calls[stays], 500) > 0.19 && LastLevel(*rig.calls[stays], 900) > 0.19);
      CHECK(BiggestStep(heard, heard.size() - 4800, heard.size()) < 0.15F);
    }
  }
}

// A stall of the joining thread leaves frames out, and the delay is as before.
void AStallDoesNotAddDelay() {
  MixerRig rig;
  rig.Add(kL16Member);
  MixedCall& speaker = rig.Add(kL16Member, LongTone(500, 0.3));
  MixedCall& listener = rig.Add(kL16Member);
  rig.RunMs(1000);
  const int64_t now_ns = rig.plane->time().Now();
  rig.plane->WakeAt(now_ns + 150 * kNsPerMs);
  rig.RunMs(2000);
  CHECK(LastLevel(listener, 500) > 0.29);
  CHECK(rig.mixer->StatsOf(speaker.id)->hearing.delay_ms < 200);
  rig.RunMs(3000);
  CHECK(rig.mixer->StatsOf(speaker.id)->hearing.delay_ms < 30);
}

// The time from a packet to the frame in which its sound begins, without the codecs'.
double DelayOf(const MixedCall& speaker, const MixedCall& hearer) {
  const Sound carried = Carried(Carried(speaker.says));
  double best = 0;
  size_t best_lag = 0;
  for (size_t lag = 0; lag < 1200; lag++) {
    const double ratio = SignalToNoise(&carried[kWideSecond], &hearer.hears[kWideSecond + lag], 4000);
    if (ratio > best) best = ratio, best_lag = lag;
  }
  CHECK(best > 40);
  return static_cast<double>(best_lag) / 16;
}

// At each distance between the packets that come and the ticks of those that leave: their distance, or 20 ms
// more where that is shorter than jitter and the work ask for.
void ABridgeWaitsForTheNextTickOnly() {
  double sum = 0;
  for (int phase = 0; phase < 20; phase++) {
    MixerRig rig;
    MixedCall& speaker = rig.Open(kL16Member, Voice(kWide, 2 * kWideSecond, 3));
    speaker.next_ns = phase * double{kNsPerMs};
    rig.Join(speaker);
    MixedCall& hearer = rig.Add(kL16Member);
    rig.RunMs(1800);
    const double delay = DelayOf(speaker, hearer) - phase;
    CHECK(delay > 5 && delay < 33);
    sum += delay;
    CHECK_EQ(rig.mixer->StatsOf(speaker.id)->hearing.concealed, uint64_t{0});
  }
  CHECK(sum / 20 < 20);
}

// A third member makes a room of a bridge, and a sound of ours ends its whole frames, too.
void ABridgeBecomesARoomAndBack() {
  MixerRig rig;
  MixedCall& one = rig.Add(kL16Member, LongTone(100, 0.4));
  MixedCall& other = rig.Add(kL16Member);
  rig.RunMs(2000);
  const double delay = rig.mixer->StatsOf(one.id)->hearing.delay_ms;
  MixedCall& third = rig.Add(kL16Member, LongTone(1500, 0.2));
  rig.RunMs(1000);
  CHECK(LastLevel(other, 100) > 0.39 && LastLevel(other, 1500) > 0.19 && LastLevel(third, 100) > 0.39);
  rig.Leave(third);
  rig.RunMs(3000);
  const Sound& heard = other.hears;
  const auto ring = std::make_shared<ByteRing>(size_t{1} << 20);
  const Sound ours = LongTone(700, 0.1, 1);
  CHECK(rig.mixer->AddSource(ring, {other.id}, 1) != 0);
  ring->Write(reinterpret_cast<const uint8_t*>(ours.data()), ours.size() * sizeof(float), sizeof(float));
  rig.RunMs(800);
  CHECK(LastLevel(other, 100) > 0.39 && LastLevel(other, 700) > 0.09);
  ring->End("");
  rig.RunMs(4000);
  CHECK(LastLevel(other, 700) < 0.001 && LastLevel(other, 100) > 0.39);
  // It is a bridge again, and nothing of the sound was left out.
  CHECK(std::abs(rig.mixer->StatsOf(one.id)->hearing.delay_ms - delay) < 13);
  for (size_t at = kWideSecond; at + 320 < heard.size(); at += 320)
    CHECK(Energy(&heard[at], 320) > 320 * 0.04);
  CHECK(BiggestStep(heard, kWideSecond, 2 * kWideSecond) < 0.04F);
  CHECK(BiggestStep(heard, 4 * kWideSecond, 6 * kWideSecond) < 0.04F);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(mixer_rooms) {
  using namespace parley::test;
  return Run({{"each hears what an independent mixer makes", EachHearsWhatAnIndependentMixerMakes},
              {"nobody hears itself", NobodyHearsItself},
              {"the loudest are heard", TheLoudestAreHeard},
              {"places do not flap", PlacesDoNotFlap},
              {"a louder member takes the place", ALouderMemberTakesThePlace},
              {"changes have ramps", ChangesHaveRamps},
              {"a coach is heard by one", ACoachIsHeardByOne},
              {"a late member hears the rest", ALateMemberHearsTheRest},
              {"loss is concealed", LossIsConcealed},
              {"drift does not add up", DriftDoesNotAddUp},
              {"silent members share their encoders", SilentMembersShareTheirEncoders},
              {"sharing ends where sound differs", SharingEndsWhereSoundDiffers},
              {"a stall does not add delay", AStallDoesNotAddDelay},
              {"a bridge waits for the next tick only", ABridgeWaitsForTheNextTickOnly},
              {"a bridge becomes a room and back", ABridgeBecomesARoomAndBack}});
}
