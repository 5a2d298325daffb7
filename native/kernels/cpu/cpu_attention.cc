// The KV cache and attention of the CPU backend.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

void Judge(const KvCache& cache) {
  Require(cache.format != Format::kInt8, "a KV cache holds f32, f16 or bf16");
  Require(cache.capacity > 0 && cache.heads > 0 && cache.head_dim > 0, "a KV cache is empty");
}

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
    case Format::kInt8: return;  // refused above
  }
}

// The first key that the query at `position` sees.
uint64_t FirstSeen(const Attention& a, uint64_t position) {
  return a.window == 0 || position < a.window ? 0 : position - a.window + 1;
}

void Judge(const Attention& a) {
  Judge(a.cache);
  Require(a.query_heads > 0 && a.query_heads % a.cache.heads == 0, "query heads are no multiple of the cache's");
  if (a.count == 0) return;
  const uint64_t last = a.position + a.count - 1;
  Require(last - FirstSeen(a, a.position) < a.cache.capacity, "the KV cache holds fewer positions than are seen");
}

}  // namespace

void CpuKernels::Store(const KvCache& cache, uint64_t position, const float* keys, const float* values,
                       size_t count) {
  Judge(cache);
  Require(count <= cache.capacity, "more positions than the KV cache holds");
  const size_t width = cache.heads * cache.head_dim;
  for (size_t i = 0; i < count; i++) {
    const size_t row = (position + i) % cache.capacity;
    StoreRow(cache.format, cache.keys, row, keys + i * width, width);
    StoreRow(cache.format, cache.values, row, values + i * width, width);
  }
}

void CpuKernels::Attend(const Attention* streams, size_t count) {
  size_t items = 0, operations = 0, longest = 0;
  for (size_t s = 0; s < count; s++) {
    const Attention& a = streams[s];
    Judge(a);
    if (a.count == 0) continue;
    const uint64_t last = a.position + a.count - 1;
    const size_t seen = std::min<size_t>(last + 1, a.window == 0 ? SIZE_MAX : a.window);
    longest = std::max(longest, seen);
    items += a.count * a.query_heads;
    operations += a.count * a.query_heads * seen * a.cache.head_dim / 4;
  }
  for (std::vector<float>& scores : scores_) {
    if (scores.size() < longest) scores.resize(std::max(longest, 2 * scores.size()));
  }
  const auto attend = [&](const Attention& a, size_t query, size_t head, float* scores) {
    const uint64_t position = a.position + query;
    const uint64_t first = FirstSeen(a, position);
    const size_t offset = head * a.cache.heads / a.query_heads * a.cache.head_dim * BytesOf(a.cache.format);
    const size_t at = (query * a.query_heads + head) * a.cache.head_dim;
    variant_.attend({a.cache.format, static_cast<const char*>(a.cache.keys) + offset,
                     static_cast<const char*>(a.cache.values) + offset, a.cache.heads * a.cache.head_dim,
                     a.cache.capacity, static_cast<size_t>(first % a.cache.capacity),
                     static_cast<size_t>(position - first + 1), a.cache.head_dim, a.queries + at, a.scale,
                     a.output + at, scores});
  };
  const auto share = [&](size_t first, size_t last, float* scores) {
    size_t item = 0;
    for (size_t s = 0; s < count; s++) {
      const size_t heads = streams[s].query_heads, end = item + streams[s].count * heads;
      for (size_t i = std::max(first, item); i < std::min(last, end); i++) {
        attend(streams[s], (i - item) / heads, (i - item) % heads, scores);
      }
      item = end;
    }
  };
  constexpr size_t kWorthCalling = 1 << 14;
  if (operations < kWorthCalling) return share(0, items, scores_[0].data());
  pool_.Run([&](unsigned part) {
    const auto [first, last] = ShareOf(items, 1, part, pool_.Threads());
    share(first, last, scores_[part].data());
  });
}

}  // namespace parley::cpu
