#include "model/pocket/pocket_layers.h"

#include <algorithm>

namespace parley::model {
namespace {

// The n-th third of the rows of in_proj: q, k or v.
Tensor ThirdOf(const Tensor& tensor, size_t n) {
  Tensor third = tensor;
  third.shape[0] /= 3;
  third.bytes /= 3;
  third.data += n * third.bytes;
  return third;
}

Norm LoadNorm(Weights& weights, const NamedTensors& norm) {
  return {weights.Floats(norm["weight"]), weights.Floats(norm["bias"])};
}

LayerWeights LoadLayer(Weights& weights, const NamedTensors& tensors, const TransformerConfig& config,
                       bool scaled, std::optional<Format> format) {
  const auto width = static_cast<size_t>(config.hidden), head_dim = static_cast<size_t>(config.head_dim);
  const Tensor& in_proj = tensors["self_attn.in_proj.weight"];
  const auto turned = [&](size_t third) {
    const Tensor part = ThirdOf(in_proj, third);
    return weights.Packed(EvenFirst(ToFloats(part), head_dim, width), width, width, FormatFor(part, format));
  };
  LayerWeights layer;
  layer.heads.norm = LoadNorm(weights, tensors.Under("norm1"));
  layer.heads.q = turned(0);
  layer.heads.k = turned(1);
  layer.heads.v = weights.Of(ThirdOf(in_proj, 2), format);
  layer.o = weights.Of(tensors["self_attn.out_proj.weight"], format);
  layer.mlp_norm = LoadNorm(weights, tensors.Under("norm2"));
  layer.up = weights.Of(tensors["linear1.weight"], format);
  layer.down = weights.Of(tensors["linear2.weight"], format);
  if (!scaled) return layer;
  layer.attention_scale = weights.Floats(tensors["layer_scale_1.scale"]);
  layer.mlp_scale = weights.Floats(tensors["layer_scale_2.scale"]);
  return layer;
}

}  // namespace

std::vector<float> EvenFirst(const std::vector<float>& rows, size_t head_dim, size_t width) {
  std::vector<float> turned(rows.size());
  for (size_t row = 0; row < rows.size() / width; row++) {
    const size_t head = row / head_dim * head_dim, at = row % head_dim;
    const size_t from = head + (at < head_dim / 2 ? 2 * at : 2 * at - head_dim + 1);
    std::copy_n(rows.begin() + static_cast<ptrdiff_t>(from * width), width,
                turned.begin() + static_cast<ptrdiff_t>(row * width));
  }
  return turned;
}

std::vector<LayerWeights> LoadPocketLayers(Weights& weights, const NamedTensors& tensors,
                                           const TransformerConfig& config, bool scaled,
                                           Activation activation, std::optional<Format> format) {
  std::vector<LayerWeights> layers;
  for (size_t n = 0; n < static_cast<size_t>(config.layers); n++) {
    layers.push_back(LoadLayer(weights, tensors.Under("layers", n), config, scaled, format));
    layers.back().activation = activation;
  }
  return layers;
}

}  // namespace parley::model
