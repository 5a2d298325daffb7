#include "model/speech/speaker_encoder.h"

#include <algorithm>
#include <string>
#include <vector>

namespace parley::model {
namespace {

LogMelShape ShapeOf(const SpeakerEncoderConfig& config) {
  LogMelShape shape;
  shape.sample_rate = static_cast<size_t>(config.sample_rate);
  shape.bands = static_cast<size_t>(config.mel_bands);
  return shape;
}

const SpeakerEncoderConfig& ConfigOf(const SpeechCheckpoint& checkpoint) {
  return *checkpoint.config().speaker_encoder;
}

NamedTensors TensorsOf(const SpeechCheckpoint& checkpoint) {
  return checkpoint.ModelTensors().Under("speaker_encoder");
}

}  // namespace

SpeakerEncoder::SpeakerEncoder(SpeechKernels& kernels, Weights& weights, const SpeechCheckpoint& checkpoint,
                               size_t piece_cost)
    : kernels_(kernels),
      piece_cost_(piece_cost),
      shape_(ShapeOf(ConfigOf(checkpoint))),
      mel_(shape_),
      channels_(static_cast<size_t>(ConfigOf(checkpoint).channels.front())),
      joined_(static_cast<size_t>(ConfigOf(checkpoint).channels.back())),
      first_(weights, TensorsOf(checkpoint).Under("blocks.0.conv"),
             static_cast<size_t>(ConfigOf(checkpoint).dilations.front())),
      join_(weights, TensorsOf(checkpoint).Under("mfa.conv"),
            static_cast<size_t>(ConfigOf(checkpoint).dilations.back())),
      pool_(weights, TensorsOf(checkpoint).Under("asp"), joined_),
      project_(weights, TensorsOf(checkpoint).Under("fc")) {
  const SpeakerEncoderConfig& config = ConfigOf(checkpoint);
  for (size_t n = 1; n + 1 < config.channels.size(); n++) {
    blocks_.emplace_back(weights, TensorsOf(checkpoint).Under("blocks", n), channels_,
                         static_cast<size_t>(config.res2net_scale), static_cast<size_t>(config.dilations[n]));
  }
}

size_t SpeakerEncoder::min_samples() const {
  size_t moments = std::max(first_.MinRows(), join_.MinRows());
  for (const Res2NetBlock& block : blocks_) moments = std::max(moments, block.MinRows());
  const size_t margin = (shape_.window - shape_.hop) / 2;  // that the spectrum reflects
  return std::max(margin + 1, (moments - 1) * shape_.hop + shape_.window - 2 * margin);
}

SpeakerEncoder::Places SpeakerEncoder::PlacesOf(size_t moments) const {
  const size_t wide = moments * joined_, mel = moments * shape_.bands;
  size_t block = mel + first_.PaddedFloats();
  for (const Res2NetBlock& one : blocks_) block = std::max(block, one.WorkFloats(moments));
  Places at;
  at.x = at.features = 0;
  at.block = at.mel = moments * channels_;
  at.padded = at.mel + mel;
  at.joined = at.pool = std::max(at.block + block, wide);
  at.joined_padded = at.joined + std::max(wide, pool_.WorkFloats(moments));
  at.statistics = at.joined_padded + join_.PaddedFloats();
  at.vector = at.statistics + 2 * joined_;
  at.total = at.vector + project_.outputs();
  return at;
}

SpeakerEncoder::Run::Run(SpeakerEncoder& encoder, const std::vector<float>& samples)
    : encoder_(encoder),
      samples_(samples),
      moments_(encoder.mel_.FramesOf(samples.size())),
      work_(encoder.kernels_) {
  encoder.Plan(this);
}

void SpeakerEncoder::Plan(Run* run) {
  const size_t moments = run->moments_;
  const Places at = PlacesOf(moments);
  float* const work = run->work_.Floats(at.total);
  PlanMel(run, work + at.mel);
  PlanTdnn(first_, work + at.mel, work + at.padded, work + at.x, run);
  PlanToShow("blocks.0", work + at.x, moments, channels_, run);
  for (size_t n = 0; n < blocks_.size(); n++) PlanBlock(n, at, work, run);
  PlanTdnn(join_, work + at.joined, work + at.joined_padded, work + at.features, run);
  PlanToShow("mfa", work + at.features, moments, joined_, run);
  pool_.Plan(kernels_, work + at.features, moments, work + at.pool, work + at.statistics, &run->stages_);
  PlanToShow("asp", work + at.statistics, 1, 2 * joined_, run);
  PlanProjection(work + at.statistics, work + at.vector, run);
}

void SpeakerEncoder::PlanMel(Run* run, float* mel) {
  run->stages_.Add(run->moments_, shape_.window * kSpectrumCost, [=](size_t first, size_t count) {
    run->mel_.resize(count * shape_.bands);
    mel_.Of(run->samples_.data(), run->samples_.size(), first, count, run->mel_.data());
    kernels_.Upload(mel + first * shape_.bands, run->mel_.data(), run->mel_.size() * sizeof(float));
    kernels_.Wait();  // for what is on the host
  });
}

void SpeakerEncoder::PlanTdnn(const SameConvolution& tdnn, const float* x, float* padded, float* y,
                              Run* run) {
  const size_t rows = run->moments_, width = tdnn.outputs();
  run->stages_.Add(rows, tdnn.CostOfRow() + width * kValueCost, [=, &tdnn](size_t first, size_t count) {
    tdnn.Apply(kernels_, x, rows, first, count, padded, y);
    kernels_.Activate(Activation::kRelu, y + first * width, count * width);
  });
}

void SpeakerEncoder::PlanBlock(size_t n, const Places& at, float* work, Run* run) {
  float *const x = work + at.x, *const joined = work + at.joined;
  blocks_[n].Plan(kernels_, x, run->moments_, work + at.block, &run->stages_);
  run->stages_.Add(run->moments_, channels_ * kValueCost, [=](size_t first, size_t count) {
    const float* const rows = x + first * channels_;
    kernels_.CopyColumns(rows, channels_, 0, joined + first * joined_, joined_, n * channels_, channels_,
                         count);
  });
  PlanToShow("blocks." + std::to_string(n + 1), x, run->moments_, channels_, run);
}

void SpeakerEncoder::PlanProjection(const float* statistics, float* projected, Run* run) {
  run->stages_.Add(project_.CostOfRow(), [=] {
    project_.Apply(kernels_, statistics, projected);
    run->vector_.resize(project_.outputs());
    kernels_.Download(run->vector_.data(), projected, run->vector_.size() * sizeof(float));
    kernels_.Wait();
  });
}

void SpeakerEncoder::PlanToShow(const std::string& stage, const float* values, size_t rows, size_t channels,
                                Run* run) {
  run->stages_.Add(0, [=] { Show(tap_, stage, values, rows, channels); });
}

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

Res2NetBlock::Work Res2NetBlock::Laid(SpeechKernels& kernels, float* work, size_t rows) const {
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

void Res2NetBlock::Plan(SpeechKernels& kernels, float* x, size_t rows, float* work,
                        StagedWork* stages) const {
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
  work.kernels->CopyColumns(work.hidden + first * channels_, channels_, (n + 1) * part_, part, part_, 0,
                            part_, count);
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
    work.kernels->Statistics(work.hidden + first, nullptr, work.rows, count, channels_, 0, work.mean + first,
                             nullptr);
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

namespace {

constexpr float kFloor = 1e-12f;  // lower bound of a variance

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

size_t AttentiveStatistics::WorkFloats(size_t rows) const {
  return (rows + 1) * of_x_.rows + rows * channels_;
}

void AttentiveStatistics::Plan(SpeechKernels& kernels, const float* x, size_t rows, float* work,
                               float* statistics, StagedWork* stages) const {
  const size_t width = of_x_.rows,
               twice = 2 * rows * kValueCost;  // a pass for the mean, one for the deviation
  float* const inner = work + width;
  const Work laid = {&kernels, x, rows, work, inner, inner + rows * width, statistics};
  stages->Add(
      channels_, twice, [=](size_t first, size_t count) { TakeStatistics(laid, nullptr, first, count); },
      kChannelGranule);
  stages->Add(of_statistics_.rows * of_statistics_.columns, [=] {
    laid.kernels->Multiply(of_statistics_, Rows(laid.statistics, 1, 2 * channels_), {bias_, nullptr, false},
                           laid.bias);
  });
  stages->Add(rows, of_x_.rows * of_x_.columns + width * (kValueCost + kFunctionCost) + scores_.CostOfRow(),
              [=](size_t first, size_t count) { Attend(laid, first, count); });
  stages->Add(
      channels_, 2 * rows * kFunctionCost + 2 * twice,
      [=](size_t first, size_t count) { Weigh(laid, first, count); }, kChannelGranule);
}

// The scores of some moments.
void AttentiveStatistics::Attend(const Work& work, size_t first, size_t count) const {
  SpeechKernels& kernels = *work.kernels;
  const size_t width = of_x_.rows;
  float* const inner = work.inner + first * width;
  kernels.Multiply(of_x_, Rows(work.x + first * channels_, count, channels_), {work.bias, nullptr, false},
                   inner);
  kernels.Activate(Activation::kRelu, inner, count * width);
  kernels.Activate(Activation::kTanh, inner, count * width);
  scores_.Apply(kernels, work.inner, work.rows, first, count, nullptr, work.attention);
}

// Some channels by their attention.
void AttentiveStatistics::Weigh(const Work& work, size_t first, size_t count) const {
  work.kernels->SoftmaxOverTime(work.attention + first, work.rows, count, channels_);
  TakeStatistics(work, work.attention + first, first, count);
}

void AttentiveStatistics::TakeStatistics(const Work& work, const float* weights, size_t first,
                                         size_t count) const {
  float* const mean = work.statistics + first;
  work.kernels->Statistics(work.x + first, weights, work.rows, count, channels_, kFloor, mean,
                           mean + channels_);
}

}  // namespace parley::model
