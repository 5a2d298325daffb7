// The KV cache and attention of the CPU backend.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

void StoreRow(Format format, void* to, size_t row, const float* from, size_t width) {
  switch (format) {
    case Format::kF32:
      std::memcpy(static_cast<float*>(to) + row * width, from, width * sizeof(float));
      return;
    case Format::kF16:
      for (size_t i = 0; i < width; i++) static_cast<F16*>(to)[row * width + i] = ToF16(from[i]);
      return;
    case Format::kBf16:
      for (size_t i = 0; i < width; i++) static_cast<Bf16*>(to)[row * width + i] = ToBf16(from[i]);
      return;
    case Format::kInt8:
    case Format::kFp8:
      return;  // refused above
  }
}

// The first key that the query at `position` sees.
uint64_t FirstSeen(const Sight& sight, uint64_t position) {
  return sight.window == 0 || position < sight.window ? 0 : position - sight.window + 1;
}

void Validate(const AttentionBatch& batch) {
  const KvLayout& layout = batch.layout;
  Require(!HasScales(layout.format), "a KV cache holds f32, f16 or bf16");
  Require(layout.heads > 0 && layout.head_dim > 0, "a KV cache is empty");
  Require(!batch.sight.whole || batch.sight.window == 0, "sight of a whole block has no window");
  Require(batch.query_heads > 0 && batch.query_heads % layout.heads == 0,
          "query heads are no multiple of the cache's");
  for (size_t s = 0; s < batch.count; s++) {
    const AttentionStream& stream = batch.streams[s];
    if (stream.count == 0) continue;
    const uint64_t last = stream.position + stream.count - 1;
    Require(last - FirstSeen(batch.sight, stream.position) < stream.capacity,
            "the KV cache holds fewer positions than are seen");
  }
}

char* KeysOf(const AttentionBatch& batch, const AttentionStream& stream, size_t layer) {
  return static_cast<char*>(stream.cache) + layer * batch.layout.LayerBytes(stream.capacity);
}

// Positions that the longest query sees, of all streams.
size_t LongestSeen(const AttentionBatch& batch) {
  size_t longest = 0;
  for (size_t s = 0; s < batch.count; s++) {
    const size_t end = batch.streams[s].position + batch.streams[s].count;
    longest = std::max(longest, batch.sight.window == 0 ? end : std::min(end, batch.sight.window));
  }
  return longest;
}

}  // namespace

void CpuKernels::Store(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  Validate(batch);
  const size_t width = batch.layout.heads * batch.layout.head_dim;
  for (size_t s = 0; s < batch.count; s++) {
    const AttentionStream& stream = batch.streams[s];
    char* const keys = KeysOf(batch, stream, layer);
    char* const values = keys + batch.layout.ArrayBytes(stream.capacity);
    for (size_t i = 0; i < stream.count; i++) {
      const size_t row = (stream.position + i) % stream.capacity, from = (stream.row + i) * width;
      StoreRow(batch.layout.format, keys, row, rows.keys + from, width);
      StoreRow(batch.layout.format, values, row, rows.values + from, width);
    }
  }
}

void CpuKernels::Attend(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) {
  Validate(batch);
  const size_t longest = LongestSeen(batch), heads = batch.query_heads, head_dim = batch.layout.head_dim;
  const size_t items = batch.rows * heads;
  for (std::vector<float>& scores : scores_) {
    if (scores.size() < longest) scores.resize(std::max(longest, 2 * scores.size()));
  }
  const auto attend = [&](const AttentionStream& stream, size_t query, size_t head, float* scores) {
    const uint64_t position = stream.position + query, first = FirstSeen(batch.sight, position);
    const uint64_t end = batch.sight.whole ? stream.position + stream.count : position + 1;
    const size_t offset = head * batch.layout.heads / heads * head_dim * BytesOf(batch.layout.format);
    const size_t at = ((stream.row + query) * heads + head) * head_dim;
    const char* const keys = KeysOf(batch, stream, layer);
    variant_.attend({batch.layout.format, keys + offset,
                     keys + batch.layout.ArrayBytes(stream.capacity) + offset, batch.layout.heads * head_dim,
                     stream.capacity, static_cast<size_t>(first % stream.capacity),
                     static_cast<size_t>(end - first), head_dim, rows.queries + at, batch.scale,
                     rows.output + at, scores});
  };
  const auto share = [&](size_t first, size_t last, float* scores) {
    for (size_t s = 0; s < batch.count; s++) {
      const AttentionStream& stream = batch.streams[s];
      const size_t begin = stream.row * heads, end = begin + stream.count * heads;
      for (size_t i = std::max(first, begin); i < std::min(last, end); i++) {
        attend(stream, (i - begin) / heads, (i - begin) % heads, scores);
      }
    }
  };
  constexpr size_t kWorthCalling = 1 << 14;
  if (items * longest * head_dim / 4 < kWorthCalling) return share(0, items, scores_[0].data());
  pool_.Run([&](unsigned part) {
    const auto [first, last] = ShareOf(items, 1, part, pool_.Threads());
    share(first, last, scores_[part].data());
  });
}

}  // namespace parley::cpu
