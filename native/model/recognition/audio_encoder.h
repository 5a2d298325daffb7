// The audio encoder: a transformer over blocks of eight seconds, whose rows see each other and none of
// another block, then two products to audio tokens of the decoder's width.
#ifndef PARLEY_MODEL_RECOGNITION_AUDIO_ENCODER_H_
#define PARLEY_MODEL_RECOGNITION_AUDIO_ENCODER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/kernels.h"
#include "model/recognition/audio_convolutions.h"
#include "model/recognition/recognition_checkpoint.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

class AudioEncoder {
 public:
  AudioEncoder(Kernels& kernels, Weights& weights, const RecognitionCheckpoint& checkpoint);

  AudioConvolutions& convolutions() { return convolutions_; }
  Transformer& transformer() { return transformer_; }

  size_t width() const { return convolutions_.width(); }
  size_t output() const { return second_.rows; }
  size_t block_tokens() const { return block_tokens_; }

  // The transformer, in place, as a passage: blocks one after the other, each of at most block_tokens() rows,
  // as the convolutions give them. x [sum of tokens, width].
  void Begin(const size_t* tokens, size_t count, float* x, Transformer::Passage* passage);
  // ln_post, proj1 and proj2 of x, which is kept: [rows, width] to [rows, output].
  void Project(const float* x, size_t rows, float* result);
  const Norm& last_norm() const { return last_norm_; }

 private:
  Kernels& kernels_;
  const size_t block_tokens_;
  const TransformerConfig one_layer_;  // of a block's state
  AudioConvolutions convolutions_;
  Transformer transformer_;
  const Norm last_norm_;
  const Matrix first_, second_;
  const float* const first_bias_;
  const float* const second_bias_;
  Workspace inner_;
  std::vector<std::unique_ptr<KvState>> states_;
  std::vector<Transformer::Stream> streams_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_AUDIO_ENCODER_H_
