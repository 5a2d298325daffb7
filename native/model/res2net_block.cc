#include "model/res2net_block.h"

namespace parley::model {

Res2NetBlock::Res2NetBlock(Weights& weights, const NamedTensors& tensors, size_t channels, size_t parts,
                           size_t dilation)
    : channels_(channels),
      part_(channels / parts),
      first_(weights, tensors.Under("tdnn1.conv")),
      last_(weights, tensors.Under("tdnn2.conv")),
      squeeze_(weights, tensors.Under("se_block.conv1")),
      excite_(weights, tensors.Under("se_block.conv2")) {
  for (size_t n = 0; n + 1 < parts; n++) {
    convolutions_.emplace_back(weights, tensors.Under("res2net_block.blocks", n).Under("conv"), dilation);
  }
}

size_t Res2NetBlock::WorkFloats(size_t rows) const {
  return 2 * rows * channels_ + 2 * rows * part_ + convolutions_.front().PaddedFloats(rows) + channels_ +
         squeeze_.outputs();
}

Res2NetBlock::Work Res2NetBlock::Laid(float* work, size_t rows) const {
  Work laid;
  laid.hidden = work;
  laid.joined = laid.hidden + rows * channels_;
  laid.part = laid.joined + rows * channels_;
  laid.result = laid.part + rows * part_;
  laid.padded = laid.result + rows * part_;
  laid.gate = laid.padded + convolutions_.front().PaddedFloats(rows);
  laid.squeezed = laid.gate + channels_;
  return laid;
}

void Res2NetBlock::Apply(Kernels& kernels, float* x, size_t rows, float* work) const {
  const Work laid = Laid(work, rows);
  first_.Apply(kernels, x, rows, nullptr, laid.hidden);
  kernels.Activate(Activation::kRelu, laid.hidden, rows * channels_);
  ConvolveParts(kernels, rows, laid);
  last_.Apply(kernels, laid.joined, rows, nullptr, laid.hidden);
  kernels.Activate(Activation::kRelu, laid.hidden, rows * channels_);
  Gate(kernels, laid, rows);
  kernels.AddScaled(x, laid.hidden, laid.gate, rows, channels_);
}

// The first part stays as it is; every other one is convolved, from the third on after the result
// of the one before was added.
void Res2NetBlock::ConvolveParts(Kernels& kernels, size_t rows, const Work& work) const {
  kernels.CopyColumns(work.hidden, channels_, 0, work.joined, channels_, 0, part_, rows);
  for (size_t n = 0; n < convolutions_.size(); n++) {
    const size_t at = (n + 1) * part_;
    kernels.CopyColumns(work.hidden, channels_, at, work.part, part_, 0, part_, rows);
    if (n > 0) kernels.Add(work.part, work.result, rows * part_);
    convolutions_[n].Apply(kernels, work.part, rows, work.padded, work.result);
    kernels.Activate(Activation::kRelu, work.result, rows * part_);
    kernels.CopyColumns(work.result, part_, 0, work.joined, channels_, at, part_, rows);
  }
}

// gate = sigmoid(excite(relu(squeeze(the mean over time)))), one per channel
void Res2NetBlock::Gate(Kernels& kernels, const Work& work, size_t rows) const {
  float* const mean = work.joined;  // whose rows are no longer needed
  kernels.Statistics(work.hidden, nullptr, rows, channels_, 0, mean, nullptr);
  squeeze_.Apply(kernels, mean, 1, nullptr, work.squeezed);
  kernels.Activate(Activation::kRelu, work.squeezed, squeeze_.outputs());
  excite_.Apply(kernels, work.squeezed, 1, nullptr, work.gate);
  kernels.Activate(Activation::kSigmoid, work.gate, channels_);
}

}  // namespace parley::model
