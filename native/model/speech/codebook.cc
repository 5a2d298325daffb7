#include "model/speech/codebook.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "model/files/file.h"

namespace parley::model {
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
    throw std::invalid_argument(sum.name + ": entry " + std::to_string(i / width) + " or its usage is not finite");
  }
  const Matrix table = weights.Packed(entries, rows, width, Format::kF32);
  ForgetPages(sum.data, sum.bytes);
  return table;
}

}  // namespace parley::model
