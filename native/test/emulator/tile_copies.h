// Copies that the threads of a block have asked the copy engine for, and that nobody has waited for yet.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_TILE_COPIES_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_TILE_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/products/tile_map.h"

namespace parley::cuda::emulator {

struct PendingTileCopy {
  void* to;
  TileMap map;  // a TileShape
  uint32_t from[4];
  const void* barrier;
};

struct PendingBulkCopy {
  void* to;
  const void* from;
  uint32_t bytes;
  const void* barrier;
};

class TileCopies {
 public:
  void Request(const PendingTileCopy& copy) { tiles_.push_back(copy); }
  void Request(const PendingBulkCopy& copy) { bytes_.push_back(copy); }
  // Executes the copies that arrive at this barrier; returns their bytes.
  size_t MakeFor(const void* barrier);
  void Clear() {
    tiles_.clear();
    bytes_.clear();
  }

 private:
  static size_t Make(const PendingTileCopy& copy);
  static size_t Make(const PendingBulkCopy& copy);
  template <class Pending>
  static size_t MakeFor(const void* barrier, std::vector<Pending>* pending);

  std::vector<PendingTileCopy> tiles_;
  std::vector<PendingBulkCopy> bytes_;
};

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_TILE_COPIES_H_
