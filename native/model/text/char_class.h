// Unicode categories of characters, as coarse as the pre-tokenizer needs them.
#ifndef PARLEY_MODEL_CHAR_CLASS_H_
#define PARLEY_MODEL_CHAR_CLASS_H_

#include <cstdint>

namespace parley::model {

// The numbers are those of char_class_data.
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

}  // namespace parley::model

#endif  // PARLEY_MODEL_CHAR_CLASS_H_
