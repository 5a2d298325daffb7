// How many rows of prompts are computed together: it bounds the memory, and changes no bit.
#ifndef PARLEY_MODEL_PROMPT_PIECE_H_
#define PARLEY_MODEL_PROMPT_PIECE_H_

#include <cstddef>

#include "kernels/kernels.h"

namespace parley::model {

constexpr size_t kPromptPiece = 256;

// Of a backend that is waited for, which is fast with many. What it is asked for becomes lists that are known again: of as many rows as there may be one
// piece, since else the number of pieces and of the last one's rows made another list.
constexpr size_t kPromptPieceApart = 2048;

inline size_t PromptPieceOf(const Kernels& kernels) { return kernels.AnswersAtOnce() ? kPromptPiece : kPromptPieceApart; }

}  // namespace parley::model

#endif  // PARLEY_MODEL_PROMPT_PIECE_H_
