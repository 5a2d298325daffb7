// Breaks the files of checkpoints for tests: bytes that are flipped, cut, moved or repeated, absurd numbers.
#ifndef PARLEY_TEST_BROKEN_FILES_H_
#define PARLEY_TEST_BROKEN_FILES_H_

#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "media/random.h"

namespace parley::test {

inline constexpr const char* kNumbers[] = {
    "0",   "-1",   "1e308", "9223372036854775807", "18446744073709551616", "4294967296", "65536",
    "0.5", "null", "[]"};

inline void ReplaceNumber(std::string* text, Random& random) {
  size_t at = text->empty() ? 0 : random.Next() % text->size();
  const auto digit = [&](size_t n) { return (*text)[n] >= '0' && (*text)[n] <= '9'; };
  while (at < text->size() && !digit(at)) at++;
  size_t end = at;
  while (end < text->size() && digit(end)) end++;
  text->replace(at, end - at, kNumbers[random.Next() % std::size(kNumbers)]);
}

// Broken in one to three places.
inline std::string Broken(std::string text, Random& random) {
  for (uint64_t left = 1 + random.Next() % 3; left > 0; left--) {
    const size_t at = text.empty() ? 0 : random.Next() % text.size(), len = random.Next() % 40;
    switch (random.Next() % 7) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random.Next());
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.erase(at, len);
        break;
      case 3:
        text.insert(at, text.substr(text.empty() ? 0 : random.Next() % text.size(), len));
        break;
      case 4:
        text.insert(at, 1, "{}[]\",:\\"[random.Next() % 8]);
        break;
      default:
        ReplaceNumber(&text, random);
    }
  }
  return text;
}

// An exact allocation, so that a read past its end is seen.
template <class Use>
void WithExact(const std::string& text, Use use) {
  std::unique_ptr<char[]> exact(new char[text.size()]);
  std::memcpy(exact.get(), text.data(), text.size());
  use(std::string_view(exact.get(), text.size()));
}

}  // namespace parley::test

#endif  // PARLEY_TEST_BROKEN_FILES_H_
