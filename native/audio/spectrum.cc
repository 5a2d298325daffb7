#include "audio/spectrum.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "audio/kaiser.h"

namespace parley {
namespace {

constexpr size_t kHalfSize = Spectrum::kSamples / 2;
constexpr size_t kBits = 8;
static_assert(size_t{1} << kBits == kHalfSize, "the transform of half size is a power of two");

struct Twiddles {
  float window[Spectrum::kSamples];
  float cosine[kHalfSize], sine[kHalfSize];  // of the whole size
  uint8_t reversed[kHalfSize];

  Twiddles() {
    // The powers of a sine's bins add up to half of its squared amplitude.
    double squares = 0;
    for (size_t n = 0; n < Spectrum::kSamples; n++) {
      const double value = 0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(n) / Spectrum::kSamples);
      window[n] = static_cast<float>(value);
      squares += value * value;
    }
    const auto scale = static_cast<float>(std::sqrt(2 / (squares * Spectrum::kSamples)));
    for (float& value : window) value *= scale;
    for (size_t k = 0; k < kHalfSize; k++) {
      const double angle = 2 * kPi * static_cast<double>(k) / Spectrum::kSamples;
      cosine[k] = static_cast<float>(std::cos(angle));
      sine[k] = static_cast<float>(std::sin(angle));
      size_t mirror = 0;
      for (size_t bit = 0; bit < kBits; bit++) mirror |= (k >> bit & 1) << (kBits - 1 - bit);
      reversed[k] = static_cast<uint8_t>(mirror);
    }
  }
};

const Twiddles& SharedTwiddles() {
  static const Twiddles tables;
  return tables;
}

// Radix 2, decimation in time; the input is in reversed order.
void Transform(const Twiddles& tables, float* real, float* imaginary) {
  for (size_t span = 1; span < kHalfSize; span *= 2) {
    const size_t stride = kHalfSize / span;
    for (size_t from = 0; from < kHalfSize; from += 2 * span) {
      for (size_t k = 0; k < span; k++) {
        const float c = tables.cosine[k * stride], s = -tables.sine[k * stride];
        const size_t a = from + k, b = a + span;
        const float x = real[b] * c - imaginary[b] * s, y = real[b] * s + imaginary[b] * c;
        real[b] = real[a] - x;
        imaginary[b] = imaginary[a] - y;
        real[a] += x;
        imaginary[a] += y;
      }
    }
  }
}

}  // namespace

// A real transform by a complex one of half its size.
void Spectrum::Compute(const float* samples) {
  const Twiddles& tables = SharedTwiddles();
  for (size_t n = 0; n < kHalf; n++) {
    const size_t from = 2 * size_t{tables.reversed[n]};
    real_[n] = samples[from] * tables.window[from];
    imaginary_[n] = samples[from + 1] * tables.window[from + 1];
  }
  Transform(tables, real_.data(), imaginary_.data());
  for (size_t k = 0; k <= kHalf; k++) {
    const size_t at = k % kHalf, mirror = (kHalf - k) % kHalf;
    const float even_real = (real_[at] + real_[mirror]) / 2;
    const float even_imaginary = (imaginary_[at] - imaginary_[mirror]) / 2;
    const float odd_real = (imaginary_[at] + imaginary_[mirror]) / 2;
    const float odd_imaginary = (real_[mirror] - real_[at]) / 2;
    const float c = k < kHalf ? tables.cosine[k] : -1, s = k < kHalf ? -tables.sine[k] : 0;
    const float x = even_real + odd_real * c - odd_imaginary * s;
    const float y = even_imaginary + odd_real * s + odd_imaginary * c;
    powers_[k] = x * x + y * y;
  }
}

// Exact for one sine in a Hann window.
double Spectrum::PeakHz(size_t bin) const {
  const double middle = std::sqrt(static_cast<double>(powers_[bin]));
  const bool above = powers_[bin + 1] > powers_[bin - 1];
  const double side = std::sqrt(static_cast<double>(powers_[above ? bin + 1 : bin - 1]));
  const double ratio = middle > 0 ? side / middle : 0;
  const double off = (2 * ratio - 1) / (ratio + 1);
  return (static_cast<double>(bin) + (above ? off : -off)) * kBinHz;
}

}  // namespace parley
