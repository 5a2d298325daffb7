// SEANet's encoder: the convolutions that make a few vectors a second of a waveform. Paper: "SoundStream"
// (arXiv 2107.03312), section 3.2, in the causal form of Mimi. Both speech models' codecs begin with it.
#ifndef PARLEY_MODEL_SHARED_SEANET_ENCODER_H_
#define PARLEY_MODEL_SHARED_SEANET_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/encoder_convolutions.h"
#include "model/shared/workspace.h"

namespace parley::model {

struct SeanetEncoderConfig {
  std::string list = "layers";  // the name of the list that holds the convolutions
  std::vector<int64_t> ratios;  // strides of the stages, in order
  int64_t residual_layers = 1;  // residual units of a stage
  int64_t dilation_base = 2;    // of a unit's first convolution, to the power of its number
};

// Causal, so a recording goes through in pieces, and the memory is that of a piece.
class SeanetEncoder {
 public:
  // tensors: the encoder's, with the list in them.
  SeanetEncoder(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors,
                const SeanetEncoderConfig& config);

  // State of one recording between pieces.
  class State {
   public:
    explicit State(const SeanetEncoder& encoder);

   private:
    friend class SeanetEncoder;
    std::deque<ConvolutionTail> tails_;  // in the order in which the convolutions come, the first before all
  };

  // "layers.N", or as the list is called, of every convolution and residual unit.
  void SetTap(Tap tap) { tap_ = std::move(tap); }

  size_t hop() const { return hop_; }  // samples to a vector
  size_t outputs() const { return last_.outputs(); }
  // Bytes for states and for intermediate signals of pieces of `samples` samples.
  size_t WorkBytes(size_t samples) const;

  // The vectors [ceil(count / hop), outputs], good until the next call. Every piece but the
  // last of a recording is a multiple of hop.
  const float* Encode(State* state, const float* samples, size_t count);

 private:
  // x + widen(elu(narrow(elu(x))))
  struct Unit {
    StreamedConvolution narrow, widen;
  };
  struct Stage {
    std::vector<Unit> units;
    StreamedConvolution down;
    size_t place;  // of `down` in the list
  };

  Stage LoadStage(Weights& weights, const NamedTensors& tensors, size_t place, size_t stride) const;
  std::vector<const StreamedConvolution*> Convolutions() const;  // in their order, after the first
  size_t LastPlace() const;
  size_t BufferFloats(size_t samples) const;
  float* Buffer(Workspace* workspace, size_t samples) {
    return workspace->Floats(BufferFloats(samples)) + before_;
  }
  void ShowPlace(size_t place, const float* x, size_t rows, size_t channels) const {
    Show(tap_, config_.list + "." + std::to_string(place), x, rows, channels);
  }

  SpeechKernels& kernels_;
  const SeanetEncoderConfig config_;
  const WaveConvolution first_;
  std::vector<Stage> stages_;
  const StreamedConvolution last_;
  size_t hop_ = 1;
  size_t before_ = 0, after_ = 0;  // floats of room around a signal, enough for every convolution
  Workspace signal_, copy_, narrow_;
  Tap tap_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SHARED_SEANET_ENCODER_H_
