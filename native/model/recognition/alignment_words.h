// The words that a forced aligner times. The rules are those of the package qwen-asr 0.0.6,
// inference/qwen3_forced_aligner.py.
#ifndef PARLEY_MODEL_RECOGNITION_ALIGNMENT_WORDS_H_
#define PARLEY_MODEL_RECOGNITION_ALIGNMENT_WORDS_H_

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace parley::model {

// The nouns that Korean words are cut after.
class KoreanDictionary {
 public:
  static constexpr size_t kMaxFileBytes = size_t{16} << 20;
  static constexpr size_t kMaxWords = 1'000'000;

  // Lines of a word, and whatever follows it after a space. Null with `problem` set.
  static std::unique_ptr<const KoreanDictionary> Open(const std::string& path, std::string* problem);
  explicit KoreanDictionary(std::unordered_set<std::u32string> words) : words_(std::move(words)) {}

  // The length of the longest beginning of a word that is here, of at least two characters; 0: none is.
  size_t LongestIn(std::u32string_view word) const;

 private:
  const std::unordered_set<std::u32string> words_;
};

// Letters and numbers of the text, cut at white space; each Chinese character is a word. Japanese text is cut
// between scripts. `language`: an English name, or none. Without a dictionary a Korean word is one word.
std::vector<std::string> AlignmentWords(std::string_view text, std::string_view language,
                                        const KoreanDictionary* dictionary);

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_ALIGNMENT_WORDS_H_
