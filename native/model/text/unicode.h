// Reads and writes UTF-8 (RFC 3629), classifies code points and normalises text to form C (UAX 15).
#ifndef PARLEY_MODEL_TEXT_UNICODE_H_
#define PARLEY_MODEL_TEXT_UNICODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace parley::model {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD in UTF-8

constexpr size_t kAllUtf8 = static_cast<size_t>(-1);

// The code point at `*at`, which moves behind it; char32_t(-1) and `*at` left
// where it was for anything that RFC 3629 does not allow: overlong forms,
// surrogates, numbers above 10FFFF, a sequence cut short.
inline char32_t TakeUtf8(std::string_view text, size_t* at) {
  constexpr char32_t kBad = static_cast<char32_t>(-1);
  if (*at >= text.size()) return kBad;
  const auto lead = static_cast<unsigned char>(text[*at]);
  if (lead < 0x80) return ++*at, lead;
  const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - *at <= more) return kBad;
  char32_t code = lead & (0x3F >> more);
  for (size_t n = 1; n <= more; n++) {
    const auto byte = static_cast<unsigned char>(text[*at + n]);
    if ((byte & 0xC0) != 0x80) return kBad;
    code = code << 6 | (byte & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return kBad;
  *at += more + 1;
  return code;
}

// Offset of the first byte that is not UTF-8; kAllUtf8 if there is none.
inline size_t FirstBadUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (TakeUtf8(text, &at) == static_cast<char32_t>(-1)) return at;
  }
  return kAllUtf8;
}

// `code` is a code point that UTF-8 can hold.
inline void AppendUtf8(char32_t code, std::string* text) {
  if (code < 0x80) {
    text->push_back(static_cast<char>(code));
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned char kLead[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(kLead[more] | code >> (6 * more)));
  for (int n = more - 1; n >= 0; n--) text->push_back(static_cast<char>(0x80 | (code >> (6 * n) & 0x3F)));
}

// A unit stands at a place of bytes that need not be UTF-8: a character, or the longest beginning of one, or
// a byte that begins none ("maximal subpart", The Unicode Standard, 3.9).
struct Utf8Unit {
  size_t length = 0;
  bool whole = false;
};
Utf8Unit UnitAt(std::string_view bytes, size_t at);

// Appends the characters of the bytes, and U+FFFD for each unit that is none. What the bytes end within is
// left over: returns where it begins.
size_t AppendLossy(std::string_view bytes, std::string* text);

// The characters of the text, with U+FFFD for each byte that belongs to none; and back.
std::u32string CodePointsOf(std::string_view text);
std::string Utf8Of(std::u32string_view codes);

// Whitespace as Python's str.strip and str.split have it: White_Space and U+001C to U+001F.
bool IsBlank(char32_t code);
std::string_view Stripped(std::string_view text);  // text is UTF-8

// With the letters A to Z as a to z.
std::string LowerAscii(std::string_view text);

// Unicode categories, as coarse as the pre-tokenizer needs them. The numbers are those of char_class_data.
enum class CharClass : uint8_t {
  kOther = 0,
  kUpper = 1,   // Lu, Lt
  kLower = 2,   // Ll
  kLetter = 3,  // Lm, Lo
  kMark = 4,    // M
  kNumber = 5,  // N
  kSpace = 6,   // White_Space
};

CharClass ClassOf(char32_t code);

inline bool IsLetter(CharClass c) {
  return c == CharClass::kUpper || c == CharClass::kLower || c == CharClass::kLetter;
}

// Digits as Python's str.isdigit has them: decimal digits of all scripts, and "²" or "①".
bool IsDigit(char32_t code);

// Appends the character in upper case, as Python's str.upper makes it: "ß" becomes "SS".
void AppendUpper(char32_t code, std::string* text);

// In place. Linear but for runs of combining marks, which are sorted.
void NormalizeNfc(std::u32string* text);

}  // namespace parley::model

#endif  // PARLEY_MODEL_TEXT_UNICODE_H_
