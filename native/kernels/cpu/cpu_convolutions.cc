// Convolutions of the CPU backend: windows over a signal that stands after its past.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::cpu {
namespace {

// Puts the past before x; keeps the last `history` rows of both for the next call.
// Returns where the past begins.
float* TakeTail(float* x, size_t count, size_t history, size_t channels, float* tail) {
  const size_t size = history * channels;
  if (size == 0) return x;
  float* past = x - size;
  std::memcpy(past, tail, size * sizeof(float));
  std::memcpy(tail, past + count * channels, size * sizeof(float));
  return past;
}

}  // namespace

void CpuKernels::ConvolveCausal(const Convolution& convolution, float* x, size_t count, float* tail, float* y) {
  Require(convolution.stride == 1, "a causal convolution with state has stride 1");
  Require(convolution.weights.columns == convolution.taps * convolution.channels,
          "the convolution's weights are not [rows, taps * channels]");
  const float* first = TakeTail(x, count, convolution.History(), convolution.channels, tail);
  Finish finish;
  finish.bias = convolution.bias;
  Multiply(convolution.weights, WindowsOf(convolution, first, count), finish, y);
}

void CpuKernels::ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps, float* x,
                                   size_t count, float* tail, float* y) {
  Require(taps > 0, "a convolution has no taps");
  const float* past = TakeTail(x, count, taps - 1, channels, tail);
  Split(count, 1, count * channels * taps / 8, [&](size_t first, size_t last) {
    variant_.depthwise(weights, bias, channels, taps, past + first * channels, last - first, y + first * channels);
  });
}

void CpuKernels::Pad(const float* x, size_t rows, size_t channels, size_t left, size_t right, Padding padding,
                     float* y) {
  if (padding == Padding::kReflect) {
    Require(rows > left && rows > right, "a signal is reflected over fewer rows than it has");
  }
  if (padding == Padding::kReplicate) Require(rows > 0, "nothing to replicate");
  const auto row = [&](size_t to, size_t from) {
    std::memcpy(y + to * channels, x + from * channels, channels * sizeof(float));
  };
  const auto zero = [&](size_t to) { std::fill_n(y + to * channels, channels, 0.0f); };
  for (size_t i = 0; i < left; i++) {
    if (padding == Padding::kZero) zero(i);
    else row(i, padding == Padding::kReflect ? left - i : 0);
  }
  for (size_t i = 0; i < rows; i++) row(left + i, i);
  for (size_t i = 0; i < right; i++) {
    if (padding == Padding::kZero) zero(left + rows + i);
    else row(left + rows + i, padding == Padding::kReflect ? rows - 2 - i : rows - 1);
  }
}

}  // namespace parley::cpu
