// Memory that grids which go through whole transformers share.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUN_ROOM_H_
#define PARLEY_KERNELS_CUDA_LAYER_RUN_ROOM_H_

#include "kernels/cuda/device/work_room.h"

namespace parley::cuda {

// What is told and how many steps each block has made are kept from grid to grid.
struct LayerRunRoom {
  explicit LayerRunRoom(Device& its) : device(its), told(its), steps(its), choices(its), logits(its) {}

  Device& device;
  WorkRoom told, steps;
  WorkRoom choices, logits;  // of a code predictor's passes: what is told, and what is chosen of
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUN_ROOM_H_
