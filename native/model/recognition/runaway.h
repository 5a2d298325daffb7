// Detects output that the sound does not explain: loops of ids, echoes of the context, copies of the last
// utterance.
#ifndef PARLEY_MODEL_RECOGNITION_RUNAWAY_H_
#define PARLEY_MODEL_RECOGNITION_RUNAWAY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parley::model {

enum class RunawayKind {
  kRepetition,   // "repetition"
  kContextEcho,  // "context_echo"
  kCopy,         // "copy"
};

const char* RunawayName(RunawayKind kind);

struct Runaway {
  RunawayKind kind;
  size_t keep;  // the length to keep, from the beginning: ids for kRepetition, bytes of UTF-8 for the others
};

// Watches the ids of one decoding. A loop is a unit of 1 to 20 ids that stands at least 16 times in a row and
// fills at least 32 ids. Speech stays below: twelve zeros one by one, or a word said ten times. Each id costs
// constant time.
class LoopGuard {
 public:
  static constexpr size_t kLongestUnit = 20;
  static constexpr size_t kLeastRepetitions = 16;
  static constexpr size_t kLeastIds = 32;

  // The loop that this id completes, with the length that keeps one repetition of the unit.
  std::optional<Runaway> Push(int32_t id);

 private:
  std::array<int32_t, kLongestUnit> last_{};    // the id number n is at n % kLongestUnit
  std::array<size_t, kLongestUnit> matches_{};  // by unit - 1: ids in a row that equal the one a unit before
  size_t count_ = 0;
};

// The sound that a text was recognised from.
struct RecognisedSound {
  double seconds = 0;
  bool has_speech = true;  // the voice activity detector found speech
};

// Compares a text with what the model was shown beside the sound. A word is a run of letters, numbers, marks
// and apostrophes; each ideograph and kana counts as a word. Case is ignored for ASCII.
//
// The sound does not explain a text when it holds no speech, or when the text has more than 8 words or more
// than 40 characters of words for each second. Such a text is
//   kContextEcho  if its last words, at least 4 or all of them, are all in the context and outnumber 8 words
//                 or 40 characters a second by themselves, or if its last 6 words or more stand in the
//                 context in the same order while the sound holds no speech;
//   kCopy         if its last 4 words or more stand in the last utterance in the same order.
// `keep` ends before these words. Bytes that are not UTF-8 end a word. Time is linear.
std::optional<Runaway> FindEcho(std::string_view text, std::string_view context,
                                std::string_view last_utterance, RecognisedSound sound);

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_RUNAWAY_H_
