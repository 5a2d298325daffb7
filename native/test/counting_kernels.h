// The CPU backend with an eye on its memory: how much is in use, and allocations that fail.
#ifndef PARLEY_TEST_COUNTING_KERNELS_H_
#define PARLEY_TEST_COUNTING_KERNELS_H_

#include <algorithm>
#include <map>
#include <new>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::test {

class CountingKernels : public cpu::CpuKernels {
 public:
  CountingKernels() : cpu::CpuKernels(ThreadsOf(1)) {}

  void* Allocate(size_t bytes) override {
    if (allowed_ == 0) throw std::bad_alloc();
    allowed_--;
    void* const memory = cpu::CpuKernels::Allocate(bytes);
    sizes_[memory] = bytes;
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    return memory;
  }
  void Free(void* memory) override {
    if (memory != nullptr) in_use_ -= sizes_.at(memory);
    sizes_.erase(memory);
    cpu::CpuKernels::Free(memory);
  }

  size_t InUse() const { return in_use_; }
  // Since it was last asked.
  size_t TakePeak() {
    const size_t peak = peak_;
    peak_ = in_use_;
    return peak;
  }
  // So many more; then there is no memory.
  void Allow(size_t allocations) { allowed_ = allocations; }
  void AllowAll() { allowed_ = SIZE_MAX; }

 private:
  static cpu::ThreadPoolOptions ThreadsOf(unsigned threads) {
    cpu::ThreadPoolOptions options;
    options.threads = threads;
    return options;
  }

  std::map<void*, size_t> sizes_;
  size_t in_use_ = 0, peak_ = 0, allowed_ = SIZE_MAX;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_COUNTING_KERNELS_H_
