// A device whose memory is the host's and whose grids the emulator runs. The device does its work as late as
// it may, when the host waits for it, so that a read that comes too early shows.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_EMULATED_DEVICE_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_EMULATED_DEVICE_H_

#include <deque>
#include <functional>
#include <string>
#include <unordered_map>

#include "kernels/cuda/device/device.h"
#include "test/emulator/emulator.h"

namespace parley::cuda::emulator {

struct DeviceOptions {
  Rules rules;
  size_t memory = size_t{1} << 32;  // bytes; more is std::bad_alloc
  int multiprocessors = 4;          // each holds one block of a grid whose blocks wait for each other
  int major = 9;                    // compute capability; the minor version is 0
};

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const DeviceOptions& options = {});
  ~EmulatedDevice() override;

  const DeviceFacts& Facts() const override { return facts_; }
  size_t FreeMemory() override { return facts_.memory - used_; }
  uint32_t BlocksTogether(const KernelEntry&, uint32_t, uint32_t) override {
    return static_cast<uint32_t>(facts_.multiprocessors);
  }
  void* Allocate(size_t bytes) override;
  void Free(void* memory) override;
  void* AllocateHost(size_t bytes) override;
  void FreeHost(void* memory) override;
  void Upload(void* to, const void* from_host, size_t bytes) override;
  void Download(void* to_host, const void* from, size_t bytes) override;
  void Send(void* to, const void* from_host, size_t bytes) override;
  void Fetch(void* to_host, const void* from, size_t bytes) override;
  void Copy(void* to, const void* from, size_t bytes) override;
  void Clear(void* memory, size_t bytes) override;
  void Run(const List& list) override;
  void Launch(const Graph& graph) override;
  std::unique_ptr<Graph> Capture(const List& list) override;
  void Mark(int mark) override;
  void Wait(int mark) override;
  void Wait() override;

  // Graphs there is memory for from now on.
  void LeaveGraphs(size_t count) { graphs_left_ = count; }
  // Number of failed graph captures.
  size_t GraphsRefused() const { return graphs_refused_; }
  // From now on it is lost.
  void Lose(const std::string& why) { lost_ = why; }
  // Pieces of memory, of the device and of the host, that were not freed.
  size_t Pieces() const { return pieces_.size(); }

 private:
  void Enqueue(std::function<void()> work);
  void Copied(void* to, const void* from, size_t bytes);
  void CheckThere() const;

  Rules rules_;
  DeviceFacts facts_;
  size_t used_ = 0;
  std::unordered_map<void*, size_t> pieces_;  // their bytes
  std::deque<std::function<void()>> asked_;
  size_t done_ = 0;  // operations completed; an error in Free resets it
  size_t marks_[2] = {};
  size_t graphs_left_ = SIZE_MAX, graphs_refused_ = 0;
  std::string lost_;
};

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_EMULATED_DEVICE_H_
