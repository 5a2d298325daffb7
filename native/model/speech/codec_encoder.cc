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
      seanet_(kernels, weights, TensorsOf(checkpoint).Under("encoder"),
              {"layers", ConfigOf(checkpoint).ratios}),
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
  downsample_.emplace(weights, TensorsOf(checkpoint).Under("downsample.conv"),
                      StreamedShape{stride, 1, false, Padding::kReplicate});
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

size_t CodecEncoder::WorkBytes(size_t samples) const {
  const size_t piece = std::min(samples, piece_samples_);
  const size_t vectors = VectorsOf(piece), frames = FramesOf(piece);
  const size_t room =
      downsample_ ? 2 * downsample_->RoomBefore() + downsample_->RoomAfter() : 0;  // and its tail
  const size_t rows = (vectors + frames) * seanet_.outputs() + room;
  return KvState::BytesOf(transformer_.config(), Format::kF32, VectorsOf(samples)) +
         seanet_.WorkBytes(piece) + transformer_.WorkBytes(vectors) + rows * sizeof(float) +
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

}  // namespace parley::model
