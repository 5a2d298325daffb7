#include "runtime/processor.h"

#include <sched.h>

#include <stdexcept>

#include "runtime/machine_memory.h"

namespace parley::runtime {
namespace {

// Niceness of all compute threads: they yield to the clock thread, which sends the audio.
constexpr int kNice = 5;

unsigned AllowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

// Sets priority and core of the calling thread, which is one of the compute threads.
void TakePlace(const cpu::ThreadPoolOptions& options) {
  cpu::LowerPriority(options.nice);
  if (options.cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(options.cores.front()), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::invalid_argument("the engine cannot run on core " + std::to_string(options.cores.front()));
  }
}

}  // namespace

Result<cpu::ThreadPoolOptions> ReadThreads(const ProcessorOptions& options) {
  cpu::ThreadPoolOptions threads;
  threads.nice = kNice;
  threads.cores = options.cores;
  const auto cores = static_cast<unsigned>(options.cores.size());
  threads.threads = options.threads > 0 ? options.threads : cores > 0 ? cores : AllowedCores();
  if (cores == 0 || cores == threads.threads) return threads;
  return Problem{std::to_string(cores) + " cores are named for " + std::to_string(threads.threads) +
                 " threads"};
}

std::unique_ptr<cpu::CpuKernels> OpenProcessor(const ProcessorOptions& options,
                                               const cpu::ThreadPoolOptions& threads) {
  if (options.numa_node) PreferMemoryOf(*options.numa_node);  // before threads are started: they inherit it
  auto kernels = std::make_unique<cpu::CpuKernels>(threads);
  TakePlace(threads);
  return kernels;
}

}  // namespace parley::runtime
