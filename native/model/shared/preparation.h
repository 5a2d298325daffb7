// A recording as callers bring it, on its way to samples that can be encoded: judged,
// and brought to the encoders' rate, a piece at a time.
#ifndef PARLEY_MODEL_SHARED_PREPARATION_H_
#define PARLEY_MODEL_SHARED_PREPARATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/shared/resampling.h"
#include "model/shared/staged_work.h"

namespace parley::model {

// Limits on a recording that is accepted.
struct RecordingRules {
  size_t max_seconds;
  uint32_t min_rate, max_rate;  // Hz
  float silence, loudest;       // range of the loudest sample's magnitude
  uint32_t sample_rate;         // the encoders', in Hz
  size_t min_samples;           // at that rate
  ResamplingFilter filter = kFlatFilter;
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

#endif  // PARLEY_MODEL_SHARED_PREPARATION_H_
