#include "model/speech/codec_decoder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "model/shared/codec_state.h"
#include "model/shared/workspace.h"
#include "model/speech/codebooks.h"

namespace parley::model {
namespace {

// Frames of one stream, and of all, that are computed at once. On a processor more make the signals larger
// and the work no less; where a pass has to be waited for, there are to be few.
constexpr size_t kStreamFrames = 8;
constexpr size_t kPassFrames = 16;
constexpr size_t kPassFramesApart = 1024;

// Positions that the caches hold: what the first row of a pass sees, and the rows after it.
size_t Capacity(const CodecDecoderConfig& config) {
  return static_cast<size_t>(config.window) + kStreamFrames - 1;
}

}  // namespace

struct CodecDecoder::Parts {
  SpeechKernels& kernels;
  const CodecConfig config;
  Weights weights;
  TailPlan plan;
  CodeTables tables;
  CausalLayer pre_conv;
  LatentTransformer transformer;
  std::vector<UpsampleStage> stages;
  CausalLayer first;
  std::vector<DecoderBlock> blocks;
  SnakeWeights last_snake;
  CausalLayer last;
  size_t context;  // frames that everything after the transformer looks back on

  Workspace workspace;
  CodecPass pass;
  std::vector<int32_t> codes;  // the pass's
  IdList code_ids;
  std::vector<float*> samples;           // per stream of the pass
  std::vector<size_t> done;              // frames of each job
  std::vector<const CodecState*> named;  // states named by the jobs

  Parts(SpeechKernels& kernels, const CodecConfig& config, const NamedTensors& tensors, Format format);
  size_t frame_samples() const { return static_cast<size_t>(config.frame_samples); }
  size_t Context() const;
  size_t Unheard(const Job& job) const;
  size_t Floats() const;
  void Validate(const Job* jobs, size_t count);
  bool Gather(const Job* jobs, size_t count, bool unheard);
  void Run(bool unheard);
  void Deliver(float* from);
};

CodecDecoder::Parts::Parts(SpeechKernels& kernels, const CodecConfig& config, const NamedTensors& tensors,
                           Format format)
    : kernels(kernels),
      config(config),
      weights(kernels),
      tables(weights, tensors.Under("quantizer"), config.decoder, format),
      pre_conv(CausalLayer::Load(weights, tensors.Under("pre_conv.conv"), 1, format, &plan)),
      transformer(kernels, weights, tensors.Under("pre_transformer"), config.decoder, format),
      first(CausalLayer::Load(weights, tensors.Under("decoder.0.conv"), 1, format, &plan)),
      last_snake(
          SnakeWeights::Load(weights, tensors.Under("decoder", config.decoder.upsample_rates.size() + 1))),
      last(CausalLayer::Load(weights,
                             tensors.Under("decoder", config.decoder.upsample_rates.size() + 2).Under("conv"),
                             1, format, &plan)),
      workspace(kernels),
      code_ids(kernels) {
  size_t place = 0;
  for (const int64_t ratio : config.decoder.upsampling_ratios) {
    stages.emplace_back(weights, tensors.Under("upsample", place++), static_cast<size_t>(ratio), format,
                        &plan);
  }
  place = 1;
  for (const int64_t rate : config.decoder.upsample_rates) {
    blocks.emplace_back(weights, tensors.Under("decoder", place++), static_cast<size_t>(rate), format, &plan);
  }
  context = Context();
}

size_t CodecDecoder::Parts::Context() const {
  double frames = 0, rate = 1;
  const auto look_back = [&](size_t rows) { frames += static_cast<double>(rows) / rate; };
  for (const UpsampleStage& stage : stages) {
    look_back(stage.expansion().History());
    rate *= static_cast<double>(stage.ratio());
    look_back(stage.history());
  }
  look_back(first.History());
  for (const DecoderBlock& block : blocks) {
    look_back(block.expansion().History());
    rate *= static_cast<double>(block.rate());
    look_back(block.history());
  }
  look_back(last.History());
  return static_cast<size_t>(std::ceil(frames));
}

// Frames of a job that leave nothing behind but keys and values.
size_t CodecDecoder::Parts::Unheard(const Job& job) const {
  return job.samples == nullptr && job.frames > context ? job.frames - context : 0;
}

// Floats of each of the three signals that a pass needs.
size_t CodecDecoder::Parts::Floats() const {
  size_t most =
      std::max({pass.frames() * std::max({tables.width(), tables.table_width(), transformer.hidden()}),
                pre_conv.InputFloats(pass, 1), pass.frames() * static_cast<size_t>(config.decoder.latent)});
  size_t rate = 1;
  for (const UpsampleStage& stage : stages) {
    most = std::max(most, stage.Floats(pass, rate));
    rate *= stage.ratio();
  }
  most = std::max(
      {most, first.InputFloats(pass, rate), pass.Rows(rate) * static_cast<size_t>(config.decoder.channels)});
  for (const DecoderBlock& block : blocks) {
    most = std::max(most, block.Floats(pass, rate));
    rate *= block.rate();
  }
  return std::max(most, last.InputFloats(pass, rate));
}

void CodecDecoder::Parts::Validate(const Job* jobs, size_t count) {
  named.clear();
  for (size_t j = 0; j < count; j++) named.push_back(jobs[j].state);
  std::sort(named.begin(), named.end(), std::less<const CodecState*>());
  if (std::adjacent_find(named.begin(), named.end()) != named.end()) {
    throw std::invalid_argument("two jobs of the codec name one state");
  }
  for (size_t j = 0; j < count; j++) {
    for (size_t i = 0; i < jobs[j].frames * tables.quantizers(); i++) {
      const int32_t code = jobs[j].codes[i];
      if (code >= 0 && static_cast<size_t>(code) < tables.entries()) continue;
      throw std::invalid_argument("code " + std::to_string(code) + " of frame " +
                                  std::to_string(i / tables.quantizers()) + " is none of the codec's 0 to " +
                                  std::to_string(tables.entries() - 1));
    }
  }
}

// The next frames of those jobs that have some left; false when none has.
bool CodecDecoder::Parts::Gather(const Job* jobs, size_t count, bool unheard) {
  const size_t most = kernels.AnswersAtOnce() ? kPassFrames : kPassFramesApart;
  pass.Clear();
  codes.clear();
  samples.clear();
  for (size_t j = 0; j < count; j++) {
    const Job& job = jobs[j];
    const size_t end = unheard ? Unheard(job) : job.frames;
    const size_t frames = std::min({end - done[j], kStreamFrames, most - pass.frames()});
    if (frames == 0) continue;
    const int32_t* const from = job.codes + done[j] * tables.quantizers();
    codes.insert(codes.end(), from, from + frames * tables.quantizers());
    pass.Add(job.state, frames);
    samples.push_back(job.samples == nullptr ? nullptr : job.samples + done[j] * frame_samples());
    done[j] += frames;
  }
  return pass.frames() > 0;
}

void CodecDecoder::Parts::Run(bool unheard) {
  const size_t room = Floats();
  auto [x, y, spare] = workspace.Parts<3>({room, room, room});
  tables.Sum(kernels, code_ids.Upload(codes).values, pass.frames(), x, y);
  pre_conv.Run(kernels, pass, 1, y, spare, x);
  transformer.Run(kernels, pass, !unheard, x, y);
  if (unheard) return;
  size_t rate = 1;
  for (const UpsampleStage& stage : stages) {
    stage.Run(kernels, pass, rate, x, y, spare);
    rate *= stage.ratio();
    std::swap(x, y);
  }
  first.Run(kernels, pass, rate, x, spare, y);
  for (const DecoderBlock& block : blocks) {
    std::swap(x, y);
    block.Run(kernels, pass, rate, x, y, spare);
    rate *= block.rate();
  }
  last.RunClamped(kernels, pass, rate, last_snake, y, spare, x);
  Deliver(x);
}

void CodecDecoder::Parts::Deliver(float* from) {
  for (size_t s = 0; s < samples.size(); s++) {
    const size_t count = pass.streams()[s].frames * frame_samples();
    if (samples[s] != nullptr) kernels.Download(samples[s], from, count * sizeof(float));
    from += count;
  }
  kernels.Wait();
}

CodecDecoder::CodecDecoder(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Format format)
    : parts_(std::make_unique<Parts>(kernels, checkpoint.codec_config(),
                                     checkpoint.CodecTensors().Under("decoder"), format)) {}

CodecDecoder::~CodecDecoder() = default;

std::unique_ptr<CodecState> CodecDecoder::NewState() const {
  const CodecDecoderConfig& config = parts_->config.decoder;
  return std::make_unique<CodecState>(parts_->kernels, parts_->plan.floats(), config.transformer,
                                      Capacity(config));
}

std::unique_ptr<CodecState> CodecDecoder::CopyOf(const CodecState& state) const {
  auto copy = NewState();
  copy->CopyFrom(state);
  return copy;
}

size_t CodecDecoder::StateBytes() const {
  const CodecDecoderConfig& config = parts_->config.decoder;
  return CodecState::BytesOf(parts_->plan.floats(), config.transformer, Capacity(config));
}

size_t CodecDecoder::WeightBytes() const {
  return parts_->weights.OwnBytes() + parts_->weights.MappedBytes();
}

void CodecDecoder::Decode(const Job* jobs, size_t count) {
  parts_->Validate(jobs, count);
  parts_->done.assign(count, 0);
  for (const bool unheard : {true, false}) {
    while (parts_->Gather(jobs, count, unheard)) parts_->Run(unheard);
  }
}

size_t CodecDecoder::frame_samples() const { return parts_->frame_samples(); }

size_t CodecDecoder::sample_rate() const { return static_cast<size_t>(parts_->config.sample_rate); }

namespace {

// Dilations of the residual units, fixed by the architecture: no configuration has them.
constexpr size_t kDilations[] = {1, 3, 9};

}  // namespace

DecoderBlock::DecoderBlock(Weights& weights, const NamedTensors& tensors, size_t rate, Format format,
                           TailPlan* plan)
    : rate_(rate),
      snake_(SnakeWeights::Load(weights, tensors.Under("block.0"))),
      expansion_(CausalLayer::LoadTransposed(weights, tensors.Under("block.1.conv"), rate, format, plan)) {
  size_t place = 2;
  for (const size_t dilation : kDilations) {
    const NamedTensors unit = tensors.Under("block", place++);
    units_.push_back({SnakeWeights::Load(weights, unit.Under("act1")),
                      CausalLayer::Load(weights, unit.Under("conv1.conv"), dilation, format, plan),
                      SnakeWeights::Load(weights, unit.Under("act2")),
                      weights.Of(unit["conv2.conv.weight"], format),
                      weights.Floats(unit["conv2.conv.bias"])});
  }
}

size_t DecoderBlock::history() const {
  size_t rows = 0;
  for (const Unit& unit : units_) rows += unit.dilated.History();
  return rows;
}

size_t DecoderBlock::Floats(const CodecPass& pass, size_t before) const {
  size_t most = expansion_.InputFloats(pass, before);
  for (const Unit& unit : units_) most = std::max(most, unit.dilated.InputFloats(pass, before * rate_));
  return most;
}

void DecoderBlock::Expand(SpeechKernels& kernels, CodecPass& pass, size_t before, const float* x, float* y,
                          float* spare) const {
  expansion_.Run(kernels, pass, before, snake_, x, spare, y);
}

void DecoderBlock::AddUnit(SpeechKernels& kernels, CodecPass& pass, const Unit& unit, size_t rate, float* x,
                           float* y, float* spare) const {
  const std::vector<Stretch>& streams = unit.dilated.StreamsOf(pass, rate, spare);
  kernels.AddResidual({{unit.first_snake.a, unit.first_snake.b},
                       unit.dilated.convolution(),
                       {unit.second_snake.a, unit.second_snake.b},
                       unit.pointwise,
                       unit.pointwise_bias},
                      streams.data(), streams.size(), pass.Rows(rate), y, x);
}

void DecoderBlock::Run(SpeechKernels& kernels, CodecPass& pass, size_t before, float* x, float* y,
                       float* spare) const {
  Expand(kernels, pass, before, x, y, spare);
  for (const Unit& unit : units_) AddUnit(kernels, pass, unit, before * rate_, x, y, spare);
}

namespace {

constexpr float kNormEps = 1e-6f;  // fixed by the architecture: no configuration has it

const float* LoadDepthwise(Weights& weights, const Tensor& tensor) {
  const auto channels = static_cast<size_t>(tensor.shape[0]), taps = static_cast<size_t>(tensor.shape[2]);
  return weights.Floats(PackDepthwise(ToFloats(tensor).data(), channels, taps));
}

}  // namespace

UpsampleStage::UpsampleStage(Weights& weights, const NamedTensors& tensors, size_t ratio, Format format,
                             TailPlan* plan)
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

void UpsampleStage::Run(SpeechKernels& kernels, CodecPass& pass, size_t rate, float* x, float* y,
                        float* spare) const {
  const size_t rows = pass.Rows(rate * ratio_);
  expansion_.Run(kernels, pass, rate, x, spare, y);
  const std::vector<Stretch>& input = pass.Stretches(rate * ratio_, history(), channels_, tail_, spare);
  kernels.ConvolveSpreadDepthwise(y, depthwise_, depthwise_bias_, channels_, taps_, input.data(),
                                  input.size(), x);
  kernels.ExpandActivated({norm_, norm_bias_, kNormEps}, widen_, widen_bias_, Activation::kGelu, {x, rows, x},
                          spare);
  kernels.Multiply(narrow_, Rows(spare, rows, widen_.rows), {narrow_bias_, gamma_, true}, y);
}

LatentTransformer::LatentTransformer(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors,
                                     const CodecDecoderConfig& config, Format format)
    : input_(weights.Of(tensors["input_proj.weight"], format)),
      output_(weights.Of(tensors["output_proj.weight"], format)),
      input_bias_(weights.Floats(tensors["input_proj.bias"])),
      output_bias_(weights.Floats(tensors["output_proj.bias"])),
      norm_(weights.Floats(tensors["norm.weight"])),
      norm_eps_(static_cast<float>(config.transformer.norm_eps)),
      transformer_(kernels, config.transformer,
                   LoadLayers(weights, tensors, static_cast<size_t>(config.transformer.layers),
                              kCodecDecoderLayer, format),
                   Sight{static_cast<size_t>(config.window)}) {}

void LatentTransformer::Run(SpeechKernels& kernels, const CodecPass& pass, bool wanted, float* x,
                            float* hidden) {
  const size_t rows = pass.frames();
  kernels.Multiply(input_, Rows(x, rows, input_.columns), {input_bias_, nullptr, false}, hidden);
  streams_.clear();
  for (const CodecPass::Stream& stream : pass.streams())
    streams_.push_back({&stream.state->keys(), stream.frames});
  transformer_.Forward(streams_.data(), streams_.size(), hidden);
  if (!wanted) return;
  kernels.MultiplyNormed(output_, {norm_, nullptr, norm_eps_}, hidden, rows, 1, output_bias_, x);
}

}  // namespace parley::model
