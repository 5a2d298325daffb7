// Power spectrum of 64 ms of sound of 8 kHz: a Hann window and a discrete Fourier transform of 512 samples.
#ifndef PARLEY_AUDIO_SPECTRUM_H_
#define PARLEY_AUDIO_SPECTRUM_H_

#include <array>
#include <cstddef>

namespace parley {

class Spectrum {
 public:
  static constexpr size_t kSamples = 512;
  static constexpr size_t kBins = kSamples / 2 + 1;
  static constexpr double kBinHz = 8000.0 / kSamples;

  // A sine in the middle of a bin has half of its squared amplitude in the sum of its five bins.
  void Compute(const float* samples);
  const std::array<float, kBins>& powers() const { return powers_; }
  // Frequency (Hz) of a sine whose strongest bin is this one, which has neighbours.
  double PeakHz(size_t bin) const;

 private:
  static constexpr size_t kHalf = kSamples / 2;

  std::array<float, kHalf> real_, imaginary_;
  std::array<float, kBins> powers_{};
};

}  // namespace parley

#endif  // PARLEY_AUDIO_SPECTRUM_H_
