// Products, convolutions, norms, attention and sampling of the CUDA backend.
#include "kernels/cuda/attend.cuh"
#include "kernels/cuda/choose.cuh"
#include "kernels/cuda/convolutions.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/depthwise.cuh"
#include "kernels/cuda/norms.cuh"
#include "kernels/cuda/products.cuh"

namespace parley::cuda {
namespace {

void Judge(const Matrix& w, size_t columns) {
  Require(w.columns == columns, "the vectors do not have as many values as the matrix has columns");
  Require(w.format != Format::kInt8 || w.scales != nullptr, "a matrix of 8 bits has no scales");
}

void Judge(const Matrix& gate, const Matrix& up, size_t columns) {
  Judge(gate, columns);
  Judge(up, columns);
  Require(gate.rows == up.rows, "gate and up differ in their rows");
}

void Judge(const Convolution& convolution) {
  Require(convolution.stride == 1, "a causal convolution with state has stride 1");
  Require(convolution.weights.columns == convolution.taps * convolution.channels,
          "the convolution's weights are not [rows, taps * channels]");
  Judge(convolution.weights, convolution.weights.columns);
}

void Judge(const AttentionBatch& batch) {
  const KvLayout& layout = batch.layout;
  Require(layout.format != Format::kInt8, "a KV cache holds f32, f16 or bf16");
  Require(layout.heads > 0 && layout.head_dim > 0, "a KV cache is empty");
  Require(batch.query_heads > 0 && batch.query_heads % layout.heads == 0, "query heads are no multiple of the cache's");
}

}  // namespace

void CudaKernels::Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) {
  Judge(w, x.length * x.segments);
  EnqueueMultiply(Next(), room_, w, x, finish, y);
}

void CudaKernels::MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) {
  Judge(gate, up, x.length * x.segments);
  EnqueueMultiplyGated(Next(), room_, gate, up, x, y);
}

void CudaKernels::MultiplySnaked(const Matrix& w, float* x, const float* a, const float* b, size_t rows, const Finish& finish,
                                 float* y) {
  Judge(w, w.columns);
  const InputSignal from{x, a, b, static_cast<uint32_t>(w.columns)};
  if (!JoinsInput(from, nullptr, 0)) return Kernels::MultiplySnaked(w, x, a, b, rows, finish, y);
  EnqueueMultiplySnaked(Next(), room_, w, from, rows, finish, y);
}

void CudaKernels::ExpandRows(const Norm& norm, const Matrix& gate, const Matrix& up, const LayerRows& x, float* y) {
  Judge(gate, up, gate.columns);
  EnqueueExpandRows(Next(), room_, norm, gate, up, x, y);
}

void CudaKernels::ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count, float* y) {
  Judge(convolution);
  EnqueueConvolveCausal(Next(), room_, convolution, streams, count, y);
}

void CudaKernels::ConvolveSpread(const float* x, const float* a, const float* b, const Convolution& convolution,
                                 const Stretch* streams, size_t count, float* y) {
  Judge(convolution);
  const InputSignal from{x, a, b, static_cast<uint32_t>(convolution.channels)};
  if (!JoinsInput(from, streams, count)) return Kernels::ConvolveSpread(x, a, b, convolution, streams, count, y);
  EnqueueConvolveSpread(Next(), room_, from, convolution, streams, count, y);
}

void CudaKernels::ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                                    const Stretch* streams, size_t count, float* y) {
  Require(taps > 0, "a convolution has no taps");
  EnqueueConvolveDepthwise(Next(), weights, bias, channels, taps, streams, count, y);
}

void CudaKernels::ConvolveSpreadDepthwise(const float* x, const float* weights, const float* bias, size_t channels, size_t taps,
                                          const Stretch* streams, size_t count, float* y) {
  Require(taps > 0, "a convolution has no taps");
  EnqueueSpreadDepthwise(Next(), x, {weights, bias, channels, taps}, streams, count, y);
}

void CudaKernels::RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) {
  EnqueueNorm(Next(), x, w, nullptr, rows, width, eps, y);
}

void CudaKernels::LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width, float eps,
                            float* y) {
  EnqueueNorm(Next(), x, w, b, rows, width, eps, y);
}

void CudaKernels::Angles(const uint64_t* positions, size_t count, size_t head_dim, double theta, float* angles) {
  Require(head_dim % 2 == 0, "rotary positions need an even head");
  EnqueueAngles(Next(), positions, count, head_dim, theta, angles);
}

void CudaKernels::Rotate(float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) {
  EnqueueRotate(Next(), x, rows, heads, head_dim, angles);
}

void CudaKernels::Store(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  Judge(batch);
  EnqueueStore(Next(), batch, layer, rows);
}

void CudaKernels::Attend(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  Judge(batch);
  EnqueueAttend(Next(), batch, layer, rows);
}

void CudaKernels::AttendRows(const HeadProjections& heads, const LayerRows& x, const float* angles,
                             const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  Judge(batch);
  const size_t head_dim = batch.layout.head_dim;
  for (const Matrix* w : {&heads.q, &heads.k, &heads.v}) Judge(*w, heads.q.columns);
  Require(heads.q.rows == batch.query_heads * head_dim && heads.k.rows == batch.layout.heads * head_dim &&
              heads.v.rows == heads.k.rows,
          "the projections do not have as many rows as heads times head_dim");
  EnqueueProjectHeads(Next(), room_, heads, x, rows);
  const size_t query_heads = batch.query_heads;
  const AttendRoom shared{
      static_cast<float*>(parts_.AtLeast(AttendRoom::PartsOf(query_heads, head_dim) * sizeof(float))),
      static_cast<uint32_t*>(arrivals_.AtLeast(AttendRoom::ArrivalsOf(query_heads) * sizeof(uint32_t)))};
  EnqueueRawAttend(recorder_, batch, layer, rows, {angles, heads.q_norm, heads.k_norm, heads.norm.eps}, shared);
}

void CudaKernels::Choose(const Choice* choices, size_t count, float* logits, size_t vocabulary, uint64_t sequence,
                         int32_t* ids, size_t stride) {
  EnqueueChoose(Next(), choices, count, logits, vocabulary, sequence, ids, stride);
}

}  // namespace parley::cuda
