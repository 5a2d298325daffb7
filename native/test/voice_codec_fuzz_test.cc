// Decoders between damaged, lost and repeated payloads. See fuzz_run.h for the ways to run it.
#include <algorithm>
#include <memory>
#include <vector>

#include "audio/voice_codec.h"
#include "media/random.h"
#include "test/fuzz_run.h"
#include "test/sounds.h"

namespace parley::fuzz {
namespace {

using test::Sound;
using Payload = std::vector<uint8_t>;

const VoiceCodec kCodecs[] = {VoiceCodec::kOpus, VoiceCodec::kPcmu, VoiceCodec::kG722, VoiceCodec::kL16};
constexpr size_t kSteps = 60;

void CheckRange(const Sound& sound) {
  CHECK(std::all_of(sound.begin(), sound.end(), [](float sample) { return sample >= -1 && sample <= 1; }));
}

void Damage(Random& random, Payload& payload) {
  const size_t kind = random.Next() % 6;
  if (kind == 0) payload.resize(random.Next() % (payload.size() + 1));
  if (kind == 1) payload.resize(payload.size() + random.Next() % 300, static_cast<uint8_t>(random.Next()));
  if (payload.empty()) return;
  if (kind == 2) payload[0] = static_cast<uint8_t>(random.Next());
  if (kind == 3) payload[0] |= 3;
  for (size_t n = kind >= 4 ? random.Next() % 20 : 0; n > 0; n--)
    payload[random.Next() % payload.size()] ^= static_cast<uint8_t>(1 << random.Next() % 8);
}

class Line {
 public:
  explicit Line(uint64_t seed) : random_(seed) {
    const VoiceCodec codec = kCodecs[random_.Next() % 4];
    const bool is_even = random_.Next() % 2 == 0;
    const int rate = codec == VoiceCodec::kOpus && is_even ? 48'000 : 16'000;
    const int encoded_rate = codec == VoiceCodec::kL16 ? 24'000 : rate;
    const int decoded_rate = codec == VoiceCodec::kL16 && is_even ? 24'000 : rate;
    encoded_ms_ = static_cast<size_t>(encoded_rate) / 1000;
    ms_ = static_cast<size_t>(decoded_rate) / 1000;
    encoder_ = VoiceEncoder::Make(codec, encoded_rate);
    decoder_ = VoiceDecoder::Make(codec, decoded_rate);
    sound_ = test::Voice(encoded_rate, 200 * encoded_ms_, seed);
  }

  void Step() {
    Payload payload = Encoded();
    if (random_.Next() % 3 == 0) Damage(random_, payload);
    const size_t kind = random_.Next() % 8;
    if (kind == 0) Conceal(random_.Next() % (90 * ms_));
    if (kind == 1) Recover(payload);
    if (kind == 2 && random_.Next() % 8 == 0) decoder_->Reset();
    Sound out(decoder_->SamplesIn(payload.data(), payload.size()));
    CHECK_EQ(decoder_->Decode(payload.data(), payload.size(), out.data()), out.size());
    CheckRange(out);
  }

 private:
  Payload Encoded() {
    const size_t lengths[] = {10, 20, 40, 60};
    const size_t count = lengths[random_.Next() % 4] * encoded_ms_;
    const size_t from = random_.Next() % (sound_.size() - count);
    Payload payload(1500);
    payload.resize(encoder_->Encode(&sound_[from], count, payload.data(), 40 + random_.Next() % 1400));
    return payload;
  }

  void Conceal(size_t samples) {
    Sound out(samples);
    decoder_->Conceal(samples, out.data());
    CheckRange(out);
  }

  void Recover(const Payload& next) {
    Sound out(10 * ms_ * (random_.Next() % 14));
    if (decoder_->Recover(next.data(), next.size(), out.size(), out.data())) CheckRange(out);
  }

  Random random_;
  size_t ms_, encoded_ms_;
  std::unique_ptr<VoiceEncoder> encoder_;
  std::unique_ptr<VoiceDecoder> decoder_;
  Sound sound_;
};

size_t Episode(uint64_t seed) {
  Line line(seed);
  for (size_t n = 0; n < kSteps; n++) line.Step();
  return kSteps;
}

// A sixth of the usual time: libopus itself, where most of it would go, is not instrumented.
void DamagedPayloads() { CHECK(RunPart("damaged payloads", 6, Episode) > 0); }

}  // namespace
}  // namespace parley::fuzz

TEST_GROUP(voice_codec_fuzz) {
  using namespace parley;
  return test::Run({{"damaged payloads do no harm", fuzz::DamagedPayloads}});
}
