// The small transformer that makes the other codes of a frame from the talker's
// hidden vector and the first code, one after the other. It begins anew with every
// frame, so that its keys and values belong to nobody.
#ifndef PARLEY_MODEL_CODE_PREDICTOR_H_
#define PARLEY_MODEL_CODE_PREDICTOR_H_

#include <memory>
#include <optional>
#include <vector>

#include "model/checkpoint.h"
#include "model/embeddings.h"
#include "model/transformer.h"
#include "model/weights.h"

namespace parley::model {

class CodePredictor {
 public:
  // Matrices in `format`, or without one as the file has them. `embeddings` outlives it.
  CodePredictor(Kernels& kernels, const Checkpoint& checkpoint, Embeddings& embeddings, Weights& weights,
                std::optional<Format> format);

  // One frame of one stream.
  struct Job {
    const SamplingRules* rules;
    uint64_t seed;
    uint64_t frame;  // of its stream, from 0: the step of its draws
    int32_t* codes;  // [code_groups] on the host: the first is given, the others are made; -1 where a logit is no number
  };
  // hidden [count, the talker's width]: what the first codes were chosen from.
  void Predict(const float* hidden, const Job* jobs, size_t count);

  size_t vocabulary() const { return vocabulary_; }
  size_t StreamBytes() const;  // that another stream in the batch takes

 private:
  void MakeRoom(size_t count);
  void Advance(size_t group, const float* rows, size_t rows_each, const Job* jobs, size_t count);

  // Always exact: small beside the talker's.
  static constexpr Format kCacheFormat = Format::kF32;

  Kernels& kernels_;
  Embeddings& embeddings_;
  const size_t vocabulary_;
  Transformer transformer_;
  const float* const norm_;
  Matrix projection_;  // without values: talker and predictor are equally wide
  const float* projection_bias_ = nullptr;
  std::vector<Matrix> heads_;  // of the codes but the first
  std::vector<std::unique_ptr<KvState>> states_;
  Workspace inputs_, workspace_;
  std::vector<Transformer::Stream> streams_;
  std::vector<Choice> choices_;
  std::vector<int32_t> ids_;  // that were chosen last
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODE_PREDICTOR_H_
