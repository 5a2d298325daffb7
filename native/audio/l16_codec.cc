#include "audio/l16_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "audio/concealment.h"
#include "audio/overlap.h"
#include "audio/three_halves.h"
#include "audio/two_thirds.h"

namespace parley {
namespace {

constexpr int kL16Rate = 24'000;
constexpr int kReducedRate = 16'000;
constexpr float kL16FullScale = 32'768;
constexpr size_t kL16PerMs = kL16Rate / 1000;
constexpr size_t kMostEncoded = 60 * kL16PerMs;                        // samples of a frame
constexpr size_t kMostL16Samples = kL16PerMs * VoiceDecoder::kMostMs;  // samples of a payload

void ReadSamples(const uint8_t* payload, size_t count, float* out) {
  for (size_t n = 0; n < count; n++) {
    const auto value = static_cast<int16_t>(payload[2 * n] << 8 | payload[2 * n + 1]);
    out[n] = static_cast<float>(value) / kL16FullScale;
  }
}

class L16Decoder final : public VoiceDecoder {
 public:
  size_t SamplesIn(const uint8_t*, size_t bytes) const override {
    return bytes % 2 != 0 || bytes > 2 * kMostL16Samples ? 0 : bytes / 2;
  }

  size_t Decode(const uint8_t* payload, size_t bytes, float* out) override {
    const size_t samples = SamplesIn(payload, bytes);
    ReadSamples(payload, samples, out);
    concealment_.Accept(out, samples);
    return samples;
  }

  bool Recover(const uint8_t*, size_t, size_t, float*) override { return false; }
  void Conceal(size_t samples, float* out) override { concealment_.Conceal(samples, out); }
  void Reset() override { concealment_.Reset(); }

 private:
  Concealment concealment_{kL16Rate};
};

// Three samples become two.
class ReducedL16Decoder final : public VoiceDecoder {
 public:
  size_t SamplesIn(const uint8_t*, size_t bytes) const override {
    return bytes % (2 * kL16PerMs) != 0 || bytes > 2 * kMostL16Samples ? 0 : bytes / 3;
  }

  size_t Decode(const uint8_t* payload, size_t bytes, float* out) override {
    const size_t samples = SamplesIn(payload, bytes);
    if (samples == 0) return 0;
    ReadSamples(payload, bytes / 2, wide_);
    reducer_.Process(wide_, samples / 2, out);
    for (size_t n = 0; n < samples; n++) out[n] = Limited(out[n]);  // the filter overshoots at full scale
    concealment_.Accept(out, samples);
    return samples;
  }

  bool Recover(const uint8_t*, size_t, size_t, float*) override { return false; }
  void Conceal(size_t samples, float* out) override { concealment_.Conceal(samples, out); }

  void Reset() override {
    reducer_.Reset();
    concealment_.Reset();
  }

 private:
  TwoThirdsReducer reducer_;
  Concealment concealment_{kReducedRate};
  float wide_[kMostL16Samples];
};

class L16Encoder final : public VoiceEncoder {
 public:
  size_t Encode(const float* samples, size_t count, uint8_t* out, size_t room) override {
    if (count < kLeast || count > kMostEncoded || 2 * count > room) return 0;
    for (size_t n = 0; n < count; n++) {
      const long value = std::min(std::lrint(Limited(samples[n]) * kL16FullScale), 32'767L);
      out[2 * n] = static_cast<uint8_t>(value >> 8);
      out[2 * n + 1] = static_cast<uint8_t>(value);
    }
    return 2 * count;
  }

  void Reset() override {}

 private:
  static constexpr size_t kLeast = 10 * kL16PerMs;
};

// Two samples become three.
class ExpandedL16Encoder final : public VoiceEncoder {
 public:
  size_t Encode(const float* samples, size_t count, uint8_t* out, size_t room) override {
    const size_t wide = count / 2 * 3;
    if (count % 2 != 0 || wide > kMostEncoded || 2 * wide > room) return 0;
    expander_.Process(samples, count / 2, wide_);
    return encoder_.Encode(wide_, wide, out, room);
  }

  void Reset() override { expander_.Reset(); }

 private:
  L16Encoder encoder_;
  ThreeHalvesExpander expander_;
  float wide_[kMostEncoded];
};

}  // namespace

std::unique_ptr<VoiceDecoder> MakeL16Decoder(int rate) {
  if (rate == kL16Rate) return std::unique_ptr<VoiceDecoder>(new (std::nothrow) L16Decoder);
  if (rate != kReducedRate) return nullptr;
  return std::unique_ptr<VoiceDecoder>(new (std::nothrow) ReducedL16Decoder);
}

std::unique_ptr<VoiceEncoder> MakeL16Encoder(int rate) {
  if (rate == kL16Rate) return std::unique_ptr<VoiceEncoder>(new (std::nothrow) L16Encoder);
  if (rate != kReducedRate) return nullptr;
  return std::unique_ptr<VoiceEncoder>(new (std::nothrow) ExpandedL16Encoder);
}

}  // namespace parley
