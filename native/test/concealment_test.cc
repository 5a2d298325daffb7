// Concealment of lost sound: it continues the sound before, fades, and returns without a step.
#include <string>
#include <vector>

#include "audio/voice_codec.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

struct Kind {
  VoiceCodec codec;
  int rate;
};

const Kind kWaveforms[] = {
    {VoiceCodec::kPcmu, 8000},
    {VoiceCodec::kPcma, 16'000},
    {VoiceCodec::kG722, 16'000},
};

size_t SamplesOf(const Kind& kind, size_t ms) { return static_cast<size_t>(kind.rate) / 1000 * ms; }

// Decodes frames of 20 ms and conceals those that `is_lost` names.
template <class IsLost>
Sound WithLosses(const Kind& kind, const Sound& sound, const IsLost& is_lost) {
  const auto encoder = VoiceEncoder::Make(kind.codec, kind.rate);
  const auto decoder = VoiceDecoder::Make(kind.codec, kind.rate);
  const size_t frame = SamplesOf(kind, 20);
  Sound out(sound.size());
  uint8_t payload[1500];
  for (size_t n = 0; (n + 1) * frame <= sound.size(); n++) {
    const size_t bytes = encoder->Encode(&sound[n * frame], frame, payload, sizeof(payload));
    if (is_lost(n)) decoder->Conceal(frame, &out[n * frame]);
    else decoder->Decode(payload, bytes, &out[n * frame]);
  }
  return out;
}

Sound Intact(const Kind& kind, const Sound& sound) {
  return WithLosses(kind, sound, [](size_t) { return false; });
}

void ALostFrameOfAVoiceIsLikeTheVoice() {
  for (const Kind& kind : kWaveforms) {
    const Sound sound = Voice(kind.rate, SamplesOf(kind, 2000)), intact = Intact(kind, sound);
    const Sound out = WithLosses(kind, sound, [](size_t n) { return n % 10 == 9; });
    const double snr = SignalToNoise(intact.data(), out.data(), sound.size());
    std::printf("       codec %d at %d Hz: %.1f dB with a tenth lost\n", static_cast<int>(kind.codec),
                kind.rate, snr);
    CHECK(snr > 12);  // with silence instead: 10 dB
  }
}

void ASteadyToneContinuesAsIfNothingWereLost() {
  for (const Kind& kind : kWaveforms) {
    const Sound tone = Tone(200, 0.5, kind.rate, SamplesOf(kind, 400)), intact = Intact(kind, tone);
    const Sound out = WithLosses(kind, tone, [](size_t n) { return n == 10; });
    const size_t from = SamplesOf(kind, 200);
    CHECK(SignalToNoise(&intact[from], &out[from], SamplesOf(kind, 10)) > 30);
  }
}

void ALongLossFadesToSilenceIn60Ms() {
  for (const Kind& kind : kWaveforms) {
    const Sound sound = Voice(kind.rate, SamplesOf(kind, 1000));
    const Sound out = WithLosses(kind, sound, [](size_t n) { return n >= 25; });
    const size_t piece = SamplesOf(kind, 20), from = 25 * piece;
    double before = Energy(&out[from - piece], piece) * 1.5;  // the voice itself may grow
    for (size_t n = 0; n < 3; n++) {
      const double now = Energy(&out[from + n * piece], piece);
      CHECK(now < before && now > 0);
      before = now;
    }
    const size_t silent = from + SamplesOf(kind, 64);  // the filter's memory may last 4 ms
    CHECK_EQ(Energy(&out[silent], out.size() - silent), 0.0);
  }
}

void NoJointHasAStepBiggerThanTheVoiceHas() {
  for (const Kind& kind : kWaveforms) {
    const Sound sound = Voice(kind.rate, SamplesOf(kind, 4000)), intact = Intact(kind, sound);
    Random random(11);
    const auto is_lost = [&random](size_t n) { return n > 5 && random.Unit() < 0.2; };
    const Sound out = WithLosses(kind, sound, is_lost);
    const float bound = BiggestStep(intact, 0, intact.size());
    const float seen = BiggestStep(out, 0, out.size());
    std::printf("       codec %d at %d Hz: step %.3f, of the voice %.3f\n", static_cast<int>(kind.codec),
                kind.rate, seen, bound);
    CHECK(seen <= 1.25F * bound);
  }
}

void PiecesOfAnyLengthAreOneConcealment() {
  for (const Kind& kind : kWaveforms) {
    const Sound sound = Voice(kind.rate, SamplesOf(kind, 500));
    const auto encoder = VoiceEncoder::Make(kind.codec, kind.rate);
    const auto one = VoiceDecoder::Make(kind.codec, kind.rate),
               other = VoiceDecoder::Make(kind.codec, kind.rate);
    const size_t frame = SamplesOf(kind, 20), lost = SamplesOf(kind, 50);
    Sound whole(lost), pieces(lost), heard(frame);
    uint8_t payload[1500];
    for (size_t at = 0; at + frame <= sound.size(); at += frame) {
      const size_t bytes = encoder->Encode(&sound[at], frame, payload, sizeof(payload));
      one->Decode(payload, bytes, heard.data());
      other->Decode(payload, bytes, heard.data());
    }
    one->Conceal(lost, whole.data());
    for (size_t at = 0, size = 1; at < lost; at += size, size = (size * 7 + 3) % 41) {
      size = std::min(size, lost - at);
      other->Conceal(size, &pieces[at]);
    }
    CHECK(SignalToNoise(whole.data(), pieces.data(), lost) > 100);
  }
}

// The predictors of G.722 adapt to what was decoded. Without the lost bytes they differ from the encoder's.
void G722IsItselfAgainSoonAfterALoss() {
  const Kind kind = {VoiceCodec::kG722, 16'000};
  const size_t frame = SamplesOf(kind, 20);
  const Sound sound = Voice(kind.rate, SamplesOf(kind, 10'000)), intact = Intact(kind, sound);
  for (const size_t lost : {1, 2, 3}) {
    const Sound out = WithLosses(kind, sound, [lost](size_t n) { return n % 10 < lost && n > 10; });
    Sound wanted, seen;
    for (size_t n = 10 + lost + 1; n < 500; n += 10) {  // the second frame after the loss
      wanted.insert(wanted.end(), &intact[n * frame], &intact[(n + 1) * frame]);
      seen.insert(seen.end(), &out[n * frame], &out[(n + 1) * frame]);
    }
    const double snr = SignalToNoise(wanted.data(), seen.data(), wanted.size());
    std::printf("       %zu frames lost: %.1f dB in the second frame after them\n", lost, snr);
    CHECK(snr > 12);
  }
}

void BeforeAnySoundConcealmentIsSilence() {
  for (const Kind& kind : kWaveforms) {
    const auto decoder = VoiceDecoder::Make(kind.codec, kind.rate);
    Sound out(SamplesOf(kind, 100), 1.0F);
    decoder->Conceal(out.size(), out.data());
    CHECK_EQ(Energy(out.data(), out.size()), 0.0);
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(concealment) {
  using namespace parley::test;
  return Run({
      {"a lost frame of a voice is like the voice", ALostFrameOfAVoiceIsLikeTheVoice},
      {"a steady tone continues as if nothing were lost", ASteadyToneContinuesAsIfNothingWereLost},
      {"a long loss fades to silence in 60 ms", ALongLossFadesToSilenceIn60Ms},
      {"no joint has a step bigger than the voice has", NoJointHasAStepBiggerThanTheVoiceHas},
      {"pieces of any length are one concealment", PiecesOfAnyLengthAreOneConcealment},
      {"G.722 is itself again soon after a loss", G722IsItselfAgainSoonAfterALoss},
      {"before any sound concealment is silence", BeforeAnySoundConcealmentIsSilence},
  });
}
