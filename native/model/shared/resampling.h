// Sound at another sample rate: a windowed sinc (Kaiser). Sample m of the result is the sound at m / to
// seconds: no delay. Before and after the sound is silence.
#ifndef PARLEY_MODEL_SHARED_RESAMPLING_H_
#define PARLEY_MODEL_SHARED_RESAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace parley::model {

struct ResamplingFilter {
  double cut_off;     // of the lower of the two Nyquist frequencies
  double beta;        // of the window
  double half_width;  // of the window, in samples of the lower rate
  bool normalised;    // the taps of all phases have the mean sum 1, and a result is rounded up to its length
};
// Flat to 0.91 of the lower Nyquist frequency, at least 100 dB down from 1.0 of it on. Beta for 110 dB is
// 0.1102 (110 - 8.7); for this transition band the length is (110 - 7.95) / (2.285 * 0.09 pi) = 158 samples.
inline constexpr ResamplingFilter kFlatFilter{0.955, 11.16, 80, false};
// That of SciPy's resample_poly, as the package of Pocket TTS has it: shorter and less steep.
inline constexpr ResamplingFilter kPolyphaseFilter{1, 5, 10, true};

// round(count * to / from). Throws std::invalid_argument for a rate of 0.
size_t ResampledCount(size_t count, uint32_t from, uint32_t to);

// A result that is made some samples at a time.
class Resampling {
 public:
  // The samples outlive it. Throws std::invalid_argument for a rate of 0.
  Resampling(const std::vector<float>& samples, uint32_t from, uint32_t to,
             const ResamplingFilter& filter = kFlatFilter);
  ~Resampling();

  size_t count() const { return count_; }
  // Cost of one result sample, in units of StagedWork. If the rates have no common divisor, most of it is the
  // computation of taps: seconds for a minute of audio.
  size_t CostOfResult() const;
  // The next `count`, in an order of their own: all of a phase, which have the same taps, one after the
  // other. So taps are computed once and never kept, however many phases there are.
  void Advance(size_t count);
  std::vector<float>& result() { return result_; }  // once all are made

 private:
  friend class ResamplingTaps;
  class Taps;
  float At(uint64_t m) const;

  const std::vector<float>& samples_;
  const size_t count_;
  uint64_t up_ = 1, down_ = 1;  // the rates, without what divides both
  std::unique_ptr<const Taps> filter_;
  int64_t reach_ = 0;         // samples around a result's place that it is made of, on each side
  std::vector<double> taps_;  // phase_'s
  uint64_t phase_ = 0,
           next_ = 0;  // results phase_, phase_ + up_, ... have the same taps; next_ is the next of them
  std::vector<float> result_;
};

// All at once. Equal rates: the samples themselves.
std::vector<float> Resampled(const std::vector<float>& samples, uint32_t from, uint32_t to);

// The taps of a stream's resampling, for all phases of its result. Immutable, shared by streams of equal
// rates.
class ResamplingTaps {
 public:
  // More phases than this are rounded to as many: of two rates without a common divisor.
  static constexpr uint64_t kMostPhases = 1024;

  // Throws std::invalid_argument for a rate of 0.
  ResamplingTaps(uint32_t from, uint32_t to);

 private:
  friend class StreamResampling;

  uint64_t up_ = 1, down_ = 1;  // the rates, without what divides both
  uint64_t phases_ = 1;
  size_t reach_ = 0;         // samples around a result's place that it is made of, on each side
  std::vector<float> taps_;  // [phases, 2 reach + 1]
};

// A sound that comes in pieces of any size. The result does not depend on where it is cut.
class StreamResampling {
 public:
  explicit StreamResampling(std::shared_ptr<const ResamplingTaps> taps) : taps_(std::move(taps)) {}

  // Appends what can be told of the sound so far, or all of it: ceil(count * to / from) samples.
  void Push(const float* samples, size_t count, std::vector<float>* result);
  void Finish(std::vector<float>* result);

 private:
  void Make(uint64_t end, std::vector<float>* result);
  float At(uint64_t m) const;

  const std::shared_ptr<const ResamplingTaps> taps_;
  std::vector<float> held_;  // samples from first_ on
  uint64_t first_ = 0, count_ = 0, made_ = 0;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SHARED_RESAMPLING_H_
