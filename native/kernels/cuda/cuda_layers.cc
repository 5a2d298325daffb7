// Norms, attention and sampling of the CUDA backend.
#include "kernels/cuda/attention/attend.cuh"
#include "kernels/cuda/choose.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/norms.cuh"

namespace parley::cuda {
namespace {

void Validate(const AttentionBatch& batch) {
  const KvLayout& layout = batch.layout;
  Require(!HasScales(layout.format), "a KV cache holds f32, f16 or bf16");
  Require(layout.heads > 0 && layout.head_dim > 0, "a KV cache is empty");
  Require(!batch.sight.whole || batch.sight.window == 0, "attention to a whole block has no window");
  Require(batch.query_heads > 0 && batch.query_heads % layout.heads == 0,
          "query heads are no multiple of the cache's");
}

// True if attention takes the heads as the projections leave them. It norms only heads that it rotates.
bool GoRaw(const HeadProjections& heads, const float* angles) {
  return angles != nullptr || (heads.q_norm == nullptr && heads.k_norm == nullptr);
}

}  // namespace

void CudaKernels::RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) {
  EnqueueNorm(Next(), x, w, nullptr, rows, width, eps, y);
}

void CudaKernels::LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width,
                            float eps, float* y) {
  EnqueueNorm(Next(), x, w, b, rows, width, eps, y);
}

void CudaKernels::Angles(const uint64_t* positions, size_t count, size_t head_dim, double theta,
                         float* angles) {
  Require(head_dim % 2 == 0, "rotary positions need an even head");
  EnqueueAngles(Next(), positions, count, head_dim, theta, angles);
}

void CudaKernels::Rotate(float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) {
  EnqueueRotate(Next(), x, rows, heads, head_dim, angles);
}

void CudaKernels::Store(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  Validate(batch);
  EnqueueStore(Next(), batch, layer, rows);
}

void CudaKernels::Attend(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  Validate(batch);
  EnqueueAttend(Next(), batch, layer, rows);
}

void CudaKernels::AttendRows(const HeadProjections& heads, const LayerRows& x, const float* angles,
                             const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  if (!GoRaw(heads, angles)) return Kernels::AttendRows(heads, x, angles, batch, layer, rows);
  AttendTo({}, heads, x, angles, batch, layer, rows);
}

void CudaKernels::AddAttention(const LayerWeights& layer, size_t n, const float* angles,
                               const AttentionBatch& batch, const LayerRoom& room, float* x) {
  if (!GoRaw(layer.heads, angles)) return Kernels::AddAttention(layer, n, angles, batch, room, x);
  const Finish finish{layer.o_bias, layer.attention_scale, true};
  const TermsPlace handed = FitsSlots(batch.layout) ? PlaceFor(layer.o, batch.rows, finish, x) : TermsPlace{};
  AttendTo(handed, layer.heads, {x, batch.rows, room.normed}, angles, batch, n, room.signals);
  MultiplyHanded(layer.o, handed, room.signals.output, batch.rows, finish, x);
}

void CudaKernels::AttendTo(const TermsPlace& handed, const HeadProjections& heads, const LayerRows& x,
                           const float* angles, const AttentionBatch& batch, size_t layer,
                           const AttentionRows& rows) {
  Validate(batch);
  const size_t head_dim = batch.layout.head_dim;
  Require(heads.q.rows == batch.query_heads * head_dim && heads.k.rows == batch.layout.heads * head_dim &&
              heads.v.rows == heads.k.rows,
          "the projections do not have as many rows as heads times head_dim");
  ProjectHeads(heads, x, rows);
  const size_t query_heads = batch.query_heads;
  const AttendRoom shared{
      static_cast<float*>(parts_.AtLeast(AttendRoom::PartsOf(query_heads, head_dim) * sizeof(float))),
      static_cast<uint32_t*>(arrivals_.AtLeast(AttendRoom::ArrivalsOf(query_heads) * sizeof(uint32_t)))};
  EnqueueRawAttend(recorder_, batch, layer, rows, {angles, heads.q_norm, heads.k_norm, heads.norm.eps},
                   shared, handed);
}

void CudaKernels::Choose(const Choice* choices, size_t count, float* logits, size_t vocabulary,
                         uint64_t sequence, int32_t* ids, size_t stride) {
  EnqueueChoose(Next(), choices, count, logits, vocabulary, sequence, ids, stride);
}

}  // namespace parley::cuda
