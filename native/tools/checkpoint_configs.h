// The small files of a checkpoint directory, as the published ones are, around any sizes.
#ifndef PARLEY_TOOLS_CHECKPOINT_CONFIGS_H_
#define PARLEY_TOOLS_CHECKPOINT_CONFIGS_H_

#include <string>

#include "tools/checkpoint_sizes.h"

namespace parley::tools {

std::string ModelConfigJson(const CheckpointSizes& sizes);      // config.json
std::string CodecConfigJson(const CheckpointSizes& sizes);      // speech_tokenizer/config.json
std::string GenerationConfigJson();                             // generation_config.json
std::string TokenizerConfigJson(const CheckpointSizes& sizes);  // tokenizer_config.json

// Ids of text are the entries of the vocabulary, then these.
constexpr size_t kAddedTokens = 33;

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_CHECKPOINT_CONFIGS_H_
