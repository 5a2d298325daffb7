// One of the codec decoder's stages before the waveform: a transposed convolution, then a
// ConvNeXt block, x + gamma pw2(gelu(pw1(LayerNorm(depthwise x)))).
#ifndef PARLEY_MODEL_UPSAMPLE_STAGE_H_
#define PARLEY_MODEL_UPSAMPLE_STAGE_H_

#include "model/speech/causal_layer.h"

namespace parley::model {

class UpsampleStage {
 public:
  UpsampleStage(Weights& weights, const NamedTensors& tensors, size_t ratio, Format format, TailPlan* plan);

  // The transposed convolution alone.
  const CausalLayer& expansion() const { return expansion_; }
  size_t ratio() const { return ratio_; }
  size_t history() const { return taps_ - 1; }  // of its depthwise convolution, which has `ratio` rows for a row

  // x [rows, channels] at `rate` rows a frame to y [rows * ratio, channels]; loses x. Each of
  // the three has room for Floats().
  void Run(Kernels& kernels, CodecPass& pass, size_t rate, float* x, float* y, float* spare) const;
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

}  // namespace parley::model

#endif  // PARLEY_MODEL_UPSAMPLE_STAGE_H_
