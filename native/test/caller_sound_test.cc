// The caller's sound over networks with loss, jitter, reordering, duplicates and clocks that drift: how
// late it is, how much is concealed, and that nothing of it has a step.
#include "media/hear/caller_sound.h"

#include <cmath>
#include <string>

#include "test/check.h"
#include "test/far_end.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr double kSeconds = 60;
constexpr double kTroubleEndsMs = 59'000;  // so that every loss has been passed at the end

FarEnd OpusFarEnd() {
  FarEnd far;
  far.codec = VoiceCodec::kOpus;
  far.clock_rate = 48'000;
  return far;
}

double ShareOf(uint64_t samples, const Heard& heard) {
  return static_cast<double>(samples) / static_cast<double>(heard.figures.samples);
}

const float kToneStep16 = static_cast<float>(kToneLevel * kToneStep);  // of two samples of the tone, at most

void BeforeTheFirstPacketThereIsSilenceThatDoesNotCount() {
  Listener listener;
  listener.Hear({}, 200);
  CHECK_EQ(listener.heard.pauses, listener.heard.pulls);
  CHECK_EQ(listener.heard.figures.samples, uint64_t{0});
  CHECK_EQ(BiggestStep(listener.heard.sound, 1, listener.heard.sound.size()), 0.0F);
}

void ACleanStreamSounds20MsAfterItsArrivalSampleForSample() {
  for (const int packet_ms : {10, 20, 30, 40, 60, 120}) {
    FarEnd far;
    far.packet_ms = packet_ms;
    const Heard heard = Hear(far, {}, packet_ms + 120.0);
    // The first packet comes at packet_ms + 50. The first pull is at 5 ms.
    const int64_t begins = (packet_ms + 50 + 20 - 5) * 16;
    for (int64_t n = 0; n < begins; n++) CHECK_EQ(heard.sound[static_cast<size_t>(n)], 0.0F);
    size_t others = 0;
    // 4 ms lead from silence into the sound.
    for (int64_t n = begins + 64; n < static_cast<int64_t>(heard.sound.size()); n++)
      if (heard.sound[static_cast<size_t>(n)] != ToneAt(n - begins)) others++;
    CHECK_EQ(others, size_t{0});
    CHECK(heard.most_delay < 20.001);
    CHECK(heard.least_delay > 19.9);
    CHECK_EQ(heard.figures.target_ms, 20.0);
    CHECK_EQ(heard.figures.concealed + heard.figures.stretched + heard.figures.recovered, uint64_t{0});
    CHECK_EQ(heard.figures.lost_packets + heard.figures.late_packets + heard.figures.discarded, uint64_t{0});
    CHECK(heard.figures.jitter_ms < 0.001);
  }
}

void OneMinuteIsOneMinuteOfSamples() {
  Network net;
  net.loss = 0.1;
  net.jitter_ms = 60;
  FarEnd far;
  far.drift_ppm = 200;
  const Heard heard = Hear(far, net);
  // Pulls at 5, 21, 37 ... ms; samples count from the first packet on, which comes at 70 ms or later.
  const auto pulls = static_cast<uint64_t>((kSeconds * 1000 + 50 - 5 + 15) / 16);
  CHECK_EQ(heard.pulls, static_cast<size_t>(pulls));
  CHECK_EQ(heard.sound.size(), static_cast<size_t>(pulls * CallerSound::kQuantum));
  CHECK(heard.figures.samples >= (pulls - 9) * CallerSound::kQuantum);
  CHECK(heard.figures.samples <= (pulls - 4) * CallerSound::kQuantum);
}

// The target is the jitter that 95 % of the packets keep, and one quantum, in steps of 4 ms.
void TheDelayFollowsTheJitter() {
  for (const double jitter : {0.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0}) {
    Network net;
    net.jitter_ms = jitter;
    const Heard heard = Hear({}, net);
    CHECK(heard.figures.target_ms >= 0.90 * jitter + 12);
    CHECK(heard.most_target <= jitter + 20);
    CHECK(heard.most_delay <= jitter + 32);
    CHECK(ShareOf(heard.figures.concealed, heard) <= 0.002);
    CHECK(ShareOf(heard.figures.stretched, heard) <= 0.002);
    CHECK_EQ(heard.figures.discarded, uint64_t{0});
  }
}

void TheDelayFallsAgainWhenTheJitterEnds() {
  Network net;
  net.jitter_ms = 80;
  net.until_ms = 20'000;
  Listener listener;
  const Journey journey = Travel({}, net);
  listener.Hear(journey.arrivals, 20'000);
  CHECK(listener.heard.figures.target_ms >= 84);
  listener.Hear(journey.arrivals, 24'000);
  CHECK(listener.heard.figures.target_ms >= 60);  // slowly
  listener.Hear(journey.arrivals, 45'000);
  CHECK_EQ(listener.heard.figures.target_ms, 20.0);
  CHECK(listener.heard.last_delay <= 32);
}

void LossIsConcealedSampleForSample() {
  for (const double loss : {0.01, 0.05, 0.1, 0.2}) {
    Network net;
    net.loss = loss;
    net.until_ms = kTroubleEndsMs;
    net.seed = 3;
    const Journey journey = Travel({}, net);
    const Heard heard = Hear({}, net);
    CHECK_EQ(heard.figures.lost_packets, uint64_t{journey.lost});
    CHECK_EQ(heard.figures.concealed, uint64_t{journey.lost * 320});
    CHECK_EQ(heard.figures.late_packets, uint64_t{0});
    CHECK(heard.most_delay < 20.001);  // loss alone is no reason to wait
  }
}

void LossJitterReorderingAndDuplicatesTogetherStayWithinBounds() {
  for (const double loss : {0.01, 0.05, 0.1, 0.2}) {
    for (const double jitter : {20.0, 80.0}) {
      Network net;
      net.loss = loss;
      net.jitter_ms = jitter;
      net.duplicates = 0.05;
      net.until_ms = kTroubleEndsMs;
      const Journey journey = Travel({}, net);
      const Heard heard = Hear({}, net);
      CHECK_EQ(heard.figures.lost_packets, journey.lost + heard.figures.late_packets);
      CHECK(heard.figures.late_packets <= journey.sent / 200);
      const double lost = ShareOf(uint64_t{journey.lost * 320}, heard);
      CHECK(ShareOf(heard.figures.concealed, heard) >= 0.98 * lost - 0.001);
      CHECK(ShareOf(heard.figures.concealed, heard) <= 1.02 * lost + 0.003);
      CHECK(heard.most_delay <= jitter + 36);
      CHECK_EQ(heard.figures.discarded, uint64_t{0});
      CHECK_EQ(heard.figures.restarts, uint64_t{0});
    }
  }
}

void DuplicatesAloneChangeNothing() {
  Network net;
  net.duplicates = 0.3;
  const Heard heard = Hear({}, net), without = Hear({}, {});
  CHECK(heard.sound == without.sound);
  CHECK_EQ(heard.figures.late_packets + heard.figures.lost_packets, uint64_t{0});
}

void InBandErrorCorrectionReplacesLossWhereTheNextPacketIsThere() {
  for (const double loss : {0.05, 0.1, 0.2}) {
    Network net;
    net.loss = loss;
    net.until_ms = kTroubleEndsMs;
    FarEnd far = OpusFarEnd();
    far.corrects = true;
    const Journey journey = Travel(far, net);
    const Heard heard = Hear(far, net);
    CHECK_EQ(heard.figures.lost_packets, uint64_t{journey.lost});
    CHECK_EQ(heard.figures.recovered + heard.figures.concealed, uint64_t{journey.lost * 320});
    CHECK(heard.figures.recovered * 10 >= heard.figures.concealed * 28);
    CHECK(heard.most_delay <= 52);  // the next packet is 20 ms later
    far.corrects = false;
    const Heard without = Hear(far, net);
    CHECK_EQ(without.figures.recovered, uint64_t{0});
    CHECK_EQ(without.figures.concealed, uint64_t{journey.lost * 320});
    CHECK(without.most_delay <= 32);  // there is nothing to wait for
  }
}

void CopiesInRedPacketsReplaceLoss() {
  Network net;
  net.loss = 0.1;
  net.until_ms = kTroubleEndsMs;
  FarEnd far = OpusFarEnd();
  far.redundant = true;
  const Journey journey = Travel(far, net);
  const Heard heard = Hear(far, net);
  CHECK(heard.figures.recovered >= journey.lost * 320 * 8 / 10);
  CHECK(heard.figures.recovered <= journey.lost * 320);
  CHECK(heard.figures.lost_packets <= journey.lost / 5);
  CHECK_EQ(heard.figures.late_packets, uint64_t{0});
  CHECK(heard.most_delay <= 64);
}

void DriftIsMeasuredAndCorrectedWithoutASteeperStep() {
  for (const double ppm : {200.0, -200.0, 500.0, -500.0}) {
    FarEnd far;
    far.drift_ppm = ppm;
    far.seconds = 300;
    Listener listener;
    listener.Hear(Travel(far, {}).arrivals, 299'000);
    const Heard& heard = listener.heard;
    CHECK(std::abs(heard.figures.drift_ppm - ppm) <= 5);
    CHECK(heard.least_delay >= 16.5);
    CHECK(heard.most_delay <= 33);
    CHECK_EQ(heard.figures.concealed, uint64_t{0});
    // The stretched samples make up the drift; at most one correction more may be under way.
    const double drifted = 299 * 16'000 * std::abs(ppm) * 1e-6;
    CHECK(std::abs(static_cast<double>(heard.figures.stretched) - drifted) <= 2 * 200);
    // 4 ms lead from silence into the sound.
    CHECK(BiggestStep(heard.sound, (20 + 50 + 20 - 5) * 16 + 65, heard.sound.size()) <= 1.05F * kToneStep16);
  }
}

void DriftIsMeasuredUnderJitterAndLoss() {
  for (const double ppm : {200.0, -200.0}) {
    FarEnd far;
    far.drift_ppm = ppm;
    far.seconds = 300;
    Network net;
    net.jitter_ms = 80;
    net.loss = 0.05;
    const Heard heard = Hear(far, net);
    CHECK(std::abs(heard.figures.drift_ppm - ppm) <= 20);
    CHECK(heard.most_delay <= 112);
    CHECK(ShareOf(heard.figures.concealed, heard) <= 0.055);
  }
}

void ADelaySpikeLosesNothingAndIsPlayedOutSoon() {
  Network net;
  net.extra_ms = [](double at) { return at > 20'000 && at < 20'200 ? 20'200 - at : 0; };
  Listener listener;
  const Journey journey = Travel({}, net);
  listener.Hear(journey.arrivals, 20'300);
  CHECK(listener.heard.figures.delay_ms > 150);
  const Heard& heard = listener.heard;
  CHECK_EQ(heard.figures.lost_packets + heard.figures.late_packets, uint64_t{0});
  CHECK_EQ(heard.figures.target_ms, 20.0);
  // 120 ms of concealment, then silence.
  CHECK(heard.figures.concealed <= 1920);
  listener.Hear(journey.arrivals, 24'000);
  CHECK(listener.heard.figures.delay_ms <= 32);
  CHECK_EQ(listener.heard.figures.target_ms, 20.0);
}

void ALongerWayIsNotMistakenForJitter() {
  Network net;
  net.extra_ms = [](double at) { return at > 20'000 ? 60 : 0; };
  const Heard heard = Hear({}, net);
  CHECK_EQ(heard.figures.target_ms, 20.0);
  CHECK(heard.last_delay <= 32);
  CHECK_EQ(heard.figures.lost_packets + heard.figures.late_packets, uint64_t{0});
  net.extra_ms = [](double at) { return at > 20'000 ? 0 : 60; };
  const Heard shorter = Hear({}, net);
  CHECK(shorter.last_delay <= 32);
  CHECK_EQ(shorter.figures.concealed, uint64_t{0});
}

void TheLimitsBoundTheTarget() {
  Network net;
  net.jitter_ms = 80;
  Listener least({60, 200}), most({20, 50});
  least.Hear(Travel({}, {}).arrivals, 20'000);
  CHECK_EQ(least.heard.figures.target_ms, 60.0);
  CHECK(least.heard.least_delay > 59);
  most.Hear(Travel({}, net).arrivals, 20'000);
  CHECK_EQ(most.heard.figures.target_ms, 50.0);
}

void TheSameScheduleGivesTheSameSound() {
  Network net;
  net.jitter_ms = 70;
  net.loss = 0.08;
  net.seed = 99;
  const Heard one = Hear({}, net), other = Hear({}, net);
  CHECK(one.sound == other.sound);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(caller_sound) {
  using namespace parley::test;
  return Run(
      {{"before the first packet there is silence that does not count",
        BeforeTheFirstPacketThereIsSilenceThatDoesNotCount},
       {"a clean stream sounds 20 ms after its arrival, sample for sample",
        ACleanStreamSounds20MsAfterItsArrivalSampleForSample},
       {"one minute is one minute of samples", OneMinuteIsOneMinuteOfSamples},
       {"the delay follows the jitter", TheDelayFollowsTheJitter},
       {"the delay falls again when the jitter ends", TheDelayFallsAgainWhenTheJitterEnds},
       {"loss is concealed, sample for sample", LossIsConcealedSampleForSample},
       {"loss, jitter, reordering and duplicates together stay within bounds",
        LossJitterReorderingAndDuplicatesTogetherStayWithinBounds},
       {"duplicates alone change nothing", DuplicatesAloneChangeNothing},
       {"in-band error correction replaces loss where the next packet is there",
        InBandErrorCorrectionReplacesLossWhereTheNextPacketIsThere},
       {"copies in RED packets replace loss", CopiesInRedPacketsReplaceLoss},
       {"drift is measured and corrected without a steeper step",
        DriftIsMeasuredAndCorrectedWithoutASteeperStep},
       {"drift is measured under jitter and loss", DriftIsMeasuredUnderJitterAndLoss},
       {"a delay spike loses nothing and is played out soon", ADelaySpikeLosesNothingAndIsPlayedOutSoon},
       {"a longer way is not mistaken for jitter", ALongerWayIsNotMistakenForJitter},
       {"the limits bound the target", TheLimitsBoundTheTarget},
       {"the same schedule gives the same sound", TheSameScheduleGivesTheSameSound}});
}
