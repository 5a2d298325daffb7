#include "model/pocket/text_rules.h"

#include <algorithm>
#include <cmath>

#include "model/text/unicode.h"

namespace parley::model {
namespace {

constexpr double kFramesPerSecond = 12.5;
constexpr double kIdsPerSecond = 3, kSpareSeconds = 2;  // the longest that a chunk may take
constexpr size_t kEarliestEnd = 6;                      // step, since 3.3
constexpr size_t kShortText = 4, kPadding = 8;          // words, spaces
constexpr size_t kFewWords = 5;
// People speak 12 to 15 letters a second. Speech that ends as if there were 25 has skipped a good part of its
// words; who skips one word cannot be told from a fast voice.
constexpr size_t kMostLettersPerFrame = 2;
constexpr std::string_view kSentenceMarks = ".!...?", kClauseMarks = ",;:";

bool IsOneOf(char32_t code, std::u32string_view characters) {
  return characters.find(code) != std::u32string_view::npos;
}

std::string Replaced(std::string_view text, const PocketTextConfig& config) {
  if (config.replace_characters.empty()) return std::string(text);
  std::string replaced;
  for (const char32_t code : CodePointsOf(text)) {
    const auto rule = std::find_if(config.replace_characters.begin(), config.replace_characters.end(),
                                   [code](const auto& entry) { return entry.first == code; });
    if (rule == config.replace_characters.end()) {
      AppendUtf8(code, &replaced);
    } else {
      replaced += rule->second;
    }
  }
  std::u32string joined;  // with single spaces between words
  bool blank = false;
  for (const char32_t code : CodePointsOf(replaced)) {
    if (IsBlank(code)) {
      blank = !joined.empty();
      continue;
    }
    if (blank) joined.push_back(' ');
    blank = false;
    joined.push_back(code);
  }
  std::u32string kept;  // without clause marks after the marks of a sentence's end
  for (size_t at = 0; at < joined.size(); at++) {
    kept.push_back(joined[at]);
    if (!IsOneOf(joined[at], U".!?\u2026")) continue;
    size_t next = at + 1;
    while (next < joined.size() && IsBlank(joined[next])) next++;
    if (next < joined.size() && IsOneOf(joined[next], U",;:")) at = next;
  }
  return Utf8Of(kept);
}

// Line ends become spaces, and each two spaces one.
std::string OnOneLine(std::string_view text) {
  std::string line;
  for (size_t at = 0; at < text.size(); at++) {
    const auto is_space = [&text](size_t place) {
      return place < text.size() && (text[place] == ' ' || text[place] == '\n' || text[place] == '\r');
    };
    line.push_back(is_space(at) ? ' ' : text[at]);
    if (is_space(at) && is_space(at + 1)) at++;
  }
  return line;
}

size_t WordsOf(std::string_view text) {
  size_t words = 0;
  bool within = false;
  for (const char32_t code : CodePointsOf(text)) {
    const bool blank = IsBlank(code);
    if (!blank && !within) words++;
    within = !blank;
  }
  return words;
}

std::string Capitalized(std::string_view text) {
  size_t at = 0;
  const char32_t first = TakeUtf8(text, &at);
  std::string capitalized;
  AppendUpper(first, &capitalized);
  return capitalized + std::string(text.substr(at));
}

bool IsAlphanumeric(char32_t code) {
  const CharClass kind = ClassOf(code);
  return IsLetter(kind) || kind == CharClass::kNumber;
}

// Since 3.2 a closing quote or bracket may follow the mark, and a clause mark at the end becomes a period.
std::string Ended(const std::string& text, PocketRules rules) {
  const std::u32string codes = CodePointsOf(text);
  if (rules == PocketRules::k21) return IsAlphanumeric(codes.back()) ? text + "." : text;
  size_t end = codes.size();
  while (end > 0 && IsOneOf(codes[end - 1], U"\"'\u201D\u2019)]\u00BB ")) end--;
  if (end == 0 || IsOneOf(codes[end - 1], U".!?\u2026")) return text;
  constexpr std::u32string_view kUnended = U",;:-\u2013\u2014";
  if (!IsOneOf(codes[end - 1], kUnended)) return text + ".";
  const std::string closers(Stripped(Utf8Of(codes.substr(end))));
  while (end > 0 && (IsOneOf(codes[end - 1], kUnended) || codes[end - 1] == ' ')) end--;
  return Utf8Of(codes.substr(0, end)) + "." + closers;
}

size_t LettersOf(std::string_view text) {
  const std::u32string codes = CodePointsOf(text);
  return static_cast<size_t>(std::count_if(codes.begin(), codes.end(), IsAlphanumeric));
}

struct Segment {
  size_t ids = 0;
  std::string text;
};

// Returns the places at which ids are cut: before the first id after each run of marks, and at the end.
std::vector<size_t> CutsOf(const std::vector<int32_t>& ids, const std::vector<int32_t>& marks) {
  std::vector<size_t> cuts;
  for (size_t n = 1; n < ids.size(); n++) {
    const auto is_mark = [&marks](int32_t id) {
      return std::find(marks.begin(), marks.end(), id) != marks.end();
    };
    if (is_mark(ids[n - 1]) && !is_mark(ids[n])) cuts.push_back(n);
  }
  cuts.push_back(ids.size());
  return cuts;
}

// True if the cut would fall within a number as "3.5", whose period is an id.
bool IsWithinNumber(const SentencePieces& pieces, const std::vector<int32_t>& ids, size_t cut) {
  constexpr size_t kSome = 12;  // ids: more than two characters have
  const std::u32string before = CodePointsOf(pieces.Decode(ids, cut - std::min(cut, kSome), cut));
  const std::u32string after = CodePointsOf(pieces.Decode(ids, cut, std::min(ids.size(), cut + kSome)));
  return before.size() >= 2 && before.back() == '.' && IsDigit(before[before.size() - 2]) && !after.empty() &&
         IsDigit(after[0]);
}

class Splitter {
 public:
  Splitter(const SentencePieces& pieces, PocketRules rules, size_t max_tokens)
      : pieces_(pieces), rules_(rules), max_tokens_(max_tokens) {}

  std::vector<std::string> Split(std::string_view prepared) const {
    std::vector<Segment> segments;
    for (Segment& sentence : SegmentsOf(Stripped(prepared), kSentenceMarks, rules_ == PocketRules::k33)) {
      std::vector<Segment> clauses;
      if (sentence.ids > max_tokens_) clauses = SegmentsOf(Stripped(sentence.text), kClauseMarks, false);
      if (clauses.size() <= 1) clauses = {std::move(sentence)};
      for (Segment& clause : clauses) segments.push_back(std::move(clause));
    }
    return Joined(segments);
  }

 private:
  std::vector<Segment> SegmentsOf(std::string_view text, std::string_view marks, bool keep_numbers) const {
    const std::vector<int32_t> ids = pieces_.Encode(text);
    std::vector<int32_t> mark_ids = pieces_.Encode(marks);
    mark_ids.erase(mark_ids.begin());  // what stands for the space, whatever it is
    std::vector<Segment> segments;
    size_t from = 0;
    for (const size_t cut : CutsOf(ids, mark_ids)) {
      if (keep_numbers && cut < ids.size() && IsWithinNumber(pieces_, ids, cut)) continue;
      segments.push_back({cut - from, pieces_.Decode(ids, from, cut)});
      from = cut;
    }
    return segments;
  }

  std::vector<std::string> Joined(const std::vector<Segment>& segments) const {
    std::vector<std::string> chunks;
    std::string text;
    size_t ids = 0;
    for (size_t n = 0; n < segments.size(); n++) {
      const Segment& next = segments[n];
      if (n > 0 && ids + next.ids > max_tokens_) {
        chunks.emplace_back(Stripped(text));
        text.clear();
        ids = 0;
      }
      text = text.empty() ? next.text : text + " " + next.text;
      ids += next.ids;
    }
    chunks.emplace_back(Stripped(text));
    return chunks;
  }

  const SentencePieces& pieces_;
  const PocketRules rules_;
  const size_t max_tokens_;
};

}  // namespace

PreparedText PrepareText(std::string_view text, const PocketTextConfig& config) {
  const bool newer = config.rules == PocketRules::k33;
  const std::string valid = Utf8Of(CodePointsOf(text));
  std::string prepared(Stripped(valid));
  if (newer) prepared = Replaced(prepared, config);
  if (prepared.empty()) return {};
  prepared = OnOneLine(prepared);
  if (config.remove_semicolons) std::replace(prepared.begin(), prepared.end(), ';', ',');
  const size_t words = WordsOf(prepared);
  if (!newer || config.capitalize_first_letter) prepared = Capitalized(prepared);
  if (!newer || config.append_terminal_punctuation) prepared = Ended(prepared, config.rules);
  if (config.pad_with_spaces_for_short_inputs && words < kFewWords)
    prepared.insert(0, std::string(kPadding, ' '));
  return {prepared, words <= kShortText ? size_t{3} : size_t{1}};
}

size_t WholeSentences(std::string_view text) {
  const auto is_one_of = [text](size_t at, std::string_view some) {
    return at < text.size() && some.find(text[at]) != std::string_view::npos;
  };
  constexpr std::string_view kSpaces = " \n\r\t", kMarks = ".!?", kDigits = "0123456789";
  size_t whole = 0;
  for (size_t at = 1; at < text.size(); at++) {
    if (!is_one_of(at, kSpaces) || !is_one_of(at - 1, kMarks)) continue;
    size_t next = at;
    while (is_one_of(next, kSpaces)) next++;
    const bool may_be_number = at > 1 && is_one_of(at - 2, kDigits) && is_one_of(next, kDigits);
    if (next < text.size() && !is_one_of(next, kMarks) && !may_be_number) whole = at;
  }
  return WordsOf(text.substr(0, whole)) < kFewWords ? 0 : whole;
}

double DefaultTemperature(PocketRules rules) { return rules == PocketRules::k33 ? 0.3 : 0.7; }

size_t MostFramesOf(size_t ids) {
  const double seconds = static_cast<double>(ids) / kIdsPerSecond + kSpareSeconds;
  return static_cast<size_t>(std::ceil(seconds * kFramesPerSecond));
}

std::vector<TextChunk> ChunksOf(std::string_view text, const SentencePieces& pieces,
                                const PocketTextConfig& config, size_t max_tokens) {
  const PreparedText prepared = PrepareText(text, config);
  if (prepared.text.empty()) return {};
  std::vector<TextChunk> chunks;
  for (std::string& part : Splitter(pieces, config.rules, max_tokens).Split(prepared.text)) {
    TextChunk chunk;
    const PreparedText again = PrepareText(part, config);
    chunk.text = std::move(part);
    chunk.ids = pieces.Encode(config.rules == PocketRules::k33 ? again.text : chunk.text);
    if (config.rules == PocketRules::k33) chunk.earliest_end = kEarliestEnd;
    chunk.frames_after_eos = config.recommended_frames_after_eos.value_or(again.trailing_guess + 2);
    chunk.max_frames = MostFramesOf(chunk.ids.size());
    chunk.least_frames = LettersOf(chunk.text) / kMostLettersPerFrame;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace parley::model
