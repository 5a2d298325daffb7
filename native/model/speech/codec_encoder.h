// The codec's encoder: a waveform to codes from which the codec's decoder reconstructs it. It consists of
// SEANet convolutions, a transformer that sees the whole past, and codebooks.
#ifndef PARLEY_MODEL_CODEC_ENCODER_H_
#define PARLEY_MODEL_CODEC_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/transformer.h"
#include "model/shared/workspace.h"
#include "model/speech/codebooks.h"
#include "model/speech/encoder_convolutions.h"
#include "model/speech/model_config.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

// The convolutions of the codec encoder: a waveform to a few vectors a second.
// Causal, so a recording goes through in pieces, and the memory is that of a piece.
class SeanetEncoder {
 public:
  // tensors: "encoder" of the codec's encoder.
  SeanetEncoder(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors,
                const CodecEncoderConfig& config);

  // State of one recording between pieces.
  class State {
   public:
    explicit State(const SeanetEncoder& encoder);

   private:
    friend class SeanetEncoder;
    std::deque<ConvolutionTail> tails_;  // in the order in which the convolutions come, the first before all
  };

  // "layers.N" of every convolution and residual unit.
  void SetTap(Tap tap) { tap_ = std::move(tap); }

  size_t hop() const { return hop_; }  // samples to a vector
  size_t outputs() const { return last_.outputs(); }
  // Bytes for states and for intermediate signals of pieces of `samples` samples.
  size_t WorkBytes(size_t samples) const;

  // The vectors [ceil(count / hop), outputs], good until the next call. Every piece but the
  // last of a recording is a multiple of hop.
  const float* Encode(State* state, const float* samples, size_t count);

 private:
  struct Stage {
    StreamedConvolution narrow, widen;  // the residual unit
    StreamedConvolution down;
  };

  std::vector<const StreamedConvolution*> Convolutions() const;  // in their order, after the first
  size_t BufferFloats(size_t samples) const;
  float* Buffer(Workspace* workspace, size_t samples) {
    return workspace->Floats(BufferFloats(samples)) + before_;
  }

  SpeechKernels& kernels_;
  const WaveConvolution first_;
  std::vector<Stage> stages_;
  const StreamedConvolution last_;
  size_t hop_ = 1;
  size_t before_ = 0, after_ = 0;  // floats of room around a signal, enough for every convolution
  Workspace signal_, copy_, narrow_;
  Tap tap_;
};

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
  size_t LayerWorkBytes(size_t vectors) const;

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
