// Tensors of one set of files, by names under a prefix.
#ifndef PARLEY_MODEL_FILES_NAMED_TENSORS_H_
#define PARLEY_MODEL_FILES_NAMED_TENSORS_H_

#include <string>
#include <string_view>
#include <utility>

#include "model/files/safetensors.h"
#include "model/files/tensor.h"

namespace parley::model {

class NamedTensors {
 public:
  // The set outlives it. Its expected tensors were checked when its checkpoint was opened.
  explicit NamedTensors(const TensorSet& set) : NamedTensors(set, "") {}

  NamedTensors Under(const std::string& prefix) const { return {set_, prefix_ + prefix + "."}; }
  NamedTensors Under(const std::string& prefix, size_t n) const {
    return Under(prefix + "." + std::to_string(n));
  }
  // Ends the process if the tensor is missing: that is a mistake in the engine, not in the file.
  const Tensor& operator[](std::string_view name) const;

 private:
  NamedTensors(const TensorSet& set, std::string prefix) : set_(set), prefix_(std::move(prefix)) {}

  const TensorSet& set_;
  const std::string prefix_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_FILES_NAMED_TENSORS_H_
