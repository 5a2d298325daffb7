#include "model/shared/layer_weights.h"

namespace parley::model {
namespace {

Norm LoadNorm(Weights& weights, const NamedTensors& norm, const LayerParts& parts) {
  return {weights.Floats(norm["weight"]), parts.layer_norms ? weights.Floats(norm["bias"]) : nullptr};
}

LayerWeights LoadLayer(Weights& weights, const NamedTensors& tensors, const LayerParts& parts,
                       std::optional<Format> format) {
  const auto matrix = [&](const char* name) { return weights.Of(tensors[name], format); };
  const auto floats = [&](bool there, const char* name) {
    return there ? weights.Floats(tensors[name]) : nullptr;
  };
  LayerWeights layer;
  layer.heads.norm = LoadNorm(weights, tensors.Under("input_layernorm"), parts);
  layer.heads.q = matrix("self_attn.q_proj.weight");
  layer.heads.k = matrix("self_attn.k_proj.weight");
  layer.heads.v = matrix("self_attn.v_proj.weight");
  layer.o = matrix("self_attn.o_proj.weight");
  layer.heads.q_norm = floats(parts.head_norms, "self_attn.q_norm.weight");
  layer.heads.k_norm = floats(parts.head_norms, "self_attn.k_norm.weight");
  layer.attention_scale = floats(parts.layer_scales, "self_attn_layer_scale.scale");
  layer.mlp_norm = LoadNorm(weights, tensors.Under("post_attention_layernorm"), parts);
  if (parts.gated) layer.gate = matrix("mlp.gate_proj.weight");
  layer.up = matrix(parts.gated ? "mlp.up_proj.weight" : "mlp.fc1.weight");
  layer.down = matrix(parts.gated ? "mlp.down_proj.weight" : "mlp.fc2.weight");
  layer.mlp_scale = floats(parts.layer_scales, "mlp_layer_scale.scale");
  return layer;
}

}  // namespace

std::vector<LayerWeights> LoadLayers(Weights& weights, const NamedTensors& tensors, size_t count,
                                     const LayerParts& parts, std::optional<Format> format) {
  std::vector<LayerWeights> layers;
  for (size_t n = 0; n < count; n++)
    layers.push_back(LoadLayer(weights, tensors.Under("layers", n), parts, format));
  return layers;
}

}  // namespace parley::model
