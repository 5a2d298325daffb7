// A safetensors file made of tensors, one after the other.
#ifndef PARLEY_TEST_SAFETENSORS_PARTS_H_
#define PARLEY_TEST_SAFETENSORS_PARTS_H_

#include <string>

#include "model/files/safetensors.h"
#include "test/checkpoint_copy.h"

namespace parley::test {

class SafetensorsParts {
 public:
  void Add(const std::string& name, model::Dtype dtype, const model::Shape& shape, const std::string& bytes) {
    header_ += (header_.empty() ? "{\"" : ",\"") + name + "\":{\"dtype\":\"" + FactsOf(dtype).name +
               "\",\"shape\":" + model::ToString(shape) + ",\"data_offsets\":[" +
               std::to_string(data_.size()) + "," + std::to_string(data_.size() + bytes.size()) + "]}";
    data_ += bytes;
  }
  // As another file has it.
  void Add(const model::Tensor& tensor) {
    Add(tensor.name, tensor.dtype, tensor.shape,
        std::string(reinterpret_cast<const char*>(tensor.data), tensor.bytes));
  }

  // The data begin at a multiple of eight.
  std::string File() const {
    std::string header = header_ + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    return SafetensorsOf(header, 0) + data_;
  }

 private:
  std::string header_, data_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_SAFETENSORS_PARTS_H_
