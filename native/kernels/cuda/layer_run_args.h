// What a grid that goes through all layers of a transformer is told.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_
#define PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_

#include <cstdint>

#include "kernels/cuda/heads.cuh"
#include "kernels/cuda/told.cuh"

namespace parley::cuda {

// Matrices of bf16, [rows, columns].
struct RunLayer {
  const unsigned char *q, *k, *v, *o, *gate, *up, *down;
  const float *norm, *q_norm, *k_norm, *mlp_norm;
};

constexpr uint32_t kMostRunRows = 3;  // more are as fast grid by grid
constexpr uint32_t kMostRunLayers = 40;  // a kernel's arguments are no more than 4 KB

struct LayerRunArgs {
  HeadsArgs heads;  // of the first layer, without its norms
  float* x;         // [rows, hidden]
  Told *rows, *raw, *attended, *inner;  // [rows] of hidden, of all heads, and, in pairs of bf16, of attended heads and of inner
  uint32_t* steps;  // of each block, those that it has made so far
  uint32_t layers;
  uint32_t most_rows;  // bucket
  uint32_t places;     // of the ring
  uint32_t unused = 0;
  RunLayer layer[kMostRunLayers];
};
static_assert(sizeof(LayerRunArgs) <= 4096);

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_
