// The CPU's kernels, which keep what is chosen from, and can choose otherwise.
#ifndef PARLEY_TEST_RECORDING_KERNELS_H_
#define PARLEY_TEST_RECORDING_KERNELS_H_

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::test {

class RecordingKernels final : public cpu::CpuKernels {
 public:
  using CpuKernels::CpuKernels;

  // By seed of the request and place of the code in its frame: the raw logits of every frame, one after the other.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<float>> logits;
  // And what was chosen of them, before a teacher said otherwise.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<int32_t>> chosen;
  // What the matrix that lies at `watched` was multiplied with.
  const void* watched = nullptr;
  std::vector<float> inputs;
  // Where there is one, it decides.
  std::function<int32_t(const Draw&)> teacher;
  // Sees a choice after it was made, its logits as the draw saw them.
  std::function<void(const Choice&)> on_choice;
  bool recording = true;
  size_t allocations = 0, allocated_bytes = 0;

  void* Allocate(size_t bytes) override {
    allocations++;
    allocated_bytes += bytes;
    return CpuKernels::Allocate(bytes);
  }

  void Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) override {
    for (size_t c = 0; w.values == watched && c < x.count; c++) {
      inputs.insert(inputs.end(), x.values + c * x.stride, x.values + c * x.stride + x.length);
    }
    CpuKernels::Multiply(w, x, finish, y);
  }

  void Choose(const Choice* choices, size_t count, int32_t* ids) override {
    for (size_t i = 0; recording && i < count; i++) {
      std::vector<float>& kept = logits[{choices[i].draw.seed, choices[i].draw.stream}];
      kept.insert(kept.end(), choices[i].logits, choices[i].logits + choices[i].count);
    }
    CpuKernels::Choose(choices, count, ids);
    for (size_t i = 0; recording && i < count; i++) {
      chosen[{choices[i].draw.seed, choices[i].draw.stream}].push_back(ids[i]);
    }
    for (size_t i = 0; on_choice && i < count; i++) on_choice(choices[i]);
    for (size_t i = 0; teacher && i < count; i++) ids[i] = teacher(choices[i].draw);
  }
};

inline std::unique_ptr<RecordingKernels> MakeRecordingKernels(unsigned threads = 1) {
  cpu::ThreadPoolOptions options;
  options.threads = threads;
  return std::make_unique<RecordingKernels>(options);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_RECORDING_KERNELS_H_
