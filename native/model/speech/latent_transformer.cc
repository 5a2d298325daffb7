#include "model/speech/latent_transformer.h"

namespace parley::model {

LatentTransformer::LatentTransformer(Kernels& kernels, Weights& weights, const NamedTensors& tensors,
                                     const CodecDecoderConfig& config, Format format)
    : input_(weights.Of(tensors["input_proj.weight"], format)),
      output_(weights.Of(tensors["output_proj.weight"], format)),
      input_bias_(weights.Floats(tensors["input_proj.bias"])),
      output_bias_(weights.Floats(tensors["output_proj.bias"])),
      norm_(weights.Floats(tensors["norm.weight"])),
      norm_eps_(static_cast<float>(config.transformer.norm_eps)),
      transformer_(kernels, config.transformer,
                   LoadLayers(weights, tensors, static_cast<size_t>(config.transformer.layers), kCodecDecoderLayer, format),
                   static_cast<size_t>(config.window)) {}

void LatentTransformer::Run(Kernels& kernels, const CodecPass& pass, bool wanted, float* x, float* hidden) {
  const size_t rows = pass.frames();
  kernels.Multiply(input_, Rows(x, rows, input_.columns), {input_bias_, nullptr, false}, hidden);
  streams_.clear();
  for (const CodecPass::Stream& stream : pass.streams()) streams_.push_back({&stream.state->keys(), stream.frames});
  transformer_.Forward(streams_.data(), streams_.size(), hidden);
  if (!wanted) return;
  kernels.MultiplyNormed(output_, {norm_, nullptr, norm_eps_}, hidden, rows, 1, output_bias_, x);
}

}  // namespace parley::model
