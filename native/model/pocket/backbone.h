// The backbone of Pocket TTS: a causal transformer over the rows of a voice, of a text and of the latents
// spoken so far. Paper: "Continuous Audio Language Models" (arXiv 2509.06926).
#ifndef PARLEY_MODEL_POCKET_BACKBONE_H_
#define PARLEY_MODEL_POCKET_BACKBONE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/pocket/pocket_checkpoint.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

class Backbone {
 public:
  // `activation`: kGeluTanh for the published weights, kGelu as version 2.1 of the package has it. `format`
  // of the matrices of its layers; without one as the file has them. kernels and checkpoint outlive it.
  Backbone(Kernels& kernels, const PocketCheckpoint& checkpoint, Activation activation,
           std::optional<Format> format = std::nullopt);

  std::unique_ptr<KvState> NewState(size_t capacity, Format format) const;

  // Appends rows [count, width] to the state. x: lost; afterwards what out_norm makes of the last layer's.
  void Append(KvState* state, float* x, size_t count);
  // Appends the rows of ids [sum of rows], stream by stream, each below the vocabulary. Returns what Append
  // leaves, good until the next call.
  const float* AppendText(const Transformer::Stream* streams, size_t count, const std::vector<int32_t>& ids);
  // One position more of each stream: latents [count, latent] in the backend's memory as the flow net gave
  // them, BosLatent() for a chunk's first. hidden [count, width] after out_norm; eos [count]: logits of the
  // end of speech.
  void Step(KvState* const* states, size_t count, const float* latents, float* hidden, float* eos);

  const float* BosLatent() const { return bos_.data(); }  // on the host
  size_t width() const { return static_cast<size_t>(config_.backbone.hidden); }
  size_t WeightBytes() const { return weights_.OwnBytes() + weights_.MappedBytes(); }

 private:
  Kernels& kernels_;
  const PocketConfig& config_;
  Weights weights_;
  const Matrix text_, input_, eos_;
  const std::vector<float> bos_;
  const float* const eos_bias_;
  const Norm norm_;
  Transformer transformer_;
  Workspace rows_;
  IdList ids_;
  std::vector<Transformer::Stream> streams_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_BACKBONE_H_
