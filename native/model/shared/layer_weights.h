// The tensors of a transformer's layers, by name. The model's transformers name
// them alike; which of them there are is a matter of whose layer it is.
#ifndef PARLEY_MODEL_LAYER_WEIGHTS_H_
#define PARLEY_MODEL_LAYER_WEIGHTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/checkpoint.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"

namespace parley::model {

// Tensors of one of a checkpoint's two files, under a prefix.
class NamedTensors {
 public:
  static NamedTensors OfModel(const Checkpoint& checkpoint) {
    return {checkpoint, &Checkpoint::ModelTensor, ""};
  }
  static NamedTensors OfCodec(const Checkpoint& checkpoint) {
    return {checkpoint, &Checkpoint::CodecTensor, ""};
  }

  NamedTensors Under(const std::string& prefix) const {
    return {checkpoint_, lookup_, prefix_ + prefix + "."};
  }
  NamedTensors Under(const std::string& prefix, size_t n) const {
    return Under(prefix + "." + std::to_string(n));
  }
  const Tensor& operator[](std::string_view name) const {
    return (checkpoint_.*lookup_)(prefix_ + std::string(name));
  }

 private:
  using Lookup = const Tensor& (Checkpoint::*)(std::string_view) const;
  NamedTensors(const Checkpoint& checkpoint, Lookup lookup, std::string prefix)
      : checkpoint_(checkpoint), lookup_(lookup), prefix_(std::move(prefix)) {}

  const Checkpoint& checkpoint_;
  const Lookup lookup_;
  const std::string prefix_;
};

struct LayerParts {
  bool head_norms;   // q_norm and k_norm
  bool layer_norms;  // norms with a bias
  bool layer_scales;
  bool gated;  // gate_proj, up_proj and down_proj; else fc1 and fc2
};
inline constexpr LayerParts kTalkerLayer{true, false, false, true};  // the code predictor's too
inline constexpr LayerParts kCodecDecoderLayer{false, false, true, true};
inline constexpr LayerParts kCodecEncoderLayer{false, true, true, false};

// "layers.0", "layers.1", ... of `tensors`; the matrices in `format`, or without one as the file has them.
std::vector<LayerWeights> LoadLayers(Weights& weights, const NamedTensors& tensors, size_t count,
                                     const LayerParts& parts, std::optional<Format> format = std::nullopt);

}  // namespace parley::model

#endif  // PARLEY_MODEL_LAYER_WEIGHTS_H_
