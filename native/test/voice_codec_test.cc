// Codecs of voice: round trips, malformed payloads, resets.
#include "audio/voice_codec.h"

#include <string>
#include <vector>

#include "audio/half_band.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {
namespace {

struct Kind {
  VoiceCodec codec;
  int rate;
  double least_snr;  // dB of a round trip of the voice
};

const Kind kKinds[] = {
    {VoiceCodec::kPcmu, 8000, 34},   {VoiceCodec::kPcmu, 16'000, 32}, {VoiceCodec::kPcma, 8000, 34},
    {VoiceCodec::kPcma, 16'000, 32}, {VoiceCodec::kG722, 16'000, 20}, {VoiceCodec::kOpus, 8000, 5},
    {VoiceCodec::kOpus, 16'000, 5},  {VoiceCodec::kOpus, 48'000, 5},
};

// Encodes in frames of 20 ms and decodes them.
Sound RoundTrip(const Kind& kind, const Sound& sound) {
  const auto encoder = VoiceEncoder::Make(kind.codec, kind.rate);
  const auto decoder = VoiceDecoder::Make(kind.codec, kind.rate);
  const size_t frame = static_cast<size_t>(kind.rate) / 50;
  Sound out(sound.size());
  uint8_t payload[1500];
  for (size_t at = 0; at + frame <= sound.size(); at += frame) {
    const size_t bytes = encoder->Encode(&sound[at], frame, payload, sizeof(payload));
    CHECK_EQ(decoder->SamplesIn(payload, bytes), frame);
    CHECK_EQ(decoder->Decode(payload, bytes, &out[at]), frame);
  }
  return out;
}

void ARoundTripKeepsTheVoice() {
  for (const Kind& kind : kKinds) {
    const Sound sound = Voice(kind.rate, static_cast<size_t>(kind.rate) * 2);
    const double snr = BestSignalToNoise(sound, RoundTrip(kind, sound), 600, 1000);
    std::printf("       codec %d at %d Hz: %.1f dB\n", static_cast<int>(kind.codec), kind.rate, snr);
    CHECK(snr > kind.least_snr);
  }
}

void OtherRatesAreRefused() {
  CHECK(VoiceDecoder::Make(VoiceCodec::kPcmu, 48'000) == nullptr);
  CHECK(VoiceDecoder::Make(VoiceCodec::kG722, 8000) == nullptr);
  CHECK(VoiceDecoder::Make(VoiceCodec::kOpus, 44'100) == nullptr);
  CHECK(VoiceEncoder::Make(VoiceCodec::kPcma, 0) == nullptr);
}

std::vector<uint8_t> RandomPayload(Random& random, size_t bytes) {
  std::vector<uint8_t> payload(bytes);
  for (uint8_t& byte : payload) byte = static_cast<uint8_t>(random.Next());
  return payload;
}

// Decodes into memory of exactly that length, so that a sanitizer sees one sample too many.
Sound DecodedExactly(VoiceDecoder& decoder, const std::vector<uint8_t>& payload) {
  Sound out(decoder.SamplesIn(payload.data(), payload.size()));
  CHECK_EQ(decoder.Decode(payload.data(), payload.size(), out.data()), out.size());
  return out;
}

void RandomPayloadsOfEveryLengthDoNoHarm() {
  Random random(1500);
  for (const Kind& kind : kKinds) {
    const auto decoder = VoiceDecoder::Make(kind.codec, kind.rate);
    const auto most = static_cast<size_t>(kind.rate) / 1000 * VoiceDecoder::kMostMs;
    size_t decoded = 0, refused = 0;
    for (size_t bytes = 0; bytes <= 1500; bytes++) {
      const auto payload = RandomPayload(random, bytes);
      Sound copy(most);
      decoder->Recover(payload.data(), bytes, most / 6, copy.data());
      const Sound out = DecodedExactly(*decoder, payload);
      CHECK(out.size() <= most);
      for (const float sample : out) CHECK(sample >= -1 && sample <= 1);
      (out.empty() ? refused : decoded)++;
    }
    CHECK(decoded > 100 && refused > 100);
  }
}

void AMalformedPayloadLeavesTheDecoderAsItWas() {
  Random random(99);
  for (const Kind& kind : kKinds) {
    const Sound sound = Voice(kind.rate, static_cast<size_t>(kind.rate));
    const auto encoder = VoiceEncoder::Make(kind.codec, kind.rate);
    const auto one = VoiceDecoder::Make(kind.codec, kind.rate),
               other = VoiceDecoder::Make(kind.codec, kind.rate);
    const size_t frame = static_cast<size_t>(kind.rate) / 50;
    for (size_t at = 0; at + frame <= sound.size(); at += frame) {
      std::vector<uint8_t> payload(1500), malformed = RandomPayload(random, 961 + random.Next() % 500);
      payload.resize(encoder->Encode(&sound[at], frame, payload.data(), payload.size()));
      malformed[0] |= 3;  // Opus: any number of frames, of which 127 are too many
      malformed[1] = 0x7f;
      CHECK_EQ(DecodedExactly(*other, malformed).size(), 0u);
      CHECK(DecodedExactly(*one, payload) == DecodedExactly(*other, payload));
    }
  }
}

void ResetIsABeginning() {
  for (const Kind& kind : kKinds) {
    const Sound sound = Voice(kind.rate, static_cast<size_t>(kind.rate) / 10);
    const auto encoder = VoiceEncoder::Make(kind.codec, kind.rate);
    const auto decoder = VoiceDecoder::Make(kind.codec, kind.rate);
    std::vector<Sound> heard;
    for (size_t round = 0; round < 2; round++) {
      Sound all, concealed(777);
      const size_t frame = static_cast<size_t>(kind.rate) / 50;
      for (size_t at = 0; at + frame <= sound.size(); at += frame) {
        std::vector<uint8_t> payload(1500);
        payload.resize(encoder->Encode(&sound[at], frame, payload.data(), payload.size()));
        const Sound out = DecodedExactly(*decoder, payload);
        all.insert(all.end(), out.begin(), out.end());
      }
      decoder->Conceal(concealed.size(), concealed.data());
      all.insert(all.end(), concealed.begin(), concealed.end());
      heard.push_back(all);
      encoder->Reset();
      decoder->Reset();
    }
    for (size_t n = 0; n < heard[0].size(); n++)
      if (heard[0][n] != heard[1][n]) {
        std::printf("codec %d rate %d at %zu of %zu %g %g\n", (int)kind.codec, kind.rate, n, heard[0].size(),
                    heard[0][n], heard[1][n]);
        break;
      }
    CHECK(heard[0] == heard[1]);
  }
}

void AFrameOfAnotherLengthOrWithoutRoomIsNotEncoded() {
  for (const Kind& kind : kKinds) {
    const auto encoder = VoiceEncoder::Make(kind.codec, kind.rate);
    const auto ms = static_cast<size_t>(kind.rate) / 1000;
    const Sound sound(100 * ms);
    uint8_t out[1500];
    for (const size_t length : {10, 20, 40, 60})
      CHECK(encoder->Encode(sound.data(), length * ms, out, 1500) > 0);
    for (const size_t length : {0, 5, 80})
      CHECK_EQ(encoder->Encode(sound.data(), length * ms, out, 1500), 0u);
    CHECK_EQ(encoder->Encode(sound.data(), 20 * ms, out, 0), 0u);
  }
}

double GainOfDoubler(double hz) {
  const Sound in = Tone(hz, 0.5, 8000, 4000);
  Sound out(8000);
  HalfBandDoubler doubler;
  doubler.Process(in.data(), in.size(), out.data());
  return Energy(&out[1000], 6000) / (2 * Energy(&in[500], 3000));
}

void TheFilterPassesSpeechUnchanged() {
  for (double hz = 100; hz <= 3400; hz += 100) {
    const Sound in = Tone(hz, 0.5, 8000, 4000), wanted = Tone(hz, 0.5, 16'000, 8000);
    Sound out(8000);
    HalfBandDoubler doubler;
    doubler.Process(in.data(), in.size(), out.data());
    CHECK(SignalToNoise(&wanted[1000], &out[1000 + kHalfBandDelay], 6000) > 60);
  }
  CHECK(GainOfDoubler(1000) > 0.999);
}

void TheFilterStopsWhatWouldFoldOver() {
  for (double hz = 4600; hz < 8000; hz += 100) {
    const Sound in = Tone(hz, 0.5, 16'000, 8000);
    Sound out(4000);
    HalfBandHalver halver;
    halver.Process(in.data(), out.size(), out.data());
    CHECK(Energy(&out[500], 3000) < 1e-6 * Energy(&in[1000], 6000) / 2);
  }
}

void TheFilterGivesTheSameInPieces() {
  const Sound in = Voice(8000, 1000);
  Sound whole(2000), pieces(2000);
  HalfBandDoubler one, other;
  one.Process(in.data(), in.size(), whole.data());
  Random random(3);
  for (size_t at = 0; at < in.size();) {
    const size_t count = std::min<size_t>(random.Next() % 130, in.size() - at);
    other.Process(&in[at], count, &pieces[2 * at]);
    at += count;
  }
  CHECK(SignalToNoise(whole.data(), pieces.data(), whole.size()) > 100);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(voice_codec) {
  using namespace parley::test;
  return Run({
      {"a round trip keeps the voice", ARoundTripKeepsTheVoice},
      {"other rates are refused", OtherRatesAreRefused},
      {"random payloads of every length do no harm", RandomPayloadsOfEveryLengthDoNoHarm},
      {"a malformed payload leaves the decoder as it was", AMalformedPayloadLeavesTheDecoderAsItWas},
      {"Reset is a beginning", ResetIsABeginning},
      {"a frame of another length or without room is not encoded",
       AFrameOfAnotherLengthOrWithoutRoomIsNotEncoded},
      {"the filter passes speech unchanged", TheFilterPassesSpeechUnchanged},
      {"the filter stops what would fold over", TheFilterStopsWhatWouldFoldOver},
      {"the filter gives the same in pieces", TheFilterGivesTheSameInPieces},
  });
}
