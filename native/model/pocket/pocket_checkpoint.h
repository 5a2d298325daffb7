// A folder with a Pocket TTS model, opened and checked whole: after Open() every tensor that the engine reads
// is there, of the right shape and a floating-point dtype.
//
//   tokenizer.model  model.safetensors  and, unless the folder has the name of a published model, config.yaml
#ifndef PARLEY_MODEL_POCKET_POCKET_CHECKPOINT_H_
#define PARLEY_MODEL_POCKET_POCKET_CHECKPOINT_H_

#include <memory>
#include <string>
#include <vector>

#include "model/files/named_tensors.h"
#include "model/files/safetensors.h"
#include "model/files/tensor.h"
#include "model/pocket/pocket_config.h"
#include "model/text/sentence_pieces.h"

namespace parley::model {

// Tensors of model.safetensors. Published as BF16. Those of the encoder only where a voice can be cloned.
std::vector<ExpectedTensor> TensorsOf(const PocketConfig& config, bool with_encoder);

// Owns the mapped file; tensors are views of it. Not changed after Open(), so any thread may read.
class PocketCheckpoint {
 public:
  // Null with `problem` set: the file, the key or tensor, what was expected and what was found.
  static std::unique_ptr<const PocketCheckpoint> Open(const std::string& directory, std::string* problem);

  const PocketConfig& config() const { return config_; }
  const SentencePieces& pieces() const { return *pieces_; }
  NamedTensors tensors() const { return NamedTensors(*tensors_); }
  // True if the file has the codec's encoder; the open repositories have zeros in its place.
  bool clones() const { return clones_; }

  // True if the file of weights was changed since Open(); `problem` names it.
  bool Changed(std::string* problem) const { return tensors_->Changed(problem); }

 private:
  PocketCheckpoint() = default;

  PocketConfig config_;
  std::unique_ptr<const SentencePieces> pieces_;
  std::unique_ptr<const TensorSet> tensors_;
  bool clones_ = false;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_CHECKPOINT_H_
