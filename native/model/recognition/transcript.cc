#include "model/recognition/transcript.h"

#include <algorithm>
#include <cstdint>

#include "model/text/unicode.h"

namespace parley::model {
namespace {

constexpr std::string_view kPrefix = "language ", kNone = "language none";
constexpr size_t kMostEqual = 20;      // characters in a row
constexpr size_t kLongestPeriod = 20;  // characters that repeat together
constexpr size_t kLeastRepetitions = 20;

// Runs of more than kMostEqual become one character.
std::u32string WithoutRuns(const std::u32string& codes) {
  std::u32string kept;
  for (size_t at = 0; at < codes.size();) {
    size_t end = at;
    while (end < codes.size() && codes[end] == codes[at]) end++;
    kept.append(end - at > kMostEqual ? 1 : end - at, codes[at]);
    at = end;
  }
  return kept;
}

// Repetitions of codes[at, at + period) from `at` on.
size_t RepetitionsAt(const std::u32string& codes, size_t at, size_t period) {
  size_t end = at + period;
  while (end < codes.size() && codes[end] == codes[end - period]) end++;
  return (end - at) / period;
}

// The remainder after a pattern is a text of its own: one that is short stays as it is.
std::u32string WithoutPatterns(const std::u32string& codes) {
  constexpr size_t kLeast = 2 * kLeastRepetitions;
  std::u32string kept;
  for (size_t at = 0; at < codes.size();) {
    if (codes.size() - at < kLeast) return kept + codes.substr(at);
    const size_t left = codes.size() - at;
    size_t period = 1, repetitions = 0;
    for (; period <= kLongestPeriod && period * kLeastRepetitions <= left; period++) {
      repetitions = RepetitionsAt(codes, at, period);
      if (repetitions >= kLeastRepetitions) break;
      repetitions = 0;
    }
    if (repetitions == 0) {
      kept.push_back(codes[at++]);
      continue;
    }
    kept.append(codes, at, period);
    at += period * repetitions;
  }
  return kept;
}

// U+000A to U+000D, U+001C to U+001E, U+0085, U+2028 and U+2029 end a line.
bool EndsLine(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 ||
         code == 0x2029;
}

// The first line of the head that names a language.
std::string LanguageIn(std::string_view head) {
  for (size_t at = 0; at <= head.size();) {
    const size_t first = at;
    size_t end = at;
    while (at < head.size()) {
      end = at;
      if (EndsLine(TakeUtf8(head, &at))) break;
      end = at;
    }
    const std::string_view line = Stripped(head.substr(first, end - first));
    if (LowerAscii(line.substr(0, kPrefix.size())) == kPrefix) {
      const std::string_view name = Stripped(line.substr(kPrefix.size()));
      if (!name.empty()) return LanguageName(name);
    }
    if (at >= head.size()) break;
  }
  return "";
}

}  // namespace

std::string WithoutRepetition(std::string_view text) {
  return Utf8Of(WithoutPatterns(WithoutRuns(CodePointsOf(text))));
}

Transcript ParseTranscript(std::string_view raw, std::string_view forced_language) {
  const std::string_view stripped = Stripped(raw);
  if (stripped.empty()) return {};
  const std::string text = WithoutRepetition(stripped);
  if (!forced_language.empty()) return {std::string(forced_language), text};
  const size_t marker = text.find(kTextMarker);
  if (marker == std::string::npos) return {"", std::string(Stripped(text))};
  const std::string_view head = std::string_view(text).substr(0, marker);
  const std::string_view words = Stripped(std::string_view(text).substr(marker + kTextMarker.size()));
  if (LowerAscii(head).find(kNone) != std::string::npos) return {"", std::string(words)};
  return {LanguageIn(head), std::string(words)};
}

bool IsCjk(char32_t code) {
  return (code >= 0x3000 && code <= 0x30FF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0xFF00 && code <= 0xFFEF) || (code >= 0x20000 && code <= 0x2FA1F);
}

std::string JoinTexts(const std::vector<std::string>& texts) {
  std::string joined;
  char32_t last = 0;
  for (const std::string& text : texts) {
    const std::u32string codes = CodePointsOf(text);
    if (codes.empty()) continue;
    if (!joined.empty() && !IsCjk(last) && !IsCjk(codes.front())) joined += ' ';
    joined += text;
    last = codes.back();
  }
  return joined;
}

std::string JoinLanguages(const std::vector<std::string>& languages) {
  std::string joined, last;
  for (const std::string& language : languages) {
    const std::string name(Stripped(language));
    if (name.empty() || name == last) continue;
    joined += (joined.empty() ? "" : ",") + name;
    last = name;
  }
  return joined;
}

std::string LanguageName(std::string_view name) {
  std::string lower = LowerAscii(Stripped(name));
  if (!lower.empty() && lower[0] >= 'a' && lower[0] <= 'z') lower[0] = static_cast<char>(lower[0] - 32);
  return lower;
}

std::string_view LanguageOfTag(std::string_view tag) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"zh", "Chinese"}, {"en", "English"}, {"yue", "Cantonese"}, {"ar", "Arabic"},     {"de", "German"},
      {"fr", "French"},  {"es", "Spanish"}, {"pt", "Portuguese"}, {"id", "Indonesian"}, {"it", "Italian"},
      {"ko", "Korean"},  {"ru", "Russian"}, {"th", "Thai"},       {"vi", "Vietnamese"}, {"ja", "Japanese"},
      {"tr", "Turkish"}, {"hi", "Hindi"},   {"ms", "Malay"},      {"nl", "Dutch"},      {"sv", "Swedish"},
      {"da", "Danish"},  {"fi", "Finnish"}, {"pl", "Polish"},     {"cs", "Czech"},      {"fil", "Filipino"},
      {"fa", "Persian"}, {"el", "Greek"},   {"ro", "Romanian"},   {"hu", "Hungarian"},  {"mk", "Macedonian"}};
  const std::string primary = LowerAscii(tag.substr(0, tag.find('-')));
  for (const auto& [code, name] : kNames) {
    if (code == primary) return name;
  }
  return "";
}

}  // namespace parley::model
