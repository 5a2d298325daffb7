// Reads and checks the configuration of a Pocket TTS checkpoint: YAML that ships in the official package, not
// with the weights.
#ifndef PARLEY_MODEL_POCKET_POCKET_CONFIG_H_
#define PARLEY_MODEL_POCKET_POCKET_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/files/json.h"
#include "model/pocket/text_rules.h"
#include "model/shared/transformer.h"

namespace parley::model {

// The network that makes a latent of noise: an MLP with adaptive norms.
struct FlowNetConfig {
  int64_t width = 0;
  int64_t blocks = 0;
};

// Mimi's continuous codec: latents to samples, and samples to the rows of a voice.
struct PocketCodecConfig {
  TransformerConfig transformer;  // of the decoder, and of the encoder
  int64_t window = 0;             // positions that a position attends to, itself among them
  int64_t sample_rate = 0;
  int64_t frame_samples = 0;
  int64_t stride = 0;     // positions of the transformer in a frame
  int64_t dimension = 0;  // channels around the convolutions
  int64_t filters = 0;    // channels of the convolution next to the samples
  int64_t kernel = 0, last_kernel = 0, residual_kernel = 0;
  int64_t residual_layers = 0, dilation_base = 0;
  int64_t compress = 0;
  std::vector<int64_t> ratios;  // of the decoder, in order
};

struct PocketConfig {
  PocketTextConfig text;
  std::optional<double> default_temperature;
  bool bos_before_voice = false;
  TransformerConfig backbone;
  FlowNetConfig flow;
  PocketCodecConfig codec;
  int64_t vocabulary = 0;    // pieces of the tokenizer; the table has one row more
  int64_t latent = 0;        // numbers of a frame
  int64_t prompt_width = 0;  // numbers of a row of a voice, before its projection
};

// Problems go to the reader. Refuses by name what is another graph: other flow types, latents and codecs.
PocketConfig ReadPocketConfig(const ConfigReader& reader);

// Reads the file `path`. Returns nothing, with `problem` set, if it cannot be used.
std::optional<PocketConfig> ReadPocketConfigFile(const std::string& path, std::string* problem);

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_CONFIG_H_
