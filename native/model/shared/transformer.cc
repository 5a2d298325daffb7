#include "model/shared/transformer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace parley::model {

// One call: its rows, and where what is computed of them lies.
struct Transformer::Batch {
  size_t rows;
  float* x;
  const float* angles;
  AttentionBatch streams;
  LayerRoom room;
};

Transformer::Transformer(Kernels& kernels, const TransformerConfig& config, std::vector<LayerWeights> layers,
                         const Sight& sight)
    : kernels_(kernels),
      config_(config),
      layers_(std::move(layers)),
      sight_(sight),
      workspace_(kernels),
      descriptions_(kernels),
      angles_(kernels) {
  for (LayerWeights& layer : layers_) {
    layer.heads.norm.eps = layer.mlp_norm.eps = static_cast<float>(config.norm_eps);
  }
}

// Describes the attending streams to the backend, once for all layers.
AttentionBatch Transformer::Gather(const Stream* streams, size_t count, Workspace* descriptions) {
  positions_.clear();
  attending_.clear();
  AttentionBatch batch;
  for (size_t s = 0; s < count; s++) {
    const KvState& state = *streams[s].state;
    const uint64_t first = state.position(), end = first + streams[s].rows;
    const uint64_t seen = window() == 0 || first < window() ? 0 : first - window() + 1;
    if (end - seen > state.capacity()) {
      throw std::length_error("a KV cache of " + std::to_string(state.capacity()) +
                              " positions has no room for " + std::to_string(streams[s].rows) + " rows at " +
                              std::to_string(first));
    }
    attending_.push_back({state.memory(), state.capacity(), first, static_cast<uint32_t>(streams[s].rows),
                          static_cast<uint32_t>(positions_.size())});
    batch.longest = std::max(batch.longest, streams[s].rows);
    batch.furthest = std::max(batch.furthest, static_cast<size_t>(end));
    batch.layout = state.layout();
    for (uint64_t position = first; position < end; position++) positions_.push_back(position);
  }
  const size_t bytes = count * sizeof(AttentionStream);
  float* const described = descriptions->Floats(bytes / sizeof(float));
  if (count > 0) kernels_.Upload(described, attending_.data(), bytes);
  batch.streams = reinterpret_cast<const AttentionStream*>(described);
  batch.count = count;
  batch.rows = positions_.size();
  batch.query_heads = static_cast<size_t>(config_.heads);
  batch.sight = sight_;
  batch.scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim));
  return batch;
}

// Rotary angles of the positions that were gathered last.
const float* Transformer::UploadAngles(Workspace* angles) {
  if (config_.rope_theta == 0) return nullptr;
  const size_t rows = positions_.size(), head_dim = static_cast<size_t>(config_.head_dim);
  float* const turned = angles->Floats(rows * head_dim);
  if (rows > 0) kernels_.Angles(positions_.data(), rows, head_dim, config_.rope_theta, turned);
  return turned;
}

Transformer::Batch Transformer::Prepare(const AttentionBatch& attending, const float* angles, float* x) {
  const size_t rows = attending.rows;
  const size_t hidden = rows * static_cast<size_t>(config_.hidden),
               inner = rows * static_cast<size_t>(config_.intermediate);
  const size_t queries = rows * static_cast<size_t>(config_.query_width());
  const size_t keys = rows * static_cast<size_t>(config_.kv_width());
  const auto [normed, q, k, v, attended, expanded] =
      workspace_.Parts<6>({hidden, queries, keys, keys, queries, inner});
  return {rows, x, angles, attending, {normed, {q, k, v, attended}, expanded}};
}

// Angles, the normed rows, queries and what they attend to, keys and values, the inner rows of the MLP.
size_t Transformer::WorkBytes(size_t rows) const {
  constexpr size_t kParts = 7, kAlignment = 64;
  const int64_t floats = config_.head_dim + config_.hidden + 2 * config_.query_width() +
                         2 * config_.kv_width() + config_.intermediate;
  return rows * static_cast<size_t>(floats) * sizeof(float) + kParts * kAlignment;
}

void Transformer::Forward(const Stream* streams, size_t count, float* x) {
  ForwardLayers(streams, count, x, layers_.size());
  for (size_t s = 0; s < count; s++) streams[s].state->Advance(streams[s].rows);
}

void Transformer::ForwardLayers(const Stream* streams, size_t count, float* x, size_t layers) {
  const AttentionBatch attending = Gather(streams, count, &descriptions_);
  RunLayers(Prepare(attending, UploadAngles(&angles_), x), 0, layers);
}

void Transformer::Begin(const Stream* streams, size_t count, float* x, Passage* passage) {
  passage->states_.clear();
  passage->streams_ = Gather(streams, count, &passage->descriptions_);
  passage->turned_ = UploadAngles(&passage->angles_);
  passage->states_.assign(streams, streams + count);
  passage->x_ = x;
  passage->layer_ = 0;
}

bool Transformer::Advance(Passage* passage, size_t layers) {
  const size_t first = passage->layer_, last = std::min(layers_.size(), first + layers);
  RunLayers(Prepare(passage->streams_, passage->turned_, passage->x_), first, last);
  passage->layer_ = last;
  if (last < layers_.size()) return true;
  for (const Stream& stream : passage->states_) stream.state->Advance(stream.rows);
  passage->states_.clear();
  return false;
}

void Transformer::Describe(const Stream* streams, size_t count, Standing* pass) {
  pass->streams_ = {};
  for (size_t s = 0; s < count; s++) {
    if (streams[s].rows != streams->rows || streams[s].state->position() != streams->state->position()) {
      throw std::logic_error("streams of a standing pass differ in where they stand");
    }
  }
  const AttentionBatch described = Gather(streams, count, &pass->descriptions_);
  pass->turned_ = UploadAngles(&pass->angles_);
  pass->streams_ = described;
}

AttentionBatch Transformer::Standing::First(size_t count) const {
  AttentionBatch attending = streams_;
  if (count > attending.count) throw std::logic_error("more streams than a standing pass was described");
  attending.count = count;
  attending.rows = count * attending.longest;
  return attending;
}

void Transformer::Forward(const Standing& pass, size_t count, float* x) {
  RunLayers(Prepare(pass.First(count), pass.turned_, x), 0, layers_.size());
}

void Transformer::RunLayers(const Batch& batch, size_t first, size_t last) {
  if (batch.rows == 0) return;
  if (first == 0 && kernels_.RunLayers(layers_.data(), last, batch.angles, batch.streams, batch.x)) return;
  for (size_t n = first; n < last; n++) {
    kernels_.AddAttention(layers_[n], sight_.whole ? 0 : n, batch.angles, batch.streams, batch.room, batch.x);
    kernels_.AddMlp(layers_[n], batch.rows, batch.room, batch.x);
  }
}

KvLayout KvState::LayoutOf(const TransformerConfig& config, Format format) {
  return {format, static_cast<size_t>(config.kv_heads), static_cast<size_t>(config.head_dim)};
}

size_t KvState::BytesOf(const TransformerConfig& config, Format format, size_t capacity) {
  return static_cast<size_t>(config.layers) * LayoutOf(config, format).LayerBytes(capacity);
}

KvState::KvState(Kernels& kernels, const TransformerConfig& config, Format format, size_t capacity)
    : kernels_(kernels),
      layout_(LayoutOf(config, format)),
      layers_(static_cast<size_t>(config.layers)),
      bytes_(BytesOf(config, format, capacity)),
      capacity_(capacity) {
  memory_ = kernels.Allocate(bytes_);
}

KvState::~KvState() { kernels_.Free(memory_); }

void KvState::CopyFrom(const KvState& other, size_t positions) {
  const bool whole = positions == other.position_ && capacity_ == other.capacity_;
  const bool apart =
      positions <= capacity_ && positions <= other.position_ && other.position_ <= other.capacity_;
  if (layers_ != other.layers_ || !(whole || apart)) {
    throw std::invalid_argument("a KV cache cannot become these positions of the other");
  }
  position_ = positions;
  if (whole) return kernels_.Copy(memory_, other.memory_, bytes_);
  const size_t bytes = positions * layout_.heads * layout_.head_dim * parley::BytesOf(layout_.format);
  // Keys and values of every layer.
  for (size_t n = 0; n < 2 * layers_; n++) {
    kernels_.Copy(static_cast<uint8_t*>(memory_) + n * layout_.ArrayBytes(capacity_),
                  static_cast<const uint8_t*>(other.memory_) + n * layout_.ArrayBytes(other.capacity_),
                  bytes);
  }
}

TransformerConfig ReadTransformer(const ConfigReader& reader, const char* eps_key, const char* activation,
                                  bool may_derive_head_dim) {
  TransformerConfig config;
  config.hidden = reader.Whole("hidden_size", 1, kMaxWidth);
  config.intermediate = reader.Whole("intermediate_size", 1, kMaxWidth);
  config.layers = reader.Whole("num_hidden_layers", 1, kMaxLayers);
  config.heads = reader.Whole("num_attention_heads", 1, kMaxHeads);
  config.kv_heads = reader.Whole("num_key_value_heads", 1, kMaxHeads);
  config.head_dim = may_derive_head_dim && !reader.Has("head_dim") ? config.hidden / config.heads
                                                                   : reader.Whole("head_dim", 2, kMaxHeadDim);
  config.norm_eps = reader.Real(eps_key, 1e-12, 1e-1);
  config.rope_theta = reader.Real("rope_theta", 1, 1e12);
  reader.Require(config.heads % config.kv_heads == 0, "num_key_value_heads",
                 "a divisor of num_attention_heads, which is " + std::to_string(config.heads));
  reader.Require(config.head_dim >= 2 && config.head_dim % 2 == 0, "head_dim", "an even number");
  reader.Only("hidden_act", std::string_view(activation));
  reader.Only("attention_bias", false);
  return config;
}

void RequireFullAttention(const ConfigReader& reader) {
  reader.Only("use_sliding_window", false);
  reader.Require(!reader.Has("sliding_window"), "sliding_window", "null, the only one supported");
  if (reader.Has("rope_scaling")) {
    const ConfigReader scaling = reader.Object("rope_scaling");
    scaling.Only("rope_type", std::string_view("default"));
    scaling.Only("type", std::string_view("default"));
  }
  for (Json layer = reader.json().Find("layer_types").first(); layer.present(); layer = layer.next()) {
    reader.Require(layer.text() == "full_attention", "layer_types",
                   "\"full_attention\" throughout, the only one supported");
  }
}

}  // namespace parley::model
