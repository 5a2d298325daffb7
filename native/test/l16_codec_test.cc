// L16 at its own rate, and as a listener at 16 kHz hears it.
#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/three_halves.h"
#include "audio/two_thirds.h"
#include "audio/voice_codec.h"
#include "media/random.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr int kRate = 24'000, kHeardRate = 16'000;
constexpr size_t kFrame = 480, kHeardFrame = 320;  // 20 ms
using Payload = std::vector<uint8_t>;

Payload Encoded(VoiceEncoder& encoder, const float* samples) {
  Payload payload(2 * kFrame);
  CHECK_EQ(encoder.Encode(samples, kFrame, payload.data(), payload.size()), payload.size());
  return payload;
}

Sound Decoded(int rate, const Sound& sound) {
  const auto encoder = VoiceEncoder::Make(VoiceCodec::kL16, kRate);
  const auto decoder = VoiceDecoder::Make(VoiceCodec::kL16, rate);
  Sound out;
  for (size_t at = 0; at + kFrame <= sound.size(); at += kFrame) {
    const Payload payload = Encoded(*encoder, &sound[at]);
    Sound frame(decoder->SamplesIn(payload.data(), payload.size()));
    CHECK_EQ(decoder->Decode(payload.data(), payload.size(), frame.data()), frame.size());
    out.insert(out.end(), frame.begin(), frame.end());
  }
  return out;
}

void SamplesAreBigEndianAndExact() {
  const auto encoder = VoiceEncoder::Make(VoiceCodec::kL16, kRate);
  const auto decoder = VoiceDecoder::Make(VoiceCodec::kL16, kRate);
  Sound sound(kFrame);
  for (size_t n = 0; n < kFrame; n++) sound[n] = static_cast<float>(n * 137 % 65'536) / 32'768 - 1;
  sound[0] = 1, sound[1] = 0x0102 / 32'768.0F, sound[2] = -1;
  const Payload payload = Encoded(*encoder, sound.data());
  CHECK((Payload(payload.begin(), payload.begin() + 6) == Payload{0x7f, 0xff, 0x01, 0x02, 0x80, 0x00}));
  Sound out(kFrame);
  CHECK_EQ(decoder->Decode(payload.data(), payload.size(), out.data()), kFrame);
  CHECK(std::equal(out.begin() + 1, out.end(), sound.begin() + 1));
}

void OtherLengthsAndRatesAreRefused() {
  const auto decoder = VoiceDecoder::Make(VoiceCodec::kL16, kRate);
  const auto heard = VoiceDecoder::Make(VoiceCodec::kL16, kHeardRate);
  const Payload payload(6000);
  for (const size_t bytes : {0, 1, 959, 5762}) CHECK_EQ(decoder->SamplesIn(payload.data(), bytes), 0u);
  for (const size_t bytes : {0, 2, 958, 959, 5808}) CHECK_EQ(heard->SamplesIn(payload.data(), bytes), 0u);
  CHECK_EQ(decoder->SamplesIn(payload.data(), 5760), 2880u);
  CHECK_EQ(heard->SamplesIn(payload.data(), 960), kHeardFrame);
  const auto encoder = VoiceEncoder::Make(VoiceCodec::kL16, kRate);
  const Sound sound(3 * kFrame);
  Payload out(3000);
  for (const size_t count : {239, 1441}) CHECK_EQ(encoder->Encode(sound.data(), count, out.data(), 3000), 0u);
  CHECK_EQ(encoder->Encode(sound.data(), kFrame, out.data(), 2 * kFrame - 1), 0u);
  CHECK(VoiceDecoder::Make(VoiceCodec::kL16, 8000) == nullptr);
  CHECK(VoiceEncoder::Make(VoiceCodec::kL16, 8000) == nullptr);
}

void ALostFrameIsConcealed() {
  const Sound voice = Voice(kRate, 10 * kFrame);
  for (const int rate : {kRate, kHeardRate}) {
    const auto encoder = VoiceEncoder::Make(VoiceCodec::kL16, kRate);
    const auto decoder = VoiceDecoder::Make(VoiceCodec::kL16, rate);
    const auto frame = static_cast<size_t>(rate) / 50;
    Sound out(frame), lost(frame);
    for (size_t n = 0; n < 9; n++) {
      const Payload payload = Encoded(*encoder, &voice[n * kFrame]);
      decoder->Decode(payload.data(), payload.size(), out.data());
    }
    decoder->Conceal(frame, lost.data());
    const double change = Energy(lost.data(), frame) / Energy(out.data(), frame);
    CHECK(change > 0.3 && change < 3);
  }
}

void SpeechPassesTheReductionUnchanged() {
  const auto delay = static_cast<size_t>(std::lround(TwoThirdsReducer::kDelayMs * 48));
  for (double hz = 100; hz <= 6500; hz += 100) {
    const Sound heard = Decoded(kHeardRate, Tone(hz, 0.5, kRate, kRate / 2));
    CHECK_EQ(heard.size(), static_cast<size_t>(kHeardRate / 2));
    // The delay is no whole number of samples: the wanted tone is computed at each sample's time.
    Sound wanted(heard.size());
    for (size_t n = 0; n < heard.size(); n++) {
      const double at = (3 * static_cast<double>(n) - static_cast<double>(delay) + 0.5) / 48'000;
      wanted[n] = static_cast<float>(0.5 * std::sin(kTwoPi * hz * at));
    }
    CHECK(SignalToNoise(&wanted[100], &heard[100], heard.size() - 100) > 55);
  }
}

void WhatWouldFoldOverIsStopped() {
  for (double hz = 8000; hz < 12'000; hz += 100) {
    const Sound heard = Decoded(kHeardRate, Tone(hz, 0.5, kRate, kRate / 2));
    CHECK(Energy(&heard[100], 7000) < 1e-6 * 7000 * 0.125);
  }
}

void TheReductionGivesTheSameInPieces() {
  const Sound in = Voice(kRate, 3000);
  Sound whole(2000), pieces(2000);
  TwoThirdsReducer one, other;
  one.Process(in.data(), 1000, whole.data());
  Random random(3);
  for (size_t at = 0; at < 1000;) {
    const size_t pairs = std::min<size_t>(random.Next() % 130, 1000 - at);
    other.Process(&in[3 * at], pairs, &pieces[2 * at]);
    at += pairs;
  }
  CHECK(whole == pieces);
}

// The filter makes of each tone the same tone at 24 kHz, later by its delay, and nothing else.
void SoundOf16KHzIsExpanded() {
  for (const double hz : {100.0, 1000.0, 3400.0, 6000.0}) {
    const auto encoder = VoiceEncoder::Make(VoiceCodec::kL16, kHeardRate);
    const Sound sound = Tone(hz, 0.5, kHeardRate, 50 * kHeardFrame);
    const auto decoder = VoiceDecoder::Make(VoiceCodec::kL16, kRate);
    Sound out;
    for (size_t at = 0; at + kHeardFrame <= sound.size(); at += kHeardFrame) {
      Payload payload(2 * kFrame);
      CHECK_EQ(encoder->Encode(&sound[at], kHeardFrame, payload.data(), payload.size()), payload.size());
      Sound frame(kFrame);
      CHECK_EQ(decoder->Decode(payload.data(), payload.size(), frame.data()), kFrame);
      out.insert(out.end(), frame.begin(), frame.end());
    }
    Sound wanted(out.size());
    for (size_t n = 0; n < wanted.size(); n++) {
      const double at = static_cast<double>(n) / kRate - ThreeHalvesExpander::kDelayMs / 1000;
      wanted[n] = static_cast<float>(0.5 * std::sin(kTwoPi * hz * at));
    }
    CHECK(SignalToNoise(&wanted[kFrame], &out[kFrame], out.size() - kFrame) > 54);
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(l16_codec) {
  using namespace parley::test;
  return Run({
      {"samples are big-endian and exact", SamplesAreBigEndianAndExact},
      {"other lengths and rates are refused", OtherLengthsAndRatesAreRefused},
      {"a lost frame is concealed", ALostFrameIsConcealed},
      {"speech passes the reduction unchanged", SpeechPassesTheReductionUnchanged},
      {"what would fold over is stopped", WhatWouldFoldOverIsStopped},
      {"sound of 16 kHz is expanded", SoundOf16KHzIsExpanded},
      {"the reduction gives the same in pieces", TheReductionGivesTheSameInPieces},
  });
}
