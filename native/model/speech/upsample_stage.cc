#include "model/speech/upsample_stage.h"

#include <algorithm>

namespace parley::model {
namespace {

constexpr float kNormEps = 1e-6f;  // of the architecture: no configuration has it

const float* LoadDepthwise(Weights& weights, const Tensor& tensor) {
  const auto channels = static_cast<size_t>(tensor.shape[0]), taps = static_cast<size_t>(tensor.shape[2]);
  return weights.Floats(PackDepthwise(ToFloats(tensor).data(), channels, taps));
}

}  // namespace

UpsampleStage::UpsampleStage(Weights& weights, const NamedTensors& tensors, size_t ratio, Format format, TailPlan* plan)
    : ratio_(ratio),
      expansion_(CausalLayer::LoadTransposed(weights, tensors.Under("0.conv"), ratio, format, plan)),
      channels_(static_cast<size_t>(tensors["1.dwconv.conv.weight"].shape[0])),
      taps_(static_cast<size_t>(tensors["1.dwconv.conv.weight"].shape[2])),
      tail_(plan->Add(history() * channels_)),
      depthwise_(LoadDepthwise(weights, tensors["1.dwconv.conv.weight"])),
      depthwise_bias_(weights.Floats(tensors["1.dwconv.conv.bias"])),
      norm_(weights.Floats(tensors["1.norm.weight"])),
      norm_bias_(weights.Floats(tensors["1.norm.bias"])),
      widen_(weights.Of(tensors["1.pwconv1.weight"], format)),
      narrow_(weights.Of(tensors["1.pwconv2.weight"], format)),
      widen_bias_(weights.Floats(tensors["1.pwconv1.bias"])),
      narrow_bias_(weights.Floats(tensors["1.pwconv2.bias"])),
      gamma_(weights.Floats(tensors["1.gamma"])) {}

size_t UpsampleStage::Floats(const CodecPass& pass, size_t rate) const {
  const size_t rows = rate * ratio_;
  return std::max({expansion_.InputFloats(pass, rate), pass.RowsWithPast(rows, history()) * channels_,
                   pass.Rows(rows) * widen_.rows});
}

void UpsampleStage::Run(Kernels& kernels, CodecPass& pass, size_t rate, float* x, float* y, float* spare) const {
  const size_t rows = pass.Rows(rate * ratio_);
  expansion_.Run(kernels, pass, rate, x, spare, y);
  const std::vector<Stretch>& input = pass.Stretches(rate * ratio_, history(), channels_, tail_, spare);
  kernels.ConvolveSpreadDepthwise(y, depthwise_, depthwise_bias_, channels_, taps_, input.data(), input.size(), x);
  kernels.ExpandActivated({norm_, norm_bias_, kNormEps}, widen_, widen_bias_, {x, rows, x}, spare);
  kernels.Multiply(narrow_, Rows(spare, rows, widen_.rows), {narrow_bias_, gamma_, true}, y);
}

}  // namespace parley::model
