#include "model/text/byte_alphabet.h"

#include <array>

#include "model/text/utf8.h"

namespace parley::model {
namespace {

constexpr char32_t kFirstSubstitute = 0x100;
constexpr size_t kSubstitutes = 68;

constexpr bool IsItself(char32_t code) {
  return (code >= 33 && code <= 126) || (code >= 161 && code <= 172) || (code >= 174 && code <= 255);
}

constexpr std::array<uint8_t, kSubstitutes> SubstitutedBytes() {
  std::array<uint8_t, kSubstitutes> bytes{};
  size_t count = 0;
  for (char32_t code = 0; code < 256; code++) {
    if (!IsItself(code)) bytes[count++] = static_cast<uint8_t>(code);
  }
  return bytes;
}

constexpr std::array<uint8_t, kSubstitutes> kSubstituted = SubstitutedBytes();

}  // namespace

std::string SymbolOfByte(uint8_t byte) {
  char32_t code = byte;
  for (size_t n = 0; n < kSubstitutes; n++) {
    if (kSubstituted[n] == byte) code = kFirstSubstitute + static_cast<char32_t>(n);
  }
  std::string symbol;
  AppendUtf8(code, &symbol);
  return symbol;
}

bool BytesOfSymbol(std::string_view symbol, std::string* bytes) {
  for (size_t at = 0; at < symbol.size();) {
    const char32_t code = TakeUtf8(symbol, &at);
    if (code < kFirstSubstitute && IsItself(code)) {
      bytes->push_back(static_cast<char>(code));
    } else if (code >= kFirstSubstitute && code < kFirstSubstitute + kSubstitutes) {
      bytes->push_back(static_cast<char>(kSubstituted[code - kFirstSubstitute]));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace parley::model
