// The log-mel spectrogram for the speaker encoder: computed on the host, once per voice.
#ifndef PARLEY_KERNELS_LOG_MEL_H_
#define PARLEY_KERNELS_LOG_MEL_H_

#include <cstddef>
#include <vector>

namespace parley {

struct LogMelShape {
  size_t sample_rate = 24000;
  size_t window = 1024;  // a power of two: samples of a frame, periodic Hann
  size_t hop = 256;
  size_t bands = 128;  // from 0 to half the rate; Slaney's scale and area normalisation
};

class LogMel {
 public:
  // Throws std::invalid_argument for a window that is no power of two, or anything zero.
  explicit LogMel(const LogMelShape& shape);

  // Reflects (window - hop) / 2 samples on both sides, takes magnitudes
  // sqrt(re^2 + im^2 + 1e-9), and the natural logarithm of max(mel, 1e-5).
  // [FramesOf(count), bands]. Throws std::invalid_argument when there are too few
  // samples to reflect.
  std::vector<float> Of(const float* samples, size_t count) const;
  // Frames of that spectrogram from `first` on: result [frames, bands].
  void Of(const float* samples, size_t count, size_t first, size_t frames, float* result) const;

  // 0 when there are too few samples to reflect.
  size_t FramesOf(size_t count) const;

 private:
  void Fill();
  void Transform(std::vector<double>* re, std::vector<double>* im) const;

  LogMelShape shape_;
  size_t margin_;
  std::vector<double> hann_, cosines_, sines_;
  // A triangle: of the bins that it is above 0 at, the first, and its heights.
  struct Band {
    size_t first = 0;
    std::vector<double> heights;
  };
  std::vector<Band> bands_;
};

}  // namespace parley

#endif  // PARLEY_KERNELS_LOG_MEL_H_
