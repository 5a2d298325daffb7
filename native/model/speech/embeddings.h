// Rows of the talker's width: what ids of the text and codes of a frame are to it.
#ifndef PARLEY_MODEL_EMBEDDINGS_H_
#define PARLEY_MODEL_EMBEDDINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

// Rows of a prompt that are computed together. The number bounds the memory and changes no bit.
constexpr size_t kPromptPiece = 256;

// Piece size on an asynchronous backend, which is fast with many rows. Up to this many rows form one piece,
// so that recorded lists repeat: a varying number of pieces, and of rows in the last one, would make new
// lists.
constexpr size_t kPromptPieceApart = 2048;

inline size_t PromptPieceOf(const SpeechKernels& kernels) {
  return kernels.AnswersAtOnce() ? kPromptPiece : kPromptPieceApart;
}

class Embeddings {
 public:
  Embeddings(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Weights& weights);

  size_t hidden() const { return codes_.front().columns; }
  size_t code_groups() const { return codes_.size(); }

  // Table for the place of a code in its frame. The first is the talker's own vocabulary, control ids too.
  const Matrix& codes(size_t group) const { return codes_[group]; }

  // frames [count, code_groups] in the backend's memory, -1: none. y [count, hidden]: the sum of their codes'
  // rows, the first code first; or that added to it.
  void SumFrames(const int32_t* frames, size_t count, bool add, float* y);

  // The rows of these ids (on the host) of the text vocabulary, -1: none; or that added to them. y [count,
  // hidden]
  void SumText(const std::vector<int32_t>& ids, bool add, float* y);

 private:
  Matrix Known(const std::vector<int32_t>& ids);
  Matrix All(const std::vector<int32_t>& ids);
  void Project(const int32_t* ids, size_t count, float* y);

  SpeechKernels& kernels_;
  const int32_t pad_id_;
  std::vector<Matrix> codes_;
  const Matrix text_;  // read from the mapped file where the backend can: only the pages of ids that are used
  const Matrix widen_, narrow_;
  const float* const widen_bias_;
  const float* const narrow_bias_;
  Workspace inner_, table_, pad_;
  IdList asked_, found_;
  std::vector<int32_t> distinct_, piece_;
  std::vector<int32_t> indexes_;  // rows of text that were requested last
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_EMBEDDINGS_H_
