// What a configuration promises of a tensor. The lists of the parts
// are made in model_tensors. The dtype is the published one; each tensor may have any of kWeightDtypes.
#ifndef PARLEY_MODEL_EXPECTED_TENSOR_H_
#define PARLEY_MODEL_EXPECTED_TENSOR_H_

#include <string>
#include <vector>

#include "model/files/tensor.h"

namespace parley::model {

struct ExpectedTensor {
  std::string name;
  Dtype dtype;
  Shape shape;
};

// Collects a list: names under one prefix, of one dtype.
class ExpectedTensors {
 public:
  ExpectedTensors(Dtype dtype, std::vector<ExpectedTensor>* list) : dtype_(dtype), list_(list) {}

  // The same list, with names under `prefix` and a dot.
  ExpectedTensors Under(const std::string& prefix) const { return {dtype_, list_, prefix_ + prefix + "."}; }
  ExpectedTensors Under(const std::string& prefix, int64_t n) const { return Under(prefix + "." + std::to_string(n)); }

  void Add(const std::string& name, Shape shape) const { list_->push_back({prefix_ + name, dtype_, std::move(shape)}); }
  // A weight of this shape and a bias of its outputs: the first dimension,
  // or for a transposed convolution the second.
  void AddWithBias(const std::string& name, const Shape& shape, size_t outputs = 0) const {
    Add(name + ".weight", shape);
    Add(name + ".bias", {shape[outputs]});
  }

 private:
  ExpectedTensors(Dtype dtype, std::vector<ExpectedTensor>* list, std::string prefix)
      : dtype_(dtype), list_(list), prefix_(std::move(prefix)) {}

  const Dtype dtype_;
  std::vector<ExpectedTensor>* const list_;
  const std::string prefix_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_EXPECTED_TENSOR_H_
