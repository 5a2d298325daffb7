// Unicode normalisation form C (UAX 15).
#ifndef PARLEY_MODEL_NFC_H_
#define PARLEY_MODEL_NFC_H_

#include <string>

namespace parley::model {

// In place. Linear but for runs of combining marks, which are sorted.
void NormalizeNfc(std::u32string* text);

}  // namespace parley::model

#endif  // PARLEY_MODEL_NFC_H_
