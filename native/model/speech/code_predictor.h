// The code predictor: a small transformer that computes a frame's other codes, one after the other, from the
// talker's hidden vector and the first code. It starts anew with every frame, so that its keys and values
// belong to no stream.
#ifndef PARLEY_MODEL_CODE_PREDICTOR_H_
#define PARLEY_MODEL_CODE_PREDICTOR_H_

#include <memory>
#include <optional>
#include <vector>

#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/speech/embeddings.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

class CodePredictor {
 public:
  // Matrices in `format`, or without one as the file has them. `embeddings` outlives it.
  CodePredictor(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Embeddings& embeddings,
                Weights& weights, std::optional<Format> format);

  // One frame of each of `count` streams. hidden [count, the talker's width]: what the first codes were
  // chosen from; choices [count]: how the others are; codes [count, code_groups]: the first of each is given,
  // the others are made, -1 where a logit is no number. All of it in the backend's memory.
  void Predict(const float* hidden, const Choice* choices, size_t count, int32_t* codes);

  size_t vocabulary() const { return vocabulary_; }
  size_t StreamBytes() const;  // that another stream in the batch takes

 private:
  Matrix Projected(const Matrix& table, Weights& weights);
  void MakeRoom(size_t count);
  void DescribePasses();
  void Begin(const float* hidden, size_t count, const int32_t* codes, float* rows, float* x);
  bool AdvanceAll(size_t group, float* x, const Choice* choices, size_t count, int32_t* codes);
  void Advance(size_t group, float* x, size_t rows_each, const Choice* choices, size_t count, int32_t* codes);

  // Always exact: small beside the talker's.
  static constexpr Format kCacheFormat = Format::kF32;

  SpeechKernels& kernels_;
  Embeddings& embeddings_;
  const size_t vocabulary_;
  Transformer transformer_;
  const float* const norm_;
  Matrix projection_;  // without values: talker and predictor are equally wide
  const float* projection_bias_ = nullptr;
  std::vector<Matrix> tables_;  // for all codes but the last: their rows after the projection
  std::vector<Matrix> heads_;   // for all codes but the first
  std::vector<std::unique_ptr<KvState>> states_;
  Workspace inputs_, workspace_;
  // One pass for each group, from 1 on: that of all states, which stand at the same place in every frame.
  std::vector<std::unique_ptr<Transformer::Standing>> passes_;
  size_t described_ = 0;              // states that the passes know
  std::vector<CodePass> all_passes_;  // the same passes, for a backend that runs all of them at once
  std::vector<Transformer::Stream> streams_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODE_PREDICTOR_H_
