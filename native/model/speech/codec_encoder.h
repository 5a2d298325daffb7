// What a recording sounds like: a waveform to the codes that the codec's decoder
// makes it from again. Convolutions, a transformer that sees the whole past, and codebooks.
#ifndef PARLEY_MODEL_CODEC_ENCODER_H_
#define PARLEY_MODEL_CODEC_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "model/files/checkpoint.h"
#include "model/speech/encoder_convolutions.h"
#include "model/speech/residual_quantizer.h"
#include "model/speech/seanet_encoder.h"
#include "model/shared/tap.h"
#include "model/shared/transformer.h"
#include "model/shared/workspace.h"

namespace parley::model {

class CodecEncoder {
 public:
  // Of a piece: long enough that the weights are read seldom, short enough that streams which speak meanwhile need not
  // wait for much more than a frame. With the published sizes 87 ms of one processor at the end of a minute.
  static constexpr size_t kPieceFrames = 3;

  // `weights` owns the weights. Pieces of other lengths give the same bits.
  CodecEncoder(Kernels& kernels, Weights& weights, const Checkpoint& checkpoint, size_t piece_frames = kPieceFrames);

  // Those of SeanetEncoder, "encoder", "encoder_transformer" and "downsample".
  void Tell(const Tap& tap);

  size_t sample_rate() const { return sample_rate_; }
  size_t code_groups() const { return quantizer_.codebooks(); }
  size_t FramesOf(size_t samples) const { return (samples + frame_samples_ - 1) / frame_samples_; }
  // Of a Run over so many samples, most of it keys and values, and of what works on a piece.
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
  size_t LayerWorkBytes(size_t vectors) const;

  Kernels& kernels_;
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
