#include "model/attentive_statistics.h"

#include <vector>

namespace parley::model {
namespace {

constexpr float kFloor = 1e-12f;  // of a variance

// Columns of a matrix [rows, width], in a matrix of their own.
Matrix Columns(Weights& weights, const Tensor& tensor, size_t first, size_t count) {
  const std::vector<float> values = ToFloats(tensor);
  const auto rows = static_cast<size_t>(tensor.shape[0]), width = static_cast<size_t>(tensor.shape[1]);
  std::vector<float> some;
  some.reserve(rows * count);
  for (size_t r = 0; r < rows; r++) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(r * width + first);
    some.insert(some.end(), from, from + static_cast<std::ptrdiff_t>(count));
  }
  return weights.Packed(some, rows, count, FormatOf(tensor));
}

}  // namespace

AttentiveStatistics::AttentiveStatistics(Weights& weights, const NamedTensors& tensors, size_t channels)
    : channels_(channels),
      of_x_(Columns(weights, tensors["tdnn.conv.weight"], 0, channels)),
      of_statistics_(Columns(weights, tensors["tdnn.conv.weight"], channels, 2 * channels)),
      bias_(weights.Floats(tensors["tdnn.conv.bias"])),
      scores_(weights, tensors.Under("conv")) {}

size_t AttentiveStatistics::WorkFloats(size_t rows) const { return (rows + 1) * of_x_.rows + rows * channels_; }

void AttentiveStatistics::Apply(Kernels& kernels, const float* x, size_t rows, float* work, float* statistics) const {
  const size_t width = of_x_.rows;
  float* const bias = work;
  float* const inner = bias + width;
  float* const attention = inner + rows * width;
  kernels.Statistics(x, nullptr, rows, channels_, kFloor, statistics, statistics + channels_);
  kernels.Multiply(of_statistics_, Rows(statistics, 1, 2 * channels_), {bias_, nullptr, false}, bias);
  kernels.Multiply(of_x_, Rows(x, rows, channels_), {bias, nullptr, false}, inner);
  kernels.Activate(Activation::kRelu, inner, rows * width);
  kernels.Activate(Activation::kTanh, inner, rows * width);
  scores_.Apply(kernels, inner, rows, nullptr, attention);
  kernels.SoftmaxOverTime(attention, rows, channels_);
  kernels.Statistics(x, attention, rows, channels_, kFloor, statistics, statistics + channels_);
}

}  // namespace parley::model
