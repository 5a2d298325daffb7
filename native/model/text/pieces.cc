#include "model/text/pieces.h"

#include <string>

#include "model/text/char_class.h"

namespace parley::model {
namespace {

// Each function is one alternative: the end of its match at `at`, or `at`.
class Cutter {
 public:
  Cutter(std::u32string_view text, PieceRule rule) : text_(text), rule_(rule) {
    classes_.reserve(text.size());
    for (const char32_t code : text) classes_.push_back(ClassOf(code));
  }

  size_t EndFrom(size_t at) const {
    const bool native = rule_ == PieceRule::kNative;
    size_t end = native ? Contraction(at) : at;
    if (end == at) end = native ? Word(at) : CasedWord(at);
    if (end == at && classes_[at] == CharClass::kNumber) end = at + 1;
    if (end == at) end = Symbols(at);
    return end == at ? Space(at) : end;
  }

 private:
  CharClass ClassAt(size_t at) const { return at < text_.size() ? classes_[at] : CharClass::kSpace; }
  bool IsNewline(size_t at) const { return at < text_.size() && (text_[at] == '\r' || text_[at] == '\n'); }
  bool IsLetterAt(size_t at) const { return at < text_.size() && IsLetter(classes_[at]); }

  // Folded as case-insensitive matching does: U+017F is an s.
  char32_t Folded(size_t at) const {
    if (at >= text_.size()) return 0;
    const char32_t code = text_[at];
    return code >= 'A' && code <= 'Z' ? code - 'A' + 'a' : code == 0x17F ? U's' : code;
  }

  size_t Contraction(size_t at) const {
    if (text_[at] != '\'') return at;
    const char32_t first = Folded(at + 1), second = Folded(at + 2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
    const bool two = ((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l');
    return two ? at + 3 : at;
  }

  // [^\r\n\p{L}\p{N}] at the head of a word.
  bool IsLead(size_t at) const {
    return !IsNewline(at) && !IsLetter(classes_[at]) && classes_[at] != CharClass::kNumber;
  }

  size_t Word(size_t at) const {
    size_t end = at + (IsLead(at) ? 1 : 0);
    if (!IsLetterAt(end)) return at;
    while (IsLetterAt(end)) end++;
    return end;
  }

  bool IsU(size_t at) const {
    const CharClass c = ClassAt(at);
    return c == CharClass::kUpper || c == CharClass::kLetter || c == CharClass::kMark;
  }
  bool IsW(size_t at) const {
    const CharClass c = ClassAt(at);
    return c == CharClass::kLower || c == CharClass::kLetter || c == CharClass::kMark;
  }

  // U*W+ : where the U run gives back just enough for W to match once.
  size_t UThenW(size_t from) const {
    size_t end = from;
    while (IsU(end)) end++;
    if (!IsW(end)) {
      while (end > from && !IsW(end - 1)) end--;
      return end;
    }
    while (IsW(end)) end++;
    return end;
  }

  // A mark may be the head of a word or its first character, in this order.
  size_t CasedWord(size_t at) const {
    const size_t lead = at + (IsLead(at) ? 1 : 0);
    for (const size_t from : {lead, at}) {
      if (const size_t end = UThenW(from); end > from) return end;
    }
    for (const size_t from : {lead, at}) {
      size_t end = from;
      while (IsU(end)) end++;
      if (end > from) return end;  // W* matches nothing here, or UThenW had matched
    }
    return at;
  }

  bool IsSymbol(size_t at) const {
    return at < text_.size() && (classes_[at] == CharClass::kOther || classes_[at] == CharClass::kMark);
  }

  size_t Symbols(size_t at) const {
    size_t end = at + (text_[at] == ' ' ? 1 : 0);
    if (!IsSymbol(end)) return at;
    while (IsSymbol(end)) end++;
    while (IsNewline(end) || (rule_ == PieceRule::kCaseSplit && end < text_.size() && text_[end] == '/')) end++;
    return end;
  }

  // Up to the last line end of the run; else all but the character before a
  // word; else all.
  size_t Space(size_t at) const {
    size_t end = at;
    while (end < text_.size() && classes_[end] == CharClass::kSpace) end++;
    for (size_t last = end; last > at; last--) {
      if (IsNewline(last - 1)) return last;
    }
    return end < text_.size() && end - at > 1 ? end - 1 : end;
  }

  const std::u32string_view text_;
  const PieceRule rule_;
  std::vector<CharClass> classes_;
};

}  // namespace

std::vector<size_t> PieceEnds(std::u32string_view text, PieceRule rule) {
  const Cutter cutter(text, rule);
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size(); at = ends.back()) ends.push_back(cutter.EndFrom(at));
  return ends;
}

}  // namespace parley::model
