// The text of a turn while it is spoken: a beginning that never changes, and a tail that the next pass may
// change.
//
// A text on which two passes agree, but for its last ids, is stable from then on (Liu et al., "Low-latency
// sequence-to-sequence speech recognition and translation by partial hypothesis selection", Interspeech 2020:
// local agreement). Each later pass begins with it. The rest of a pass's ids are the draft of the next one,
// which verifies them together.
#ifndef PARLEY_MODEL_RECOGNITION_LIVE_TRANSCRIPT_H_
#define PARLEY_MODEL_RECOGNITION_LIVE_TRANSCRIPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/recognition/transcript.h"
#include "model/text/tokenizer.h"

namespace parley::model {

class LiveTranscript {
 public:
  static constexpr size_t kUnfixedIds = 5;           // at the end of a pass's text
  static constexpr size_t kUnfixedSamples = 64'000;  // of a turn, before anything is stable
  static constexpr size_t kApart = 32'000;           // samples between passes that are compared, at least

  // `language`: the forced one, an English name, or empty. The tokenizer outlives it.
  LiveTranscript(const Tokenizer& tokenizer, std::string language)
      : tokenizer_(tokenizer), language_(std::move(language)) {}

  // Ids that the next pass's prompt ends with, and those that it verifies.
  std::vector<int32_t> Fixed() const { return {ids_.begin(), ids_.begin() + static_cast<ptrdiff_t>(fixed_)}; }
  std::vector<int32_t> Draft() const { return {ids_.begin() + static_cast<ptrdiff_t>(fixed_), ids_.end()}; }

  // The ids that a pass over so many samples made after Fixed().
  void Take(const std::vector<int32_t>& generated, size_t samples);

  // `text` begins with `stable`.
  const std::string& stable() const { return stable_; }
  const std::string& text() const { return transcript_.text; }
  const std::string& language() const { return transcript_.language; }

 private:
  bool EndsWord(size_t count) const;
  void Fix(size_t most);
  std::string RawOf(size_t count) const;

  const Tokenizer& tokenizer_;
  const std::string language_;
  std::vector<int32_t> ids_;      // of the last pass, with the fixed ones
  std::vector<int32_t> earlier_;  // of the pass that it is compared with
  size_t earlier_samples_ = 0;
  size_t fixed_ = 0;
  std::string stable_;
  Transcript transcript_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_LIVE_TRANSCRIPT_H_
