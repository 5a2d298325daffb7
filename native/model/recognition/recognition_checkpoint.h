// A checkpoint directory of Qwen3-ASR or Qwen3-ForcedAligner, opened and checked whole: after Open() every
// tensor that the engine will read is there, of the right shape and a floating-point dtype, and every number
// of the configuration is one that it can use.
//
//   config.json  vocab.json  merges.txt  tokenizer_config.json  preprocessor_config.json
//   model.safetensors, or model.safetensors.index.json and its shards
#ifndef PARLEY_MODEL_RECOGNITION_RECOGNITION_CHECKPOINT_H_
#define PARLEY_MODEL_RECOGNITION_RECOGNITION_CHECKPOINT_H_

#include <memory>
#include <string>
#include <vector>

#include "model/files/named_tensors.h"
#include "model/files/safetensors.h"
#include "model/files/tensor.h"
#include "model/recognition/recognition_config.h"
#include "model/text/tokenizer.h"

namespace parley::model {

// Tensors that the engine reads; it ignores others, such as a head that is tied and stored as well. Published
// as BF16.
std::vector<ExpectedTensor> TensorsOf(const RecognitionConfig& config);

// Owns the mapped files; tensors are views of them, good as long as it. Not changed after Open(), so any
// thread may read.
class RecognitionCheckpoint {
 public:
  // Null with `problem` set: the file, the key or tensor, what was expected and what was found. A checkpoint
  // of the other kind is a problem, too.
  static std::unique_ptr<const RecognitionCheckpoint> Open(const std::string& directory, RecognitionKind kind,
                                                           std::string* problem);

  const RecognitionConfig& config() const { return config_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  // A generation ends with one of these: <|im_end|> and <|endoftext|>.
  const std::vector<int32_t>& ends() const { return ends_; }

  NamedTensors tensors() const { return NamedTensors(*set_).Under("thinker"); }
  bool Changed(std::string* problem) const { return set_->Changed(problem); }
  const TensorSet& set() const { return *set_; }

 private:
  RecognitionCheckpoint() = default;
  bool ReadConfigs(const std::string& directory, RecognitionKind kind, std::string* problem);
  bool FindTokens(const std::string& directory, std::string* problem);

  RecognitionConfig config_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::vector<int32_t> ends_;
  std::unique_ptr<const TensorSet> set_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_RECOGNITION_CHECKPOINT_H_
