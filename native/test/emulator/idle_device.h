// A device that runs nothing and copies nothing, so that only the host's part remains. Fetched memory is
// zeros.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_IDLE_DEVICE_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_IDLE_DEVICE_H_

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <unordered_map>

#include "kernels/cuda/device/device.h"

namespace parley::cuda::emulator {

// Memory of the device is the host's, zeroed, and touched only where it is written: weights of any size take
// none.
class IdleDevice final : public Device {
 public:
  IdleDevice() {
    facts_.name = "idle";
    facts_.multiprocessors = 132;
    facts_.major = 9;
    facts_.memory = size_t{1} << 37;
    facts_.shared = 227 << 10;
  }
  ~IdleDevice() override {
    for (const auto& [memory, bytes] : pieces_) munmap(memory, bytes);
  }

  const DeviceFacts& Facts() const override { return facts_; }
  size_t FreeMemory() override { return facts_.memory; }
  uint32_t BlocksTogether(const KernelEntry&, uint32_t, uint32_t) override {
    return static_cast<uint32_t>(facts_.multiprocessors);
  }
  void* Allocate(size_t bytes) override {
    bytes = std::max<size_t>(bytes, 1);
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    pieces_.emplace(memory, bytes);
    return memory;
  }
  void Free(void* memory) override {
    const auto piece = pieces_.find(memory);
    if (piece == pieces_.end()) return;
    munmap(memory, piece->second);
    pieces_.erase(piece);
  }
  void* AllocateHost(size_t bytes) override { return Allocate(bytes); }
  void FreeHost(void* memory) override { Free(memory); }
  void Upload(void*, const void*, size_t) override { copies++; }
  void Download(void* to_host, const void*, size_t bytes) override {
    copies++;
    std::memset(to_host, 0, bytes);
  }
  void Send(void*, const void*, size_t) override { copies++; }
  void Fetch(void*, const void*, size_t) override { copies++; }
  void Copy(void*, const void*, size_t) override {}
  void Clear(void*, size_t) override {}
  void Run(const List& list) override { grids += list.nodes.size(); }
  void Launch(const Graph&) override {}
  std::unique_ptr<Graph> Capture(const List&) override { return std::make_unique<NoGraph>(); }
  void Mark(int) override {}
  void Wait(int) override {}
  void Wait() override {}

  size_t grids = 0, copies = 0;  // copies between the host and the device

 private:
  struct NoGraph final : Graph {};

  DeviceFacts facts_;
  std::unordered_map<void*, size_t> pieces_;
};

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_IDLE_DEVICE_H_
