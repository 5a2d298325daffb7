#include "model/pocket/latent_decoder.h"

#include <algorithm>

#include "model/pocket/pocket_layers.h"

namespace parley::model {
namespace {

constexpr size_t kUpsampleTaps = 2;  // frames that a position sees: its own and the one before

// Frames of one stream, and of all, that are computed at once: more make the signals larger and the work no
// less.
constexpr size_t kStreamFrames = 4;
constexpr size_t kPassFrames = 16;

}  // namespace

LatentDecoder::LatentDecoder(SpeechKernels& kernels, const PocketCheckpoint& checkpoint,
                             Activation activation, std::optional<Format> format, Format cache)
    : kernels_(kernels),
      config_(checkpoint.config().codec.transformer),
      latent_(static_cast<size_t>(checkpoint.config().latent)),
      channels_(static_cast<size_t>(checkpoint.config().codec.dimension)),
      stride_(static_cast<size_t>(checkpoint.config().codec.stride)),
      window_(static_cast<size_t>(checkpoint.config().codec.window)),
      frame_samples_(static_cast<size_t>(checkpoint.config().codec.frame_samples)),
      cache_(cache),
      weights_(kernels),
      transformer_(
          kernels, config_,
          LoadPocketLayers(weights_, checkpoint.tensors().Under("mimi.decoder_transformer.transformer"),
                           config_, true, activation, format),
          Sight{window_}),
      workspace_(kernels),
      latents_(kernels) {
  LoadUpsample(checkpoint);
  LoadStages(checkpoint.tensors().Under("mimi.decoder"), checkpoint.config().codec);
}

// output_proj(latent * emb_std + emb_mean) is one product, whose rows stand once for each position of a
// frame. The transposed convolution has one channel for each of its inputs, so that it is a depthwise one of
// these.
void LatentDecoder::LoadUpsample(const PocketCheckpoint& checkpoint) {
  const NamedTensors tensors = checkpoint.tensors();
  const std::vector<float> w = ToFloats(tensors["mimi.quantizer.output_proj.weight"]),
                           mean = ToFloats(tensors["flow_lm.emb_mean"]),
                           deviation = ToFloats(tensors["flow_lm.emb_std"]),
                           kernel = ToFloats(tensors["mimi.upsample.convtr.convtr.weight"]);
  const size_t columns = stride_ * channels_;
  std::vector<float> rows(columns * latent_), bias(columns), taps(columns * kUpsampleTaps);
  for (size_t row = 0; row < columns; row++) {
    const size_t channel = row % channels_, position = row / channels_;
    double sum = 0;
    for (size_t i = 0; i < latent_; i++) {
      const auto weight = static_cast<double>(w[channel * latent_ + i]);
      rows[row * latent_ + i] = static_cast<float>(weight * static_cast<double>(deviation[i]));
      sum += weight * static_cast<double>(mean[i]);
    }
    bias[row] = static_cast<float>(sum);
    const float* const of_channel = kernel.data() + channel * kUpsampleTaps * stride_;
    taps[row] = of_channel[position + stride_];  // of the frame before
    taps[columns + row] = of_channel[position];
  }
  rows_ = weights_.Packed(rows, columns, latent_, Format::kF32);
  rows_bias_ = weights_.Floats(bias);
  taps_ = weights_.Floats(taps);
  no_bias_ = weights_.Floats(std::vector<float>(columns, 0));
  upsample_tail_ = plan_.Add((kUpsampleTaps - 1) * columns);
}

void LatentDecoder::LoadStages(const NamedTensors& decoder, const PocketCodecConfig& codec) {
  size_t place = 0;
  const auto causal = [&](const NamedTensors& tensors, size_t dilation) {
    return CausalLayer::Load(weights_, tensors, dilation, FormatOf(tensors["weight"]), &plan_);
  };
  first_ = causal(decoder.Under("model", place++).Under("conv"), 1);
  for (const int64_t ratio : codec.ratios) {
    const NamedTensors expansion = decoder.Under("model", ++place).Under("convtr");
    Stage stage{static_cast<size_t>(ratio),
                CausalLayer::LoadTransposed(weights_, expansion, static_cast<size_t>(ratio),
                                            FormatOf(expansion["weight"]), &plan_),
                {}};
    place++;
    size_t dilation = 1;
    for (int64_t n = 0; n < codec.residual_layers;
         n++, dilation *= static_cast<size_t>(codec.dilation_base)) {
      const NamedTensors block = decoder.Under("model", place++);
      stage.residuals.push_back({causal(block.Under("block.1.conv"), dilation),
                                 weights_.Of(block["block.3.conv.weight"]),
                                 weights_.Floats(block["block.3.conv.bias"])});
    }
    stages_.push_back(std::move(stage));
  }
  last_ = causal(decoder.Under("model", place + 1).Under("conv"), 1);
}

std::unique_ptr<CodecState> LatentDecoder::NewState() const {
  return std::make_unique<CodecState>(kernels_, plan_.floats(), config_,
                                      window_ + kStreamFrames * stride_ - 1, cache_);
}

size_t LatentDecoder::StateBytes() const {
  return CodecState::BytesOf(plan_.floats(), config_, window_ + kStreamFrames * stride_ - 1, cache_);
}

void LatentDecoder::Decode(const Job* jobs, size_t count) {
  done_.assign(count, 0);
  while (Gather(jobs, count)) Run();
}

// The next frames of those jobs that have some left, and their latents one after the other; false when none
// has.
bool LatentDecoder::Gather(const Job* jobs, size_t count) {
  pass_.Clear();
  streams_.clear();
  samples_.clear();
  next_.clear();
  for (size_t j = 0; j < count; j++) {
    const Job& job = jobs[j];
    const size_t frames = std::min({job.frames - done_[j], kStreamFrames, kPassFrames - pass_.frames()});
    if (frames == 0) continue;
    const float* const latents = job.latents + done_[j] * latent_;
    next_.insert(next_.end(), latents, latents + frames * latent_);
    pass_.Add(job.state, frames);
    streams_.push_back({&job.state->keys(), frames * stride_});
    samples_.push_back(job.samples + done_[j] * frame_samples_);
    done_[j] += frames;
  }
  gathered_ = latents_.Floats(kPassFrames * latent_);
  if (!next_.empty()) kernels_.Upload(gathered_, next_.data(), next_.size() * sizeof(float));
  return pass_.frames() > 0;
}

// Floats of the largest signal of a pass, with room for what its convolutions look back on.
size_t LatentDecoder::Floats() const {
  size_t rate = stride_;
  size_t most =
      std::max(pass_.RowsWithPast(1, kUpsampleTaps - 1) * rows_.rows, first_->InputFloats(pass_, rate));
  for (const Stage& stage : stages_) {
    most = std::max(most, stage.expansion.InputFloats(pass_, rate));
    rate *= stage.ratio;
    for (const Residual& residual : stage.residuals)
      most = std::max(most, residual.first.InputFloats(pass_, rate));
    most = std::max(most, pass_.Rows(rate) * stage.expansion.channels() / 2);
  }
  return std::max(most, last_->InputFloats(pass_, rate));
}

void LatentDecoder::AddResidual(const Residual& residual, size_t rate, float* x, float* activated,
                                float* inner, float* spare) {
  const size_t rows = pass_.Rows(rate), floats = rows * residual.first.channels();
  kernels_.Copy(activated, x, floats * sizeof(float));
  kernels_.Activate(Activation::kElu, activated, floats);
  residual.first.Run(kernels_, pass_, rate, activated, spare, inner);
  kernels_.Activate(Activation::kElu, inner, rows * residual.second.columns);
  kernels_.Multiply(residual.second, Rows(inner, rows, residual.second.columns),
                    {residual.second_bias, nullptr, true}, x);
}

void LatentDecoder::Run() {
  const size_t room = Floats();
  auto [x, y, inner, spare] = workspace_.Parts<4>({room, room, room, room});
  kernels_.Multiply(rows_, Rows(gathered_, pass_.frames(), latent_), {rows_bias_, nullptr, false}, x);
  const std::vector<Stretch>& frames =
      pass_.Stretches(1, kUpsampleTaps - 1, rows_.rows, upsample_tail_, spare);
  kernels_.ConvolveSpreadDepthwise(x, taps_, no_bias_, rows_.rows, kUpsampleTaps, frames.data(),
                                   frames.size(), y);
  transformer_.Forward(streams_.data(), streams_.size(), y);
  size_t rate = stride_;
  first_->Run(kernels_, pass_, rate, y, spare, x);
  for (const Stage& stage : stages_) {
    kernels_.Activate(Activation::kElu, x, pass_.Rows(rate) * stage.expansion.channels());
    stage.expansion.Run(kernels_, pass_, rate, x, spare, y);
    rate *= stage.ratio;
    std::swap(x, y);
    for (const Residual& residual : stage.residuals) AddResidual(residual, rate, x, y, inner, spare);
  }
  kernels_.Activate(Activation::kElu, x, pass_.Rows(rate) * last_->channels());
  last_->Run(kernels_, pass_, rate, x, spare, y);
  const float* from = y;
  for (size_t s = 0; s < samples_.size(); s++) {
    const size_t count = pass_.streams()[s].frames * frame_samples_;
    kernels_.Download(samples_[s], from, count * sizeof(float));
    from += count;
  }
  kernels_.Wait();
}

}  // namespace parley::model
