// Tones of calls: cadences of countries, SIT, fax and beeps, each with what is like it and is none.
#include "audio/call_tones.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "audio/tone_detector.h"
#include "media/random.h"
#include "test/check.h"
#include "test/heard_call.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr int kSoundRate = 16'000;
constexpr double kLevel = 0.1;  // of a sine: -17 dBm0

const ToneCadence kRingUs{ToneKind::kRingBack, 440, 480, 2, {2000, 4000}};
const std::vector<ToneCadence> kUs{
    kRingUs, {ToneKind::kBusy, 480, 620, 2, {500, 500}}, {ToneKind::kReorder, 480, 620, 2, {250, 250}}};
const std::vector<ToneCadence> kGb{{ToneKind::kRingBack, 400, 450, 4, {400, 200, 400, 2000}},
                                   {ToneKind::kBusy, 400, 0, 2, {375, 375}},
                                   {ToneKind::kReorder, 400, 0, 4, {400, 350, 225, 525}}};
const std::vector<ToneCadence> kFr{{ToneKind::kRingBack, 440, 0, 2, {1500, 3500}},
                                   {ToneKind::kBusy, 440, 0, 2, {500, 500}},
                                   {ToneKind::kReorder, 440, 0, 2, {250, 250}}};

class Scene {
 public:
  Scene& Quiet(double ms) {
    sound_.resize(sound_.size() + SamplesIn(ms));
    return *this;
  }
  // The phase of a tone's first sample is the seed's.
  Scene& Tones(double ms, const std::vector<double>& hz, double level = kLevel) {
    const double phase = kTwoPi * random_.Unit();
    for (size_t n = 0; n < SamplesIn(ms); n++) {
      double value = 0;
      for (const double one : hz)
        value += level * std::sin(kTwoPi * one * static_cast<double>(n) / kSoundRate + phase);
      sound_.push_back(static_cast<float>(value));
    }
    return *this;
  }
  // Its level goes up and down so many times a second.
  Scene& Modulated(double ms, double hz, double by, double sign = 1) {
    for (size_t n = 0; n < SamplesIn(ms); n++) {
      const double angle = kTwoPi * static_cast<double>(n) / kSoundRate;
      sound_.push_back(
          static_cast<float>(sign * kLevel * std::sin(hz * angle) * (1 + 0.8 * std::sin(by * angle)) / 1.8));
    }
    return *this;
  }
  Scene& Speech(double ms, uint64_t seed = 7) {
    const Sound voice = Voice(kSoundRate, SamplesIn(ms), seed);
    sound_.insert(sound_.end(), voice.begin(), voice.end());
    return *this;
  }
  Scene& Cycles(size_t count, const std::vector<double>& hz, const std::vector<double>& ms) {
    for (size_t n = 0; n < count * ms.size(); n++)
      n % 2 ? Quiet(ms[n % ms.size()]) : Tones(ms[n % ms.size()], hz);
    return *this;
  }
  Scene& Noise(double deviation) {
    for (float& sample : sound_) {
      double sum = -6;
      for (int n = 0; n < 12; n++) sum += random_.Unit();
      sample += static_cast<float>(deviation * sum);
    }
    return *this;
  }

  // Names, beginnings and lengths; the last two in steps of 50 ms. Tones that go on are left out, unless
  // `with_steady` is true.
  std::string Told(const std::vector<ToneCadence>& cadences = kUs, bool with_steady = false) {
    constexpr const char* kNames[] = {"", "ring", "busy", "reorder", "sit", "cng", "ced", "beep", "steady"};
    const auto steady = static_cast<uint8_t>(ToneKind::kSteady);
    std::string text;
    for (const FoundTone& tone : Found(cadences)) {
      if (tone.is_key || (tone.event == steady && !with_steady)) continue;
      text += std::string(text.empty() ? "" : " ") + kNames[tone.event] + "@" + Steps(tone.begin_us) + "+" +
              Steps(tone.length_us);
    }
    return text;
  }
  std::vector<FoundTone> Found(const std::vector<ToneCadence>& cadences) {
    Quiet(1500);
    ToneDetector detector(kSoundRate, {true, true, cadences});
    std::vector<FoundTone> tones;
    for (size_t at = 0; at + 256 <= sound_.size(); at += 256) {
      FoundTone found[ToneDetector::kMostAtOnce];
      const size_t count = detector.Take(sound_.data() + at, found);
      tones.insert(tones.end(), found, found + count);
    }
    return tones;
  }

 private:
  static size_t SamplesIn(double ms) { return static_cast<size_t>(ms * kSoundRate / 1000); }
  static std::string Steps(int64_t us) { return std::to_string((us + 25'000) / 50'000 * 50); }

  Sound sound_;
  Random random_{5};
};

void RingBackIsKnownByItsCadence() {
  CHECK_EQ(Scene().Quiet(300).Cycles(3, {440, 480}, {2000, 4000}).Told(), "ring@300+2000");
  CHECK_EQ(Scene().Quiet(300).Cycles(3, {400, 450}, {400, 200, 400, 2000}).Told(kGb), "ring@300+1000");
  CHECK_EQ(Scene().Quiet(300).Cycles(3, {440}, {1500, 3500}).Told(kFr), "ring@300+1500");
}

void BusyAndReorderDifferByTheirCadence() {
  CHECK_EQ(Scene().Quiet(300).Cycles(6, {480, 620}, {500, 500}).Told(), "busy@300+1500");
  CHECK_EQ(Scene().Quiet(300).Cycles(8, {480, 620}, {250, 250}).Told(), "reorder@300+750");
  CHECK_EQ(Scene().Quiet(300).Cycles(6, {400}, {375, 375}).Told(kGb), "busy@300+1150");
  CHECK_EQ(Scene().Quiet(300).Cycles(6, {400}, {400, 350, 225, 525}).Told(kGb), "reorder@300+1000");
  CHECK_EQ(Scene().Quiet(300).Cycles(6, {440}, {500, 500}).Told(kFr), "busy@300+1500");
  CHECK_EQ(Scene().Quiet(300).Cycles(8, {440}, {250, 250}).Told(kFr), "reorder@300+750");
}

void TonesOfAnotherCountryMeanNothing() {
  CHECK_EQ(Scene().Quiet(300).Cycles(4, {440}, {500, 500}).Told({}), "");
  CHECK_EQ(Scene().Quiet(300).Cycles(4, {950}, {300, 500}).Told({}), "beep@300+300");
  CHECK_EQ(Scene().Quiet(300).Cycles(4, {480, 620}, {800, 800}).Told(), "");
}

void ModulatedAndCloseTonesHaveCadencesToo() {
  const std::vector<ToneCadence> india{{ToneKind::kRingBack, 400, 0, 4, {400, 200, 400, 2000}}};
  const std::vector<ToneCadence> australia{{ToneKind::kRingBack, 413, 438, 4, {400, 200, 400, 2000}}};
  Scene modulated;
  modulated.Quiet(300);
  for (int n = 0; n < 2; n++)
    modulated.Modulated(400, 400, 25).Quiet(200).Modulated(400, 400, 25).Quiet(2000);
  CHECK_EQ(modulated.Told(india), "ring@300+1000");
  CHECK_EQ(Scene().Quiet(300).Cycles(2, {413, 438}, {400, 200, 400, 2000}).Told(australia), "ring@300+950");
}

void ThreeRisingTonesAreSit() {
  CHECK_EQ(Scene().Quiet(300).Tones(330, {950}).Tones(330, {1400}).Tones(330, {1800}).Told(), "sit@300+1000");
  CHECK_EQ(Scene()
               .Quiet(300)
               .Tones(274, {985.2})
               .Quiet(20)
               .Tones(380, {1428.5})
               .Quiet(20)
               .Tones(360, {1776.7})
               .Told(),
           "sit@300+1050");
  // Two of them, or falling ones, are neither SIT nor beeps.
  CHECK_EQ(Scene().Quiet(300).Tones(330, {950}).Tones(330, {1400}).Told(), "");
  CHECK_EQ(Scene().Quiet(300).Tones(330, {1800}).Tones(330, {1400}).Tones(330, {950}).Told(), "");
}

void FaxesAreKnownByTheirTones() {
  CHECK_EQ(Scene().Quiet(300).Cycles(2, {1100}, {500, 3000}).Told(), "cng@300+500 cng@3800+500");
  CHECK_EQ(Scene().Quiet(300).Tones(3000, {2100}).Told(), "ced@300+500");
  Scene reversed;  // ITU-T V.8
  reversed.Quiet(300);
  for (int n = 0; n < 6; n++) reversed.Modulated(450, 2100, 15, n % 2 ? -1 : 1);
  CHECK_EQ(reversed.Told(), "ced@300+500");
  CHECK_EQ(Scene().Quiet(300).Tones(300, {2100}).Told(), "");
}

void ABeepFollowsSpeech() {
  for (const double hz : {440.0, 600.0, 1000.0, 1400.0, 2000.0}) {
    CHECK_EQ(Scene().Speech(1000).Tones(100, {hz}).Told(), "beep@1000+100");
    CHECK_EQ(Scene().Speech(1000).Tones(500, {hz}).Told(), "beep@1000+500");
    CHECK_EQ(Scene().Speech(1000).Quiet(400).Tones(1500, {hz}).Told(), "beep@1400+1500");
  }
}

void ABeepIsToldWhileItGoesOn() {
  const std::string told = "steady@1400+100 beep@1400+1000";
  CHECK_EQ(Scene().Speech(1000).Quiet(400).Tones(1000, {900}).Told(kUs, true), told);
  CHECK_EQ(Scene().Speech(1000).Quiet(400).Tones(1000, {440, 480}).Told(kUs, true), "");
  CHECK_EQ(Scene().Speech(3000).Told(kUs, true), "");
}

void AShortOrLongOrOtherToneIsNoBeep() {
  CHECK_EQ(Scene().Speech(1000).Tones(60, {1000}).Told(), "");
  CHECK_EQ(Scene().Speech(1000).Tones(4000, {1000}).Told(), "");
  CHECK_EQ(Scene().Speech(1000).Tones(300, {300}).Told(), "");
  CHECK_EQ(Scene().Speech(1000).Tones(300, {2300}).Told(), "");
  CHECK_EQ(Scene().Speech(1000).Tones(300, {697, 1209}).Told(), "");  // a key
  CHECK_EQ(Scene().Speech(1000).Tones(300, {350, 440}).Told(), "");   // a dial tone
}

void AMelodyHasNoBeeps() {
  Scene scene;
  for (const double hz : {523.0, 587.0, 659.0, 698.0, 784.0, 880.0}) scene.Tones(250, {hz});
  CHECK_EQ(scene.Told(), "");
}

void ABeepLikeABusyToneIsToldWhenNoSecondOneFollows() {
  CHECK_EQ(Scene().Speech(1000).Tones(500, {440}).Told(kFr), "beep@1000+500");
  CHECK_EQ(Scene().Speech(1000).Cycles(4, {440}, {500, 500}).Told(kFr), "busy@1000+1500");
}

void ABeepIsHeardThroughNoise() {
  CHECK_EQ(Scene().Speech(1000).Tones(300, {1000}).Noise(0.02).Told(), "beep@1000+300");  // 11 dB
  CHECK_EQ(Scene().Speech(1000).Tones(300, {1000}).Noise(0.1).Told(), "");                // -3 dB
}

void ABeepOfABadLineIsOneBeep() {
  CHECK_EQ(Scene().Speech(1000).Tones(300, {1000}).Quiet(40).Tones(300, {1000}).Told(), "beep@1000+650");
  CHECK_EQ(Scene().Speech(1000).Tones(300, {1000}).Quiet(250).Tones(300, {1000}).Told(), "beep@1000+300");
  Scene swings;
  swings.Speech(1000);
  for (const double level : {1.0, 0.32, 1.0}) swings.Tones(150, {900}, level * kLevel);  // 10 dB
  CHECK_EQ(swings.Told(), "beep@1000+450");
}

void ABeepShortlyBehindRingBackIsNoPartOfIt() {
  const auto ringing = [] { return Scene().Quiet(300).Tones(2000, {440, 480}).Quiet(500).Speech(1500); };
  CHECK_EQ(ringing().Quiet(300).Tones(400, {900}).Told(), "ring@300+2000 beep@4600+400");
  CHECK_EQ(ringing().Quiet(300).Tones(400, {450}).Told(), "ring@300+2000");
}

void SpeechIsNoTone() {
  for (uint64_t seed = 1; seed <= 4; seed++) CHECK_EQ(Scene().Speech(60'000, seed).Told(), "");
}

// A call whose far end sends no telephone events: its keys are events of the call.

std::vector<InboundEvent> EventsOf(Call& call, const Sound& sound) {
  const Payload coded = Encoded(sound);
  std::vector<InboundEvent> events;
  for (size_t n = 0; n < coded.size() / kFrameBytes; n++) {
    call.Say(FrameOf(coded, n));
    call.plane->Advance(static_cast<int64_t>(n + 1) * kFrameNs);
    for (const InboundEvent& event : call.plane->TakeInbound()) {
      if (event.kind == InboundEvent::kDigit || event.kind == InboundEvent::kTone) events.push_back(event);
    }
  }
  return events;
}

Sound KeyAndBeep() {
  constexpr size_t kKeyAt = 8000, kKeyEnd = 9600, kBeepAt = 12'800, kBeepEnd = 15'200;
  const Sound low = Tone(770, 0.2, 8000, 24'000), high = Tone(1336, 0.2, 8000, 24'000);
  const Sound beep = Tone(1000, 0.2, 8000, 24'000);
  Sound sound(24'000);
  for (size_t n = kKeyAt; n < kKeyEnd; n++) sound[n] = low[n] + high[n];
  for (size_t n = kBeepAt; n < kBeepEnd; n++) sound[n] = beep[n];
  return sound;
}

void ACallReportsKeysAndTonesOnTime() {
  Call call(Manual(), 3);
  CHECK(call.socket->WatchTones({true, true, kUs}));
  CHECK_EQ(call.plane->ListeningCount(), size_t{1});
  std::vector<InboundEvent> events = EventsOf(call, KeyAndBeep());
  CHECK_EQ(events.size(), size_t{3});
  if (events.size() != 3) return;
  CHECK_EQ(int{events[1].digit}, static_cast<int>(ToneKind::kSteady));
  events.erase(events.begin() + 1);
  CHECK_EQ(events[0].socket, uint64_t{3});
  CHECK_EQ(int{events[0].kind}, int{InboundEvent::kDigit});
  CHECK_EQ(int{events[0].digit}, 5);
  CHECK(std::abs(events[0].duration_ns - 200 * kNsPerMs) <= 8 * kNsPerMs);
  const int64_t delay_ns = events[0].at_ns - kNsPerSecond;  // of the jitter buffer
  CHECK(delay_ns >= 0 && delay_ns <= 80 * kNsPerMs);
  CHECK_EQ(int{events[1].kind}, int{InboundEvent::kTone});
  CHECK_EQ(int{events[1].digit}, static_cast<int>(ToneKind::kBeep));
  CHECK(std::abs(events[1].hz - 1000) <= 2);
  CHECK(std::abs(events[1].duration_ns - 300 * kNsPerMs) <= 32 * kNsPerMs);
  CHECK(std::abs(events[1].at_ns - events[0].at_ns - 600 * kNsPerMs) <= 24 * kNsPerMs);
  CHECK(call.socket->WatchTones({}));
  CHECK_EQ(call.plane->ListeningCount(), size_t{0});
}

void ACallThatWishesNoTonesIsNotDecoded() {
  Call call(Manual(), 3);
  CHECK(call.socket->WatchTones({}));
  CHECK_EQ(EventsOf(call, KeyAndBeep()).size(), size_t{0});
  CHECK_EQ(call.plane->ListeningCount(), size_t{0});
  call.plane->CloseSocket(call.socket.get());
  CHECK(!call.socket->WatchTones({true, false, {}}));
}

}  // namespace

TEST_GROUP(call_tones) {
  return Run({
      {"ring-back is known by its cadence", RingBackIsKnownByItsCadence},
      {"busy and reorder differ by their cadence", BusyAndReorderDifferByTheirCadence},
      {"tones of another country mean nothing", TonesOfAnotherCountryMeanNothing},
      {"modulated and close tones have cadences, too", ModulatedAndCloseTonesHaveCadencesToo},
      {"three rising tones are SIT", ThreeRisingTonesAreSit},
      {"faxes are known by their tones", FaxesAreKnownByTheirTones},
      {"a beep follows speech", ABeepFollowsSpeech},
      {"a beep is told while it goes on", ABeepIsToldWhileItGoesOn},
      {"a short, long or other tone is no beep", AShortOrLongOrOtherToneIsNoBeep},
      {"a melody has no beeps", AMelodyHasNoBeeps},
      {"a beep like a busy tone is told when no second one follows",
       ABeepLikeABusyToneIsToldWhenNoSecondOneFollows},
      {"a beep is heard through noise", ABeepIsHeardThroughNoise},
      {"a beep of a bad line is one beep", ABeepOfABadLineIsOneBeep},
      {"a beep shortly behind ring-back is no part of it", ABeepShortlyBehindRingBackIsNoPartOfIt},
      {"speech is no tone", SpeechIsNoTone},
      {"a call reports keys and tones on time", ACallReportsKeysAndTonesOnTime},
      {"a call that wishes no tones is not decoded", ACallThatWishesNoTonesIsNotDecoded},
  });
}

}  // namespace parley::test
