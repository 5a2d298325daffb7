// One of the codec decoder's blocks of the waveform: Snake, a transposed convolution to half the
// channels, then residual units x + conv(Snake(dilated conv(Snake(x)))).
#ifndef PARLEY_MODEL_DECODER_BLOCK_H_
#define PARLEY_MODEL_DECODER_BLOCK_H_

#include <vector>

#include "model/speech/causal_layer.h"

namespace parley::model {

class DecoderBlock {
 public:
  DecoderBlock(Weights& weights, const NamedTensors& tensors, size_t rate, Format format, TailPlan* plan);

  // Rows of its output for one of its input.
  size_t rate() const { return rate_; }
  const CausalLayer& expansion() const { return expansion_; }
  size_t history() const;  // of its units together, in rows of its output

  // x [rows, channels] at `before` rows a frame to y [rows * rate, channels / 2]; loses x. Each of
  // the three has room for Floats().
  void Run(Kernels& kernels, CodecPass& pass, size_t before, float* x, float* y, float* spare) const;
  // Its first part, without the residual units.
  void Expand(Kernels& kernels, CodecPass& pass, size_t before, const float* x, float* y, float* spare) const;
  size_t Floats(const CodecPass& pass, size_t before) const;

 private:
  struct Unit {
    SnakeWeights first_snake;
    CausalLayer dilated;
    SnakeWeights second_snake;
    Matrix pointwise;
    const float* pointwise_bias;
  };
  void AddUnit(Kernels& kernels, CodecPass& pass, const Unit& unit, size_t rate, float* x, float* y, float* spare) const;

  size_t rate_;
  SnakeWeights snake_;
  CausalLayer expansion_;
  std::vector<Unit> units_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_DECODER_BLOCK_H_
