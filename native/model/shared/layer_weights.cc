#include "model/shared/layer_weights.h"

#include <string>

namespace parley::model {
namespace {

Norm LoadNorm(Weights& weights, const NamedTensors& norm, const LayerParts& parts) {
  return {weights.Floats(norm["weight"]), parts.layer_norms ? weights.Floats(norm["bias"]) : nullptr};
}

LayerWeights LoadLayer(Weights& weights, const NamedTensors& tensors, const LayerParts& parts,
                       std::optional<Format> format) {
  const auto matrix = [&](const std::string& name) { return weights.Of(tensors[name + ".weight"], format); };
  const auto floats = [&](bool there, const std::string& name) {
    return there ? weights.Floats(tensors[name]) : nullptr;
  };
  const auto bias = [&](const std::string& name) { return floats(parts.biases, name + ".bias"); };
  const std::string mlp = parts.mlp, up = mlp + (parts.gated ? "up_proj" : "fc1"),
                    down = mlp + (parts.gated ? "down_proj" : "fc2");
  LayerWeights layer;
  layer.heads.norm = LoadNorm(weights, tensors.Under(parts.attention_norm), parts);
  layer.heads.q = matrix("self_attn.q_proj");
  layer.heads.k = matrix("self_attn.k_proj");
  layer.heads.v = matrix("self_attn.v_proj");
  layer.heads.q_bias = bias("self_attn.q_proj");
  layer.heads.k_bias = bias("self_attn.k_proj");
  layer.heads.v_bias = bias("self_attn.v_proj");
  layer.o = matrix(parts.attention_output);
  layer.o_bias = bias(parts.attention_output);
  layer.heads.q_norm = floats(parts.head_norms, "self_attn.q_norm.weight");
  layer.heads.k_norm = floats(parts.head_norms, "self_attn.k_norm.weight");
  layer.attention_scale = floats(parts.layer_scales, "self_attn_layer_scale.scale");
  layer.mlp_norm = LoadNorm(weights, tensors.Under(parts.mlp_norm), parts);
  if (parts.gated) layer.gate = matrix(mlp + "gate_proj");
  layer.up = matrix(up);
  layer.up_bias = bias(up);
  layer.down = matrix(down);
  layer.down_bias = bias(down);
  layer.mlp_scale = floats(parts.layer_scales, "mlp_layer_scale.scale");
  return layer;
}

}  // namespace

void AddQwen3Layer(const TransformerConfig& c, const ExpectedTensors& layer) {
  layer.Add("input_layernorm.weight", {c.hidden});
  layer.Add("self_attn.q_proj.weight", {c.query_width(), c.hidden});
  layer.Add("self_attn.k_proj.weight", {c.kv_width(), c.hidden});
  layer.Add("self_attn.v_proj.weight", {c.kv_width(), c.hidden});
  layer.Add("self_attn.q_norm.weight", {c.head_dim});
  layer.Add("self_attn.k_norm.weight", {c.head_dim});
  layer.Add("self_attn.o_proj.weight", {c.hidden, c.query_width()});
  layer.Add("post_attention_layernorm.weight", {c.hidden});
  layer.Add("mlp.gate_proj.weight", {c.intermediate, c.hidden});
  layer.Add("mlp.up_proj.weight", {c.intermediate, c.hidden});
  layer.Add("mlp.down_proj.weight", {c.hidden, c.intermediate});
}

std::vector<LayerWeights> LoadLayers(Weights& weights, const NamedTensors& tensors, size_t count,
                                     const LayerParts& parts, std::optional<Format> format) {
  std::vector<LayerWeights> layers;
  for (size_t n = 0; n < count; n++)
    layers.push_back(LoadLayer(weights, tensors.Under("layers", n), parts, format));
  return layers;
}

}  // namespace parley::model
