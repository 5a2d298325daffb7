#include "model/recognition/runaway.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/text/unicode.h"

namespace parley::model {

const char* RunawayName(RunawayKind kind) {
  switch (kind) {
    case RunawayKind::kRepetition:
      return "repetition";
    case RunawayKind::kContextEcho:
      return "context_echo";
    case RunawayKind::kCopy:
      return "copy";
  }
  return "";
}

std::optional<Runaway> LoopGuard::Push(int32_t id) {
  for (size_t unit = 1; unit <= kLongestUnit; unit++) {
    size_t& matches = matches_[unit - 1];
    matches = count_ >= unit && last_[(count_ - unit) % kLongestUnit] == id ? matches + 1 : 0;
  }
  last_[count_++ % kLongestUnit] = id;
  for (size_t unit = 1; unit <= kLongestUnit; unit++) {
    const size_t looped = matches_[unit - 1] + unit;  // counts only if there are matches
    if (looped >= kLeastIds && looped >= kLeastRepetitions * unit)
      return Runaway{RunawayKind::kRepetition, count_ - matches_[unit - 1]};
  }
  return std::nullopt;
}

namespace {

constexpr double kMostWordsASecond = 8, kMostCharactersASecond = 40;
constexpr size_t kLeastCopied = 4;       // words of the last utterance
constexpr size_t kLeastEchoed = 6;       // words of the context, in order, without speech
constexpr size_t kLeastFromContext = 4;  // words of the context, in any order, too fast

// A text as numbers of words.
struct Words {
  std::vector<size_t> numbers;
  std::vector<size_t> begins;      // in bytes
  std::vector<size_t> characters;  // code points of each
};

// Ideographs and kana: scripts that put no space between words.
bool IsWordAlone(char32_t code) {
  return (code >= 0x3041 && code <= 0x30FF && code != 0x30A0 && code != 0x30FB) ||
         (code >= 0x31F0 && code <= 0x31FF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0xFF66 && code <= 0xFF9F) || (code >= 0x20000 && code <= 0x323AF);
}

bool IsPartOfWord(char32_t code) {
  const CharClass c = ClassOf(code);
  return IsLetter(c) || c == CharClass::kNumber || c == CharClass::kMark || code == U'\'' || code == 0x2019;
}

// Gives equal words equal numbers.
class WordNumbers {
 public:
  Words Read(std::string_view text) {
    Words words;
    for (size_t at = 0; at < text.size();) {
      const size_t from = at;
      const char32_t code = TakeUtf8(text, &at);
      if (at == from) at++;  // the byte is not UTF-8
      const bool is_part = code <= 0x10FFFF && IsPartOfWord(code);
      if (!is_part || IsWordAlone(code)) End(&words);
      if (!is_part) continue;
      if (word_.empty()) begin_ = from;
      word_.push_back(code >= U'A' && code <= U'Z' ? code - U'A' + U'a' : code);
      if (IsWordAlone(code)) End(&words);
    }
    End(&words);
    return words;
  }

 private:
  void End(Words* words) {
    if (word_.empty()) return;
    words->numbers.push_back(numbers_.try_emplace(word_, numbers_.size()).first->second);
    words->begins.push_back(begin_);
    words->characters.push_back(word_.size());
    word_.clear();
  }

  std::unordered_map<std::u32string, size_t> numbers_;
  std::u32string word_;
  size_t begin_ = 0;
};

// Returns true if the words from `from` on are too many for the sound. A sound without a length explains no
// word.
bool IsTooFast(const Words& words, size_t from, double seconds) {
  size_t characters = 0;
  for (size_t n = from; n < words.characters.size(); n++) characters += words.characters[n];
  const double length = seconds > 0 ? seconds : 0;
  return static_cast<double>(words.numbers.size() - from) > kMostWordsASecond * length ||
         static_cast<double>(characters) > kMostCharactersASecond * length;
}

// Number of words in the longest end of `text` that stands in `shown` in the same order. The Z function of
// both, reversed and joined, gives the longest common end for each place of `shown`.
size_t LongestSharedEnd(const std::vector<size_t>& text, const std::vector<size_t>& shown) {
  constexpr size_t kSeparator = static_cast<size_t>(-1);
  std::vector<size_t> joined(text.rbegin(), text.rend());
  joined.push_back(kSeparator);
  joined.insert(joined.end(), shown.rbegin(), shown.rend());
  std::vector<size_t> z(joined.size(), 0);
  size_t longest = 0;
  for (size_t i = 1, left = 0, right = 0; i < joined.size(); i++) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < joined.size() && joined[z[i]] == joined[i + z[i]]) z[i]++;
    if (i + z[i] > right) left = i, right = i + z[i];
    if (i > text.size()) longest = std::max(longest, z[i]);
  }
  return longest;
}

// Number of words at the end of `text` that are among those of `shown`.
size_t WordsAmong(const std::vector<size_t>& text, const std::vector<size_t>& shown) {
  const std::unordered_set<size_t> known(shown.begin(), shown.end());
  const auto unknown = [&](size_t word) { return known.count(word) == 0; };
  return static_cast<size_t>(std::find_if(text.rbegin(), text.rend(), unknown) - text.rbegin());
}

// Number of words at the end of the text that are an echo of the context; 0: none are.
size_t EchoedWords(const Words& text, const Words& context, RecognisedSound sound) {
  const size_t in_order = LongestSharedEnd(text.numbers, context.numbers);
  if (!sound.has_speech && in_order >= kLeastEchoed) return in_order;
  const size_t among = WordsAmong(text.numbers, context.numbers);
  const size_t least = std::min(kLeastFromContext, text.numbers.size());
  return among >= least && IsTooFast(text, text.numbers.size() - among, sound.seconds) ? among : 0;
}

}  // namespace

std::optional<Runaway> FindEcho(std::string_view text, std::string_view context,
                                std::string_view last_utterance, RecognisedSound sound) {
  WordNumbers numbers;
  const Words words = numbers.Read(text);
  const size_t count = words.numbers.size();
  if (count == 0) return std::nullopt;
  if (sound.has_speech && !IsTooFast(words, 0, sound.seconds)) return std::nullopt;
  if (const size_t echoed = EchoedWords(words, numbers.Read(context), sound); echoed > 0)
    return Runaway{RunawayKind::kContextEcho, words.begins[count - echoed]};
  const size_t copied = LongestSharedEnd(words.numbers, numbers.Read(last_utterance).numbers);
  if (copied >= kLeastCopied) return Runaway{RunawayKind::kCopy, words.begins[count - copied]};
  return std::nullopt;
}

}  // namespace parley::model
