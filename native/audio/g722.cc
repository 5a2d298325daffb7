#include "audio/g722.h"

#include <algorithm>

namespace parley {
namespace {

constexpr size_t kKept = kG722Taps - 2;

// clang-format off
// Halves of the 24 coefficients, which are symmetric (table 11).
constexpr int kQmf[kG722Taps / 2] = {3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11};

// Low band: decision levels, and the values of the adaptation for each code (tables 14 to 20).
constexpr int kLevels[] = {
    0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219,
    1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919};
constexpr int kQm4[] = {
    0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0};
constexpr int kQm6[] = {
    -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576,
    -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040,
    -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
    4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136};
constexpr int kRl42[] = {0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0};
constexpr int kWl[] = {-60, -30, 58, 172, 334, 538, 1198, 3042};

// Powers of two between 2048 and 4096, 32 to the octave (table 17).
constexpr int kIlb[] = {
    2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960,
    3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008};
// clang-format on

constexpr int kLevelCount = sizeof(kLevels) / sizeof(kLevels[0]);
constexpr int kMostLowScale = 18'432, kLowShift = 8;

// High band.
constexpr int kHighLevel = 564;
constexpr int kQm2[] = {-7408, -1616, 7408, 1616};
constexpr int kRh2[] = {2, 1, 2, 1};
constexpr int kWh[] = {0, -214, 798};
constexpr int kMostHighScale = 22'528, kHighShift = 10;

constexpr int kMostPole2 = 12'288;
constexpr int kAnalysisShift = 14;   // the filter's gain of 4096, the sum of two halves, and 15 bits of input
constexpr int kSynthesisShift = 11;  // the filter's gain, halved, as each output has half of the taps

int Clamp(int value, int most) { return std::max(-most - 1, std::min(value, most)); }
int Saturate(int value) { return Clamp(value, 32'767); }
int LimitBand(int value) { return Clamp(value, 16'383); }  // LIMIT: 15 bits with the sign
bool SameSign(int a, int b) { return (a < 0) == (b < 0); }

// The sums over even and odd samples of `window`.
struct Halves {
  int even = 0, odd = 0;

  explicit Halves(const int* window) {
    for (size_t i = 0; i < kG722Taps / 2; i++) {
      even += window[2 * i] * kQmf[i];
      odd += window[2 * i + 1] * kQmf[kG722Taps / 2 - 1 - i];
    }
  }
};

void Forget(G722Window& window, size_t pairs) {
  std::copy_n(window.begin() + 2 * pairs, kKept, window.begin());
}

// INVQAL and the adaptation. The predictor uses four of the six bits, so that two may be stolen on the way.
void AdaptLow(G722Band& band, int code) {
  const int rough = code >> 2;
  const int quantized = (band.scale() * kQm4[rough]) >> 15;
  band.AdaptScale(kWl[kRl42[rough]], kMostLowScale, kLowShift);
  band.Predict(quantized);
}

// INVQAH.
int HighDifference(const G722Band& band, int code) { return (band.scale() * kQm2[code]) >> 15; }

void AdaptHigh(G722Band& band, int code) {
  const int quantized = HighDifference(band, code);
  band.AdaptScale(kWh[kRh2[code]], kMostHighScale, kHighShift);
  band.Predict(quantized);
}

// The code of a level from 1 on (table 14). Positive levels count down from 61. Negative ones begin with
// 63, 62 and 31.
int LowCode(int level, bool is_negative) {
  if (!is_negative) return 62 - level;
  return level < 3 ? 64 - level : 34 - level;
}

// QUANTL and the adaptation.
int EncodeLow(G722Band& band, int sample) {
  const int difference = Saturate(sample - band.estimate());
  const int magnitude = difference >= 0 ? difference : -(difference + 1);
  int level = 1;
  while (level < kLevelCount && magnitude >= (kLevels[level] * band.scale()) >> 12) level++;
  const int code = LowCode(level, difference < 0);
  AdaptLow(band, code);
  return code;
}

// QUANTH and the adaptation.
int EncodeHigh(G722Band& band, int sample) {
  const int difference = Saturate(sample - band.estimate());
  const int magnitude = difference >= 0 ? difference : -(difference + 1);
  const bool loud = magnitude >= (kHighLevel * band.scale()) >> 12;
  const int code = difference < 0 ? (loud ? 0 : 1) : (loud ? 2 : 3);
  AdaptHigh(band, code);
  return code;
}

// INVQBL, RECONS and the adaptation.
int DecodeLow(G722Band& band, int code) {
  const int sample = LimitBand(band.estimate() + ((band.scale() * kQm6[code]) >> 15));
  AdaptLow(band, code);
  return sample;
}

int DecodeHigh(G722Band& band, int code) {
  const int sample = LimitBand(band.estimate() + HighDifference(band, code));
  AdaptHigh(band, code);
  return sample;
}

}  // namespace

void G722Band::AdaptScale(int weight, int most, int shift) {
  log_scale_ = std::max(0, std::min(((log_scale_ * 127) >> 7) + weight, most));
  const int fraction = kIlb[(log_scale_ >> 6) & 31];
  const int down = shift - (log_scale_ >> 11);
  scale_ = (down < 0 ? fraction << -down : fraction >> down) * 4;
}

void G722Band::Predict(int difference) {
  d_[0] = difference;
  r_[0] = Saturate(s_ + difference);
  p_[0] = Saturate(sz_ + difference);
  AdaptPoles();
  AdaptZeros(difference);
  std::copy_backward(d_.begin(), d_.end() - 1, d_.end());
  std::copy_backward(r_.begin(), r_.end() - 1, r_.end());
  std::copy_backward(p_.begin(), p_.end() - 1, p_.end());
  s_ = Saturate(Poles() + Zeros());
}

// UPPOL2 and UPPOL1.
void G722Band::AdaptPoles() {
  const int doubled = Saturate(a_[1] * 4);
  int pole2 = SameSign(p_[0], p_[1]) ? std::min(-doubled, 32'767) : doubled;
  pole2 = (SameSign(p_[0], p_[2]) ? 128 : -128) + (pole2 >> 7) + ((a_[2] * 32'512) >> 15);
  pole2 = std::max(-kMostPole2, std::min(pole2, kMostPole2));
  const int most = Saturate(15'360 - pole2);
  const int pole1 = Saturate((SameSign(p_[0], p_[1]) ? 192 : -192) + ((a_[1] * 32'640) >> 15));
  a_[1] = std::max(-most, std::min(pole1, most));
  a_[2] = pole2;
}

// UPZERO.
void G722Band::AdaptZeros(int difference) {
  const int step = difference == 0 ? 0 : 128;
  for (size_t i = 1; i <= kZeros; i++)
    b_[i] = Saturate((SameSign(d_[i], difference) ? step : -step) + ((b_[i] * 32'640) >> 15));
}

// FILTEP.
int G722Band::Poles() const {
  return Saturate(((a_[1] * Saturate(r_[1] * 2)) >> 15) + ((a_[2] * Saturate(r_[2] * 2)) >> 15));
}

// FILTEZ.
int G722Band::Zeros() {
  int sum = 0;
  for (size_t i = 1; i <= kZeros; i++) sum += (b_[i] * Saturate(d_[i] * 2)) >> 15;
  return sz_ = Saturate(sum);
}

void G722Encoder::Encode(const int16_t* samples, size_t bytes, uint8_t* out) {
  for (size_t done = 0; done < bytes; done += kG722Chunk) {
    const size_t pairs = std::min(kG722Chunk, bytes - done);
    std::copy_n(samples + 2 * done, 2 * pairs, window_.begin() + kKept);
    for (size_t n = 0; n < pairs; n++) {
      const Halves sums(&window_[2 * n]);
      const int low = EncodeLow(low_, (sums.even + sums.odd) >> kAnalysisShift);
      const int high = EncodeHigh(high_, (sums.odd - sums.even) >> kAnalysisShift);
      out[done + n] = static_cast<uint8_t>(high << 6 | low);
    }
    Forget(window_, pairs);
  }
}

void G722Decoder::Decode(const uint8_t* payload, size_t bytes, int16_t* out) {
  for (size_t done = 0; done < bytes; done += kG722Chunk)
    DecodeChunk(payload + done, std::min(kG722Chunk, bytes - done), out + 2 * done);
}

void G722Decoder::DecodeChunk(const uint8_t* payload, size_t bytes, int16_t* out) {
  for (size_t n = 0; n < bytes; n++) {
    const int low = DecodeLow(low_, payload[n] & 0x3f);
    const int high = DecodeHigh(high_, payload[n] >> 6);
    bands_[kKept + 2 * n] = low + high;
    bands_[kKept + 2 * n + 1] = low - high;
    const Halves sums(&bands_[2 * n]);
    out[2 * n] = static_cast<int16_t>(Saturate(sums.odd >> kSynthesisShift));
    out[2 * n + 1] = static_cast<int16_t>(Saturate(sums.even >> kSynthesisShift));
  }
  Forget(bands_, bytes);
  std::copy_n(out, 2 * bytes, sounded_.begin() + kKept);
  Forget(sounded_, bytes);
}

void G722Decoder::Follow(const int16_t* samples, size_t pairs) {
  for (size_t done = 0; done < pairs; done += kG722Chunk)
    FollowChunk(samples + 2 * done, std::min(kG722Chunk, pairs - done));
}

void G722Decoder::FollowChunk(const int16_t* samples, size_t pairs) {
  std::copy_n(samples, 2 * pairs, sounded_.begin() + kKept);
  for (size_t n = 0; n < pairs; n++) {
    const Halves sums(&sounded_[2 * n]);
    const int low = (sums.even + sums.odd) >> kAnalysisShift, high = (sums.odd - sums.even) >> kAnalysisShift;
    EncodeLow(low_, low);
    EncodeHigh(high_, high);
    bands_[kKept + 2 * n] = low + high;
    bands_[kKept + 2 * n + 1] = low - high;
  }
  Forget(sounded_, pairs);
  Forget(bands_, pairs);
}

}  // namespace parley
