// The processors or the GPU that a model computes on: how many threads, on which cores, near which memory.
#ifndef PARLEY_RUNTIME_PROCESSOR_H_
#define PARLEY_RUNTIME_PROCESSOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "runtime/result.h"

namespace parley::runtime {

struct ProcessorOptions {
  unsigned threads = 0;          // 0: one per core
  std::vector<int> cores;        // threads are pinned to them in order; empty: not pinned
  std::optional<int> numa_node;  // memory of this node is preferred; it has these cores
};

struct DeviceOptions : ProcessorOptions {
  std::string device = "cpu";  // cpu | cuda | cuda:<number> | auto: cuda where there is one
  std::string cuda_file;       // the CUDA backend; needed for all but cpu
  bool cuda_graphs = true;
  bool full_vectors = false;  // as cuda::PluginOptions
  // Limit of a model's memory, its weights included: bytes, or a share of the device's memory. The default, 0
  // and 0, is its weights and three quarters of what is free beside them when it is loaded.
  size_t memory_bytes = 0;
  double memory_share = 0;
};

// Returns a problem if other cores are named than there are threads.
Result<cpu::ThreadPoolOptions> ReadThreads(const ProcessorOptions& options);

// Makes the kernels, and the calling thread one of their threads. Throws std::invalid_argument or
// std::system_error if a thread cannot be started or pinned.
std::unique_ptr<cpu::CpuKernels> OpenProcessor(const ProcessorOptions& options,
                                               const cpu::ThreadPoolOptions& threads);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_PROCESSOR_H_
