#include "audio/waveform_codec.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "audio/concealment.h"
#include "audio/g711.h"
#include "audio/g722.h"
#include "audio/half_band.h"
#include "audio/overlap.h"

namespace parley {
namespace {

constexpr int kG711Rate = 8000, kG722Rate = 16'000;
constexpr float kFullScale = 32'768;
constexpr size_t kMostG711Samples = kG711Rate / 1000 * VoiceDecoder::kMostMs;
constexpr size_t kMostG722Bytes = kG722Rate / 2000 * VoiceDecoder::kMostMs;

const G711Law& LawOf(VoiceCodec codec) { return codec == VoiceCodec::kPcmu ? MuLaw() : ALaw(); }

int16_t RoundedTo16Bits(float value) {
  return static_cast<int16_t>(std::min(std::lrint(Limited(value) * kFullScale), 32'767L));
}

// Sound at 8 kHz, doubled in rate where the caller has 16 kHz.
class G711Decoder final : public VoiceDecoder {
 public:
  G711Decoder(VoiceCodec codec, int rate) : law_(LawOf(codec)), doubles_(rate != kG711Rate) {}

  size_t SamplesIn(const uint8_t*, size_t bytes) const override {
    if (bytes > kMostG711Samples) return 0;
    return doubles_ ? 2 * bytes : bytes;
  }

  size_t Decode(const uint8_t* payload, size_t bytes, float* out) override {
    const size_t samples = SamplesIn(payload, bytes);
    if (samples == 0) return 0;
    float* const sound = doubles_ ? narrow_ : out;
    for (size_t n = 0; n < bytes; n++) sound[n] = law_.values[payload[n]] / kFullScale;
    concealment_.Accept(sound, bytes);
    if (doubles_) Double(bytes, out);
    has_spare_ = false;
    return samples;
  }

  bool Recover(const uint8_t*, size_t, size_t, float*) override { return false; }

  void Conceal(size_t samples, float* out) override {
    if (!doubles_) {
      concealment_.Conceal(samples, out);
      return;
    }
    if (has_spare_ && samples > 0) {
      *out++ = spare_;
      samples--;
      has_spare_ = false;
    }
    while (samples > 1) {
      const size_t pairs = std::min(samples / 2, kMostG711Samples);
      concealment_.Conceal(pairs, narrow_);
      Double(pairs, out);
      out += 2 * pairs;
      samples -= 2 * pairs;
    }
    if (samples > 0) ConcealHalf(out);
  }

  void Reset() override {
    concealment_.Reset();
    doubler_.Reset();
    has_spare_ = false;
  }

 private:
  void Double(size_t count, float* out) {
    doubler_.Process(narrow_, count, out);
    for (size_t n = 0; n < 2 * count; n++) out[n] = Limited(out[n]);  // the filter overshoots at full scale
  }

  // One sample of the pair that a sample at 8 kHz becomes. The other is kept.
  void ConcealHalf(float* out) {
    float pair[2];
    concealment_.Conceal(1, narrow_);
    Double(1, pair);
    *out = pair[0];
    spare_ = pair[1];
    has_spare_ = true;
  }

  const G711Law& law_;
  const bool doubles_;
  Concealment concealment_{kG711Rate};
  HalfBandDoubler doubler_;
  bool has_spare_ = false;
  float spare_ = 0;
  float narrow_[kMostG711Samples];
};

class G711Encoder final : public VoiceEncoder {
 public:
  G711Encoder(VoiceCodec codec, int rate) : law_(LawOf(codec)), halves_(rate != kG711Rate) {}

  size_t Encode(const float* samples, size_t count, uint8_t* out, size_t room) override {
    const size_t bytes = halves_ ? count / 2 : count;
    if (bytes < kLeast || bytes > kMost || bytes > room || (halves_ && count % 2 != 0)) return 0;
    if (halves_) {
      halver_.Process(samples, bytes, narrow_);
      samples = narrow_;
    }
    for (size_t n = 0; n < bytes; n++) out[n] = law_.codes[RoundedTo16Bits(samples[n]) + 32'768];
    return bytes;
  }

  void Reset() override { halver_.Reset(); }

 private:
  static constexpr size_t kLeast = kG711Rate / 100, kMost = 6 * kLeast;

  const G711Law& law_;
  const bool halves_;
  HalfBandHalver halver_;
  float narrow_[kMost];
};

class G722VoiceDecoder final : public VoiceDecoder {
 public:
  size_t SamplesIn(const uint8_t*, size_t bytes) const override {
    return bytes > kMostG722Bytes ? 0 : 2 * bytes;
  }

  size_t Decode(const uint8_t* payload, size_t bytes, float* out) override {
    const size_t samples = SamplesIn(payload, bytes);
    decoder_.Decode(payload, samples / 2, sound_);
    for (size_t n = 0; n < samples; n++) out[n] = static_cast<float>(sound_[n]) / kFullScale;
    concealment_.Accept(out, samples);
    followed_ = 0;
    return samples;
  }

  bool Recover(const uint8_t*, size_t, size_t, float*) override { return false; }

  // The decoder follows the concealed sound, so that its predictors fit what comes next. But when the sound
  // fades, the decoder stops, so that its scale does not fade too.
  void Conceal(size_t samples, float* out) override {
    concealment_.Conceal(samples, out);
    const size_t taken = std::min(samples, kMostFollowed - followed_), pairs_before = followed_ / 2;
    for (size_t n = 0; n < taken; n++) sound_[followed_ + n] = RoundedTo16Bits(out[n]);
    followed_ += taken;
    decoder_.Follow(sound_ + 2 * pairs_before, followed_ / 2 - pairs_before);
  }

  void Reset() override {
    decoder_.Reset();
    concealment_.Reset();
    followed_ = 0;
  }

 private:
  static constexpr size_t kMostFollowed = kG722Rate / 50;  // 20 ms

  G722Decoder decoder_;
  Concealment concealment_{kG722Rate};
  size_t followed_ = 0;  // samples of this loss
  int16_t sound_[2 * kMostG722Bytes];
};

class G722VoiceEncoder final : public VoiceEncoder {
 public:
  size_t Encode(const float* samples, size_t count, uint8_t* out, size_t room) override {
    if (count < kLeast || count > kMost || count % 2 != 0 || count / 2 > room) return 0;
    for (size_t n = 0; n < count; n++) sound_[n] = RoundedTo16Bits(samples[n]);
    encoder_.Encode(sound_, count / 2, out);
    return count / 2;
  }

  void Reset() override { encoder_.Reset(); }

 private:
  static constexpr size_t kLeast = kG722Rate / 100, kMost = 6 * kLeast;

  G722Encoder encoder_;
  int16_t sound_[kMost];
};

bool IsG711(VoiceCodec codec, int rate) {
  return (codec == VoiceCodec::kPcmu || codec == VoiceCodec::kPcma) &&
         (rate == kG711Rate || rate == 2 * kG711Rate);
}

}  // namespace

std::unique_ptr<VoiceDecoder> MakeWaveformDecoder(VoiceCodec codec, int rate) {
  if (codec == VoiceCodec::kG722 && rate == kG722Rate)
    return std::unique_ptr<VoiceDecoder>(new (std::nothrow) G722VoiceDecoder);
  if (!IsG711(codec, rate)) return nullptr;
  return std::unique_ptr<VoiceDecoder>(new (std::nothrow) G711Decoder(codec, rate));
}

std::unique_ptr<VoiceEncoder> MakeWaveformEncoder(VoiceCodec codec, int rate) {
  if (codec == VoiceCodec::kG722 && rate == kG722Rate)
    return std::unique_ptr<VoiceEncoder>(new (std::nothrow) G722VoiceEncoder);
  if (!IsG711(codec, rate)) return nullptr;
  return std::unique_ptr<VoiceEncoder>(new (std::nothrow) G711Encoder(codec, rate));
}

}  // namespace parley
