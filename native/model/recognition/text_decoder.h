// The decoder of recogniser and aligner: ids and audio tokens to hidden vectors, and those to logits.
#ifndef PARLEY_MODEL_RECOGNITION_TEXT_DECODER_H_
#define PARLEY_MODEL_RECOGNITION_TEXT_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "model/recognition/recognition_checkpoint.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

// Stands in a list of ids for the next audio token.
inline constexpr int32_t kAudioToken = -1;

class TextDecoder {
 public:
  // The layers' matrices in `format`, or without one as the file has them. The head keeps its own: near-ties
  // of its logits decide what is recognised.
  TextDecoder(Kernels& kernels, Weights& weights, const RecognitionCheckpoint& checkpoint,
              std::optional<Format> format);

  size_t hidden() const { return embedding_.columns; }
  size_t head_rows() const { return head_.rows; }
  Transformer& transformer() { return transformer_; }

  // The next rows of a stream.
  struct Rows {
    KvState* state;
    const int32_t* ids;
    size_t count;
    const float* audio;  // [as many as there are kAudioToken among the ids, hidden] in the backend's memory
  };
  // The embeddings of all rows, stream by stream: x [sum of counts, hidden].
  void Embed(const Rows* streams, size_t count, float* x);
  // x through all layers and the final norm, in place. The states advance.
  void Forward(const Rows* streams, size_t count, float* x);
  // The layers alone, as a passage of the transformer; and the norm of rows, in place.
  void Begin(const Rows* streams, size_t count, float* x, Transformer::Passage* passage);
  void Norm(float* x, size_t rows);

  // For rows of hidden vectors in the backend's memory: the id of the largest logit, the lowest of equals; -1
  // where a logit is not a number.
  void Choose(const float* hidden, size_t count, int32_t* ids);
  // Choose computes so many bytes of logits at once; 160 MiB, which are 276 rows of the recogniser's
  // vocabulary.
  void LimitLogits(size_t bytes) { most_logit_bytes_ = bytes; }
  // The logits of the last Choose, [count, head_rows] in the backend's memory. If they did not all fit at
  // once, those of its last part.
  const float* logits() const { return last_logits_; }

 private:
  Kernels& kernels_;
  const Matrix embedding_, head_;
  Transformer transformer_;
  const float* const norm_;
  Workspace logits_, choices_, chosen_;
  IdList ids_;
  size_t most_logit_bytes_ = size_t{160} << 20;
  const float* last_logits_ = nullptr;
  std::vector<int32_t> gathered_;
  std::vector<Transformer::Stream> streams_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_TEXT_DECODER_H_
