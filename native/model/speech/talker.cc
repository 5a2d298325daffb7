#include "model/speech/talker.h"

#include "model/shared/layer_weights.h"

namespace parley::model {

Talker::Talker(Kernels& kernels, const Checkpoint& checkpoint, Weights& weights, std::optional<Format> format)
    : kernels_(kernels),
      transformer_(kernels, checkpoint.config().talker.transformer,
                   LoadLayers(weights, NamedTensors::OfModel(checkpoint).Under("talker.model"),
                              static_cast<size_t>(checkpoint.config().talker.transformer.layers), kTalkerLayer, format),
                   0),
      norm_(weights.Floats(checkpoint.ModelTensor("talker.model.norm.weight"))),
      head_(weights.Of(checkpoint.ModelTensor("talker.codec_head.weight"), format)) {}

void Talker::Forward(const Transformer::Stream* streams, size_t count, float* x) {
  transformer_.Forward(streams, count, x);
  size_t rows = 0;
  for (size_t s = 0; s < count; s++) rows += streams[s].rows;
  kernels_.RmsNorm(x, norm_, rows, hidden(), static_cast<float>(transformer_.config().norm_eps), x);
}

void Talker::Logits(const float* hidden, size_t count, float* logits) {
  kernels_.Multiply(head_, Rows(hidden, count, head_.columns), {}, logits);
}

}  // namespace parley::model
