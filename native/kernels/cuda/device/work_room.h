// Memory of a device that calls share for what they compute on their way; it keeps its place until one needs more.
#ifndef PARLEY_KERNELS_CUDA_WORK_ROOM_H_
#define PARLEY_KERNELS_CUDA_WORK_ROOM_H_

#include <cstddef>
#include <vector>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/room.h"

namespace parley::cuda {

class WorkRoom final : public Room {
 public:
  explicit WorkRoom(Device& device) : device_(device) {}
  ~WorkRoom() override {
    FreeOutgrown();
    device_.Free(memory_);
  }
  WorkRoom(const WorkRoom&) = delete;
  WorkRoom& operator=(const WorkRoom&) = delete;

  // Zeroed when it is new.
  void* AtLeast(size_t bytes) override {
    if (bytes <= bytes_) return memory_;
    size_t larger = bytes_ > 0 ? bytes_ : kLeast;
    while (larger < bytes) larger *= 2;
    outgrown_.reserve(outgrown_.size() + 1);
    void* const memory = device_.Allocate(larger);
    if (memory_ != nullptr) outgrown_.push_back(memory_);
    memory_ = memory;
    bytes_ = larger;
    return memory_;
  }

  // Nothing that was recorded before is still to run.
  void FreeOutgrown() {
    for (void* memory : outgrown_) device_.Free(memory);
    outgrown_.clear();
  }

 private:
  static constexpr size_t kLeast = 64 << 10;

  Device& device_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  std::vector<void*> outgrown_;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_WORK_ROOM_H_
