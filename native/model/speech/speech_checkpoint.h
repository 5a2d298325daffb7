// A checkpoint directory of Qwen3-TTS 12 Hz, opened and checked whole: after
// Open() every tensor that the engine will read is there, of the right shape
// and a floating-point dtype, and every number of the configuration is one that it can use.
//
//   config.json  generation_config.json  vocab.json  merges.txt  tokenizer_config.json
//   model.safetensors, or model.safetensors.index.json and its shards
//   speech_tokenizer/config.json  speech_tokenizer/model.safetensors, or sharded
#ifndef PARLEY_MODEL_SPEECH_SPEECH_CHECKPOINT_H_
#define PARLEY_MODEL_SPEECH_SPEECH_CHECKPOINT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/named_tensors.h"
#include "model/files/safetensors.h"
#include "model/files/tensor.h"
#include "model/speech/model_config.h"
#include "model/text/tokenizer.h"

namespace parley::model {

// Tensors that the engine reads of model.safetensors; it ignores others: talker, predictor and, if present,
// the speaker encoder. Published as BF16.
std::vector<ExpectedTensor> TensorsOf(const ModelConfig& config);

// Tensors of speech_tokenizer/model.safetensors: the decoder and, if configured, the encoder. Published as
// F32.
std::vector<ExpectedTensor> TensorsOf(const CodecConfig& config);

// Owns the mapped files; tensors are views of them, good as long as it. Not
// changed after Open(), so any thread may read.
class SpeechCheckpoint {
 public:
  // Null with `problem` set: the file, the key or tensor, what was expected
  // and what was found.
  static std::unique_ptr<const SpeechCheckpoint> Open(const std::string& directory, PieceRule rule,
                                                      std::string* problem);

  const ModelConfig& config() const { return config_; }
  const CodecConfig& codec_config() const { return codec_config_; }  // with the encoder for ModelType::kBase
  const GenerationConfig& generation() const { return generation_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // Returns a tensor by its name in the file. Names that TensorsOf() lists are always present. Any other
  // missing name ends the process: it is a mistake in the engine, not in the file.
  const Tensor& ModelTensor(std::string_view name) const { return ModelTensors()[name]; }
  const Tensor& CodecTensor(std::string_view name) const { return CodecTensors()[name]; }
  NamedTensors ModelTensors() const { return NamedTensors(*model_); }
  NamedTensors CodecTensors() const { return NamedTensors(*codec_); }

  // True if a file of weights was changed since Open(): what is computed with it is of no use. `problem`
  // names it.
  bool Changed(std::string* problem) const { return model_->Changed(problem) || codec_->Changed(problem); }

  const TensorSet& model() const { return *model_; }
  const TensorSet& codec() const { return *codec_; }

 private:
  SpeechCheckpoint() = default;
  bool ReadConfigs(const std::string& directory, std::string* problem);
  bool CheckTokens(const std::string& directory, std::string* problem) const;

  ModelConfig config_;
  CodecConfig codec_config_;
  GenerationConfig generation_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<const TensorSet> model_, codec_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SPEECH_SPEECH_CHECKPOINT_H_
