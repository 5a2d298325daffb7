// Log-mel spectrograms (Slaney's scale and area normalisation): those of the speaker encoder and of the
// recogniser. They are computed on the host, by a mixed-radix fast Fourier transform in double
// (Stockham's), of pairs of real values.
#ifndef PARLEY_KERNELS_LOG_MEL_H_
#define PARLEY_KERNELS_LOG_MEL_H_

#include <complex>
#include <cstddef>
#include <vector>

#include "kernels/cpu/thread_pool.h"

namespace parley {

struct LogMelShape {
  size_t sample_rate = 24000;
  size_t window = 1024;  // samples of a frame, periodic Hann: factors of 2, 3 and 5
  size_t hop = 256;
  size_t bands = 128;   // from 0 to half the rate
  size_t margin = 384;  // samples that are reflected on both sides
  // True: powers re^2 + im^2 and log10(max(mel, 1e-10)), as Whisper has them. False: magnitudes
  // sqrt(re^2 + im^2 + 1e-9) and the natural logarithm of max(mel, 1e-5).
  bool power = false;
  bool drops_last = false;  // the last frame that the reflection leaves room for is left out
};

// The recogniser's: 16 kHz, frames of 25 ms every 10 ms, count / hop of them.
inline constexpr LogMelShape kRecognitionMel{16000, 400, 160, 128, 200, true, true};

class LogMel {
 public:
  // Throws std::invalid_argument for a window with other factors, a hop beyond it, or anything zero.
  // `threads`, or none, compute frames together with the caller, and outlive it.
  explicit LogMel(const LogMelShape& shape, cpu::ThreadPool* threads = nullptr);

  // [FramesOf(count), bands]. Throws std::invalid_argument when there are too few samples to reflect.
  std::vector<float> Of(const float* samples, size_t count) const;
  // Frames of that spectrogram from `first` on: result [frames, bands]. `samples` are those from the sound's
  // sample `begin` on, the last of them its sample count - 1. Frames of which samples before `begin` are a
  // part cannot be asked for.
  void Of(const float* samples, size_t begin, size_t count, size_t first, size_t frames, float* result) const;
  void Of(const float* samples, size_t count, size_t first, size_t frames, float* result) const {
    Of(samples, 0, count, first, frames, result);
  }

  // 0 when there are too few samples to reflect.
  size_t FramesOf(size_t count) const;
  // The first frames of a sound of so many samples that do not depend on where it ends.
  size_t SettledFrames(size_t count) const;
  // The first sample of a frame; 0 for those that begin within the margin.
  size_t FirstSampleOf(size_t frame) const;

  const LogMelShape& shape() const { return shape_; }

 private:
  using Complex = std::complex<double>;

  void FillBands();
  void FillWindow();
  // Samples of a sound, the first of them its sample `begin`, and its last one sample count - 1.
  struct Piece {
    const float* samples;
    size_t begin, count;
  };
  struct Room {
    std::vector<float> mirrored;
    std::vector<Complex> values, other, spectrum;
    std::vector<double> powers;

    explicit Room(size_t window);
  };
  void ComputeFrame(const Piece& piece, size_t frame, Room* room, float* result) const;
  void TransformFrame(Room* room) const;
  void TakeBands(Room* room, float* result) const;

  LogMelShape shape_;
  cpu::ThreadPool* const threads_;
  std::vector<double> hann_;
  std::vector<Complex> roots_;   // of unity
  std::vector<size_t> factors_;  // of half the window
  // A triangle: of the bins that it is above 0 at, the first, and its heights.
  struct Band {
    size_t first = 0;
    std::vector<double> heights;
  };
  std::vector<Band> bands_;
};

}  // namespace parley

#endif  // PARLEY_KERNELS_LOG_MEL_H_
