#include "model/speech/res2net_block.h"

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
  return 2 * rows * channels_ + 2 * rows * part_ + convolutions_.front().PaddedFloats() + 2 * channels_ +
         squeeze_.outputs();
}

Res2NetBlock::Work Res2NetBlock::Laid(Kernels& kernels, float* work, size_t rows) const {
  Work laid;
  laid.kernels = &kernels;
  laid.rows = rows;
  laid.hidden = work;
  laid.joined = laid.hidden + rows * channels_;
  laid.part = laid.joined + rows * channels_;
  laid.result = laid.part + rows * part_;
  laid.padded = laid.result + rows * part_;
  laid.mean = laid.padded + convolutions_.front().PaddedFloats();
  laid.gate = laid.mean + channels_;
  laid.squeezed = laid.gate + channels_;
  return laid;
}

void Res2NetBlock::Plan(Kernels& kernels, float* x, size_t rows, float* work, StagedWork* stages) const {
  const Work laid = Laid(kernels, work, rows);
  stages->Add(rows, first_.CostOfRow() + 2 * channels_ * kValueCost,
              [=](size_t first, size_t count) { Widen(laid, x, first, count); });
  PlanParts(laid, stages);
  stages->Add(rows, last_.CostOfRow() + channels_ * kValueCost, [=](size_t first, size_t count) {
    last_.Apply(*laid.kernels, laid.joined, rows, first, count, nullptr, laid.hidden);
    laid.kernels->Activate(Activation::kRelu, laid.hidden + first * channels_, count * channels_);
  });
  PlanGate(laid, stages);
  stages->Add(rows, channels_ * kValueCost, [=](size_t first, size_t count) {
    const size_t at = first * channels_;
    laid.kernels->AddScaled(x + at, laid.hidden + at, laid.gate, count, channels_);
  });
}

// The first part stays as it is.
void Res2NetBlock::Widen(const Work& work, const float* x, size_t first, size_t count) const {
  const size_t at = first * channels_;
  first_.Apply(*work.kernels, x, work.rows, first, count, nullptr, work.hidden);
  work.kernels->Activate(Activation::kRelu, work.hidden + at, count * channels_);
  work.kernels->CopyColumns(work.hidden + at, channels_, 0, work.joined + at, channels_, 0, part_, count);
}

// Every other part is convolved, from the third on after the result of the one before was added.
void Res2NetBlock::PlanParts(const Work& work, StagedWork* stages) const {
  for (size_t n = 0; n < convolutions_.size(); n++) {
    stages->Add(work.rows, 2 * part_ * kValueCost,
                [=](size_t first, size_t count) { Gather(work, n, first, count); });
    stages->Add(work.rows, convolutions_[n].CostOfRow() + 2 * part_ * kValueCost,
                [=](size_t first, size_t count) { Convolve(work, n, first, count); });
  }
}

void Res2NetBlock::Gather(const Work& work, size_t n, size_t first, size_t count) const {
  float* const part = work.part + first * part_;
  work.kernels->CopyColumns(work.hidden + first * channels_, channels_, (n + 1) * part_, part, part_, 0, part_, count);
  if (n > 0) work.kernels->Add(part, work.result + first * part_, count * part_);
}

void Res2NetBlock::Convolve(const Work& work, size_t n, size_t first, size_t count) const {
  float* const result = work.result + first * part_;
  convolutions_[n].Apply(*work.kernels, work.part, work.rows, first, count, work.padded, work.result);
  work.kernels->Activate(Activation::kRelu, result, count * part_);
  float* const joined = work.joined + first * channels_;
  work.kernels->CopyColumns(result, part_, 0, joined, channels_, (n + 1) * part_, part_, count);
}

void Res2NetBlock::PlanGate(const Work& work, StagedWork* stages) const {
  const auto mean = [=](size_t first, size_t count) {
    work.kernels->Statistics(work.hidden + first, nullptr, work.rows, count, channels_, 0, work.mean + first, nullptr);
  };
  stages->Add(channels_, work.rows * kValueCost, mean, kChannelGranule);
  const size_t values = squeeze_.outputs() + channels_;
  stages->Add(squeeze_.CostOfRow() + excite_.CostOfRow() + values * kFunctionCost, [=] { Gate(work); });
}

// gate = sigmoid(excite(relu(squeeze(the mean over time)))), one per channel
void Res2NetBlock::Gate(const Work& work) const {
  squeeze_.Apply(*work.kernels, work.mean, work.squeezed);
  work.kernels->Activate(Activation::kRelu, work.squeezed, squeeze_.outputs());
  excite_.Apply(*work.kernels, work.squeezed, work.gate);
  work.kernels->Activate(Activation::kSigmoid, work.gate, channels_);
}

}  // namespace parley::model
