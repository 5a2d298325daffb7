#include "kernels/kernels.h"

#include <algorithm>
#include <stdexcept>

namespace parley {

void Kernels::GatherSum(const Matrix* tables, size_t table_count, const Ids& ids, size_t count, bool add,
                        float* y) {
  for (size_t t = 0; t < table_count; t++)
    Gather(tables[t], {ids.values + t, ids.stride}, count, add || t > 0, y);
}

void Kernels::NormRows(const Norm& norm, const LayerRows& x, size_t width) {
  if (norm.bias == nullptr) return RmsNorm(x.x, norm.weight, x.rows, width, norm.eps, x.normed);
  LayerNorm(x.x, norm.weight, norm.bias, x.rows, width, norm.eps, x.normed);
}

void Kernels::AttendRows(const HeadProjections& w, const LayerRows& x, const float* angles,
                         const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  NormRows(w.norm, x, w.q.columns);
  const Vectors normed = Rows(x.normed, x.rows, w.q.columns);
  Multiply(w.q, normed, {}, rows.queries);
  Multiply(w.k, normed, {}, rows.keys);
  Multiply(w.v, normed, {}, rows.values);
  const size_t heads = batch.query_heads, kv_heads = batch.layout.heads, head_dim = batch.layout.head_dim;
  if (w.q_norm != nullptr)
    RmsNorm(rows.queries, w.q_norm, x.rows * heads, head_dim, w.norm.eps, rows.queries);
  if (w.k_norm != nullptr) RmsNorm(rows.keys, w.k_norm, x.rows * kv_heads, head_dim, w.norm.eps, rows.keys);
  Rotate(rows.queries, x.rows, heads, head_dim, angles);
  Rotate(rows.keys, x.rows, kv_heads, head_dim, angles);
  Store(batch, layer, rows);
  Attend(batch, layer, rows);
}

void Kernels::ExpandRows(const Norm& norm, const Matrix& gate, const Matrix& up, const LayerRows& x,
                         float* y) {
  NormRows(norm, x, gate.columns);
  MultiplyGated(gate, up, Rows(x.normed, x.rows, gate.columns), y);
}

void Kernels::ExpandActivated(const Norm& norm, const Matrix& w, const float* bias, const LayerRows& x,
                              float* y) {
  NormRows(norm, x, w.columns);
  Multiply(w, Rows(x.normed, x.rows, w.columns), {bias, nullptr, false}, y);
  Activate(Activation::kGelu, y, x.rows * w.rows);
}

void Kernels::AddAttention(const LayerWeights& layer, size_t n, const float* angles,
                           const AttentionBatch& batch, const LayerRoom& room, float* x) {
  AttendRows(layer.heads, {x, batch.rows, room.normed}, angles, batch, n, room.signals);
  Multiply(layer.o, Rows(room.signals.output, batch.rows, layer.o.columns),
           {nullptr, layer.attention_scale, true}, x);
}

void Kernels::AddMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room, float* x) {
  const LayerRows own{x, rows, room.normed};
  if (layer.gate.values != nullptr) {
    ExpandRows(layer.mlp_norm, layer.gate, layer.up, own, room.inner);
  } else {
    ExpandActivated(layer.mlp_norm, layer.up, nullptr, own, room.inner);
  }
  Multiply(layer.down, Rows(room.inner, rows, layer.down.columns), {nullptr, layer.mlp_scale, true}, x);
}

void Kernels::MultiplyNormed(const Matrix& w, const Norm& norm, float* x, size_t rows, size_t every,
                             const float* bias, float* y) {
  if (rows == 0) return;
  RmsNorm(x, norm.weight, (rows - 1) * every + 1, w.columns, norm.eps, x);
  Multiply(w, {x, rows, every * w.columns, w.columns, 1, 0}, {bias, nullptr, false}, y);
}

void Kernels::MultiplySnaked(const Matrix& w, float* x, const float* a, const float* b, size_t rows,
                             const Finish& finish, float* y) {
  Snake(x, a, b, rows, w.columns, x);
  Multiply(w, Rows(x, rows, w.columns), finish, y);
}

void Kernels::ConvolveSpread(const float* x, const float* a, const float* b, const Convolution& convolution,
                             const Stretch* streams, size_t count, float* y) {
  Spread(x, a, b, convolution.channels, streams, count);
  ConvolveCausal(convolution, streams, count, y);
}

void Kernels::ConvolveClamped(const float* x, const float* a, const float* b, const Convolution& convolution,
                              const Stretch* streams, size_t count, float lowest, float highest, float* y) {
  ConvolveSpread(x, a, b, convolution, streams, count, y);
  size_t positions = 0;
  for (size_t s = 0; s < count; s++) positions += streams[s].count;
  Clamp(y, positions * convolution.weights.rows, lowest, highest);
}

void Kernels::AddResidual(const ResidualUnit& unit, const Stretch* streams, size_t count, size_t rows,
                          float* x, float* y) {
  ConvolveSpread(x, unit.first.a, unit.first.b, unit.dilated, streams, count, y);
  MultiplySnaked(unit.pointwise, y, unit.second.a, unit.second.b, rows, {unit.pointwise_bias, nullptr, true},
                 x);
}

void Kernels::ConvolveSpreadDepthwise(const float* x, const float* weights, const float* bias,
                                      size_t channels, size_t taps, const Stretch* streams, size_t count,
                                      float* y) {
  Spread(x, nullptr, nullptr, channels, streams, count);
  ConvolveDepthwise(weights, bias, channels, taps, streams, count, y);
}

void Kernels::Spread(const float* x, const float* a, const float* b, size_t channels, const Stretch* streams,
                     size_t count) {
  for (size_t s = 0; s < count; s++) {
    const size_t values = streams[s].count * channels;
    if (a == nullptr) Copy(streams[s].x, x, values * sizeof(float));
    else Snake(x, a, b, streams[s].count, channels, streams[s].x);
    x += values;
  }
}

namespace {

constexpr size_t kLineFloats = 16;

}  // namespace

std::vector<float> PackConvolution(const float* weights, size_t out, size_t in, size_t taps) {
  std::vector<float> packed(out * in * taps);
  for (size_t o = 0; o < out; o++) {
    for (size_t i = 0; i < in; i++) {
      for (size_t j = 0; j < taps; j++) packed[(o * taps + j) * in + i] = weights[(o * in + i) * taps + j];
    }
  }
  return packed;
}

std::vector<float> PackTransposed(const float* weights, size_t in, size_t out, size_t kernel, size_t stride) {
  if (stride == 0 || kernel == 0 || kernel % stride != 0) {
    throw std::invalid_argument("a transposed convolution's kernel is a multiple of its stride");
  }
  const size_t taps = kernel / stride;
  std::vector<float> packed(in * out * kernel);
  // Some inputs at a time, so that lines are written whole.
  for (size_t first = 0; first < in; first += kLineFloats) {
    const size_t end = std::min(in, first + kLineFloats);
    for (size_t o = 0; o < out; o++) {
      for (size_t k = 0; k < kernel; k++) {
        const size_t row = k % stride * out + o;
        const size_t tap = taps - 1 - k / stride;  // the newest input is the last
        float* const to = packed.data() + (row * taps + tap) * in;
        for (size_t i = first; i < end; i++) to[i] = weights[(i * out + o) * kernel + k];
      }
    }
  }
  return packed;
}

std::vector<float> PackDepthwise(const float* weights, size_t channels, size_t taps) {
  std::vector<float> packed(channels * taps);
  for (size_t c = 0; c < channels; c++) {
    for (size_t j = 0; j < taps; j++) packed[j * channels + c] = weights[c * taps + j];
  }
  return packed;
}

std::vector<float> RepeatBias(const float* bias, size_t out, size_t stride) {
  std::vector<float> repeated;
  repeated.reserve(out * stride);
  for (size_t s = 0; s < stride; s++) repeated.insert(repeated.end(), bias, bias + out);
  return repeated;
}

}  // namespace parley
