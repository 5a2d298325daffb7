// A causal convolution of the codec decoder, with its place in every stream's state; plain, or
// transposed: then one row becomes several.
#ifndef PARLEY_MODEL_CAUSAL_LAYER_H_
#define PARLEY_MODEL_CAUSAL_LAYER_H_

#include "model/shared/layer_weights.h"
#include "model/shared/weights.h"
#include "model/speech/codec_state.h"

namespace parley::model {

// SnakeBeta as the kernels take it; the file has alpha and beta as logarithms.
struct SnakeWeights {
  const float* a = nullptr;
  const float* b = nullptr;

  // "alpha" and "beta" of `tensors`.
  static SnakeWeights Load(Weights& weights, const NamedTensors& tensors);
};

class CausalLayer {
 public:
  // "weight" [out, in, taps] and "bias" of `tensors`.
  static CausalLayer Load(Weights& weights, const NamedTensors& tensors, size_t dilation, Format format,
                          TailPlan* plan);
  // "weight" [in, out, kernel]; the kernel is a multiple of `stride`.
  static CausalLayer LoadTransposed(Weights& weights, const NamedTensors& tensors, size_t stride,
                                    Format format, TailPlan* plan);

  // Computes y from snake(x): x is [rows, channels] at `rate` rows a frame, y has all output rows, stream by
  // stream. `spare` has room for InputFloats().
  void Run(Kernels& kernels, CodecPass& pass, size_t rate, const SnakeWeights& snake, const float* x,
           float* spare, float* y) const;
  // The same without snake.
  void Run(Kernels& kernels, CodecPass& pass, size_t rate, const float* x, float* spare, float* y) const {
    Run(kernels, pass, rate, {}, x, spare, y);
  }

  // As the first, but y within -1 and 1.
  void RunClamped(Kernels& kernels, CodecPass& pass, size_t rate, const SnakeWeights& snake, const float* x,
                  float* spare, float* y) const;

  // The streams of such an input, which lie in `spare`; good until the pass is asked again.
  const std::vector<Stretch>& StreamsOf(CodecPass& pass, size_t rate, float* spare) const {
    return pass.Stretches(rate, History(), convolution_.channels, tail_, spare);
  }

  const Convolution& convolution() const { return convolution_; }
  size_t History() const { return convolution_.History(); }
  size_t channels() const { return convolution_.channels; }
  size_t InputFloats(const CodecPass& pass, size_t rate) const {
    return pass.RowsWithPast(rate, History()) * convolution_.channels;
  }

 private:
  CausalLayer(const Convolution& convolution, TailPlan* plan)
      : convolution_(convolution), tail_(plan->Add(convolution.History() * convolution.channels)) {}

  Convolution convolution_;
  size_t tail_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CAUSAL_LAYER_H_
