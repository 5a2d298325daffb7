// Plans and writes a checkpoint directory of random weights that model::SpeechCheckpoint opens.
#ifndef PARLEY_TOOLS_CHECKPOINT_WRITER_H_
#define PARLEY_TOOLS_CHECKPOINT_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/files/tensor.h"
#include "tools/checkpoint_configs.h"

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

// Random values for the tensors of a checkpoint, scaled by what each is for, so that activations stay
// near 1 through the whole model, nothing overflows, and the waveform neither vanishes nor clips.
//
// A value depends on the seed, the tensor's name and its place alone: not on the files around
// it, nor on how much is made at a time.
class RandomWeights {
 public:
  RandomWeights(uint64_t seed, const model::ExpectedTensor& tensor);

  // The next values in the order of the file. `count` is a multiple of four except at the end.
  void Next(float* values, size_t count);

  float mean() const { return mean_; }
  float deviation() const { return deviation_; }

 private:
  const uint64_t seed_;
  const uint64_t stream_;  // the tensor's
  uint64_t step_ = 0;      // four values each
  float mean_ = 0, deviation_ = 0;
};

struct WriteOptions {
  uint64_t seed = 1;
  size_t shards = 1;  // shards of model.safetensors; more than one come with an index
  CheckpointDtypes dtypes;
};

// Steps of writing a checkpoint, of any kind.
//
// Writes a file. Throws std::system_error with its path.
void WriteText(const std::string& path, const std::string& text);
// Writes one safetensors file. Throws std::system_error with its path.
void WriteTensorFile(const std::string& path, const std::vector<model::ExpectedTensor>& tensors,
                     uint64_t seed);
// Writes model.safetensors, or as many shards of it and their index. Throws std::invalid_argument, before
// anything is written, if there cannot be so many shards.
void WriteTensors(const std::string& directory, const std::vector<model::ExpectedTensor>& tensors,
                  const WriteOptions& options);
// Throws std::invalid_argument if the directory holds a checkpoint already.
void RefuseCheckpoint(const std::string& directory);

// Makes the directory where it is not. Some megabytes of memory, whatever the sizes. Throws
// std::invalid_argument for sizes or shards that cannot be, or when the directory holds a checkpoint
// already; std::system_error with the path when a file cannot be written.
void WriteCheckpoint(const CheckpointSizes& sizes, const std::string& directory, const WriteOptions& options);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_CHECKPOINT_WRITER_H_
