#include "model/recognition/alignment_words.h"

#include <algorithm>
#include <utility>

#include "model/files/file.h"
#include "model/text/unicode.h"

namespace parley::model {
namespace {

constexpr size_t kLeastKorean = 2;  // characters of a word that stays whole, and of its beginning

bool IsKept(char32_t code) {
  const CharClass c = ClassOf(code);
  return code == '\'' || IsLetter(c) || c == CharClass::kNumber;
}

bool IsIdeograph(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
      {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [code](const auto& range) { return code >= range.first && code <= range.second; });
}

enum class Script : uint8_t { kOther, kIdeograph, kKana };

Script ScriptOf(char32_t code) { return IsIdeograph(code) ? Script::kIdeograph : Script::kOther; }

// With the iteration mark among the ideographs, and the prolonged sound mark among the kana.
Script JapaneseScriptOf(char32_t code) {
  if (code == 0x3005) return Script::kIdeograph;
  return code >= 0x3041 && code <= 0x30FF ? Script::kKana : ScriptOf(code);
}

std::string TextOfWord(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) AppendUtf8(code, &text);
  return text;
}

std::u32string Kept(std::u32string_view codes) {
  std::u32string kept;
  std::copy_if(codes.begin(), codes.end(), std::back_inserter(kept), IsKept);
  return kept;
}

std::vector<std::u32string> CutAtBlanks(std::string_view text) {
  std::vector<std::u32string> words;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    char32_t code = TakeUtf8(text, &at);
    if (at == before) code = 0xFFFD, at++;
    if (IsBlank(code)) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back().push_back(code);
  }
  return words;
}

// Runs of one script; ideographs one by one.
void AddRuns(std::u32string_view word, Script (*script_of)(char32_t), std::vector<std::string>* words) {
  for (size_t first = 0, end = 0; first < word.size(); first = end) {
    const Script script = script_of(word[first]);
    end = first + 1;
    while (end < word.size() && script != Script::kIdeograph && script_of(word[end]) == script) end++;
    words->push_back(TextOfWord(word.substr(first, end - first)));
  }
}

void AddKorean(std::u32string_view word, const KoreanDictionary* dictionary,
               std::vector<std::string>* words) {
  const size_t left = dictionary == nullptr || word.size() <= kLeastKorean ? 0 : dictionary->LongestIn(word);
  for (const std::u32string_view part : {word.substr(0, left), word.substr(left)}) {
    const std::u32string kept = Kept(part);
    if (!kept.empty()) words->push_back(TextOfWord(kept));
  }
}

}  // namespace

std::unique_ptr<const KoreanDictionary> KoreanDictionary::Open(const std::string& path,
                                                               std::string* problem) {
  std::string text;
  if (!ReadFile(path, kMaxFileBytes, &text, problem)) return nullptr;
  if (const size_t bad = FirstBadUtf8(text); bad != kAllUtf8)
    return *problem = path + ": is not UTF-8 at byte " + std::to_string(bad), nullptr;
  std::unordered_set<std::u32string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::vector<std::u32string> parts = CutAtBlanks(std::string_view(text).substr(at, end - at));
    if (!parts.empty()) words.insert(parts.front());
    at = end + 1;
  }
  if (words.empty()) return *problem = path + ": holds no words", nullptr;
  if (words.size() > kMaxWords)
    return *problem = path + ": holds more than " + std::to_string(kMaxWords) + " words", nullptr;
  return std::make_unique<const KoreanDictionary>(std::move(words));
}

size_t KoreanDictionary::LongestIn(std::u32string_view word) const {
  for (size_t length = word.size(); length >= kLeastKorean; length--) {
    if (words_.count(std::u32string(word.substr(0, length))) > 0) return length;
  }
  return 0;
}

std::vector<std::string> AlignmentWords(std::string_view text, std::string_view language,
                                        const KoreanDictionary* dictionary) {
  std::vector<std::string> words;
  for (const std::u32string& raw : CutAtBlanks(text)) {
    if (language == "Korean") AddKorean(raw, dictionary, &words);
    else AddRuns(Kept(raw), language == "Japanese" ? JapaneseScriptOf : ScriptOf, &words);
  }
  return words;
}

}  // namespace parley::model
