#include "model/speech/code_tables.h"

#include "model/speech/codebook.h"

namespace parley::model {
namespace {

constexpr const char* kSums = "embedding_sum";

}  // namespace

CodeTables::CodeTables(Weights& weights, const NamedTensors& tensors, const CodecDecoderConfig& config, Format format) {
  const NamedTensors first = tensors.Under("rvq_first"), rest = tensors.Under("rvq_rest");
  tables_.push_back(LoadCodebook(weights, first.Under("vq.layers.0._codebook"), kSums));
  for (size_t n = 0; n + 1 < static_cast<size_t>(config.quantizers); n++) {
    tables_.push_back(LoadCodebook(weights, rest.Under("vq.layers", n).Under("_codebook"), kSums));
  }
  first_ = weights.Of(first["output_proj.weight"], format);
  rest_ = weights.Of(rest["output_proj.weight"], format);
}

void CodeTables::Sum(Kernels& kernels, const int32_t* codes, size_t frames, float* sums, float* z) {
  kernels.Gather(tables_[0], {codes, quantizers()}, frames, false, sums);
  kernels.Multiply(first_, Rows(sums, frames, table_width()), {}, z);
  if (quantizers() == 1) return;
  kernels.GatherSum(tables_.data() + 1, quantizers() - 1, {codes + 1, quantizers()}, frames, false, sums);
  kernels.Multiply(rest_, Rows(sums, frames, table_width()), {nullptr, nullptr, true}, z);
}

}  // namespace parley::model
