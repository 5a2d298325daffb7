// The convolutions of the codec encoder: a waveform to a few vectors a second.
// Causal, so a recording goes through in pieces, and the memory is that of a piece.
#ifndef PARLEY_MODEL_SEANET_ENCODER_H_
#define PARLEY_MODEL_SEANET_ENCODER_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/speech/codec_config.h"
#include "model/speech/encoder_convolutions.h"
#include "model/shared/tap.h"

namespace parley::model {

class SeanetEncoder {
 public:
  // tensors: "encoder" of the codec's encoder.
  SeanetEncoder(Kernels& kernels, Weights& weights, const NamedTensors& tensors, const CodecEncoderConfig& config);

  // What one recording carries from piece to piece.
  class State {
   public:
    explicit State(const SeanetEncoder& encoder);

   private:
    friend class SeanetEncoder;
    std::deque<ConvolutionTail> tails_;  // in the order in which the convolutions come, the first before all
  };

  // "layers.N" of every convolution and residual unit.
  void Tell(Tap tap) { tap_ = std::move(tap); }

  size_t hop() const { return hop_; }  // samples to a vector
  size_t outputs() const { return last_.outputs(); }
  // Of states and of what works on pieces of so many samples.
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
  float* Buffer(Workspace* workspace, size_t samples) { return workspace->Floats(BufferFloats(samples)) + before_; }

  Kernels& kernels_;
  const WaveConvolution first_;
  std::vector<Stage> stages_;
  const StreamedConvolution last_;
  size_t hop_ = 1;
  size_t before_ = 0, after_ = 0;  // floats of room around a signal, enough for every convolution
  Workspace signal_, copy_, narrow_;
  Tap tap_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SEANET_ENCODER_H_
