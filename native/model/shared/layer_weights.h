// Loads the tensors of a transformer's layers. A layer's parts say which of them there are, and their names.
#ifndef PARLEY_MODEL_LAYER_WEIGHTS_H_
#define PARLEY_MODEL_LAYER_WEIGHTS_H_

#include <optional>
#include <vector>

#include "model/files/named_tensors.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"

namespace parley::model {

struct LayerParts {
  bool head_norms = false;   // q_norm and k_norm
  bool layer_norms = false;  // norms with a bias
  bool layer_scales = false;
  bool gated = false;   // gate_proj, up_proj and down_proj; else fc1 and fc2
  bool biases = false;  // of every matrix
  const char* attention_norm = "input_layernorm";
  const char* attention_output = "self_attn.o_proj";
  const char* mlp_norm = "post_attention_layernorm";
  const char* mlp = "mlp.";  // before the names of its matrices
};
// Qwen3's own: talker, code predictor, and the decoder of the recogniser.
inline constexpr LayerParts kQwen3Layer{true, false, false, true};
inline constexpr LayerParts kCodecDecoderLayer{false, false, true, true};
inline constexpr LayerParts kCodecEncoderLayer{false, true, true, false};
inline constexpr LayerParts kAudioEncoderLayer{
    false, true, false, false, true, "self_attn_layer_norm", "self_attn.out_proj", "final_layer_norm", ""};

// Adds the tensors of a layer of kQwen3Layer.
void AddQwen3Layer(const TransformerConfig& config, const ExpectedTensors& layer);

// "layers.0", "layers.1", ... of `tensors`; the matrices in `format`, or without one as the file has them.
std::vector<LayerWeights> LoadLayers(Weights& weights, const NamedTensors& tensors, size_t count,
                                     const LayerParts& parts, std::optional<Format> format = std::nullopt);

}  // namespace parley::model

#endif  // PARLEY_MODEL_LAYER_WEIGHTS_H_
