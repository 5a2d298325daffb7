// The flow net of Pocket TTS: makes a latent of noise, as the backbone's hidden vector says. An MLP with
// adaptive norms, trained by Lagrangian self-distillation (arXiv 2505.18825) to go from one time to another
// in one step.
#ifndef PARLEY_MODEL_POCKET_FLOW_NET_H_
#define PARLEY_MODEL_POCKET_FLOW_NET_H_

#include <cstddef>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/pocket/pocket_checkpoint.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

class FlowNet {
 public:
  static constexpr size_t kMaxSteps = 64;

  // Takes 1 to kMaxSteps steps to a latent; the published models need one. kernels and checkpoint outlive it.
  FlowNet(SpeechKernels& kernels, const PocketCheckpoint& checkpoint, size_t steps = 1);

  size_t WeightBytes() const { return weights_.OwnBytes() + weights_.MappedBytes(); }

  // x [count, latent] in place: noise becomes latents. hidden [count, width of the backbone].
  void Sample(const float* hidden, size_t count, float* x);

 private:
  struct Block {
    Norm norm;
    Matrix first, second;
    const float *first_bias, *second_bias;
  };

  void LoadBlocks(const NamedTensors& net);
  std::vector<float> TimeVector(const NamedTensors& embedding, double time) const;
  void Step(const float* hidden, size_t count, const float* condition_bias, float* x);

  SpeechKernels& kernels_;
  const size_t width_, latent_;
  Weights weights_;
  const Matrix input_, condition_, output_;
  const float *input_bias_, *output_bias_;
  std::vector<Block> blocks_;
  // All blocks' shifts, scales and gates, then shifts and scales of the last layer.
  Matrix modulation_;
  const float* modulation_bias_ = nullptr;
  Norm last_norm_;
  std::vector<const float*> condition_biases_;  // of each step, with the vectors of its two times
  const float* duration_ = nullptr;             // of a step, once for each number of a latent
  Workspace workspace_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_FLOW_NET_H_
