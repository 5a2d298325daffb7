// Products and convolutions of the CUDA backend.
#include "kernels/cuda/codec/convolutions.cuh"
#include "kernels/cuda/codec/depthwise.cuh"
#include "kernels/cuda/codec/residual_unit.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/products/products.cuh"

namespace parley::cuda {
namespace {

void Validate(const Matrix& w, size_t columns) {
  Require(w.columns == columns, "the vectors do not have as many values as the matrix has columns");
  Require(!HasScales(w.format) || w.scales != nullptr, "a matrix of 8 bits has no scales");
}

void Validate(const Matrix& gate, const Matrix& up, size_t columns) {
  Validate(gate, columns);
  Validate(up, columns);
  Require(gate.rows == up.rows, "gate and up differ in their rows");
}

void Validate(const Convolution& convolution) {
  Require(convolution.stride == 1, "a causal convolution with state has stride 1");
  Require(convolution.weights.columns == convolution.taps * convolution.channels,
          "the convolution's weights are not [rows, taps * channels]");
  Validate(convolution.weights, convolution.weights.columns);
}

}  // namespace

void CudaKernels::Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) {
  Validate(w, x.length * x.segments);
  EnqueueMultiply(Next(), room_, w, x, finish, y);
}

void CudaKernels::MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) {
  Validate(gate, up, x.length * x.segments);
  EnqueueMultiplyGated(Next(), room_, gate, up, x, y);
}

void CudaKernels::MultiplySnaked(const Matrix& w, float* x, const float* a, const float* b, size_t rows,
                                 const Finish& finish, float* y) {
  Validate(w, w.columns);
  const InputSignal from{x, a, b, static_cast<uint32_t>(w.columns)};
  if (!JoinsInput(from, nullptr, 0)) return SpeechKernels::MultiplySnaked(w, x, a, b, rows, finish, y);
  EnqueueMultiplySnaked(Next(), room_, w, from, rows, finish, y);
}

void CudaKernels::MultiplyNormed(const Matrix& w, const Norm& norm, float* x, size_t rows, size_t every,
                                 const float* bias, float* y) {
  Validate(w, w.columns);
  const LayerRows own{x, rows, x};
  if (rows == 0 || !FitsTensorCores(w) || !NormsItself(norm, own, w.columns))
    return SpeechKernels::MultiplyNormed(w, norm, x, rows, every, bias, y);
  EnqueueMultiplyNormed(Next(), room_, w, norm, own, every, bias, y);
}

TermsPlace CudaKernels::PlaceFor(const Matrix& w, size_t rows, const Finish& finish, float* y) {
  return PlaceForTerms(room_, handed_, w, rows, finish, y);
}

void CudaKernels::MultiplyHanded(const Matrix& w, const TermsPlace& handed, const float* x, size_t rows,
                                 const Finish& finish, float* y) {
  if (handed.terms == nullptr) return Multiply(w, Rows(x, rows, w.columns), finish, y);
  Validate(w, w.columns);
  EnqueueMultiplyHanded(Next(), room_, w, handed, rows, finish, y);
}

void CudaKernels::AddMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room, float* x) {
  Validate(layer.down, layer.up.rows);
  const Finish finish{layer.down_bias, layer.mlp_scale, true};
  if (layer.gate.values == nullptr) return AddActivatedMlp(layer, rows, room, finish, x);
  Validate(layer.gate, layer.up, layer.gate.columns);
  const TermsPlace handed = PlaceFor(layer.down, rows, finish, x);
  EnqueueExpandRows(Next(), room_, layer.mlp_norm, layer.gate, layer.up, {x, rows, room.normed}, room.inner,
                    handed);
  MultiplyHanded(layer.down, handed, room.inner, rows, finish, x);
}

// The inner rows are activated where the second product prepares them, if it does.
void CudaKernels::AddActivatedMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room,
                                  const Finish& finish, float* x) {
  const size_t width = layer.up.columns, inner = layer.up.rows;
  NormRows(layer.mlp_norm, {x, rows, room.normed}, width);
  Multiply(layer.up, Rows(room.normed, rows, width), {layer.up_bias, nullptr, false}, room.inner);
  if (layer.activation == Activation::kGelu && PreparesRows(room_, layer.down, rows, finish, x))
    return EnqueueMultiplyActivated(Next(), room_, layer.down, room.inner, rows, finish, x);
  Activate(layer.activation, room.inner, rows * inner);
  Multiply(layer.down, Rows(room.inner, rows, inner), finish, x);
}

void CudaKernels::ExpandRows(const Norm& norm, const Matrix& gate, const Matrix& up, const LayerRows& x,
                             float* y) {
  Validate(gate, up, gate.columns);
  EnqueueExpandRows(Next(), room_, norm, gate, up, x, y);
}

void CudaKernels::ConvolveClamped(const float* x, const float* a, const float* b,
                                  const Convolution& convolution, const Stretch* streams, size_t count,
                                  float lowest, float highest, float* y) {
  Validate(convolution);
  const InputSignal from{x, a, b, static_cast<uint32_t>(convolution.channels)};
  const Bounds bounds{lowest, highest};
  if (JoinsInput(from, streams, count) &&
      EnqueueConvolveClamped(Next(), from, convolution, streams, count, bounds, y))
    return;
  SpeechKernels::ConvolveClamped(x, a, b, convolution, streams, count, lowest, highest, y);
}

void CudaKernels::ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count,
                                 float* y) {
  Validate(convolution);
  EnqueueConvolveCausal(Next(), room_, convolution, streams, count, y);
}

void CudaKernels::ConvolveSpread(const float* x, const float* a, const float* b,
                                 const Convolution& convolution, const Stretch* streams, size_t count,
                                 float* y) {
  Validate(convolution);
  const InputSignal from{x, a, b, static_cast<uint32_t>(convolution.channels)};
  if (!JoinsInput(from, streams, count))
    return SpeechKernels::ConvolveSpread(x, a, b, convolution, streams, count, y);
  EnqueueConvolveSpread(Next(), room_, from, convolution, streams, count, y);
}

void CudaKernels::ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                                    const Stretch* streams, size_t count, float* y) {
  Require(taps > 0, "a convolution has no taps");
  EnqueueConvolveDepthwise(Next(), weights, bias, channels, taps, streams, count, y);
}

void CudaKernels::ConvolveSpreadDepthwise(const float* x, const float* weights, const float* bias,
                                          size_t channels, size_t taps, const Stretch* streams, size_t count,
                                          float* y) {
  Require(taps > 0, "a convolution has no taps");
  EnqueueSpreadDepthwise(Next(), x, {weights, bias, channels, taps}, streams, count, y);
}

void CudaKernels::AddResidual(const ResidualUnit& unit, const Stretch* streams, size_t count, size_t rows,
                              float* x, float* y) {
  Validate(unit.dilated);
  Validate(unit.pointwise, unit.dilated.weights.rows);
  Require(unit.pointwise.rows == unit.dilated.channels, "what is added to a signal has other channels");
  const InputSignal from{x, unit.first.a, unit.first.b, static_cast<uint32_t>(unit.dilated.channels)};
  if (JoinsInput(from, streams, count) && EnqueueUnit(Next(), room_, unit, from, streams, count, x)) return;
  SpeechKernels::AddResidual(unit, streams, count, rows, x, y);
}

// The first half of AttendRows.
void CudaKernels::ProjectHeads(const HeadProjections& heads, const LayerRows& x, const AttentionRows& rows) {
  for (const Matrix* w : {&heads.q, &heads.k, &heads.v}) Validate(*w, heads.q.columns);
  EnqueueProjectHeads(Next(), room_, heads, x, rows);
}

}  // namespace parley::cuda
