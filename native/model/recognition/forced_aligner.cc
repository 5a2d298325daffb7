#include "model/recognition/forced_aligner.h"

#include <stdexcept>
#include <utility>

#include "model/recognition/alignment_times.h"
#include "model/recognition/recognition_prompt.h"

namespace parley::model {

Alignment::Alignment(RecognitionModel& model, std::vector<std::string> words,
                     const std::vector<float>& samples, Format cache_format)
    : model_(model), words_(std::move(words)) {
  RecognitionPrompt prompt;
  std::string problem;
  if (!BuildAlignmentPrompt(model.checkpoint().tokenizer(), words_, &prompt, &problem))
    throw std::invalid_argument("the words: " + problem);
  stream_ = std::make_unique<RecognitionStream>(model, std::move(prompt.head), cache_format);
  stream_->Push(samples.data(), samples.size());
  tail_ = std::move(prompt.tail);
}

bool Alignment::Begin(size_t most_frames) {
  if (stream_->Settle(most_frames)) return false;
  Pass pass;
  pass.tail = tail_;
  pass.max_new_tokens = 0;
  pass.marker = model_.config().timestamp;
  begun_ = stream_->BeginPass(std::move(pass));
  return true;
}

// Two classes a word: of its start and its end.
std::vector<TimedWord> Alignment::Times() const {
  std::vector<int64_t> times;
  for (const int32_t one : stream_->classes()) times.push_back(one * model_.config().class_milliseconds);
  times.resize(2 * words_.size());
  times = RisingTimes(times);
  std::vector<TimedWord> timed;
  for (size_t n = 0; n < words_.size(); n++) timed.push_back({words_[n], times[2 * n], times[2 * n + 1]});
  return timed;
}

}  // namespace parley::model
