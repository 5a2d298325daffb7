#include "kernels/kernels.h"

namespace parley {

void Kernels::NormRows(const Norm& norm, const LayerRows& x, size_t width) {
  if (norm.bias == nullptr) return RmsNorm(x.x, norm.weight, x.rows, width, norm.eps, x.normed);
  LayerNorm(x.x, norm.weight, norm.bias, x.rows, width, norm.eps, x.normed);
}

void Kernels::AttendRows(const HeadProjections& w, const LayerRows& x, const float* angles,
                         const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  NormRows(w.norm, x, w.q.columns);
  const Vectors normed = Rows(x.normed, x.rows, w.q.columns);
  Multiply(w.q, normed, {w.q_bias, nullptr, false}, rows.queries);
  Multiply(w.k, normed, {w.k_bias, nullptr, false}, rows.keys);
  Multiply(w.v, normed, {w.v_bias, nullptr, false}, rows.values);
  const size_t heads = batch.query_heads, kv_heads = batch.layout.heads, head_dim = batch.layout.head_dim;
  if (w.q_norm != nullptr)
    RmsNorm(rows.queries, w.q_norm, x.rows * heads, head_dim, w.norm.eps, rows.queries);
  if (w.k_norm != nullptr) RmsNorm(rows.keys, w.k_norm, x.rows * kv_heads, head_dim, w.norm.eps, rows.keys);
  if (angles != nullptr) {
    Rotate(rows.queries, x.rows, heads, head_dim, angles);
    Rotate(rows.keys, x.rows, kv_heads, head_dim, angles);
  }
  Store(batch, layer, rows);
  Attend(batch, layer, rows);
}

void Kernels::ExpandRows(const Norm& norm, const Matrix& gate, const Matrix& up, const LayerRows& x,
                         float* y) {
  NormRows(norm, x, gate.columns);
  MultiplyGated(gate, up, Rows(x.normed, x.rows, gate.columns), y);
}

void Kernels::ExpandActivated(const Norm& norm, const Matrix& w, const float* bias, Activation activation,
                              const LayerRows& x, float* y) {
  NormRows(norm, x, w.columns);
  Multiply(w, Rows(x.normed, x.rows, w.columns), {bias, nullptr, false}, y);
  Activate(activation, y, x.rows * w.rows);
}

void Kernels::AddAttention(const LayerWeights& layer, size_t n, const float* angles,
                           const AttentionBatch& batch, const LayerRoom& room, float* x) {
  AttendRows(layer.heads, {x, batch.rows, room.normed}, angles, batch, n, room.signals);
  Multiply(layer.o, Rows(room.signals.output, batch.rows, layer.o.columns),
           {layer.o_bias, layer.attention_scale, true}, x);
}

void Kernels::AddMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room, float* x) {
  const LayerRows own{x, rows, room.normed};
  if (layer.gate.values != nullptr) {
    ExpandRows(layer.mlp_norm, layer.gate, layer.up, own, room.inner);
  } else {
    ExpandActivated(layer.mlp_norm, layer.up, layer.up_bias, layer.activation, own, room.inner);
  }
  Multiply(layer.down, Rows(room.inner, rows, layer.down.columns), {layer.down_bias, layer.mlp_scale, true},
           x);
}

}  // namespace parley
