// The place at which a kernel writes a product's vectors as the bf16 terms that the product reads, so that no
// grid has to prepare them.
#ifndef PARLEY_KERNELS_CUDA_TERMS_PLACE_H_
#define PARLEY_KERNELS_CUDA_TERMS_PLACE_H_

#include <cstdint>

namespace parley::cuda {

// [vectors, columns] of bf16, one term of each value. Without a place the floats themselves are written, to
// where those lie.
struct TermsPlace {
  unsigned char* terms = nullptr;
  uint64_t in_fragments = 0;  // columns of a chunk as threads of Mma hold them, not as they lie
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TERMS_PLACE_H_
