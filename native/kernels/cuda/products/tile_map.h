// Tensor maps (CUtensorMap): how a part of device memory is divided into tiles for the Tensor Memory
// Accelerator (TMA), which copies them to shared memory. For compute capability 9.0 and later.
#ifndef PARLEY_KERNELS_CUDA_TILE_MAP_H_
#define PARLEY_KERNELS_CUDA_TILE_MAP_H_

#include <cstdint>
#include <type_traits>

namespace parley::cuda {

// Values of 16 bits in four dimensions, the first without gaps. A box is what one copy takes: its first
// dimension is a row of kSwizzle bytes, 64 or 128, and its rows come one after the other, those beyond the
// extents as zeros.
struct TileShape {
  const void* values;  // at a multiple of 16 bytes
  uint64_t extents[4];
  uint64_t strides[3];  // bytes, of the dimensions after the first: multiples of 16
  uint32_t box[4];      // each at most 256
};

// Descriptor in the form that the device takes; an argument of a kernel that is declared __grid_constant__.
// Words without gaps: lists are compared byte for byte.
struct alignas(64) TileMap {
  uint64_t words[16];
};
static_assert(sizeof(TileMap) == 128 && sizeof(TileShape) <= sizeof(TileMap) &&
              std::is_trivially_copyable_v<TileShape>);

// Throws std::invalid_argument where the device has no such copies, or the shape cannot be.
TileMap TileMapOf(const TileShape& shape);

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILE_MAP_H_
