// Whole transformers of the CUDA backend.
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/fused/layer_runs.cuh"

namespace parley::cuda {

bool CudaKernels::RunLayers(const LayerWeights* layers, size_t count, const float* angles,
                            const AttentionBatch& batch, float* x) {
  return EnqueueRunLayers(Next(), *layer_run_, room_.rules, {layers, count, angles, batch, x});
}

bool CudaKernels::RunPasses(const CodePasses& passes, const AttentionBatch& batch, float* x) {
  if (passes.count == 0) return false;
  return EnqueueRunPasses(Next(), *layer_run_, room_.rules,
                          {passes.layers, passes.layer_count, passes.passes->angles, batch, x, &passes});
}

}  // namespace parley::cuda
