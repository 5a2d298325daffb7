// The streaming procedure of the package qwen-asr 0.0.6 (inference/qwen3_asr.py): every chunk of sound begins
// a step, in which all sound so far is recognised again, and the text goes on from that of the last step
// without its last tokens.
#ifndef PARLEY_MODEL_RECOGNITION_OFFICIAL_STREAMING_H_
#define PARLEY_MODEL_RECOGNITION_OFFICIAL_STREAMING_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "model/recognition/recognition_model.h"
#include "model/recognition/transcript.h"

namespace parley::model {

struct OfficialStreamingRules {
  size_t chunk_samples = 32'000;
  size_t unfixed_chunks = 2;  // first steps, whose text is dropped
  size_t unfixed_tokens = 5;  // at the end of a step's text, which are recognised again
  size_t max_new_tokens = 4096;
  // False: the last step may cut within a character, as the package's does.
  bool guards_finish = true;
};

class OfficialStreaming {
 public:
  // `context` and `language` as RecognitionPromptRequest has them. The model outlives it. Throws
  // std::invalid_argument for a context that cannot be a prompt.
  OfficialStreaming(RecognitionModel& model, std::string context, std::string language,
                    const OfficialStreamingRules& rules, Format cache_format);

  void Push(const float* samples, size_t count);
  // Begins the next step if one is due, on its way as a pass of stream(). After finish() the rest is one.
  bool BeginStep();
  // Takes the text of a step whose pass is done.
  void EndStep();
  void Finish() { finished_ = true; }

  RecognitionStream* stream() { return &stream_; }
  const RecognitionStream* stream() const { return &stream_; }
  const Transcript& transcript() const { return transcript_; }
  const std::string& raw() const { return raw_; }
  const std::string& prefix() const { return prefix_; }  // of the present step
  size_t buffered() const { return buffer_.size(); }

 private:
  std::string PrefixOf(bool guarded) const;

  RecognitionModel& model_;
  const std::string language_;
  const OfficialStreamingRules rules_;
  RecognitionStream stream_;
  std::vector<float> buffer_;
  bool finished_ = false;
  size_t steps_ = 0;
  std::string raw_, prefix_;
  Transcript transcript_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_OFFICIAL_STREAMING_H_
