// A checkpoint directory of random weights, as model::Checkpoint opens it.
#ifndef PARLEY_TOOLS_CHECKPOINT_WRITER_H_
#define PARLEY_TOOLS_CHECKPOINT_WRITER_H_

#include <cstdint>
#include <string>

#include "tools/checkpoint_plan.h"
#include "tools/checkpoint_sizes.h"

namespace parley::tools {

struct WriteOptions {
  uint64_t seed = 1;
  size_t shards = 1;  // of model.safetensors; more than one come with an index
  CheckpointDtypes dtypes;
};

// Makes the directory where it is not. Some megabytes of memory, whatever the sizes. Throws
// std::invalid_argument for sizes or shards that cannot be, or when the directory holds a checkpoint
// already; std::system_error with the path when a file cannot be written.
void WriteCheckpoint(const CheckpointSizes& sizes, const std::string& directory, const WriteOptions& options);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_CHECKPOINT_WRITER_H_
