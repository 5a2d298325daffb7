// A part of a signal that goes somewhere else.
#ifndef PARLEY_KERNELS_CUDA_PART_H_
#define PARLEY_KERNELS_CUDA_PART_H_

#include <cstdint>

namespace parley::cuda {

struct Part {
  float* to;
  uint64_t first;  // of the signal's values
  uint32_t values;
  uint32_t unused;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PART_H_
