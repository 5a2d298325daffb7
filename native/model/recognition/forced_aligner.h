// Times of words in sound: prompts and classes of the forced aligner.
#ifndef PARLEY_MODEL_RECOGNITION_FORCED_ALIGNER_H_
#define PARLEY_MODEL_RECOGNITION_FORCED_ALIGNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/recognition/recognition_model.h"

namespace parley::model {

struct TimedWord {
  std::string word;
  int64_t start_ms = 0, end_ms = 0;
};

// The words of one piece of sound, on their way through the aligner as a pass of stream().
class Alignment {
 public:
  // Sound that is aligned in one pass, in samples of 16 kHz: five minutes.
  static constexpr size_t kMostSamples = size_t{300} * 16'000;

  // Throws std::invalid_argument for words that cannot be a prompt. The model outlives it.
  Alignment(RecognitionModel& model, std::vector<std::string> words, const std::vector<float>& samples,
            Format cache_format);

  // Computes features of at most so many frames, and after the last of them begins the pass. Returns false if
  // it must be called again. Throws std::length_error for more words than the model has positions.
  bool Begin(size_t most_frames = SIZE_MAX);

  RecognitionStream* stream() { return stream_.get(); }
  // False: there is too little sound for a pass; all words have the time 0.
  bool begun() const { return begun_; }
  // Once the pass is done.
  std::vector<TimedWord> Times() const;

 private:
  RecognitionModel& model_;
  const std::vector<std::string> words_;
  std::unique_ptr<RecognitionStream> stream_;
  std::vector<int32_t> tail_;
  bool begun_ = false;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_FORCED_ALIGNER_H_
