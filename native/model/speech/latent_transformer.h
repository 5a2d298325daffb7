// The transformer inside the codec decoder: from the latent channels to its own width, through
// its layers with a window, and back. There is no residual around it.
#ifndef PARLEY_MODEL_LATENT_TRANSFORMER_H_
#define PARLEY_MODEL_LATENT_TRANSFORMER_H_

#include <vector>

#include "model/speech/codec_config.h"
#include "model/speech/codec_state.h"
#include "model/shared/layer_weights.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"

namespace parley::model {

class LatentTransformer {
 public:
  LatentTransformer(Kernels& kernels, Weights& weights, const NamedTensors& tensors, const CodecDecoderConfig& config,
                    Format format);

  size_t hidden() const { return input_.rows; }

  // x [rows, latent] in place; hidden: room for rows * hidden(). Without `wanted` only the states
  // advance, and x is of no use.
  void Run(Kernels& kernels, const CodecPass& pass, bool wanted, float* x, float* hidden);

 private:
  Matrix input_, output_;
  const float *input_bias_, *output_bias_, *norm_;
  const float norm_eps_;
  Transformer transformer_;
  std::vector<Transformer::Stream> streams_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_LATENT_TRANSFORMER_H_
