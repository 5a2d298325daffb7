// Vectors to codes: the nearest row of each codebook, taken away before the next one is asked.
#ifndef PARLEY_MODEL_RESIDUAL_QUANTIZER_H_
#define PARLEY_MODEL_RESIDUAL_QUANTIZER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"
#include "model/shared/layer_weights.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

// Two quantizers, each with a projection of its own: the semantic one of a single codebook, and the acoustic
// one. The second starts from the same vector, not from what the first left over.
class ResidualQuantizer {
 public:
  // tensors: "quantizer"; `codebooks` of both together are used.
  ResidualQuantizer(Kernels& kernels, Weights& weights, const NamedTensors& tensors, size_t codebooks);

  size_t codebooks() const { return tables_.size(); }
  size_t WorkBytes(size_t rows) const { return rows * semantic_.rows * sizeof(float); }

  // x [rows, the projections' columns]; codes [rows, codebooks] on the host.
  void Encode(const float* x, size_t rows, int32_t* codes);

 private:
  Kernels& kernels_;
  const Matrix semantic_, acoustic_;  // the projections
  std::vector<Matrix> tables_;        // f32; the first is the semantic one
  Workspace work_;
  std::vector<int32_t> ids_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RESIDUAL_QUANTIZER_H_
