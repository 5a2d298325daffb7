// Plans and writes a folder of random weights that model::PocketCheckpoint opens, with voices.
#ifndef PARLEY_TOOLS_POCKET_WRITER_H_
#define PARLEY_TOOLS_POCKET_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/files/tensor.h"
#include "tools/checkpoint_writer.h"

namespace parley::tools {

struct PocketSizes {
  int64_t layers = 0, heads = 0, width = 0;  // of the backbone
  int64_t flow_width = 0, flow_blocks = 0;
  int64_t codec_width = 0, codec_heads = 0, codec_inner = 0, codec_window = 0;
  int64_t filters = 0;
  int64_t latent = 0, prompt_width = 0;
  int64_t pieces = 0;           // of the tokenizer
  int64_t voice_positions = 0;  // of each voice
};

// "100m", "336m" (24 layers) or "tiny". Throws std::invalid_argument for another.
PocketSizes PocketSizesNamed(const std::string& size);

struct PocketPlan {
  std::string config;                                 // config.yaml
  std::string tokenizer;                              // tokenizer.model
  std::vector<model::ExpectedTensor> tensors, voice;  // by name; each voice has other values
};

// Throws std::invalid_argument with the engine's own words when it would refuse the configuration.
PocketPlan PlanOf(const PocketSizes& sizes, model::Dtype dtype = model::Dtype::kBf16);

// As WriteCheckpoint of checkpoint_writer.h, in one shard.
void WriteCheckpoint(const PocketSizes& sizes, const std::string& directory, const WriteOptions& options);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_POCKET_WRITER_H_
