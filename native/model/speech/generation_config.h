// generation_config.json: how codes are drawn where a request says nothing.
#ifndef PARLEY_MODEL_GENERATION_CONFIG_H_
#define PARLEY_MODEL_GENERATION_CONFIG_H_

#include "model/files/config_reader.h"

namespace parley::model {

struct DrawConfig {
  bool sample = true;  // else the largest logit
  double temperature = 0.9;
  int64_t top_k = 50;   // 0: all
  double top_p = 1.0;   // 1: all
};

// The initial values are those of the published checkpoints: for keys that the
// file leaves out, as the model's own package does.
struct GenerationConfig {
  DrawConfig talker;
  DrawConfig predictor;
  double repetition_penalty = 1.05;
  int64_t max_new_tokens = 2048;  // first codes drawn, the end among them: at most one frame less
};

GenerationConfig ReadGenerationConfig(const ConfigReader& reader);

}  // namespace parley::model

#endif  // PARLEY_MODEL_GENERATION_CONFIG_H_
