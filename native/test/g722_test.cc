// G.722, bit by bit: the hashes are those of src/codecs/g722.ts (test/codecs/g722.test.ts), which ffmpeg
// confirms.
#include "audio/g722.h"

#include <vector>

#include "test/check.h"

namespace parley::test {
namespace {

constexpr size_t kBytes = 16'000;

class Numbers {
 public:
  uint32_t Next() { return state_ = state_ * 1'664'525 + 1'013'904'223; }

 private:
  uint32_t state_ = 722;
};

// FNV-1a over values of 16 bits.
template <class Value>
uint32_t HashOf(const std::vector<Value>& values) {
  uint32_t hash = 0x811c9dc5;
  for (const Value value : values) hash = (hash ^ static_cast<uint16_t>(value)) * 0x01000193;
  return hash;
}

// Noise that becomes 6 dB softer every 2000 samples, from full scale down to silence, and loud again.
std::vector<int16_t> Noise(Numbers& numbers) {
  std::vector<int16_t> samples(2 * kBytes);
  for (size_t n = 0; n < samples.size(); n++)
    samples[n] = static_cast<int16_t>(static_cast<int32_t>(numbers.Next()) >> (16 + n / 2000 % 12));
  return samples;
}

void BytesEqualTheReference() {
  Numbers numbers;
  const std::vector<int16_t> samples = Noise(numbers);
  std::vector<uint8_t> bytes(kBytes);
  G722Encoder encoder;
  for (size_t at = 0; at < kBytes; at += 160) encoder.Encode(&samples[2 * at], 160, &bytes[at]);
  CHECK_EQ(HashOf(samples), 0x694e9222u);
  CHECK_EQ(HashOf(bytes), 0x6c6ba76fu);
  std::vector<int16_t> out(2 * kBytes);
  G722Decoder decoder;
  for (size_t at = 0; at < kBytes; at += 100) decoder.Decode(&bytes[at], 100, &out[2 * at]);
  CHECK_EQ(HashOf(out), 0x5c00b7e6u);
}

void AnyBytesGiveTheSoundOfTheReference() {
  Numbers numbers;
  for (size_t n = 0; n < 2 * kBytes; n++) numbers.Next();
  std::vector<uint8_t> bytes(kBytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(numbers.Next() >> 24);
  CHECK_EQ(HashOf(bytes), 0xf0af4346u);
  std::vector<int16_t> out(2 * kBytes);
  G722Decoder decoder;
  decoder.Decode(bytes.data(), kBytes, out.data());
  CHECK_EQ(HashOf(out), 0x11c8b416u);
}

void ResetIsABeginning() {
  Numbers numbers;
  const std::vector<int16_t> samples = Noise(numbers);
  std::vector<uint8_t> first(1000), second(1000);
  std::vector<int16_t> heard(2000), again(2000);
  G722Encoder encoder;
  G722Decoder decoder;
  encoder.Encode(samples.data(), first.size(), first.data());
  decoder.Decode(first.data(), first.size(), heard.data());
  decoder.Follow(samples.data(), 300);
  encoder.Reset();
  decoder.Reset();
  encoder.Encode(samples.data(), second.size(), second.data());
  decoder.Decode(second.data(), second.size(), again.data());
  CHECK(first == second);
  CHECK(heard == again);
}

// Its predictors are then those of a decoder that had the bytes.
void AfterFollowingTheSoundADecoderGoesOnAsIfItHadTheBytes() {
  Numbers numbers;
  const std::vector<int16_t> samples = Noise(numbers);
  std::vector<uint8_t> bytes(kBytes);
  G722Encoder encoder;
  encoder.Encode(samples.data(), kBytes, bytes.data());
  G722Decoder one, other;
  std::vector<int16_t> wanted(400), seen(400), before(2000);
  one.Decode(bytes.data(), 1000, before.data());
  one.Decode(&bytes[1000], 200, wanted.data());
  other.Follow(samples.data(), 1000);
  other.Decode(&bytes[1000], 200, seen.data());
  // The first samples have the bands of the past, quantized in one and not in the other.
  CHECK(std::equal(wanted.begin() + 24, wanted.end(), seen.begin() + 24));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(g722) {
  using namespace parley::test;
  return Run({
      {"bytes equal the reference", BytesEqualTheReference},
      {"any bytes give the sound of the reference", AnyBytesGiveTheSoundOfTheReference},
      {"Reset is a beginning", ResetIsABeginning},
      {"after following the sound, a decoder goes on as if it had the bytes",
       AfterFollowingTheSoundADecoderGoesOnAsIfItHadTheBytes},
  });
}
