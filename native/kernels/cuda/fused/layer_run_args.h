// What a grid is told that goes through all layers of a transformer, or through all passes of a code predictor.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_
#define PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_

#include <cstdint>

#include "kernels/cuda/attention/heads.cuh"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/fused/told.cuh"
#include "kernels/sampling.h"

namespace parley::cuda {

// Matrices of bf16, [rows, columns].
struct RunLayer {
  const unsigned char *q, *k, *v, *o, *gate, *up, *down;
  const float *norm, *q_norm, *k_norm, *mlp_norm;
};

constexpr uint32_t kMostRunRows = 3;  // of four and more the words that blocks exchange cost more than grids do
constexpr uint32_t kMostRunLayers = 40;  // a kernel's arguments are no more than 4 KB

constexpr uint32_t kMostRunPasses = 16;

// A pass of a code predictor: all layers, a norm, the product of a head, and of its logits a code, whose row in a table is what the next pass begins with.
struct RunPass {
  const float* angles;        // [rows, head_dim]
  const unsigned char* head;  // bf16 [vocabulary, hidden]
  const void* table;          // of f32 or bf16 [at least vocabulary, hidden]; of the last pass none
};

struct RunPasses {
  const float* norm;
  const Choice* choices;  // [streams]
  int32_t* codes;         // [streams], `stride` apart: where those of the first pass go; of the next one they lie next to them
  uint64_t stride;
  float* logits;              // [streams, vocabulary], for choices that are not the usual
  Told *told_logits, *told_codes;  // [streams, vocabulary]; of a stream the first of two
  uint64_t sequence;          // of the first pass
  uint32_t count, vocabulary;
  uint32_t narrow_tables;     // bf16
  uint32_t unused = 0;
  RunPass pass[kMostRunPasses];
};

struct LayerRunArgs {
  static constexpr uint32_t kCluster = kAllBlocks;  // they wait for each other

  HeadsArgs heads;  // of the first layer, without its norms
  float* x;         // [rows, hidden]
  Told *rows, *raw, *attended, *inner;  // [rows] of hidden, of all heads, and, in pairs of bf16, of attended heads and of inner
  uint32_t* steps;  // of each block, those that it has made so far
  const RunPasses* passes;  // or none: the layers alone
  uint32_t layers;
  uint32_t most_rows;  // bucket
  uint32_t places;     // of the ring
  uint32_t unused = 0;
  RunLayer layer[kMostRunLayers];
};
static_assert(sizeof(LayerRunArgs) <= 4096);

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_
