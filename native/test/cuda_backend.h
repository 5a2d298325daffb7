// The CUDA backend on the emulator, and signals in its memory.
#ifndef PARLEY_TEST_CUDA_BACKEND_H_
#define PARLEY_TEST_CUDA_BACKEND_H_

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/plugin.h"
#include "test/emulator/emulated_device.h"

namespace parley::test {

inline std::unique_ptr<cuda::CudaKernels> MakeCudaKernels(const cuda::CudaOptions& options = {},
                                                          const cuda::emulator::DeviceOptions& device = {}) {
  return std::make_unique<cuda::CudaKernels>(std::make_unique<cuda::emulator::EmulatedDevice>(device),
                                             options);
}

// If PARLEY_CUDA_FILE names the CUDA backend's library, the tests that call this run on the GPU.
inline const char* CudaFile() { return std::getenv("PARLEY_CUDA_FILE"); }

// `shared`: bytes of a block's memory on the emulator, which may be more than a GPU has.
inline std::unique_ptr<SpeechKernels> MakeBackend(bool full_vectors,
                                                  size_t shared = cuda::emulator::Rules{}.most_shared) {
  cuda::CudaOptions emulated;
  emulated.full_vectors = full_vectors;
  cuda::emulator::DeviceOptions device;
  device.rules.most_shared = shared;
  if (CudaFile() == nullptr) return MakeCudaKernels(emulated, device);
  std::string problem;
  auto kernels = cuda::OpenPlugin(CudaFile(), {0, true, size_t{4} << 30, full_vectors}, &problem);
  if (kernels == nullptr) throw std::runtime_error(problem);
  return kernels;
}

// Values in the memory of a backend.
template <class Value>
class Held {
 public:
  Held(SpeechKernels& kernels, size_t count)
      : kernels_(kernels),
        count_(count),
        memory_(static_cast<Value*>(kernels.Allocate(count * sizeof(Value)))) {}
  Held(SpeechKernels& kernels, const std::vector<Value>& values) : Held(kernels, values.size()) {
    Set(values);
  }
  Held(Held&& other) noexcept
      : kernels_(other.kernels_), count_(other.count_), memory_(std::exchange(other.memory_, nullptr)) {}
  ~Held() { kernels_.Free(memory_); }

  void Set(const std::vector<Value>& values) {
    kernels_.Upload(memory_, values.data(), values.size() * sizeof(Value));
  }
  Value* At(size_t i = 0) const { return memory_ + i; }
  std::vector<Value> Get() const {
    std::vector<Value> values(count_);
    kernels_.Download(values.data(), memory_, count_ * sizeof(Value));
    kernels_.Wait();
    return values;
  }

 private:
  SpeechKernels& kernels_;
  size_t count_;
  Value* memory_;
};

using Signal = Held<float>;

// A signal that is no number: what reads it before it is written is found out.
inline Signal Poison(SpeechKernels& kernels, size_t count) {
  return Signal(kernels, std::vector<float>(count, NAN));
}

}  // namespace parley::test

#endif  // PARLEY_TEST_CUDA_BACKEND_H_
