// The sizes that every decoder-only transformer of the model has.
#ifndef PARLEY_MODEL_TRANSFORMER_CONFIG_H_
#define PARLEY_MODEL_TRANSFORMER_CONFIG_H_

#include "model/files/config_reader.h"

namespace parley::model {

struct TransformerConfig {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  // divides heads
  int64_t head_dim = 0;  // even; heads * head_dim need not be hidden
  double norm_eps = 0;
  double rope_theta = 0;

  int64_t query_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
};

// Ranges wide enough for models ten times as large; beyond is a damaged file.
inline constexpr int64_t kMaxWidth = 65536;
inline constexpr int64_t kMaxLayers = 512;
inline constexpr int64_t kMaxHeads = 1024;
inline constexpr int64_t kMaxHeadDim = 1024;
inline constexpr int64_t kMaxVocabulary = 1 << 20;
inline constexpr int64_t kMaxPositions = 1 << 24;

// What all share; `eps_key` is rms_norm_eps or norm_eps. An absent head_dim is
// hidden / heads where `may_derive_head_dim`.
TransformerConfig ReadTransformer(const ConfigReader& reader, const char* eps_key, const char* activation,
                                  bool may_derive_head_dim);

}  // namespace parley::model

#endif  // PARLEY_MODEL_TRANSFORMER_CONFIG_H_
