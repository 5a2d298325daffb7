// Ids that the host knows, told to the backend.
#ifndef PARLEY_MODEL_ID_LIST_H_
#define PARLEY_MODEL_ID_LIST_H_

#include <cstdint>
#include <vector>

#include "model/shared/workspace.h"

namespace parley::model {

class IdList {
 public:
  explicit IdList(Kernels& kernels) : kernels_(kernels), memory_(kernels) {}

  // In the backend's memory, good until the next call.
  Ids Tell(const std::vector<int32_t>& ids) {
    static_assert(sizeof(int32_t) == sizeof(float));
    float* const memory = memory_.Floats(ids.size());
    if (!ids.empty()) kernels_.Upload(memory, ids.data(), ids.size() * sizeof(int32_t));
    return {reinterpret_cast<const int32_t*>(memory), 1};
  }

 private:
  Kernels& kernels_;
  Workspace memory_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_ID_LIST_H_
