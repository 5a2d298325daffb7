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
#ifndef PARLEY_KERNELS_CONVOLUTION_H_
#define PARLEY_KERNELS_CONVOLUTION_H_

#include <cstddef>
#include <vector>

#include "kernels/matrix.h"

namespace parley {

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

}  // namespace parley

#endif  // PARLEY_KERNELS_CONVOLUTION_H_
