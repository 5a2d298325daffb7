// Where a call computes on its way.
#ifndef PARLEY_KERNELS_CUDA_ROOM_H_
#define PARLEY_KERNELS_CUDA_ROOM_H_

#include <cstddef>

namespace parley::cuda {

// Room in the device's memory for what one call computes on its way: valid until the list that is being recorded has run or
// AtLeast is called again, aligned to 256 bytes. Calls follow one another on the device, so that all can share one.
class Room {
 public:
  virtual ~Room() = default;
  virtual void* AtLeast(size_t bytes) = 0;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_ROOM_H_
