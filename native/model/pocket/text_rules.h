// What Pocket TTS does to a text before it is spoken: the text is prepared, cut into chunks of some ids, and
// each chunk becomes ids and limits of one generation. Two versions of the package's rules exist.
#ifndef PARLEY_MODEL_POCKET_TEXT_RULES_H_
#define PARLEY_MODEL_POCKET_TEXT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/text/sentence_pieces.h"

namespace parley::model {

// The package's version that first had the rules.
enum class PocketRules : uint8_t { k21, k33 };

// The rules of texts that a configuration states.
struct PocketTextConfig {
  PocketRules rules = PocketRules::k33;
  bool pad_with_spaces_for_short_inputs = false;
  bool remove_semicolons = false;
  bool capitalize_first_letter = true;
  bool append_terminal_punctuation = true;
  std::optional<size_t> recommended_frames_after_eos;
  std::vector<std::pair<char32_t, std::string>> replace_characters;  // a character and what stands for it
};

struct PreparedText {
  std::string text;           // empty: the text has nothing to speak
  size_t trailing_guess = 0;  // frames that may follow the end of speech, less two
};

PreparedText PrepareText(std::string_view text, const PocketTextConfig& config);

// A part of a text that one generation speaks.
struct TextChunk {
  std::string text;
  std::vector<int32_t> ids;
  size_t earliest_end = 0;  // the first step at which an end of speech counts
  size_t frames_after_eos = 0;
  size_t max_frames = 0;
  size_t least_frames = 0;  // speech that ends before has skipped words
};

// Bytes of a text that goes on, up to the last place where a sentence has surely ended: the next one has
// begun. 0 if they are fewer than five words, which are better spoken with what follows.
size_t WholeSentences(std::string_view text);

// The temperature of the noise for a request that states none.
double DefaultTemperature(PocketRules rules);

constexpr size_t kChunkIds = 50;

// Frames of the longest speech of so many ids.
size_t MostFramesOf(size_t ids);

// The chunks of a text, in order; none if it has nothing to speak. A chunk has at most `max_tokens` ids, but
// for a sentence without clause marks that has more. Each sentence is whole if it fits.
std::vector<TextChunk> ChunksOf(std::string_view text, const SentencePieces& pieces,
                                const PocketTextConfig& config, size_t max_tokens = kChunkIds);

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_TEXT_RULES_H_
