// How byte-level vocabularies write bytes: printable characters of Latin-1 as
// themselves, the other 68 in increasing order as U+0100, U+0101, ...
#ifndef PARLEY_MODEL_BYTE_ALPHABET_H_
#define PARLEY_MODEL_BYTE_ALPHABET_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace parley::model {

// In UTF-8.
std::string SymbolOfByte(uint8_t byte);

// The bytes of a symbol; false when a character of it is not of the alphabet.
bool BytesOfSymbol(std::string_view symbol, std::string* bytes);

}  // namespace parley::model

#endif  // PARLEY_MODEL_BYTE_ALPHABET_H_
