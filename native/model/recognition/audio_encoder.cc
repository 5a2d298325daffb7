#include "model/recognition/audio_encoder.h"

#include <stdexcept>

#include "model/shared/layer_weights.h"

namespace parley::model {
namespace {

NamedTensors TowerOf(const RecognitionCheckpoint& checkpoint) {
  return checkpoint.tensors().Under("audio_tower");
}

TransformerConfig WithOneLayer(TransformerConfig config) {
  config.layers = 1;
  return config;
}

}  // namespace

AudioEncoder::AudioEncoder(Kernels& kernels, Weights& weights, const RecognitionCheckpoint& checkpoint)
    : kernels_(kernels),
      block_tokens_(static_cast<size_t>(checkpoint.config().encoder.block_tokens)),
      one_layer_(WithOneLayer(checkpoint.config().encoder.transformer)),
      convolutions_(kernels, weights, TowerOf(checkpoint), checkpoint.config().encoder),
      transformer_(
          kernels, checkpoint.config().encoder.transformer,
          LoadLayers(weights, TowerOf(checkpoint),
                     static_cast<size_t>(checkpoint.config().encoder.transformer.layers), kAudioEncoderLayer),
          Sight{0, true}),
      last_norm_{weights.Floats(TowerOf(checkpoint)["ln_post.weight"]),
                 weights.Floats(TowerOf(checkpoint)["ln_post.bias"]),
                 static_cast<float>(checkpoint.config().encoder.transformer.norm_eps)},
      first_(weights.Of(TowerOf(checkpoint)["proj1.weight"])),
      second_(weights.Of(TowerOf(checkpoint)["proj2.weight"])),
      first_bias_(weights.Floats(TowerOf(checkpoint)["proj1.bias"])),
      second_bias_(weights.Floats(TowerOf(checkpoint)["proj2.bias"])),
      inner_(kernels) {}

void AudioEncoder::Begin(const size_t* tokens, size_t count, float* x, Transformer::Passage* passage) {
  streams_.clear();
  while (states_.size() < count)
    states_.push_back(std::make_unique<KvState>(kernels_, one_layer_, Format::kF32, block_tokens_));
  for (size_t n = 0; n < count; n++) {
    if (tokens[n] > block_tokens_)
      throw std::logic_error("a block has more audio tokens than attend together");
    states_[n]->Rewind();
    streams_.push_back({states_[n].get(), tokens[n]});
  }
  transformer_.Begin(streams_.data(), count, x, passage);
}

void AudioEncoder::Project(const float* x, size_t rows, float* result) {
  const auto [normed, inner] = inner_.Parts<2>({rows * width(), rows * first_.rows});
  kernels_.ExpandActivated(last_norm_, first_, first_bias_, Activation::kGelu, {x, rows, normed}, inner);
  kernels_.Multiply(second_, Rows(inner, rows, second_.columns), {second_bias_, nullptr, false}, result);
}

}  // namespace parley::model
