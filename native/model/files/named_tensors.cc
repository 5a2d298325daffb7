#include "model/files/named_tensors.h"

#include <cstdio>
#include <cstdlib>

namespace parley::model {

const Tensor& NamedTensors::operator[](std::string_view name) const {
  const std::string whole = prefix_ + std::string(name);
  if (const Tensor* const tensor = set_.Find(whole)) return *tensor;
  std::fprintf(stderr, "the tensor %s is not in the list of expected ones\n", whole.c_str());
  std::abort();
}

}  // namespace parley::model
