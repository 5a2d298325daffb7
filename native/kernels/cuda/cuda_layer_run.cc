// Whole transformers of the CUDA backend.
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/layer_runs.cuh"

namespace parley::cuda {

bool CudaKernels::RunLayers(const LayerWeights* layers, size_t count, const float* angles, const AttentionBatch& batch, float* x) {
  return EnqueueRunLayers(Next(), *layer_run_, room_.rules.full_vectors, layers, count, angles, batch, x);
}

}  // namespace parley::cuda
