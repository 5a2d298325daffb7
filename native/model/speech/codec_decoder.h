// Codes to waveform, with state: any split of the frames gives the same samples.
#ifndef PARLEY_MODEL_CODEC_DECODER_H_
#define PARLEY_MODEL_CODEC_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/codec_state.h"
#include "model/shared/layer_weights.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/speech/model_config.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

// The transformer inside the codec decoder: from the latent channels to its own width, through
// its layers with a window, and back. There is no residual around it.
class LatentTransformer {
 public:
  LatentTransformer(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors,
                    const CodecDecoderConfig& config, Format format);

  size_t hidden() const { return input_.rows; }

  // x [rows, latent] in place; hidden: room for rows * hidden(). Without `wanted` only the states
  // advance, and x is of no use.
  void Run(SpeechKernels& kernels, const CodecPass& pass, bool wanted, float* x, float* hidden);

 private:
  Matrix input_, output_;
  const float *input_bias_, *output_bias_, *norm_;
  const float norm_eps_;
  Transformer transformer_;
  std::vector<Transformer::Stream> streams_;
};

// A stage of the codec decoder before the waveform: a transposed convolution, then a
// ConvNeXt block, x + gamma pw2(gelu(pw1(LayerNorm(depthwise x)))).
class UpsampleStage {
 public:
  UpsampleStage(Weights& weights, const NamedTensors& tensors, size_t ratio, Format format, TailPlan* plan);

  // The transposed convolution alone.
  const CausalLayer& expansion() const { return expansion_; }
  size_t ratio() const { return ratio_; }
  size_t history() const {
    return taps_ - 1;
  }  // rows that its depthwise convolution looks back on; it has `ratio`
  // rows for an input row

  // x [rows, channels] at `rate` rows a frame to y [rows * ratio, channels]; loses x. Each of
  // the three has room for Floats().
  void Run(SpeechKernels& kernels, CodecPass& pass, size_t rate, float* x, float* y, float* spare) const;
  size_t Floats(const CodecPass& pass, size_t rate) const;

 private:
  size_t ratio_;
  CausalLayer expansion_;
  size_t channels_, taps_, tail_;
  const float *depthwise_, *depthwise_bias_;
  const float *norm_, *norm_bias_;
  Matrix widen_, narrow_;
  const float *widen_bias_, *narrow_bias_, *gamma_;
};

// A block of the codec decoder's waveform part: Snake, a transposed convolution to half the
// channels, then residual units x + conv(Snake(dilated conv(Snake(x)))).
class DecoderBlock {
 public:
  DecoderBlock(Weights& weights, const NamedTensors& tensors, size_t rate, Format format, TailPlan* plan);

  // Rows of its output for one of its input.
  size_t rate() const { return rate_; }
  const CausalLayer& expansion() const { return expansion_; }
  size_t history() const;  // rows of its output that its units look back on, in total

  // x [rows, channels] at `before` rows a frame to y [rows * rate, channels / 2]; loses x. Each of
  // the three has room for Floats().
  void Run(SpeechKernels& kernels, CodecPass& pass, size_t before, float* x, float* y, float* spare) const;
  // Its first part, without the residual units.
  void Expand(SpeechKernels& kernels, CodecPass& pass, size_t before, const float* x, float* y,
              float* spare) const;
  size_t Floats(const CodecPass& pass, size_t before) const;

 private:
  struct Unit {
    SnakeWeights first_snake;
    CausalLayer dilated;
    SnakeWeights second_snake;
    Matrix pointwise;
    const float* pointwise_bias;
  };
  void AddUnit(SpeechKernels& kernels, CodecPass& pass, const Unit& unit, size_t rate, float* x, float* y,
               float* spare) const;

  size_t rate_;
  SnakeWeights snake_;
  CausalLayer expansion_;
  std::vector<Unit> units_;
};

class CodecDecoder {
 public:
  // `format` of convolution and matrix weights: kF32 (exact), or kF16. Tables and their sum are f32.
  // kernels and checkpoint outlive it, and it its states.
  CodecDecoder(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Format format);
  ~CodecDecoder();

  // Empty: zeros and no keys.
  std::unique_ptr<CodecState> NewState() const;
  // State after a reference recording's codes, whose samples are not played: kept with the voice.
  std::unique_ptr<CodecState> CopyOf(const CodecState& state) const;
  size_t StateBytes() const;
  size_t WeightBytes() const;

  struct Job {
    CodecState* state;
    const int32_t* codes;  // [frames, code_groups] on the host
    size_t frames;
    float* samples;  // [frames * frame_samples] on the host, in [-1, 1]; null: not needed
  };
  // Decodes independent jobs, each with a state of its own. The result of a job does not depend on the
  // others, nor on how its frames are cut into jobs, bit for bit. Frames without samples cost little: all but
  // the last ones pass through the transformer only. Once it has seen as many streams and frames, it
  // allocates nothing. Throws std::invalid_argument, before any computation, for an invalid code and for a
  // state that two jobs name.
  void Decode(const Job* jobs, size_t count);

  size_t frame_samples() const;
  size_t sample_rate() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODEC_DECODER_H_
