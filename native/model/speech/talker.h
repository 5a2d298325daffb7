// The transformer that speaks: rows to hidden vectors, and those to logits of first codes.
#ifndef PARLEY_MODEL_TALKER_H_
#define PARLEY_MODEL_TALKER_H_

#include <optional>

#include "model/files/checkpoint.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"

namespace parley::model {

class Talker {
 public:
  // Matrices in `format`, or without one as the file has them.
  Talker(Kernels& kernels, const Checkpoint& checkpoint, Weights& weights, std::optional<Format> format);

  size_t hidden() const { return head_.columns; }
  size_t vocabulary() const { return head_.rows; }
  Transformer& transformer() { return transformer_; }

  // x [sum of rows, hidden] in place: through all layers and the final norm. The states advance.
  void Forward(const Transformer::Stream* streams, size_t count, float* x);
  // logits [count, vocabulary] of what Forward gave.
  void Logits(const float* hidden, size_t count, float* logits);

 private:
  Kernels& kernels_;
  Transformer transformer_;
  const float* const norm_;
  const Matrix head_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_TALKER_H_
