#include <stdexcept>

#include "model/shared/transformer.h"

namespace parley::model {

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
  const bool apart = positions <= capacity_ && positions <= other.position_ && other.position_ <= other.capacity_;
  if (layers_ != other.layers_ || !(whole || apart)) {
    throw std::invalid_argument("a KV cache cannot become these positions of the other");
  }
  position_ = positions;
  if (whole) return kernels_.Copy(memory_, other.memory_, bytes_);
  const size_t bytes = positions * layout_.heads * layout_.head_dim * parley::BytesOf(layout_.format);
  // Keys and values of every layer.
  for (size_t n = 0; n < 2 * layers_; n++) {
    kernels_.Copy(static_cast<uint8_t*>(memory_) + n * layout_.ArrayBytes(capacity_),
                  static_cast<const uint8_t*>(other.memory_) + n * layout_.ArrayBytes(other.capacity_), bytes);
  }
}

}  // namespace parley::model
