// Two weights of 8 bits as two bf16, which hold them exactly.
#ifndef PARLEY_KERNELS_CUDA_BYTE_PAIRS_CUH_
#define PARLEY_KERNELS_CUDA_BYTE_PAIRS_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/matrix.h"

namespace parley::cuda {

// twice: a byte in both bytes of its half, the first in the lower one.
template <Format kFormat>
__device__ __forceinline__ uint32_t PairOfBytes(uint32_t twice) {
  static_assert(HasScales(kFormat));
  if constexpr (kFormat == Format::kInt8) {
    // From 128 to 255 bf16 has the whole numbers: 128 and the lower seven bits, less 128, or where the sign is set less 256, whose exponent is one more.
    return FmaBf16(MaskedOr(twice, 0x007f007fu, 0x43004300u), 0x3f803f80u, MaskedOr(twice, 0x00800080u, 0xc300c300u));
  } else {
    // Exponent and fraction where bf16 has their lower bits: 2^120 times too small, subnormal numbers too.
    return FmaBf16(MaskedOr(twice >> 4, 0x07f007f0u, twice & 0x80008000u), 0x7b807b80u, 0x80008000u);
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_BYTE_PAIRS_CUH_
