// A recording as callers bring it, on its way to samples that can be encoded: judged,
// and brought to the encoders' rate, a piece at a time.
#ifndef PARLEY_MODEL_PREPARATION_H_
#define PARLEY_MODEL_PREPARATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/shared/staged_work.h"

namespace parley::model {

// A recording at another sample rate: a windowed sinc (Kaiser), summed in double.
// Flat to 0.91 of the lower of the two Nyquist frequencies, at least 100 dB down
// from 1.0 of it on. Sample m of the result is the sound at m / to seconds: no delay.
// Before and after the recording is silence.

// round(count * to / from). Throws std::invalid_argument for a rate of 0.
size_t ResampledCount(size_t count, uint32_t from, uint32_t to);

// A result that is made some samples at a time.
class Resampling {
 public:
  // The samples outlive it. Throws std::invalid_argument for a rate of 0.
  Resampling(const std::vector<float>& samples, uint32_t from, uint32_t to);
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
  class Filter;
  float At(uint64_t m) const;

  const std::vector<float>& samples_;
  const size_t count_;
  uint64_t up_ = 1, down_ = 1;  // the rates, without what divides both
  std::unique_ptr<const Filter> filter_;
  int64_t reach_ = 0;         // samples around a result's place that it is made of, on each side
  std::vector<double> taps_;  // phase_'s
  uint64_t phase_ = 0,
           next_ = 0;  // results phase_, phase_ + up_, ... have the same taps; next_ is the next of them
  std::vector<float> result_;
};

// All at once. Equal rates: the samples themselves.
std::vector<float> Resampled(const std::vector<float>& samples, uint32_t from, uint32_t to);

// Limits on a recording that is accepted.
struct RecordingRules {
  size_t max_seconds;
  uint32_t min_rate, max_rate;  // Hz
  float silence, loudest;       // range of the loudest sample's magnitude
  uint32_t sample_rate;         // the encoders', in Hz
  size_t min_samples;           // at that rate
};

class Preparation {
 public:
  // The recording outlives it.
  Preparation(const RecordingRules& rules, const std::vector<float>& recording, uint32_t rate,
              size_t piece_cost = kPieceCost);
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  // One piece. False: there is nothing left, or the recording is refused. Throws std::bad_alloc.
  bool Advance();

  // Once Advance() returned false.
  const std::string& problem() const { return problem_; }  // empty: it is taken
  std::vector<float> TakeSamples();

 private:
  bool CheckLength(uint32_t rate);
  void PlanToHear(const std::vector<float>& samples);
  void Hear(const std::vector<float>& samples, size_t first, size_t count);
  void CheckLoudness();

  const RecordingRules rules_;
  const std::vector<float>& recording_;
  const size_t piece_cost_;
  std::optional<Resampling> resampling_;  // none: it has the encoders' rate
  float peak_ = 0;                        // magnitude of the loudest sample so far
  std::string problem_;
  StagedWork stages_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_PREPARATION_H_
