#include "model/speech/codebooks.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "model/files/file.h"

namespace parley::model {
namespace {

constexpr const char* kSums = "embedding_sum";  // the decoder's
constexpr const char* kEncoderSums = "embed_sum";

}  // namespace

CodeTables::CodeTables(Weights& weights, const NamedTensors& tensors, const CodecDecoderConfig& config,
                       Format format) {
  const NamedTensors first = tensors.Under("rvq_first"), rest = tensors.Under("rvq_rest");
  tables_.push_back(LoadCodebook(weights, first.Under("vq.layers.0._codebook"), kSums));
  for (size_t n = 0; n + 1 < static_cast<size_t>(config.quantizers); n++) {
    tables_.push_back(LoadCodebook(weights, rest.Under("vq.layers", n).Under("_codebook"), kSums));
  }
  first_ = weights.Of(first["output_proj.weight"], format);
  rest_ = weights.Of(rest["output_proj.weight"], format);
}

void CodeTables::Sum(SpeechKernels& kernels, const int32_t* codes, size_t frames, float* sums, float* z) {
  kernels.Gather(tables_[0], {codes, quantizers()}, frames, false, sums);
  kernels.Multiply(first_, Rows(sums, frames, table_width()), {}, z);
  if (quantizers() == 1) return;
  kernels.GatherSum(tables_.data() + 1, quantizers() - 1, {codes + 1, quantizers()}, frames, false, sums);
  kernels.Multiply(rest_, Rows(sums, frames, table_width()), {nullptr, nullptr, true}, z);
}

namespace {

constexpr float kLeastUsage = 1e-5f;

}  // namespace

Matrix LoadCodebook(Weights& weights, const NamedTensors& codebook, const char* sums) {
  const Tensor& sum = codebook[sums];
  const auto rows = static_cast<size_t>(sum.shape[0]), width = static_cast<size_t>(sum.shape[1]);
  std::vector<float> entries = ToFloats(sum);
  const std::vector<float> usage = ToFloats(codebook["cluster_usage"]);
  for (size_t i = 0; i < entries.size(); i++) {
    entries[i] /= std::max(usage[i / width], kLeastUsage);
    // Sums over a training are large: rounded to f16 they may be infinite.
    if (std::isfinite(entries[i]) && std::isfinite(usage[i / width])) continue;
    throw std::invalid_argument(sum.name + ": entry " + std::to_string(i / width) +
                                " or its usage is not finite");
  }
  const Matrix table = weights.Packed(entries, rows, width, Format::kF32);
  ForgetPages(sum.data, sum.bytes);
  return table;
}

ResidualQuantizer::ResidualQuantizer(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors,
                                     size_t codebooks)
    : kernels_(kernels),
      semantic_(weights.Of(tensors["semantic_residual_vector_quantizer.input_proj.weight"])),
      acoustic_(weights.Of(tensors["acoustic_residual_vector_quantizer.input_proj.weight"])),
      work_(kernels) {
  const NamedTensors semantic = tensors.Under("semantic_residual_vector_quantizer");
  const NamedTensors acoustic = tensors.Under("acoustic_residual_vector_quantizer");
  tables_.push_back(LoadCodebook(weights, semantic.Under("layers", 0).Under("codebook"), kEncoderSums));
  for (size_t n = 0; n + 1 < codebooks; n++) {
    tables_.push_back(LoadCodebook(weights, acoustic.Under("layers", n).Under("codebook"), kEncoderSums));
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
