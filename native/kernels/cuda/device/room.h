// Where a call computes on its way.
#ifndef PARLEY_KERNELS_CUDA_ROOM_H_
#define PARLEY_KERNELS_CUDA_ROOM_H_

#include <cstddef>
#include <cstdint>

namespace parley::cuda {

// How products are computed, whatever their shape.
struct ProductRules {
  // Of vectors that meet weights of 8 bits (bf16, int8, fp8): 16 bits are kept, not 8.
  bool full_vectors = false;
  // The device copies tiles and multiplies them (tile_intrinsics.h).
  bool wide = false;
  uint32_t multiprocessors = 132;
};

// Room in the device's memory for what one call computes on its way: valid until the list that is being recorded has run or
// AtLeast is called again, aligned to 256 bytes. Calls follow one another on the device, so that all can share one.
class Room {
 public:
  virtual ~Room() = default;
  virtual void* AtLeast(size_t bytes) = 0;

  ProductRules rules;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ROOM_H_
