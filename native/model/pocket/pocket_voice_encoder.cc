#include "model/pocket/pocket_voice_encoder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/pocket/pocket_layers.h"

namespace parley::model {
namespace {

constexpr uint32_t kMinRate = 4000, kMaxRate = 192'000;  // Hz
// Bounds of the loudest sample: -80 dB is the level of an input to which nothing is connected; above full
// scale by more than a filter overshoots are samples of another scale.
constexpr float kSilence = 1e-4f, kLoudest = 2;

const PocketCodecConfig& CodecOf(const PocketCheckpoint& checkpoint) {
  if (!checkpoint.clones()) throw std::invalid_argument("the checkpoint has no encoder of recordings");
  return checkpoint.config().codec;
}

// The decoder's ratios the other way round.
SeanetEncoderConfig SeanetOf(const PocketCodecConfig& codec) {
  return {"model", {codec.ratios.rbegin(), codec.ratios.rend()}, codec.residual_layers, codec.dilation_base};
}

std::vector<float> LeadOf(const PocketCheckpoint& checkpoint) {
  if (!checkpoint.config().bos_before_voice) return {};
  return ToFloats(checkpoint.tensors()["flow_lm.bos_before_voice"]);
}

}  // namespace

PocketVoiceEncoder::PocketVoiceEncoder(SpeechKernels& kernels, const PocketCheckpoint& checkpoint,
                                       Activation activation, size_t piece_frames)
    : kernels_(kernels),
      config_(CodecOf(checkpoint).transformer),
      sample_rate_(static_cast<size_t>(CodecOf(checkpoint).sample_rate)),
      frame_samples_(static_cast<size_t>(CodecOf(checkpoint).frame_samples)),
      stride_(static_cast<size_t>(CodecOf(checkpoint).stride)),
      window_(static_cast<size_t>(CodecOf(checkpoint).window)),
      width_(static_cast<size_t>(checkpoint.config().backbone.hidden)),
      piece_frames_(piece_frames),
      weights_(kernels),
      lead_(LeadOf(checkpoint)),
      seanet_(kernels, weights_, checkpoint.tensors().Under("mimi.encoder"), SeanetOf(CodecOf(checkpoint))),
      transformer_(
          kernels, config_,
          LoadPocketLayers(weights_, checkpoint.tensors().Under("mimi.encoder_transformer.transformer"),
                           config_, true, activation),
          Sight{window_}),
      downsample_(weights_, checkpoint.tensors().Under("mimi.downsample.conv.conv"),
                  StreamedShape{stride_, 1, false, Padding::kReplicate}),
      projection_(weights_.Of(checkpoint.tensors()["flow_lm.speaker_proj_weight"])),
      vectors_(kernels),
      frames_(kernels),
      made_(kernels) {}

void PocketVoiceEncoder::SetTap(const Tap& tap) {
  seanet_.SetTap(tap);
  tap_ = tap;
}

RecordingRules PocketVoiceEncoder::Rules() const {
  return {kMaxSeconds,
          kMinRate,
          kMaxRate,
          kSilence,
          kLoudest,
          static_cast<uint32_t>(sample_rate_),
          kMinSeconds * sample_rate_,
          kPolyphaseFilter};
}

// Rows of the codec's transformer, with room for the convolution that reads them.
float* PocketVoiceEncoder::Room(size_t rows) {
  const size_t before = downsample_.RoomBefore();
  return vectors_.Floats(before + rows * seanet_.outputs() + downsample_.RoomAfter()) + before;
}

size_t PocketVoiceEncoder::WorkBytes(size_t samples) const {
  const size_t frames = std::min(piece_frames_, FramesOf(samples)), rows = frames * stride_;
  const size_t floats = 2 * downsample_.RoomBefore() + downsample_.RoomAfter() + rows * seanet_.outputs() +
                        frames * (downsample_.outputs() + width_);
  return KvState::BytesOf(config_, Format::kF32, window_ + PieceRows() - 1) +
         seanet_.WorkBytes(frames * frame_samples_) + transformer_.WorkBytes(rows) + floats * sizeof(float);
}

PocketVoiceEncoder::Run::Run(PocketVoiceEncoder& encoder, std::vector<float> samples)
    : encoder_(encoder),
      samples_(std::move(samples)),
      seanet_(encoder.seanet_),
      keys_(encoder.kernels_, encoder.config_, Format::kF32, encoder.window_ + encoder.PieceRows() - 1),
      downsample_(encoder.kernels_),
      rows_(encoder.lead_) {
  samples_.resize(encoder.FramesOf(samples_.size()) * encoder.frame_samples_);
  rows_.reserve(rows_.size() + encoder.FramesOf(samples_.size()) * encoder.width_);
}

bool PocketVoiceEncoder::Run::Advance() {
  PocketVoiceEncoder& e = encoder_;
  const size_t count = std::min(e.piece_frames_ * e.frame_samples_, samples_.size() - at_);
  if (count == 0) return false;
  const size_t frames = count / e.frame_samples_, rows = frames * e.stride_, channels = e.seanet_.outputs();
  const float* const heard = e.seanet_.Encode(&seanet_, samples_.data() + at_, count);
  float* const x = e.Room(rows);
  e.kernels_.Copy(x, heard, rows * channels * sizeof(float));
  const Transformer::Stream stream{&keys_, rows};
  e.transformer_.Forward(&stream, 1, x);
  Show(e.tap_, "encoder_transformer", x, rows, channels);
  float* const latents = e.frames_.Floats(frames * e.downsample_.outputs());
  e.downsample_.Apply(e.kernels_, x, rows, &downsample_, false, latents);
  Show(e.tap_, "downsample", latents, frames, e.downsample_.outputs());
  float* const made = e.made_.Floats(frames * e.width_);
  e.kernels_.Multiply(e.projection_, Rows(latents, frames, e.downsample_.outputs()), {}, made);
  rows_.resize(rows_.size() + frames * e.width_);
  e.kernels_.Download(rows_.data() + rows_.size() - frames * e.width_, made,
                      frames * e.width_ * sizeof(float));
  e.kernels_.Wait();
  at_ += count;
  return true;
}

}  // namespace parley::model
