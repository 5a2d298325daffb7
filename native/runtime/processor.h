// The processors that an engine computes on: how many threads, on which cores, near which memory.
#ifndef PARLEY_RUNTIME_PROCESSOR_H_
#define PARLEY_RUNTIME_PROCESSOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::runtime {

struct ProcessorOptions {
  unsigned threads = 0;          // 0: one per core
  std::vector<int> cores;        // threads are pinned to them in order; empty: not pinned
  std::optional<int> numa_node;  // memory of this node is preferred; it has these cores
};

// False with `problem` set: other cores are named than there are threads.
bool ReadThreads(const ProcessorOptions& options, cpu::ThreadPoolOptions* threads, std::string* problem);

// Makes the kernels, and the calling thread one of their threads. Throws std::invalid_argument or
// std::system_error if a thread cannot be started or pinned.
std::unique_ptr<cpu::CpuKernels> OpenProcessor(const ProcessorOptions& options,
                                               const cpu::ThreadPoolOptions& threads);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_PROCESSOR_H_
