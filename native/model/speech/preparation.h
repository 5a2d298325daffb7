// A recording as callers bring it, on its way to samples that can be encoded: judged,
// and brought to the encoders' rate, a piece at a time.
#ifndef PARLEY_MODEL_PREPARATION_H_
#define PARLEY_MODEL_PREPARATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/speech/resampling.h"
#include "model/shared/staged_work.h"

namespace parley::model {

// What is taken.
struct RecordingRules {
  size_t max_seconds;
  uint32_t min_rate, max_rate;  // Hz
  float silence, loudest;       // of the loudest sample
  uint32_t sample_rate;         // of the encoders
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
  bool JudgeLength(uint32_t rate);
  void PlanToHear(const std::vector<float>& samples);
  void Hear(const std::vector<float>& samples, size_t first, size_t count);
  void JudgeLoudness();

  const RecordingRules rules_;
  const std::vector<float>& recording_;
  const size_t piece_cost_;
  std::optional<Resampling> resampling_;  // none: it has the encoders' rate
  float peak_ = 0;                        // of what was heard
  std::string problem_;
  StagedWork stages_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_PREPARATION_H_
