// Plans the contents of a checkpoint of given sizes, before a byte of it is written.
#ifndef PARLEY_TOOLS_CHECKPOINT_PLAN_H_
#define PARLEY_TOOLS_CHECKPOINT_PLAN_H_

#include <string>
#include <vector>

#include "model/files/tensor.h"
#include "tools/checkpoint_sizes.h"

namespace parley::tools {

struct CheckpointPlan {
  std::string model_config, codec_config, generation_config, tokenizer_config;  // the files' text
  std::vector<model::ExpectedTensor> model, codec;                              // by name
};

// Dtypes of the tensors in either file; by default the published ones.
struct CheckpointDtypes {
  model::Dtype model = model::Dtype::kBf16, codec = model::Dtype::kF32;
};

// The tensors that the engine reads by these configurations, and those that the
// published files hold beyond them. Throws std::invalid_argument with the engine's own words when it
// would refuse the configuration.
CheckpointPlan PlanOf(const CheckpointSizes& sizes, const CheckpointDtypes& dtypes = {});

uint64_t BytesOf(const model::ExpectedTensor& tensor);
uint64_t BytesOf(const std::vector<model::ExpectedTensor>& tensors);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_CHECKPOINT_PLAN_H_
