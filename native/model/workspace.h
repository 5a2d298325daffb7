// Memory for what a step computes: grows to the largest step, then allocates nothing.
#ifndef PARLEY_MODEL_WORKSPACE_H_
#define PARLEY_MODEL_WORKSPACE_H_

#include <cstddef>

#include "kernels/kernels.h"

namespace parley::model {

// Of floats. Contents are lost when it grows.
class Workspace {
 public:
  explicit Workspace(Kernels& kernels) : kernels_(kernels) {}
  ~Workspace() { Release(); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  float* Floats(size_t count) {
    if (count > count_) {
      Release();
      floats_ = static_cast<float*>(kernels_.Allocate(count * sizeof(float)));
      count_ = count;
    }
    return floats_;
  }

 private:
  void Release() {
    if (floats_ != nullptr) kernels_.Free(floats_);
    floats_ = nullptr;
    count_ = 0;
  }

  Kernels& kernels_;
  float* floats_ = nullptr;
  size_t count_ = 0;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_WORKSPACE_H_
