// All of a sound, of any length: it is cut at quiet places into pieces, of which some are recognised
// together.
#ifndef PARLEY_RUNTIME_FILE_RECOGNITION_H_
#define PARLEY_RUNTIME_FILE_RECOGNITION_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/recognition/quiet_splits.h"
#include "model/recognition/recognition_prompt.h"
#include "model/recognition/transcript.h"
#include "runtime/recognition.h"

namespace parley::runtime {

class FileRecognition final : public Recognition {
 public:
  // Pieces that are recognised together: each id is then one step for all of them.
  static constexpr size_t kTogether = 4;

  FileRecognition(StreamId id, RecognitionRequest request, std::string language,
                  model::RecognitionPrompt prompt, std::shared_ptr<SoundReader> reader,
                  std::shared_ptr<TextSink> sink, const RecognitionSetup& setup, Clock::time_point now);

  bool Look(Clock::time_point now, const Room& room) override;
  void AddWanted(std::vector<WantedPass>* wanted) override;
  void Advanced(model::RecognitionStream* stream, Clock::time_point now) override;
  size_t Bytes() const override;
  std::shared_ptr<TextSink> Leave(Clock::time_point now, RecognitionEnd* end) override;

 private:
  struct Piece {
    std::unique_ptr<model::RecognitionStream> stream;
    uint64_t first = 0, count = 0;  // samples
    bool is_begun = false;          // its pass
    bool is_done = false;
    bool has_speech = true;
    model::Transcript transcript;
  };

  bool ReadPiece();
  void AddPiece(model::QuietSplits::Piece sound);
  bool BeginSome();
  void TakeText(Piece* piece);
  void ReportDone();

  const RecognitionSetup setup_;
  const std::string language_;
  const model::RecognitionPrompt prompt_;
  const Clock::time_point began_;
  model::QuietSplits splits_;
  size_t buffered_ = 0;  // samples in there
  bool finished_ = false;
  std::deque<Piece> pieces_;
  uint64_t reported_ = 0;    // pieces
  double done_seconds_ = 0;  // of sound
  std::string last_text_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_FILE_RECOGNITION_H_
