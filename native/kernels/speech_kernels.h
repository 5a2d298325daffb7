// The backend's calls that only the speech model needs: convolutions over time, Snake, codebooks, the passes
// of the code predictor, and the speaker encoder's statistics. The rules of kernels.h hold.
#ifndef PARLEY_KERNELS_SPEECH_KERNELS_H_
#define PARLEY_KERNELS_SPEECH_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"

namespace parley {

// Convolutions over time-major signals [time, channels] are products: output t
// is the weights, one row per output channel, times the window of inputs that
// ends at t. Weights are repacked once, when they are loaded, so that a row lies
// as the window lies.
//
//   causal, k taps, dilation d:   row o = [tap 0 | tap 1 | ... | tap k-1], each [in],
//     tap j meets input t - (k-1-j) d. History: (k-1) d inputs.
//   transposed, kernel m s, stride s:  the last (m-1) s outputs are dropped, so outputs
//     t s .. t s + s-1 depend on inputs t-m+1 .. t alone: a causal convolution of m taps with
//     s * out rows, whose result [time, s * out] read as [time * s, out] is the answer.
//     Row j * out + o = [W[:, o, j + (m-1) s] | ... | W[:, o, j]]. History: m - 1 inputs.
//
// weights: [rows, taps * channels], packed as above.
struct Convolution {
  Matrix weights;
  const float* bias = nullptr;  // [rows] or none
  size_t channels = 0;          // input channels
  size_t taps = 1;
  size_t dilation = 1;
  size_t stride = 1;  // inputs from one output to the next

  // Inputs before the first that a causal convolution looks back on.
  size_t History() const { return (taps - 1) * dilation; }
};

// The windows of `count` outputs; `first` is the earliest input of the first
// window: x - History() * channels for a causal convolution of x.
//
// Without dilation the taps touch, and are one segment: the order of summation
// follows from the shape of the convolution, never from `count`.
inline Vectors WindowsOf(const Convolution& convolution, const float* first, size_t count) {
  const size_t step = convolution.stride * convolution.channels;
  if (convolution.dilation == 1) {
    return {first, count, step, convolution.taps * convolution.channels, 1, 0};
  }
  return {first,
          count,
          step,
          convolution.channels,
          convolution.taps,
          convolution.dilation * convolution.channels};
}

// weights: [out, in, taps] -> [out, taps * in].
std::vector<float> PackConvolution(const float* weights, size_t out, size_t in, size_t taps);

// weights: [in, out, kernel], kernel a multiple of stride -> [stride * out, kernel / stride * in].
// Throws std::invalid_argument for another kernel.
std::vector<float> PackTransposed(const float* weights, size_t in, size_t out, size_t kernel, size_t stride);

// weights: [channels, taps] -> [taps, channels], as Kernels::Depthwise reads them.
std::vector<float> PackDepthwise(const float* weights, size_t channels, size_t taps);

// The bias of a transposed convolution, once for each of its `stride` phases.
std::vector<float> RepeatBias(const float* bias, size_t out, size_t stride);

enum class Padding : uint8_t { kZero, kReplicate, kReflect };

// The next `count` positions of one stream that a causal convolution passes: x [count, channels], with
// room for its history before them, which is filled from `tail` [history, channels]; then
// tail is what the next stretch needs. A stream starts with a tail of zeros.
struct Stretch {
  float* x = nullptr;
  size_t count = 0;
  float* tail = nullptr;
};

// Snake of so many channels, as Kernels::Snake takes it.
struct SnakeOf {
  const float* a = nullptr;
  const float* b = nullptr;
};

// pointwise(snake(dilated(snake(x)))) of a signal of as many channels as it gives.
struct ResidualUnit {
  SnakeOf first;
  Convolution dilated;
  SnakeOf second;
  Matrix pointwise;
  const float* pointwise_bias = nullptr;
};

// One pass of a code predictor, after its layers: the product of a head, and one code for each stream, chosen
// from its logits.
struct CodePass {
  const float* angles = nullptr;  // [rows, head_dim], as Angles gives them
  Matrix head;                    // [vocabulary, hidden]
  Matrix table;  // [at least vocabulary, hidden]: a code's row is the next pass's input; empty in the
                 // last pass
};

// Passes one after the other, the first of the streams' positions that a batch has, the next of one row each,
// at the position after these.
struct CodePasses {
  const LayerWeights* layers = nullptr;
  size_t layer_count = 0;
  Norm norm;  // after the layers
  const CodePass* passes = nullptr;
  size_t count = 0;
  const Choice* choices = nullptr;  // [streams] in the backend's memory
  uint64_t sequence = 0;            // the first pass's draws; the next pass has the next one
  int32_t* codes =
      nullptr;  // the first pass's: the i-th stream's at codes[i * stride], that of the next pass
                // beside it
  size_t stride = 0;
};

class SpeechKernels : public Kernels {
 public:
  // --- products of what a norm or an activation gives
  // y [rows, w.rows] = w times the RMSNorm of each `every`-th row of x [.., w.columns], from the first on,
  // plus bias, where there is one. Loses x, which a backend need not write.
  virtual void MultiplyNormed(const Matrix& w, const Norm& norm, float* x, size_t rows, size_t every,
                              const float* bias, float* y);
  // y [rows, w.rows] = w times what Snake makes of the rows of x [rows, w.columns], bit for bit as these two
  // one after the other. Loses x, which a backend need not write.
  virtual void MultiplySnaked(const Matrix& w, float* x, const float* a, const float* b, size_t rows,
                              const Finish& finish, float* y);

  // --- codebooks
  // A table's rows after another's, the t-th of `table_count` by the ids that lie t further on: bit for bit
  // as these would be gathered one after the other, all but the first added. A backend may do it in one step.
  // tables: on the host.
  virtual void GatherSum(const Matrix* tables, size_t table_count, const Ids& ids, size_t count, bool add,
                         float* y);
  // The row of table (kF32) nearest to each x[i], the first of equals, to ids on the host;
  // then x[i] -= that row. One step of residual quantization.
  virtual void TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) = 0;

  // --- passes of a code predictor
  // x [batch.rows, hidden] through all passes of a code predictor, as these give it one after the other:
  // RunLayers, RmsNorm, of each stream's last row Multiply, Choose, and Gather of what the next pass begins
  // with. x is lost. False, and nothing is done, as of RunLayers.
  virtual bool RunPasses(const CodePasses& passes, const AttentionBatch& batch, float* x) {
    (void)passes, (void)batch, (void)x;
    return false;
  }

  // --- convolutions, stride 1; streams are independent of each other
  // y [sum of counts, weights.rows], stream by stream. The history is History() positions.
  virtual void ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count,
                              float* y) = 0;
  // As above, for groups = channels: weights [taps, channels] (PackDepthwise), history taps - 1.
  virtual void ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                                 const Stretch* streams, size_t count, float* y) = 0;
  // x, all streams' rows one after the other, to where a convolution reads them: as it is, or where there are
  // a and b as Snake gives it.
  virtual void Spread(const float* x, const float* a, const float* b, size_t channels, const Stretch* streams,
                      size_t count);
  // Spread and ConvolveCausal, bit for bit as these two one after the other. Afterwards the memory at the
  // streams' x and before it is undefined, since a backend need not write it.
  virtual void ConvolveSpread(const float* x, const float* a, const float* b, const Convolution& convolution,
                              const Stretch* streams, size_t count, float* y);
  // As above, then Clamp of y.
  virtual void ConvolveClamped(const float* x, const float* a, const float* b, const Convolution& convolution,
                               const Stretch* streams, size_t count, float lowest, float highest, float* y);
  // ConvolveSpread for ConvolveDepthwise, with x as it is.
  virtual void ConvolveSpreadDepthwise(const float* x, const float* weights, const float* bias,
                                       size_t channels, size_t taps, const Stretch* streams, size_t count,
                                       float* y);
  // x [rows, channels], all streams' new positions one after the other, plus what the unit makes of it: bit
  // for bit as ConvolveSpread to y and MultiplySnaked to x. Loses y, as large as x, which a backend need not
  // write; as what lies at the streams' x.
  virtual void AddResidual(const ResidualUnit& unit, const Stretch* streams, size_t count, size_t rows,
                           float* x, float* y);
  // y [left + rows + right, channels]; then a convolution is Multiply(weights, WindowsOf(...)).
  // kReflect needs rows > left and rows > right; kReplicate at least one row.
  virtual void Pad(const float* x, size_t rows, size_t channels, size_t left, size_t right, Padding padding,
                   float* y) = 0;

  // --- element by element
  // x + sin(x a)^2 b per channel, a = e^alpha, b = 1 / (e^beta + 1e-9): SnakeBeta.
  // y may be x.
  virtual void Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels,
                     float* y) = 0;
  // A value that is not finite becomes or stays NaN.
  virtual void Clamp(float* x, size_t count, float lowest, float highest) = 0;

  // --- over time, for the speaker encoder: x [rows, channels], a row every `stride` floats, so that a few
  // channels of many can be asked for; weights as x or none (all the same) mean = sum w x; deviation =
  // sqrt(max(sum w (x - mean)^2, floor)), unless deviation is null.
  virtual void Statistics(const float* x, const float* weights, size_t rows, size_t channels, size_t stride,
                          float floor, float* mean, float* deviation) = 0;
  // In place, each channel over its rows.
  virtual void SoftmaxOverTime(float* x, size_t rows, size_t channels, size_t stride) = 0;
  // y += x * gain[channel]: the gate of squeeze and excitation.
  virtual void AddScaled(float* y, const float* x, const float* gain, size_t rows, size_t channels) = 0;
  // --- adaptive norms ("Scalable Diffusion Models with Transformers", arXiv 2212.09748): rows of shifts,
  // scales and gates lie `stride` floats apart. x = x (1 + scale) + shift
  virtual void Modulate(const float* shift, const float* scale, size_t rows, size_t width, size_t stride,
                        float* x) = 0;
  // y += gate x
  virtual void AddGated(const float* x, const float* gate, size_t rows, size_t width, size_t stride,
                        float* y) = 0;

  // y[i] [to_width] at column `to` = x[i] [from_width] at column `from`, `width` of them: split and
  // concatenation.
  virtual void CopyColumns(const float* x, size_t from_width, size_t from, float* y, size_t to_width,
                           size_t to, size_t width, size_t rows) = 0;
};

}  // namespace parley

#endif  // PARLEY_KERNELS_SPEECH_KERNELS_H_
