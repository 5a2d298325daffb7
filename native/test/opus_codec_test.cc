// Opus: error correction, concealment, two channels, long payloads.
#include <opus.h>

#include <memory>
#include <string>
#include <vector>

#include "audio/voice_codec.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

constexpr int kRate = 16'000;
constexpr size_t kFrame = 320;  // 20 ms

using Payload = std::vector<uint8_t>;

struct Free {
  void operator()(OpusEncoder* state) const { opus_encoder_destroy(state); }
};
using Encoder = std::unique_ptr<OpusEncoder, Free>;

// Payloads of `sound` in frames of `frame` samples for each channel.
std::vector<Payload> Encoded(OpusEncoder* encoder, const Sound& sound, size_t frame, size_t channels) {
  std::vector<Payload> payloads;
  for (size_t at = 0; at + frame * channels <= sound.size(); at += frame * channels) {
    Payload payload(1500);
    const int bytes = opus_encode_float(encoder, &sound[at], static_cast<int>(frame), payload.data(), 1500);
    payload.resize(static_cast<size_t>(std::max(0, bytes)));
    payloads.push_back(payload);
  }
  return payloads;
}

std::vector<Payload> VoicePayloads(const Sound& voice) {
  const auto encoder = VoiceEncoder::Make(VoiceCodec::kOpus, kRate);
  std::vector<Payload> payloads;
  for (size_t at = 0; at + kFrame <= voice.size(); at += kFrame) {
    Payload payload(1500);
    payload.resize(encoder->Encode(&voice[at], kFrame, payload.data(), payload.size()));
    payloads.push_back(payload);
  }
  return payloads;
}

std::unique_ptr<VoiceDecoder> MakeDecoder() { return VoiceDecoder::Make(VoiceCodec::kOpus, kRate); }

enum class Loss { kNothing, kRecovered, kConcealed };

// Decodes; every sixth frame is lost and replaced as `loss` says.
Sound Decoded(const std::vector<Payload>& payloads, Loss loss) {
  const auto decoder = MakeDecoder();
  Sound out(payloads.size() * kFrame);
  size_t recovered = 0, lost = 0;
  for (size_t n = 0; n < payloads.size(); n++) {
    float* const to = &out[n * kFrame];
    if (loss == Loss::kNothing || n % 6 != 5 || n + 1 == payloads.size()) {
      CHECK_EQ(decoder->Decode(payloads[n].data(), payloads[n].size(), to), kFrame);
      continue;
    }
    lost++;
    const Payload& next = payloads[n + 1];
    if (loss == Loss::kRecovered && decoder->Recover(next.data(), next.size(), kFrame, to)) recovered++;
    else decoder->Conceal(kFrame, to);
  }
  if (loss == Loss::kRecovered) CHECK(recovered * 2 > lost);  // quiet frames have no copy
  return out;
}

void ErrorCorrectionIsBetterThanConcealment() {
  const auto payloads = VoicePayloads(Voice(kRate, kRate * 4));
  const Sound intact = Decoded(payloads, Loss::kNothing);
  const Sound recovered = Decoded(payloads, Loss::kRecovered),
              concealed = Decoded(payloads, Loss::kConcealed);
  const double with = SignalToNoise(intact.data(), recovered.data(), intact.size());
  const double without = SignalToNoise(intact.data(), concealed.data(), intact.size());
  std::printf("       a sixth lost: recovered %.1f dB, concealed %.1f dB\n", with, without);
  CHECK(with > without + 3);
  CHECK(without > 3);
}

void ThereIsNothingToRecoverWithoutErrorCorrection() {
  Encoder encoder(opus_encoder_create(kRate, 1, OPUS_APPLICATION_VOIP, nullptr));
  const Sound voice = Voice(kRate, kRate);
  for (const bool celt : {false, true}) {
    if (celt) opus_encoder_ctl(encoder.get(), OPUS_SET_APPLICATION(OPUS_APPLICATION_RESTRICTED_LOWDELAY));
    const auto decoder = MakeDecoder();
    Sound out(kFrame, 7.0F);
    for (const Payload& payload : Encoded(encoder.get(), voice, kFrame, 1)) {
      CHECK(!decoder->Recover(payload.data(), payload.size(), kFrame, out.data()));
      CHECK_EQ(out[0], 7.0F);
    }
    encoder.reset(opus_encoder_create(kRate, 1, OPUS_APPLICATION_RESTRICTED_LOWDELAY, nullptr));
  }
}

void RecoverLeavesTheDecoderAsItWasWhereItCannot() {
  const auto payloads = VoicePayloads(Voice(kRate, kRate));
  const auto one = MakeDecoder(), other = MakeDecoder();
  Sound out(kFrame), same(kFrame);
  for (const Payload& payload : payloads) {
    CHECK(!one->Recover(payload.data(), payload.size(), kFrame / 2, out.data()));  // shorter than the copy
    CHECK(!one->Recover(payload.data(), payload.size(), kFrame + 1, out.data()));
    CHECK(!one->Recover(payload.data(), 0, kFrame, out.data()));
    one->Decode(payload.data(), payload.size(), out.data());
    other->Decode(payload.data(), payload.size(), same.data());
    CHECK(out == same);
  }
}

void ALossIsConcealedAndFades() {
  Sound sound(kRate);
  const Sound voice = Voice(kRate, kRate / 4);
  sound.insert(sound.end(), voice.begin(), voice.end());
  const auto payloads = VoicePayloads(sound);
  const auto decoder = MakeDecoder();
  Sound out(kRate);
  for (const Payload& payload : payloads) decoder->Decode(payload.data(), payload.size(), out.data());
  const double before = Energy(out.data(), kFrame);
  decoder->Conceal(kRate, out.data());
  CHECK(Energy(out.data(), kFrame) > before / 10);
  CHECK(Energy(&out[kRate - kFrame], kFrame) < before / 1e4);
}

// libopus conceals pieces of 10 ms. The rest of a piece overlaps the next frame.
void AnyNumberOfSamplesCanBeConcealed() {
  const auto payloads = VoicePayloads(Voice(kRate, kRate * 2));
  const auto pieces = MakeDecoder();
  Sound out;
  for (size_t n = 0; n < payloads.size(); n++) {
    Sound piece(n % 8 == 7 ? 256 : kFrame);
    if (n % 8 == 7)
      for (size_t at = 0; at < 256; at += 64) pieces->Conceal(64, &piece[at]);
    else pieces->Decode(payloads[n].data(), payloads[n].size(), piece.data());
    out.insert(out.end(), piece.begin(), piece.end());
  }
  const Sound intact = Decoded(payloads, Loss::kNothing);
  std::printf("       step %.3f, of the voice %.3f\n", BiggestStep(out, 0, out.size()),
              BiggestStep(intact, 0, intact.size()));
  CHECK(BiggestStep(out, 0, out.size()) <= 1.25F * BiggestStep(intact, 0, intact.size()));
}

void ConcealmentGoesOnAfterAPauseOfTheSender() {
  Encoder encoder(opus_encoder_create(kRate, 1, OPUS_APPLICATION_VOIP, nullptr));
  opus_encoder_ctl(encoder.get(), OPUS_SET_DTX(1));
  Sound sound = Voice(kRate, kRate);
  sound.resize(2 * kRate);
  const auto payloads = Encoded(encoder.get(), sound, kFrame, 1);
  const auto decoder = MakeDecoder();
  Sound out(kFrame);
  size_t pauses = 0;
  for (const Payload& payload : payloads) {
    if (payload.size() <= 2) pauses++;
    CHECK_EQ(decoder->Decode(payload.data(), payload.size(), out.data()), kFrame);
    if (payload.size() <= 2) decoder->Conceal(kFrame, out.data());
    if (payload.size() <= 2) CHECK(Energy(out.data(), kFrame) < 1e-3);
  }
  CHECK(pauses > 10);
}

// Both channels in one payload, at a level that a channel of its own would have halved.
// Sound and the bands of its payloads, one after the other, whose middle third is encoded wide.
struct Widened {
  explicit Widened(const Sound& said) : heard(said.size()) {
    const auto encoder = VoiceEncoder::Make(VoiceCodec::kOpus, kRate);
    const auto decoder = MakeDecoder();
    const size_t frames = said.size() / kFrame;
    for (size_t n = 0; n < frames; n++) {
      encoder->SetNarrow(3 * n / frames != 1);
      uint8_t payload[1500];
      const size_t bytes = encoder->Encode(&said[n * kFrame], kFrame, payload, sizeof(payload));
      bands.push_back(opus_packet_get_bandwidth(payload));
      CHECK_EQ(decoder->Decode(payload, bytes, &heard[n * kFrame]), kFrame);
    }
  }

  size_t Count(int band, size_t third) const {
    const auto begin = bands.begin() + static_cast<ptrdiff_t>(third * bands.size() / 3);
    return static_cast<size_t>(std::count(begin, begin + static_cast<ptrdiff_t>(bands.size() / 3), band));
  }

  Sound heard;
  std::vector<int> bands;
};

// The voice pauses after two thirds of each second.
void NarrowSoundIsEncodedNarrowUntilAPause() {
  constexpr size_t kThird = 200;  // frames
  Sound voice = Voice(kRate, 3 * kThird * kFrame);
  for (size_t n = 0; n < voice.size(); n++) {
    if (n % kRate > kRate * 2 / 3) voice[n] = 0;
  }
  const Widened sound(voice);
  CHECK_EQ(sound.Count(OPUS_BANDWIDTH_NARROWBAND, 0), kThird);
  CHECK(sound.Count(OPUS_BANDWIDTH_WIDEBAND, 1) > kThird * 4 / 5);
  CHECK(sound.Count(OPUS_BANDWIDTH_NARROWBAND, 2) > kThird * 4 / 5);
  CHECK(BiggestStep(sound.heard, kFrame, voice.size()) < 1.5F * BiggestStep(voice, 1, voice.size()));
  for (size_t third = 0; third < 3; third++) {
    const size_t at = third * kThird * kFrame;
    const double ratio = Energy(&sound.heard[at], kThird * kFrame) / Energy(&voice[at], kThird * kFrame);
    CHECK(ratio > 0.7 && ratio < 1.3);
  }
}

// It becomes wide in steps, which nobody hears.
void TheBandOfAToneChangesWithoutAClick() {
  const Sound tone = Tone(300, 0.3, kRate, 45 * size_t{kRate});
  const Widened sound(tone);
  CHECK(sound.bands[sound.bands.size() * 2 / 3 - 1] == OPUS_BANDWIDTH_WIDEBAND);
  CHECK_EQ(sound.bands.back(), OPUS_BANDWIDTH_NARROWBAND);
  CHECK(BiggestStep(sound.heard, kRate, tone.size()) < 2 * BiggestStep(tone, 1, kRate));
}

void TwoChannelsAreMixedToOne() {
  for (const int application : {OPUS_APPLICATION_VOIP, OPUS_APPLICATION_RESTRICTED_LOWDELAY}) {
    Encoder encoder(opus_encoder_create(kRate, 2, application, nullptr));
    opus_encoder_ctl(encoder.get(), OPUS_SET_BITRATE(96'000));
    opus_encoder_ctl(encoder.get(), OPUS_SET_FORCE_CHANNELS(2));
    const Sound left = Tone(300, 0.4, kRate, kRate), right = Tone(700, 0.4, kRate, kRate);
    Sound both, mixed;
    for (size_t n = 0; n < left.size(); n++) {
      both.insert(both.end(), {left[n], right[n]});
      mixed.push_back((left[n] + right[n]) / 2);
    }
    const auto decoder = MakeDecoder();
    Sound out;
    for (const Payload& payload : Encoded(encoder.get(), both, kFrame, 2)) {
      Sound piece(kFrame);
      CHECK_EQ(opus_packet_get_nb_channels(payload.data()), 2);
      CHECK_EQ(decoder->Decode(payload.data(), payload.size(), piece.data()), kFrame);
      out.insert(out.end(), piece.begin(), piece.end());
    }
    CHECK(BestSignalToNoise(mixed, out, 300, 3200) > 10);
  }
}

void APayloadOf120MsIsDecodedAndALongerOneIsNot() {
  Encoder encoder(opus_encoder_create(kRate, 1, OPUS_APPLICATION_VOIP, nullptr));
  const Sound voice = Voice(kRate, kRate);
  for (const int rate : {8000, 16'000, 48'000}) {
    const auto decoder = VoiceDecoder::Make(VoiceCodec::kOpus, rate);
    const auto wanted = static_cast<size_t>(rate) * 3 / 25;
    Sound out(wanted);
    for (Payload payload : Encoded(encoder.get(), voice, 1920, 1)) {
      CHECK_EQ(decoder->SamplesIn(payload.data(), payload.size()), wanted);
      CHECK_EQ(decoder->Decode(payload.data(), payload.size(), out.data()), wanted);
    }
  }
  Payload longer = {0x18 | 3, 3};  // three frames of SILK, 60 ms each
  longer.resize(2 + 3 * 20, 1);
  CHECK_EQ(MakeDecoder()->SamplesIn(longer.data(), longer.size()), 0u);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(opus_codec) {
  using namespace parley::test;
  return Run({
      {"error correction is better than concealment", ErrorCorrectionIsBetterThanConcealment},
      {"there is nothing to recover without error correction", ThereIsNothingToRecoverWithoutErrorCorrection},
      {"Recover leaves the decoder as it was where it cannot", RecoverLeavesTheDecoderAsItWasWhereItCannot},
      {"a loss is concealed and fades", ALossIsConcealedAndFades},
      {"any number of samples can be concealed", AnyNumberOfSamplesCanBeConcealed},
      {"concealment goes on after a pause of the sender", ConcealmentGoesOnAfterAPauseOfTheSender},
      {"narrow sound is encoded narrow until a pause", NarrowSoundIsEncodedNarrowUntilAPause},
      {"the band of a tone changes without a click", TheBandOfAToneChangesWithoutAClick},
      {"two channels are mixed to one", TwoChannelsAreMixedToOne},
      {"a payload of 120 ms is decoded and a longer one is not", APayloadOf120MsIsDecodedAndALongerOneIsNot},
  });
}
