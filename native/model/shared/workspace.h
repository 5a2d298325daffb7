// Memory for the values that a step computes, and lists of ids for the backend.
#ifndef PARLEY_MODEL_WORKSPACE_H_
#define PARLEY_MODEL_WORKSPACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"

namespace parley::model {

// Floats. The memory grows to the largest step, then nothing is allocated. Contents are lost with the next
// call. Each part is memory of its own, which keeps its place until more of it is needed: what is computed of
// any number of rows is computed in the same places, and a backend that remembers lists of its calls knows
// them again.
class Workspace {
 public:
  explicit Workspace(Kernels& kernels) : kernels_(kernels) {}
  ~Workspace() {
    for (Part& part : parts_) Release(&part);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  float* Floats(size_t count) { return Parts<1>({count})[0]; }

  // Several at once.
  template <size_t kParts>
  std::array<float*, kParts> Parts(const std::array<size_t, kParts>& counts) {
    static_assert(kParts <= kMostParts);
    std::array<float*, kParts> places;
    for (size_t n = 0; n < kParts; n++) places[n] = AtLeast(&parts_[n], counts[n]);
    return places;
  }

  // That the first part has room for.
  size_t Room() const { return parts_[0].count; }

 private:
  static constexpr size_t kMostParts = 6;

  struct Part {
    float* floats = nullptr;
    size_t count = 0;
  };

  float* AtLeast(Part* part, size_t count) {
    if (count <= part->count) return part->floats;
    Release(part);
    part->floats = static_cast<float*>(kernels_.Allocate(count * sizeof(float)));
    part->count = count;
    return part->floats;
  }

  void Release(Part* part) {
    if (part->floats != nullptr) kernels_.Free(part->floats);
    *part = {};
  }

  Kernels& kernels_;
  std::array<Part, kMostParts> parts_;
};

class IdList {
 public:
  explicit IdList(Kernels& kernels) : kernels_(kernels), memory_(kernels) {}

  // In the backend's memory, good until the next call.
  Ids Upload(const std::vector<int32_t>& ids) {
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

#endif  // PARLEY_MODEL_WORKSPACE_H_
