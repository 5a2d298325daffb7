// Memory for what a step computes: grows to the largest step, then allocates nothing.
#ifndef PARLEY_MODEL_WORKSPACE_H_
#define PARLEY_MODEL_WORKSPACE_H_

#include <array>
#include <cstddef>

#include "kernels/kernels.h"

namespace parley::model {

// Of floats. Contents are lost with the next call.
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

  // Several at once, each aligned as the whole.
  template <size_t kParts>
  std::array<float*, kParts> Parts(const std::array<size_t, kParts>& counts) {
    size_t total = 0;
    for (const size_t count : counts) total += Aligned(count);
    std::array<float*, kParts> parts;
    float* at = Floats(total);
    for (size_t n = 0; n < kParts; n++) {
      parts[n] = at;
      at += Aligned(counts[n]);
    }
    return parts;
  }

 private:
  static constexpr size_t kLine = 16;  // a cache line of 64 bytes

  static size_t Aligned(size_t count) { return (count + kLine - 1) / kLine * kLine; }

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
