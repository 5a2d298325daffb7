#include "model/speech/attentive_statistics.h"

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

void AttentiveStatistics::Plan(Kernels& kernels, const float* x, size_t rows, float* work, float* statistics,
                               StagedWork* stages) const {
  const size_t width = of_x_.rows, twice = 2 * rows * kValueCost;  // a pass for the mean, one for the deviation
  float* const inner = work + width;
  const Work laid = {&kernels, x, rows, work, inner, inner + rows * width, statistics};
  stages->Add(channels_, twice, [=](size_t first, size_t count) { TakeStatistics(laid, nullptr, first, count); },
              kChannelGranule);
  stages->Add(of_statistics_.rows * of_statistics_.columns, [=] {
    laid.kernels->Multiply(of_statistics_, Rows(laid.statistics, 1, 2 * channels_), {bias_, nullptr, false}, laid.bias);
  });
  stages->Add(rows, of_x_.rows * of_x_.columns + width * (kValueCost + kFunctionCost) + scores_.CostOfRow(),
              [=](size_t first, size_t count) { Attend(laid, first, count); });
  stages->Add(channels_, 2 * rows * kFunctionCost + 2 * twice,
              [=](size_t first, size_t count) { Weigh(laid, first, count); }, kChannelGranule);
}

// The scores of some moments.
void AttentiveStatistics::Attend(const Work& work, size_t first, size_t count) const {
  Kernels& kernels = *work.kernels;
  const size_t width = of_x_.rows;
  float* const inner = work.inner + first * width;
  kernels.Multiply(of_x_, Rows(work.x + first * channels_, count, channels_), {work.bias, nullptr, false}, inner);
  kernels.Activate(Activation::kRelu, inner, count * width);
  kernels.Activate(Activation::kTanh, inner, count * width);
  scores_.Apply(kernels, work.inner, work.rows, first, count, nullptr, work.attention);
}

// Some channels by their attention.
void AttentiveStatistics::Weigh(const Work& work, size_t first, size_t count) const {
  work.kernels->SoftmaxOverTime(work.attention + first, work.rows, count, channels_);
  TakeStatistics(work, work.attention + first, first, count);
}

void AttentiveStatistics::TakeStatistics(const Work& work, const float* weights, size_t first, size_t count) const {
  float* const mean = work.statistics + first;
  work.kernels->Statistics(work.x + first, weights, work.rows, count, channels_, kFloor, mean, mean + channels_);
}

}  // namespace parley::model
