// The CPU's kernels, which keep what is chosen from, and can choose otherwise.
#ifndef PARLEY_TEST_RECORDING_KERNELS_H_
#define PARLEY_TEST_RECORDING_KERNELS_H_

#include <algorithm>
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

  // Raw logits of every frame, one after the other, by the request's seed and the place of the code in its
  // frame.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<float>> logits;
  // And what was chosen of them, before a teacher said otherwise.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<int32_t>> chosen;
  // Vectors by which the matrix at `watched` was multiplied.
  const void* watched = nullptr;
  std::vector<float> inputs;
  // If set, it makes the choices.
  std::function<int32_t(const Draw&)> teacher;
  // Sees a choice after it was made, its logits [vocabulary] as the draw saw them.
  std::function<void(const Draw&, const float* logits)> on_choice;
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

  void Choose(const Choice* choices, size_t count, float* rows, size_t vocabulary, uint64_t sequence,
              int32_t* ids, size_t stride) override {
    for (size_t i = 0; recording && i < count; i++) {
      std::vector<float>& kept = logits[{choices[i].seed, sequence}];
      kept.insert(kept.end(), rows + i * vocabulary, rows + (i + 1) * vocabulary);
    }
    std::vector<std::vector<uint8_t>> seen(teacher ? count : 0);  // before
    for (size_t i = 0; teacher && i < count; i++) {
      if (choices[i].seen != nullptr) seen[i].assign(choices[i].seen, choices[i].seen + vocabulary);
    }
    CpuKernels::Choose(choices, count, rows, vocabulary, sequence, ids, stride);
    for (size_t i = 0; i < count; i++) {
      const Draw draw{choices[i].seed, sequence, choices[i].step};
      if (recording) chosen[{draw.seed, sequence}].push_back(ids[i * stride]);
      if (on_choice) on_choice(draw, rows + i * vocabulary);
      if (!teacher) continue;
      const int32_t taught = ids[i * stride] = teacher(draw);
      std::copy(seen[i].begin(), seen[i].end(), choices[i].seen);
      if (!seen[i].empty() && taught >= 0) choices[i].seen[taught] = 1;
    }
  }
};

inline std::unique_ptr<RecordingKernels> MakeRecordingKernels(unsigned threads = 1) {
  cpu::ThreadPoolOptions options;
  options.threads = threads;
  return std::make_unique<RecordingKernels>(options);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_RECORDING_KERNELS_H_
