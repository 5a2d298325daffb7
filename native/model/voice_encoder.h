// A reference recording to what a voice by example is made of: the speaker's
// vector, and the recording's codes. Only for checkpoints of ModelType::kBase.
#ifndef PARLEY_MODEL_VOICE_ENCODER_H_
#define PARLEY_MODEL_VOICE_ENCODER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "model/weights.h"

namespace parley::model {

class VoiceEncoder {
 public:
  VoiceEncoder(Kernels& kernels, const Checkpoint& checkpoint);
  ~VoiceEncoder();

  size_t sample_rate() const;
  // Fewer samples cannot be heard; more are refused, to bound the work.
  size_t min_samples() const;
  static constexpr size_t kMaxSeconds = 60;

  // samples: mono at sample_rate(), in [-1, 1]. False with `problem` set: too short, too long, silent,
  // or not finite.
  bool Speaker(const std::vector<float>& samples, std::vector<float>* vector, std::string* problem);
  // codes: [ceil(count / frame_samples), code_groups]
  bool Codes(const std::vector<float>& samples, std::vector<int32_t>* codes, std::string* problem);

  size_t WeightBytes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_VOICE_ENCODER_H_
