#include "model/text/unicode.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "model/text/case_data.h"
#include "model/text/char_class_data.h"
#include "model/text/nfc_data.h"

namespace parley::model {
namespace {

constexpr char32_t kFirstToChange = 0x300;  // below, every character is its own NFC and no mark

// Hangul syllables: L, V and T by arithmetic (The Unicode Standard, 3.12).
constexpr char32_t kSyllables = 0xAC00, kLs = 0x1100, kVs = 0x1161, kTs = 0x11A7;
constexpr char32_t kLCount = 19, kVCount = 21, kTCount = 28, kSyllableCount = kLCount * kVCount * kTCount;

uint8_t RankOf(char32_t code) {
  const uint32_t key = static_cast<uint32_t>(code) << 8 | 0xFF;
  return static_cast<uint8_t>(
      *(std::upper_bound(std::begin(kCombiningRuns), std::end(kCombiningRuns), key) - 1));
}

uint64_t PairOf(char32_t first, char32_t second) { return static_cast<uint64_t>(first) << 32 | second; }

struct Forms {
  std::unordered_map<char32_t, std::u32string> parts;  // full decomposition
  std::unordered_map<uint64_t, char32_t> composed;     // by the two code points

  Forms() {
    constexpr uint32_t kHead = 2, kComposes = 1;
    std::unordered_map<std::u32string, char32_t> whole;  // composites by their decomposition
    for (size_t n = 0; n < std::size(kDecompositions);) {
      const uint32_t head = kDecompositions[n++];
      const char32_t code = head >> 2;
      std::u32string& list = parts[code];
      while (n < std::size(kDecompositions) && (kDecompositions[n] & kHead) == 0)
        list.push_back(kDecompositions[n++] >> 2);
      if ((head & kComposes) != 0) whole.emplace(list, code);
    }
    // A composite is made of what its decomposition but for the last mark makes, and that mark.
    for (const auto& [list, code] : whole) {
      const std::u32string before = list.substr(0, list.size() - 1);
      const auto made = whole.find(before);
      if (before.size() == 1) composed[PairOf(before[0], list.back())] = code;
      if (before.size() > 1 && made != whole.end()) composed[PairOf(made->second, list.back())] = code;
    }
  }
};

const Forms& AllForms() {
  static const Forms forms;
  return forms;
}

void Decompose(std::u32string_view text, std::u32string* out) {
  const Forms& forms = AllForms();
  for (const char32_t code : text) {
    if (code >= kSyllables && code < kSyllables + kSyllableCount) {
      const char32_t place = code - kSyllables;
      out->push_back(kLs + place / (kVCount * kTCount));
      out->push_back(kVs + place / kTCount % kVCount);
      if (place % kTCount != 0) out->push_back(kTs + place % kTCount);
    } else if (const auto found = forms.parts.find(code); found != forms.parts.end()) {
      out->append(found->second);
    } else {
      out->push_back(code);
    }
  }
}

// Marks of a run in the order of their ranks, equal ones as they were.
void Order(std::u32string* text) {
  for (size_t from = 0; from < text->size();) {
    if (RankOf((*text)[from]) == 0) {
      from++;
      continue;
    }
    size_t to = from + 1;
    while (to < text->size() && RankOf((*text)[to]) != 0) to++;
    std::stable_sort(text->begin() + static_cast<ptrdiff_t>(from), text->begin() + static_cast<ptrdiff_t>(to),
                     [](char32_t a, char32_t b) { return RankOf(a) < RankOf(b); });
    from = to;
  }
}

// 0: the two do not make one.
char32_t Compose(char32_t first, char32_t second) {
  if (first >= kLs && first < kLs + kLCount && second >= kVs && second < kVs + kVCount) {
    return kSyllables + ((first - kLs) * kVCount + (second - kVs)) * kTCount;
  }
  const bool open =
      first >= kSyllables && first < kSyllables + kSyllableCount && (first - kSyllables) % kTCount == 0;
  if (open && second > kTs && second < kTs + kTCount) return first + (second - kTs);
  const auto found = AllForms().composed.find(PairOf(first, second));
  return found == AllForms().composed.end() ? 0 : found->second;
}

void ComposeAll(std::u32string* text) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  size_t starter = kNone, end = 0;
  uint8_t last_rank = 0;  // combining class of the last one kept behind the starter
  for (size_t at = 0; at < text->size(); at++) {
    const char32_t code = (*text)[at];
    const uint8_t rank = RankOf(code);
    // Blocked when something between has the same rank or a higher one, or is a starter.
    const bool beside = starter != kNone && end == starter + 1;
    const bool open = starter != kNone && (beside || (last_rank != 0 && last_rank < rank));
    const char32_t composed = open ? Compose((*text)[starter], code) : 0;
    if (composed != 0) {
      (*text)[starter] = composed;
      continue;
    }
    if (rank == 0) starter = end;
    last_rank = rank;
    (*text)[end++] = code;
  }
  text->resize(end);
}

const std::unordered_map<char32_t, std::u32string>& UpperCases() {
  static const auto cases = [] {
    std::unordered_map<char32_t, std::u32string> found;
    std::u32string* latest = nullptr;
    for (const uint32_t entry : kUpperCases) {
      if ((entry & 2) != 0) {
        latest = &found[entry >> 2];
      } else {
        latest->push_back(entry >> 2);
      }
    }
    return found;
  }();
  return cases;
}

}  // namespace

bool IsDigit(char32_t code) {
  const uint32_t key = static_cast<uint32_t>(code) << 1 | 1;
  return (*(std::upper_bound(std::begin(kDigitRuns), std::end(kDigitRuns), key) - 1) & 1) != 0;
}

void AppendUpper(char32_t code, std::string* text) {
  const auto found = UpperCases().find(code);
  if (found == UpperCases().end()) return AppendUtf8(code, text);
  for (const char32_t part : found->second) AppendUtf8(part, text);
}

void NormalizeNfc(std::u32string* text) {
  const auto changes = [](char32_t code) { return code >= kFirstToChange; };
  if (std::none_of(text->begin(), text->end(), changes)) return;
  std::u32string parts;
  parts.reserve(text->size());
  Decompose(*text, &parts);
  Order(&parts);
  ComposeAll(&parts);
  *text = std::move(parts);
}

CharClass ClassOf(char32_t code) {
  const uint32_t key = static_cast<uint32_t>(code) << 3 | 7;
  const uint32_t* const run = std::upper_bound(std::begin(kClassRuns), std::end(kClassRuns), key) - 1;
  return static_cast<CharClass>(*run & 7);
}

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

Utf8Unit UnitAt(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t n) { return static_cast<unsigned char>(bytes[at + n]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  // Second bytes that would make an overlong form, a surrogate, or a number above 10FFFF are not of it.
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t n = 1; n < length; n++) {
    if (at + n >= bytes.size()) return {n, false};
    if (byte(n) < (n == 1 ? least : 0x80) || byte(n) > (n == 1 ? most : 0xBF)) return {n, false};
  }
  return {length, true};
}

size_t AppendLossy(std::string_view bytes, std::string* text) {
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Unit unit = UnitAt(bytes, at);
    const auto lead = static_cast<unsigned char>(bytes[at]);
    const bool may_go_on = !unit.whole && at + unit.length == bytes.size() && lead >= 0xC2 && lead <= 0xF4;
    if (may_go_on) return at;
    if (unit.whole) text->append(bytes, at, unit.length);
    else AppendUtf8(0xFFFD, text);
    at += unit.length;
  }
  return bytes.size();
}

std::u32string CodePointsOf(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    codes.push_back(TakeUtf8(text, &at));
    if (at == before) codes.back() = 0xFFFD, at++;
  }
  return codes;
}

std::string Utf8Of(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) AppendUtf8(code, &text);
  return text;
}

bool IsBlank(char32_t code) { return (code >= 0x1C && code <= 0x1F) || ClassOf(code) == CharClass::kSpace; }

std::string_view Stripped(std::string_view text) {
  size_t first = text.size(), last = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (IsBlank(TakeUtf8(text, &at))) continue;
    if (at == begin) return text;  // no UTF-8
    first = std::min(first, begin);
    last = at;
  }
  return first < last ? text.substr(first, last - first) : std::string_view();
}

}  // namespace parley::model
