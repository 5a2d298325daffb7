#include "model/transformer.h"

#include <cmath>
#include <stdexcept>

namespace parley::model {

// One call: its rows, and where what is computed of them lies.
struct Transformer::Batch {
  const Stream* streams;
  size_t count;
  size_t rows;
  float* x;
  float *angles, *normed, *q, *k, *v, *attended, *inner;
};

Transformer::Transformer(Kernels& kernels, const TransformerConfig& config, std::vector<LayerWeights> layers,
                         size_t window)
    : kernels_(kernels), config_(config), layers_(std::move(layers)), window_(window), workspace_(kernels) {}

Transformer::Batch Transformer::Prepare(const Stream* streams, size_t count, float* x) {
  positions_.clear();
  for (size_t s = 0; s < count; s++) {
    const KvState& state = *streams[s].state;
    const uint64_t first = state.position(), end = first + streams[s].rows;
    const uint64_t seen = window_ == 0 || first < window_ ? 0 : first - window_ + 1;
    if (end - seen > state.capacity()) {
      throw std::length_error("a KV cache of " + std::to_string(state.capacity()) + " positions has no room for " +
                              std::to_string(streams[s].rows) + " rows at " + std::to_string(first));
    }
    for (uint64_t position = first; position < end; position++) positions_.push_back(position);
  }
  const size_t rows = positions_.size();
  const size_t hidden = rows * static_cast<size_t>(config_.hidden), inner = rows * static_cast<size_t>(config_.intermediate);
  const size_t queries = rows * static_cast<size_t>(config_.query_width());
  const size_t keys = rows * static_cast<size_t>(config_.kv_width());
  const auto [angles, normed, q, k, v, attended, expanded] = workspace_.Parts<7>(
      {rows * static_cast<size_t>(config_.head_dim), hidden, queries, keys, keys, queries, inner});
  kernels_.Angles(positions_.data(), rows, static_cast<size_t>(config_.head_dim), config_.rope_theta, angles);
  return {streams, count, rows, x, angles, normed, q, k, v, attended, expanded};
}

void Transformer::Forward(const Stream* streams, size_t count, float* x) {
  ForwardLayers(streams, count, x, layers_.size());
  for (size_t s = 0; s < count; s++) streams[s].state->Advance(streams[s].rows);
}

void Transformer::ForwardLayers(const Stream* streams, size_t count, float* x, size_t layers) {
  const Batch batch = Prepare(streams, count, x);
  if (batch.rows == 0) return;
  for (size_t n = 0; n < layers; n++) {
    Attend(layers_[n], n, batch);
    Expand(layers_[n], batch);
  }
}

void Transformer::Norm(const NormWeights& norm, const Batch& batch) {
  const auto width = static_cast<size_t>(config_.hidden);
  const auto eps = static_cast<float>(config_.norm_eps);
  if (norm.bias == nullptr) return kernels_.RmsNorm(batch.x, norm.weight, batch.rows, width, eps, batch.normed);
  kernels_.LayerNorm(batch.x, norm.weight, norm.bias, batch.rows, width, eps, batch.normed);
}

// x += scale * o(attention(norm(x)))
void Transformer::Attend(const LayerWeights& layer, size_t n, const Batch& batch) {
  const auto heads = static_cast<size_t>(config_.heads), kv_heads = static_cast<size_t>(config_.kv_heads);
  const auto head_dim = static_cast<size_t>(config_.head_dim);
  const auto eps = static_cast<float>(config_.norm_eps);
  Norm(layer.attention_norm, batch);
  const Vectors normed = Rows(batch.normed, batch.rows, static_cast<size_t>(config_.hidden));
  kernels_.Multiply(layer.q, normed, {}, batch.q);
  kernels_.Multiply(layer.k, normed, {}, batch.k);
  kernels_.Multiply(layer.v, normed, {}, batch.v);
  if (layer.q_norm != nullptr) kernels_.RmsNorm(batch.q, layer.q_norm, batch.rows * heads, head_dim, eps, batch.q);
  if (layer.k_norm != nullptr) kernels_.RmsNorm(batch.k, layer.k_norm, batch.rows * kv_heads, head_dim, eps, batch.k);
  kernels_.Rotate(batch.q, batch.rows, heads, head_dim, batch.angles);
  kernels_.Rotate(batch.k, batch.rows, kv_heads, head_dim, batch.angles);
  attentions_.clear();
  size_t row = 0;
  for (size_t s = 0; s < batch.count; s++) {
    const KvState& state = *batch.streams[s].state;
    const size_t rows = batch.streams[s].rows, at = row * kv_heads * head_dim, query = row * heads * head_dim;
    kernels_.Store(state.layer(n), state.position(), batch.k + at, batch.v + at, rows);
    attentions_.push_back({state.layer(n), batch.q + query, batch.attended + query, rows, heads, state.position(),
                           window_, 1.0f / std::sqrt(static_cast<float>(head_dim))});
    row += rows;
  }
  kernels_.Attend(attentions_.data(), attentions_.size());
  kernels_.Multiply(layer.o, Rows(batch.attended, batch.rows, heads * head_dim), {nullptr, layer.attention_scale, true},
                    batch.x);
}

// x += scale * mlp(norm(x))
void Transformer::Expand(const LayerWeights& layer, const Batch& batch) {
  const auto inner = static_cast<size_t>(config_.intermediate);
  Norm(layer.mlp_norm, batch);
  const Vectors normed = Rows(batch.normed, batch.rows, static_cast<size_t>(config_.hidden));
  if (layer.gate.values != nullptr) {
    kernels_.MultiplyGated(layer.gate, layer.up, normed, batch.inner);
  } else {
    kernels_.Multiply(layer.up, normed, {}, batch.inner);
    kernels_.Activate(Activation::kGelu, batch.inner, batch.rows * inner);
  }
  kernels_.Multiply(layer.down, Rows(batch.inner, batch.rows, inner), {nullptr, layer.mlp_scale, true}, batch.x);
}

}  // namespace parley::model
