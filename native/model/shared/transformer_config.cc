#include "model/shared/transformer_config.h"

namespace parley::model {

TransformerConfig ReadTransformer(const ConfigReader& reader, const char* eps_key, const char* activation,
                                  bool may_derive_head_dim) {
  TransformerConfig config;
  config.hidden = reader.Whole("hidden_size", 1, kMaxWidth);
  config.intermediate = reader.Whole("intermediate_size", 1, kMaxWidth);
  config.layers = reader.Whole("num_hidden_layers", 1, kMaxLayers);
  config.heads = reader.Whole("num_attention_heads", 1, kMaxHeads);
  config.kv_heads = reader.Whole("num_key_value_heads", 1, kMaxHeads);
  config.head_dim = may_derive_head_dim && !reader.Has("head_dim") ? config.hidden / config.heads
                                                                    : reader.Whole("head_dim", 2, kMaxHeadDim);
  config.norm_eps = reader.Real(eps_key, 1e-12, 1e-1);
  config.rope_theta = reader.Real("rope_theta", 1, 1e12);
  reader.Require(config.heads % config.kv_heads == 0, "num_key_value_heads",
                 "a divisor of num_attention_heads, which is " + std::to_string(config.heads));
  reader.Require(config.head_dim >= 2 && config.head_dim % 2 == 0, "head_dim", "an even number");
  reader.Only("hidden_act", std::string_view(activation));
  reader.Only("attention_bias", false);
  return config;
}

}  // namespace parley::model
