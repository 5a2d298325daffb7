// Memory that the persistent grids of a backend share.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUN_ROOM_H_
#define PARLEY_KERNELS_CUDA_LAYER_RUN_ROOM_H_

#include "kernels/cuda/device/work_room.h"

namespace parley::cuda {

// Published words and each block's step count, which persist from grid to grid.
struct LayerRunRoom {
  explicit LayerRunRoom(Device& its) : device(its), tagged(its), steps(its), choices(its), logits(its) {}

  Device& device;
  WorkRoom tagged, steps;
  WorkRoom choices, logits;  // a code predictor's passes: published words, and logits to choose from
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUN_ROOM_H_
