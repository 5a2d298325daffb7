// Turns a recording into the rows of a voice of Pocket TTS, which the backbone reads before any text: the
// codec's encoder, and a projection to the backbone's width.
// Paper: "Moshi" (arXiv 2410.00037), section 3.3.
#ifndef PARLEY_MODEL_POCKET_POCKET_VOICE_ENCODER_H_
#define PARLEY_MODEL_POCKET_POCKET_VOICE_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/pocket/pocket_checkpoint.h"
#include "model/shared/encoder_convolutions.h"
#include "model/shared/preparation.h"
#include "model/shared/seanet_encoder.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

class PocketVoiceEncoder {
 public:
  // Seconds of a recording. Fewer are refused: the voice would not be the speaker's. Of more the first are
  // taken, as by the package: the backbone was trained with no longer prompts.
  static constexpr size_t kMinSeconds = 3, kMaxSeconds = 30;
  // Frames in a piece: few enough that streams which speak meanwhile wait for less than a frame.
  static constexpr size_t kPieceFrames = 3;

  // `activation` of the transformer, as the backbone's. Pieces of other lengths give the same bits. Throws
  // std::invalid_argument for a checkpoint without the encoder. kernels and checkpoint outlive it.
  PocketVoiceEncoder(SpeechKernels& kernels, const PocketCheckpoint& checkpoint, Activation activation,
                     size_t piece_frames = kPieceFrames);

  // Stages: "model.N" of every convolution and residual unit, "encoder_transformer" and "downsample".
  void SetTap(const Tap& tap);

  // The limits on a recording, and the filter that brings it to the encoder's rate.
  RecordingRules Rules() const;
  // Positions of the voice of so many samples at the encoder's rate.
  size_t PositionsOf(size_t samples) const { return lead_.size() / width_ + FramesOf(samples); }
  size_t WeightBytes() const { return weights_.OwnBytes() + weights_.MappedBytes(); }
  // Bytes of the backend's memory for a Run over `samples` samples.
  size_t WorkBytes(size_t samples) const;

  // One recording on its way. The encoder outlives it.
  class Run {
   public:
    // samples: mono at the encoder's rate, one or more.
    Run(PocketVoiceEncoder& encoder, std::vector<float> samples);

    // One piece. False: all were done before.
    bool Advance();
    const std::vector<float>& rows() const { return rows_; }  // [positions so far, width of the backbone]

   private:
    PocketVoiceEncoder& encoder_;
    std::vector<float> samples_;  // whole frames
    size_t at_ = 0;
    SeanetEncoder::State seanet_;
    KvState keys_;
    ConvolutionTail downsample_;
    std::vector<float> rows_;
  };

 private:
  size_t FramesOf(size_t samples) const { return (samples + frame_samples_ - 1) / frame_samples_; }
  size_t PieceRows() const { return piece_frames_ * stride_; }
  float* Room(size_t rows);

  SpeechKernels& kernels_;
  const TransformerConfig config_;
  const size_t sample_rate_, frame_samples_, stride_, window_, width_, piece_frames_;
  Weights weights_;
  const std::vector<float> lead_;  // the row before the voice's, or none; on the host
  SeanetEncoder seanet_;
  Transformer transformer_;
  const StreamedConvolution downsample_;
  const Matrix projection_;
  Workspace vectors_, frames_, made_;
  Tap tap_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_VOICE_ENCODER_H_
