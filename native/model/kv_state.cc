#include <stdexcept>

#include "model/transformer.h"

namespace parley::model {
namespace {

constexpr size_t kAlignment = 64;  // of every array, as of the memory that they share

size_t ArrayBytes(const TransformerConfig& config, Format format, size_t capacity) {
  const size_t bytes = capacity * static_cast<size_t>(config.kv_width()) * BytesOf(format);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

size_t KvState::BytesOf(const TransformerConfig& config, Format format, size_t capacity) {
  return 2 * static_cast<size_t>(config.layers) * ArrayBytes(config, format, capacity);
}

KvState::KvState(Kernels& kernels, const TransformerConfig& config, Format format, size_t capacity)
    : kernels_(kernels),
      bytes_(BytesOf(config, format, capacity)),
      capacity_(capacity),
      layers_(static_cast<size_t>(config.layers)) {
  memory_ = kernels.Allocate(bytes_);
  const size_t step = ArrayBytes(config, format, capacity);
  auto* at = static_cast<uint8_t*>(memory_);
  for (KvCache& layer : layers_) {
    layer = {format, at, at + step, capacity, static_cast<size_t>(config.kv_heads), static_cast<size_t>(config.head_dim)};
    at += 2 * step;
  }
}

KvState::~KvState() { kernels_.Free(memory_); }

void KvState::CopyFrom(const KvState& other, size_t positions) {
  const bool whole = positions == other.position_ && capacity_ == other.capacity_;
  const bool apart = positions <= capacity_ && positions <= other.position_ && other.position_ <= other.capacity_;
  if (layers_.size() != other.layers_.size() || !(whole || apart)) {
    throw std::invalid_argument("a KV cache cannot become these positions of the other");
  }
  position_ = positions;
  if (whole) return kernels_.Copy(memory_, other.memory_, bytes_);
  for (size_t n = 0; n < layers_.size(); n++) {
    const KvCache& from = other.layers_[n];
    const size_t bytes = positions * from.heads * from.head_dim * parley::BytesOf(from.format);
    kernels_.Copy(layers_[n].keys, from.keys, bytes);
    kernels_.Copy(layers_[n].values, from.values, bytes);
  }
}

}  // namespace parley::model
