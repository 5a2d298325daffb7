// Times of a text's words in a sound of any length: windows of five minutes, each of which begins where the
// words of the last one were certain.
#ifndef PARLEY_RUNTIME_ALIGNMENT_RECOGNITION_H_
#define PARLEY_RUNTIME_ALIGNMENT_RECOGNITION_H_

#include <memory>
#include <string>
#include <vector>

#include "model/recognition/forced_aligner.h"
#include "runtime/recognition.h"

namespace parley::runtime {

class AlignmentRecognition final : public Recognition {
 public:
  AlignmentRecognition(StreamId id, RecognitionRequest request, std::vector<std::string> words,
                       std::shared_ptr<SoundReader> reader, std::shared_ptr<TextSink> sink,
                       const RecognitionSetup& setup, Clock::time_point now);

  bool Look(Clock::time_point now, const Room& room) override;
  void AddWanted(std::vector<WantedPass>* wanted) override;
  void Advanced(model::RecognitionStream* stream, Clock::time_point now) override;
  size_t Bytes() const override;
  std::shared_ptr<TextSink> Leave(Clock::time_point now, RecognitionEnd* end) override;

 private:
  bool MakeWindow();
  bool BeginWindow();
  size_t WordsOfWindow() const;
  void TakeTimes(const std::vector<model::TimedWord>& words);
  // The number of a window's words whose times are certain, and where the next window begins.
  size_t Certain(const std::vector<model::TimedWord>& words, int64_t* next_ms) const;

  const RecognitionSetup setup_;
  const Clock::time_point began_;
  const std::vector<std::string> words_;
  std::vector<size_t> ids_;  // of each word, with its markers
  size_t next_word_ = 0;
  std::vector<float> samples_;  // of the window, and what follows it
  uint64_t first_ = 0;          // place of these in the sound
  bool finished_ = false;       // all sound is here
  bool is_last_ = false;        // the window has all that is left
  std::unique_ptr<model::Alignment> window_;
  bool is_begun_ = false;  // the window's pass
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ALIGNMENT_RECOGNITION_H_
