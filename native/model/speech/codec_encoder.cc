#include "model/speech/codec_encoder.h"

#include <algorithm>
#include <utility>

namespace parley::model {
namespace {

constexpr Sight kUnbounded;  // the window in the configuration is one that the reference does not apply

const CodecEncoderConfig& ConfigOf(const SpeechCheckpoint& checkpoint) {
  return *checkpoint.codec_config().encoder;
}

NamedTensors TensorsOf(const SpeechCheckpoint& checkpoint) {
  return checkpoint.CodecTensors().Under("encoder");
}

}  // namespace

CodecEncoder::CodecEncoder(SpeechKernels& kernels, Weights& weights, const SpeechCheckpoint& checkpoint,
                           size_t piece_frames)
    : kernels_(kernels),
      sample_rate_(static_cast<size_t>(checkpoint.codec_config().sample_rate)),
      frame_samples_(static_cast<size_t>(checkpoint.codec_config().frame_samples)),
      piece_samples_(piece_frames * frame_samples_),
      seanet_(kernels, weights, TensorsOf(checkpoint).Under("encoder"), ConfigOf(checkpoint)),
      transformer_(
          kernels, ConfigOf(checkpoint).transformer,
          LoadLayers(weights, TensorsOf(checkpoint).Under("encoder_transformer"),
                     static_cast<size_t>(ConfigOf(checkpoint).transformer.layers), kCodecEncoderLayer),
          kUnbounded),
      quantizer_(kernels, weights, TensorsOf(checkpoint).Under("quantizer"),
                 static_cast<size_t>(ConfigOf(checkpoint).quantizers)),
      vectors_(kernels),
      frames_(kernels) {
  const auto stride = static_cast<size_t>(ConfigOf(checkpoint).downsample);
  if (stride == 1) return;
  downsample_.emplace(weights, TensorsOf(checkpoint).Under("downsample.conv"), stride, false,
                      Padding::kReplicate);
}

void CodecEncoder::SetTap(const Tap& tap) {
  seanet_.SetTap(tap);
  tap_ = tap;
}

// Rows for so many vectors, with room for the convolution that reads them.
float* CodecEncoder::Room(size_t vectors) {
  const size_t before = downsample_ ? downsample_->RoomBefore() : 0,
               after = downsample_ ? downsample_->RoomAfter() : 0;
  return vectors_.Floats(before + vectors * seanet_.outputs() + after) + before;
}

// Bytes for the transformer's intermediate signals: angles, the normed rows, queries and what they attend to,
// keys and values, the inner rows of its MLP.
size_t CodecEncoder::LayerWorkBytes(size_t vectors) const {
  const TransformerConfig& c = transformer_.config();
  constexpr size_t kParts = 7, kAlignment = 64;
  const int64_t floats = c.head_dim + c.hidden + 2 * c.query_width() + 2 * c.kv_width() + c.intermediate;
  return vectors * static_cast<size_t>(floats) * sizeof(float) + kParts * kAlignment;
}

size_t CodecEncoder::WorkBytes(size_t samples) const {
  const size_t piece = std::min(samples, piece_samples_);
  const size_t vectors = VectorsOf(piece), frames = FramesOf(piece);
  const size_t room =
      downsample_ ? 2 * downsample_->RoomBefore() + downsample_->RoomAfter() : 0;  // and its tail
  const size_t rows = (vectors + frames) * seanet_.outputs() + room;
  return KvState::BytesOf(transformer_.config(), Format::kF32, VectorsOf(samples)) +
         seanet_.WorkBytes(piece) + LayerWorkBytes(vectors) + rows * sizeof(float) +
         quantizer_.WorkBytes(frames);
}

CodecEncoder::Run::Run(CodecEncoder& encoder, const std::vector<float>& samples)
    : encoder_(encoder),
      samples_(samples),
      seanet_(encoder.seanet_),
      keys_(encoder.kernels_, encoder.transformer_.config(), Format::kF32, encoder.VectorsOf(samples.size())),
      downsample_(encoder.kernels_) {}

bool CodecEncoder::Run::Advance() {
  CodecEncoder& e = encoder_;
  const size_t count = std::min(e.piece_samples_, samples_.size() - at_);
  if (count == 0) return false;
  const size_t rows = e.VectorsOf(count), frames = e.FramesOf(count), width = e.seanet_.outputs();
  const float* const heard = e.seanet_.Encode(&seanet_, samples_.data() + at_, count);
  Show(e.tap_, "encoder", heard, rows, width);
  float* x = e.Room(rows);
  e.kernels_.Copy(x, heard, rows * width * sizeof(float));
  const Transformer::Stream stream{&keys_, rows};
  e.transformer_.Forward(&stream, 1, x);
  Show(e.tap_, "encoder_transformer", x, rows, width);
  if (e.downsample_) {
    float* const down = e.frames_.Floats(frames * width);
    e.downsample_->Apply(e.kernels_, x, rows, &downsample_, false, down);
    x = down;
  }
  Show(e.tap_, "downsample", x, frames, width);
  codes_.resize(codes_.size() + frames * e.code_groups());
  e.quantizer_.Encode(x, frames, codes_.data() + codes_.size() - frames * e.code_groups());
  at_ += count;
  return true;
}

namespace {

// The list of layers counts activations too: a stage is a residual unit, an activation and a convolution.
constexpr size_t kLayersOfStage = 3;

NamedTensors Layer(const NamedTensors& tensors, size_t n) { return tensors.Under("layers", n); }

}  // namespace

SeanetEncoder::SeanetEncoder(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors,
                             const CodecEncoderConfig& config)
    : kernels_(kernels),
      first_(weights, Layer(tensors, 0).Under("conv")),
      last_(weights, Layer(tensors, kLayersOfStage * config.ratios.size() + 2).Under("conv")),
      signal_(kernels),
      copy_(kernels),
      narrow_(kernels) {
  size_t place = 1;
  for (const int64_t ratio : config.ratios) {
    const auto stride = static_cast<size_t>(ratio);
    stages_.push_back({StreamedConvolution(weights, Layer(tensors, place).Under("block.1.conv")),
                       StreamedConvolution(weights, Layer(tensors, place).Under("block.3.conv")),
                       StreamedConvolution(weights, Layer(tensors, place + 2).Under("conv"), stride)});
    place += kLayersOfStage;
    hop_ *= stride;
  }
  before_ = first_.RoomBefore();
  for (const StreamedConvolution* const one : Convolutions()) {
    before_ = std::max(before_, one->RoomBefore());
    after_ = std::max(after_, one->RoomAfter());
  }
}

SeanetEncoder::State::State(const SeanetEncoder& encoder) {
  for (size_t n = 0; n < encoder.Convolutions().size() + 1; n++) tails_.emplace_back(encoder.kernels_);
}

std::vector<const StreamedConvolution*> SeanetEncoder::Convolutions() const {
  std::vector<const StreamedConvolution*> all;
  for (const Stage& stage : stages_) all.insert(all.end(), {&stage.narrow, &stage.widen, &stage.down});
  all.push_back(&last_);
  return all;
}

size_t SeanetEncoder::BufferFloats(size_t samples) const {
  size_t rows = samples, most = samples * first_.outputs();
  for (const StreamedConvolution* const one : Convolutions()) {
    rows = one->OutputRows(rows);
    most = std::max(most, rows * one->outputs());
  }
  return before_ + most + after_;
}

size_t SeanetEncoder::WorkBytes(size_t samples) const {
  size_t bytes = 3 * BufferFloats(samples) * sizeof(float) + first_.TailBytes();
  for (const StreamedConvolution* const one : Convolutions()) bytes += one->TailBytes();
  return bytes;
}

const float* SeanetEncoder::Encode(State* state, const float* samples, size_t count) {
  float* x = Buffer(&signal_, count);
  float* other = Buffer(&copy_, count);
  float* const narrow = Buffer(&narrow_, count);
  auto tail = state->tails_.begin();
  size_t rows = count, place = 0;
  first_.Apply(kernels_, samples, count, other, &*tail++, x);
  Show(tap_, "layers.0", x, rows, first_.outputs());
  for (const Stage& stage : stages_) {
    const size_t channels = stage.down.channels(), inner = stage.narrow.outputs();
    kernels_.Copy(other, x, rows * channels * sizeof(float));
    kernels_.Activate(Activation::kElu, other, rows * channels);
    stage.narrow.Apply(kernels_, other, rows, &*tail++, false, narrow);
    kernels_.Activate(Activation::kElu, narrow, rows * inner);
    stage.widen.Apply(kernels_, narrow, rows, &*tail++, true, x);
    Show(tap_, "layers." + std::to_string(place + 1), x, rows, channels);
    kernels_.Activate(Activation::kElu, x, rows * channels);
    stage.down.Apply(kernels_, x, rows, &*tail++, false, other);
    std::swap(x, other);
    rows = stage.down.OutputRows(rows);
    place += kLayersOfStage;
    Show(tap_, "layers." + std::to_string(place), x, rows, stage.down.outputs());
  }
  kernels_.Activate(Activation::kElu, x, rows * last_.channels());
  last_.Apply(kernels_, x, rows, &*tail, false, other);
  Show(tap_, "layers." + std::to_string(place + 2), other, rows, last_.outputs());
  return other;
}

}  // namespace parley::model
