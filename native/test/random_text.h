// Random texts for tests of code that reads texts of users and models.
#ifndef PARLEY_TEST_RANDOM_TEXT_H_
#define PARLEY_TEST_RANDOM_TEXT_H_

#include <cstddef>
#include <random>
#include <string>

namespace parley::test {

// Random bytes: sequences of all scripts, cut ones, surrogates, overlong forms, tags.
inline std::string RandomText(std::mt19937_64& random, size_t most_parts) {
  static const char* const kParts[] = {"a",
                                       "b",
                                       " ",
                                       "no. ",
                                       "0",
                                       "\n",
                                       "language ",
                                       "English",
                                       "None",
                                       "'",
                                       "<asr_text>",
                                       "\xC3\xA9",
                                       "e\xCC\x81",
                                       "\xE4\xBD\xA0",
                                       "\xE3\x81\x8B",
                                       "\xED\x95\x9C",
                                       "\xF0\x9F\x98\x80",
                                       "\xE4\xBD",
                                       "\xED\xA0\x80",
                                       "\xC0\x80",
                                       "\xFF",
                                       "\xF4\x90\x80\x80",
                                       "\xE3\x80\x80",
                                       "\xE2\x80\xA8",
                                       "\x1C",
                                       "<|im_end|>",
                                       "<timestamp>",
                                       "\xE3\x82\x99"};
  constexpr size_t kCount = sizeof(kParts) / sizeof(kParts[0]);
  std::string text;
  for (size_t parts = random() % (most_parts + 1); parts > 0; parts--) {
    const char* const part = kParts[random() % kCount];
    for (size_t times = random() % 8 == 0 ? random() % 60 : 1; times > 0; times--) text += part;
    if (random() % 8 == 0) text.push_back(static_cast<char>(random()));
  }
  return text;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_RANDOM_TEXT_H_
