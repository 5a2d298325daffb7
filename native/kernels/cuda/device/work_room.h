// Scratch memory of a device, shared by calls for intermediate results. It keeps its address until a call
// needs more.
#ifndef PARLEY_KERNELS_CUDA_WORK_ROOM_H_
#define PARLEY_KERNELS_CUDA_WORK_ROOM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/device/device.h"

namespace parley::cuda {

// Rules for computing products of any shape.
struct ProductRules {
  // Vectors that meet weights with 8 significant bits or fewer (bf16, int8, fp8) keep 16 bits, not 8.
  bool full_vectors = false;
  // The device copies tiles and multiplies them (tile_intrinsics.h).
  bool wide = false;
  uint32_t multiprocessors = 132;
};

// Room in the device's memory for what one call computes on its way: valid until the list that is being
// recorded has run or AtLeast is called again, aligned to 256 bytes. Calls follow one another on the device,
// so that all can share one.
class Room {
 public:
  virtual ~Room() = default;
  virtual void* AtLeast(size_t bytes) = 0;

  ProductRules rules;
};

class WorkRoom final : public Room {
 public:
  // The first call that needs room gets at least `least` bytes.
  explicit WorkRoom(Device& device, size_t least = kLeast)
      : device_(device), least_(std::max(least, kLeast)) {}
  ~WorkRoom() override {
    FreeOutgrown();
    device_.Free(memory_);
  }
  WorkRoom(const WorkRoom&) = delete;
  WorkRoom& operator=(const WorkRoom&) = delete;

  // Zeroed when it is new.
  void* AtLeast(size_t bytes) override {
    if (bytes <= bytes_) return memory_;
    size_t larger = bytes_ > 0 ? bytes_ : least_;
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
  const size_t least_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  std::vector<void*> outgrown_;
};

// Memory that the persistent grids of a backend share: published words and each block's step count, which
// persist from grid to grid.
struct LayerRunRoom {
  explicit LayerRunRoom(Device& its) : device(its), tagged(its), steps(its), choices(its), logits(its) {}

  Device& device;
  WorkRoom tagged, steps;
  WorkRoom choices, logits;  // a code predictor's passes: published words, and logits to choose from
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_WORK_ROOM_H_
