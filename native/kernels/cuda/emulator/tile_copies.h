// Copies of tiles that the threads of a block have asked for, and that nobody has waited for yet.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_TILE_COPIES_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_TILE_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/tile_map.h"

namespace parley::cuda::emulator {

struct AskedTile {
  void* to;
  TileMap map;  // a TileShape
  uint32_t from[4];
  const void* barrier;
};

class TileCopies {
 public:
  void Ask(const AskedTile& copy) { asked_.push_back(copy); }
  // Those whose bytes arrive at this barrier, and how many they are.
  size_t MakeFor(const void* barrier);
  void Clear() { asked_.clear(); }

 private:
  static size_t Make(const AskedTile& copy);

  std::vector<AskedTile> asked_;
};

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_TILE_COPIES_H_
