// The CUDA backend as a file of its own: what it exports (see plugin.h).
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/plugin.h"

namespace parley::cuda {
namespace {

// Left to the driver for graphs and kernels, and to what the backend needs for itself: the more, the more
// streams there is room for.
constexpr size_t kLeast = size_t{1} << 30;
size_t LeftOf(size_t free) { return free / 20 > kLeast ? free / 20 : kLeast; }

// Graphs may have half of it: of a step some 2 MB each.
constexpr size_t kOfGraph = size_t{2} << 20, kFewestGraphs = 64;
size_t GraphsIn(size_t left, size_t most) {
  return std::min(most, std::max(left / 2 / kOfGraph, kFewestGraphs));
}

SpeechKernels* Open(const PluginOptions& options) {
  auto device = OpenGpu({options.device});
  CudaOptions wanted;
  wanted.recorder.graphs = options.graphs;
  wanted.full_vectors = options.full_vectors;
  const size_t free = device->FreeMemory();
  wanted.pool = options.memory != 0 ? options.memory : free > kLeast ? free - LeftOf(free) : 0;
  if (wanted.pool == 0 || wanted.pool > free) {
    throw std::runtime_error("of the GPU's memory only " + std::to_string(free >> 20) + " MiB are free");
  }
  wanted.recorder.most_graphs = GraphsIn(free - wanted.pool, wanted.recorder.most_graphs);
  return new CudaKernels(std::move(device), wanted);
}

void Say(const std::string& what, char* problem, size_t bytes) {
  if (bytes == 0) return;
  const size_t count = what.size() < bytes ? what.size() : bytes - 1;
  std::memcpy(problem, what.data(), count);
  problem[count] = 0;
}

}  // namespace
}  // namespace parley::cuda

// No exception may pass.
extern "C" __attribute__((visibility("default"))) parley::Kernels* parley_cuda_open(
    const char* interface, const parley::cuda::PluginOptions* options, char* problem, size_t problem_bytes) {
  using namespace parley::cuda;
  if (std::strcmp(interface, kPluginInterface) != 0) {
    Say("the CUDA backend was built from other sources than the engine", problem, problem_bytes);
    return nullptr;
  }
  try {
    return Open(*options);
  } catch (const std::bad_alloc&) {
    Say("the GPU's memory does not suffice", problem, problem_bytes);
  } catch (const std::exception& failure) {
    Say(failure.what(), problem, problem_bytes);
  }
  return nullptr;
}
