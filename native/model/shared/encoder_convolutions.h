// The kinds of convolution that the encoders are made of: over a whole signal that is
// reflected at its ends, and causal over a signal that comes in pieces.
#ifndef PARLEY_MODEL_SHARED_ENCODER_CONVOLUTIONS_H_
#define PARLEY_MODEL_SHARED_ENCODER_CONVOLUTIONS_H_

#include <cstddef>
#include <functional>
#include <string>

#include "kernels/speech_kernels.h"
#include "model/shared/layer_weights.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

// Callback for intermediate results, for tests against the golden vectors: a stage, named after its
// tensors, and its result [rows, channels] in the backend's memory. The result is valid until the tap
// returns. Stages computed in pieces are shown in pieces.
using Tap = std::function<void(const std::string& stage, const float* values, size_t rows, size_t channels)>;

inline void Show(const Tap& tap, const std::string& stage, const float* values, size_t rows,
                 size_t channels) {
  if (tap) tap(stage, values, rows, channels);
}

// Gives as many results as inputs; (taps - 1) * dilation inputs are reflected, the larger half at the end.
// Some of the results come out as among all of them.
class SameConvolution {
 public:
  // tensors: "weight" [out, in, taps] and "bias".
  SameConvolution(Weights& weights, const NamedTensors& tensors, size_t dilation = 1);

  size_t outputs() const { return convolution_.weights.rows; }
  // Fewer cannot be reflected.
  size_t MinRows() const { return Right() + 1; }
  // For the results at both ends.
  size_t PaddedFloats() const;
  // Multiply-accumulates.
  size_t CostOfRow() const { return convolution_.weights.rows * convolution_.weights.columns; }

  // Computes `count` results from `first` on out of x [rows, inputs], to their places in y [rows, outputs].
  // padded: PaddedFloats() of scratch memory, overlapping nothing.
  void Apply(SpeechKernels& kernels, const float* x, size_t rows, size_t first, size_t count, float* padded,
             float* y) const;
  // As above, for a single row.
  void Apply(SpeechKernels& kernels, const float* x, float* y) const {
    Apply(kernels, x, 1, 0, 1, nullptr, y);
  }

 private:
  size_t Left() const { return convolution_.History() / 2; }
  size_t Right() const { return convolution_.History() - Left(); }
  const float* Reflected(SpeechKernels& kernels, const float* x, size_t rows, size_t first, size_t last,
                         float* padded) const;

  Convolution convolution_;
};

// The last inputs of a piece, which the first results of the next one look back on.
class ConvolutionTail {
 public:
  explicit ConvolutionTail(SpeechKernels& kernels) : floats_(kernels) {}

 private:
  friend class StreamedConvolution;
  friend class WaveConvolution;
  Workspace floats_;
  bool begun_ = false;
};

struct StreamedShape {
  size_t stride = 1, dilation = 1;
  bool biased = true;
  Padding padding = Padding::kZero;  // of both ends of the signal: zeros, or copies of its ends
};

// Computes ceil(rows / stride) results: result t sees the inputs up to (t + 1) stride - 1.
class StreamedConvolution {
 public:
  // tensors: "weight" [out, in, taps], which reach over `stride` inputs or more, and where biased "bias".
  StreamedConvolution(Weights& weights, const NamedTensors& tensors, const StreamedShape& shape = {});

  size_t channels() const { return convolution_.channels; }
  size_t outputs() const { return convolution_.weights.rows; }
  size_t OutputRows(size_t rows) const { return (rows + stride() - 1) / stride(); }
  // Floats that must be writable before and after the rows of a piece.
  size_t RoomBefore() const { return History() * channels(); }
  size_t RoomAfter() const { return (stride() - 1) * channels(); }
  size_t TailBytes() const { return RoomBefore() * sizeof(float); }

  // y = or += the results [OutputRows(rows), outputs]. Every piece but the last is a multiple of stride.
  void Apply(SpeechKernels& kernels, float* x, size_t rows, ConvolutionTail* tail, bool add, float* y) const;

 private:
  size_t stride() const { return convolution_.stride; }
  size_t History() const { return convolution_.History() + 1 - stride(); }
  void Begin(SpeechKernels& kernels, const float* x, ConvolutionTail* tail) const;
  void PadEnd(SpeechKernels& kernels, float* x, size_t rows) const;

  Convolution convolution_;
  const Padding padding_;
};

// Convolution of a waveform: one channel to many, stride 1. A product of so few taps costs more than its
// arithmetic. With the samples repeated in every channel it becomes a depthwise convolution.
class WaveConvolution {
 public:
  // tensors: "weight" [out, 1, taps] and "bias".
  WaveConvolution(Weights& weights, const NamedTensors& tensors);

  size_t outputs() const { return outputs_; }
  size_t RoomBefore() const { return (taps_ - 1) * outputs_; }
  size_t TailBytes() const { return RoomBefore() * sizeof(float); }

  // samples on the host. repeated: [count, outputs] to work with, and RoomBefore() before it. y [count,
  // outputs].
  void Apply(SpeechKernels& kernels, const float* samples, size_t count, float* repeated,
             ConvolutionTail* tail, float* y) const;

 private:
  const size_t outputs_, taps_;
  const float* const weights_;  // [taps, outputs]
  const float* const bias_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SHARED_ENCODER_CONVOLUTIONS_H_
