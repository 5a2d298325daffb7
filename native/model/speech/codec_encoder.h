// The codec's encoder: a waveform to codes from which the codec's decoder reconstructs it. It consists of
// SEANet convolutions, a transformer that sees the whole past, and codebooks.
#ifndef PARLEY_MODEL_CODEC_ENCODER_H_
#define PARLEY_MODEL_CODEC_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/encoder_convolutions.h"
#include "model/shared/seanet_encoder.h"
#include "model/shared/transformer.h"
#include "model/shared/workspace.h"
#include "model/speech/codebooks.h"
#include "model/speech/model_config.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

class CodecEncoder {
 public:
  // Frames in a piece: enough that weights are seldom read, few enough that streams which speak meanwhile
  // wait for little more than a frame. With the published sizes a piece takes 87 ms of one processor at the
  // end of a minute.
  static constexpr size_t kPieceFrames = 3;

  // `weights` owns the weights. Pieces of other lengths give the same bits.
  CodecEncoder(SpeechKernels& kernels, Weights& weights, const SpeechCheckpoint& checkpoint,
               size_t piece_frames = kPieceFrames);

  // Stages: those of SeanetEncoder, "encoder", "encoder_transformer" and "downsample".
  void SetTap(const Tap& tap);

  size_t sample_rate() const { return sample_rate_; }
  size_t code_groups() const { return quantizer_.codebooks(); }
  size_t FramesOf(size_t samples) const { return (samples + frame_samples_ - 1) / frame_samples_; }
  // Bytes for a Run over `samples` samples, mostly keys and values, and for the intermediate signals of a
  // piece.
  size_t WorkBytes(size_t samples) const;

  // One recording on its way. The encoder and the samples outlive it.
  class Run {
   public:
    // samples: mono at sample_rate(), any number but 0.
    Run(CodecEncoder& encoder, const std::vector<float>& samples);

    // One piece. False: all were done before.
    bool Advance();
    const std::vector<int32_t>& codes() const { return codes_; }  // [frames so far, code_groups]

   private:
    CodecEncoder& encoder_;
    const std::vector<float>& samples_;
    size_t at_ = 0;
    SeanetEncoder::State seanet_;
    KvState keys_;
    ConvolutionTail downsample_;
    std::vector<int32_t> codes_;
  };

 private:
  size_t VectorsOf(size_t samples) const { return (samples + seanet_.hop() - 1) / seanet_.hop(); }
  float* Room(size_t vectors);

  SpeechKernels& kernels_;
  const size_t sample_rate_, frame_samples_, piece_samples_;
  SeanetEncoder seanet_;
  Transformer transformer_;
  std::optional<StreamedConvolution> downsample_;  // none: a vector is a frame
  ResidualQuantizer quantizer_;
  Workspace vectors_, frames_;
  Tap tap_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODEC_ENCODER_H_
