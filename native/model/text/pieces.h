// The pre-tokenizer: cuts text into the pieces that byte pairs are merged in.
// Regular expressions that are fixed, so written out as code.
#ifndef PARLEY_MODEL_PIECES_H_
#define PARLEY_MODEL_PIECES_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace parley::model {

enum class PieceRule {
  // The vocabulary's own:
  // (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
  kNative,
  // What the reference package uses under some circumstances; it splits camel case:
  // [^\r\n\p{L}\p{N}]?U*W+|[^\r\n\p{L}\p{N}]?U+W*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
  // with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and W = [\p{Ll}\p{Lm}\p{Lo}\p{M}]
  kCaseSplit,
};

// Where each piece ends; the last is the end of the text. Linear.
std::vector<size_t> PieceEnds(std::u32string_view text, PieceRule rule);

}  // namespace parley::model

#endif  // PARLEY_MODEL_PIECES_H_
