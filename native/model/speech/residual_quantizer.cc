#include "model/speech/residual_quantizer.h"

#include "model/speech/codebook.h"

namespace parley::model {
namespace {

constexpr const char* kSums = "embed_sum";

}  // namespace

ResidualQuantizer::ResidualQuantizer(Kernels& kernels, Weights& weights, const NamedTensors& tensors,
                                     size_t codebooks)
    : kernels_(kernels),
      semantic_(weights.Of(tensors["semantic_residual_vector_quantizer.input_proj.weight"])),
      acoustic_(weights.Of(tensors["acoustic_residual_vector_quantizer.input_proj.weight"])),
      work_(kernels) {
  const NamedTensors semantic = tensors.Under("semantic_residual_vector_quantizer");
  const NamedTensors acoustic = tensors.Under("acoustic_residual_vector_quantizer");
  tables_.push_back(LoadCodebook(weights, semantic.Under("layers", 0).Under("codebook"), kSums));
  for (size_t n = 0; n + 1 < codebooks; n++) {
    tables_.push_back(LoadCodebook(weights, acoustic.Under("layers", n).Under("codebook"), kSums));
  }
}

void ResidualQuantizer::Encode(const float* x, size_t rows, int32_t* codes) {
  float* const rest = work_.Floats(rows * semantic_.rows);
  ids_.resize(rows);
  for (size_t n = 0; n < tables_.size(); n++) {
    if (n < 2) kernels_.Multiply(n == 0 ? semantic_ : acoustic_, Rows(x, rows, semantic_.columns), {}, rest);
    kernels_.TakeNearest(tables_[n], rest, rows, ids_.data());
    kernels_.Wait();
    for (size_t row = 0; row < rows; row++) codes[row * tables_.size() + n] = ids_[row];
  }
}

}  // namespace parley::model
