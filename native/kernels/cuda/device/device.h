// Interface of a device for the queue: memory, copies and lists of grids, in one order. A GPU or the emulator
// on the host implements it.
#ifndef PARLEY_KERNELS_CUDA_DEVICE_H_
#define PARLEY_KERNELS_CUDA_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/device/queue.h"
#include "kernels/kernels.h"

namespace parley::cuda {

// The device can no longer be used, and what it held is gone: every later call throws this again.
class DeviceLost : public BackendLost {
 public:
  using BackendLost::BackendLost;
};

struct DeviceFacts {
  std::string name;  // "NVIDIA H200"
  int number = 0;
  int multiprocessors = 0;
  int major = 0, minor = 0;  // compute capability
  size_t memory = 0;         // bytes
  size_t shared = 0;         // bytes of shared memory that a block can have
};

// One grid of a list. Without gaps: lists are compared byte for byte.
struct Node {
  const KernelEntry* entry;
  Grid grid;
  uint32_t args;  // offset in List::args
};
static_assert(sizeof(Node) == sizeof(void*) + sizeof(Grid) + sizeof(uint32_t));

// Grids in their order. Each reads what those before it wrote.
struct List {
  std::vector<Node> nodes;
  std::vector<unsigned char> args;  // each at a multiple of 16 bytes

  const void* ArgsOf(const Node& node) const { return args.data() + node.args; }
  void Clear() {
    nodes.clear();
    args.clear();
  }
};

// A list that a device can start by one call.
class Graph {
 public:
  virtual ~Graph() = default;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceFacts& Facts() const = 0;
  virtual size_t FreeMemory() = 0;
  // Blocks of such a grid that are sure to run at the same time, so that they may wait for each other. 0:
  // none may.
  virtual uint32_t BlocksTogether(const KernelEntry& entry, uint32_t threads, uint32_t shared) = 0;

  // Zeroed, aligned to 256 bytes. Throws std::bad_alloc. Free waits for all that was asked for,
  // and throws nothing.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) = 0;
  // Host memory for asynchronous copies (pinned): they need not wait for the host.
  virtual void* AllocateHost(size_t bytes) = 0;
  virtual void FreeHost(void* memory) = 0;

  // --- calls that take effect in order
  // Done when they return; the host's memory may be any.
  virtual void Upload(void* to, const void* from_host, size_t bytes) = 0;
  virtual void Download(void* to_host, const void* from, size_t bytes) = 0;
  // Later; the host's memory is of AllocateHost, and left alone until then.
  virtual void Send(void* to, const void* from_host, size_t bytes) = 0;
  virtual void Fetch(void* to_host, const void* from, size_t bytes) = 0;
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;  // may not overlap
  virtual void Clear(void* memory, size_t bytes) = 0;               // zeros
  virtual void Run(const List& list) = 0;
  virtual void Launch(const Graph& graph) = 0;

  // Runs nothing yet. The list's memory is no longer needed afterwards.
  virtual std::unique_ptr<Graph> Capture(const List& list) = 0;

  // Waits until all work before the latest setting of the mark (0 or 1) is done, or all work. Throws
  // DeviceLost when it takes longer than the device's bound.
  virtual void Mark(int mark) = 0;
  virtual void Wait(int mark) = 0;
  virtual void Wait() = 0;
};

struct GpuOptions {
  int device = 0;
  double longest_wait = 30;  // seconds; a device that needs longer is lost
};

// Why `device` cannot be used: no driver, one too old, no GPU, one too old. Empty when it can.
std::string WhyNoGpu(int device);

// Opens a device through the CUDA runtime. Throws std::runtime_error with the text of WhyNoGpu, and
// std::bad_alloc.
std::unique_ptr<Device> OpenGpu(const GpuOptions& options);

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_DEVICE_H_
