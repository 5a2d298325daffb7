// Attention over a cache: right, the same bits on every variant, and the same for a query
// alone, in a batch, or fed in pieces.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "test/check.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

struct Setting {
  size_t query_heads, heads, head_dim, window;
};

constexpr Setting kSettings[] = {{4, 2, 128, 0}, {3, 3, 64, 72}, {2, 1, 20, 5}, {2, 2, 7, 0}, {1, 1, 144, 3}};
constexpr size_t kPositions = 90;

struct Signals {
  std::vector<float> queries, keys, values;

  explicit Signals(const Setting& s)
      : queries(RandomFloats(kPositions * s.query_heads * s.head_dim, 1)),
        keys(RandomFloats(kPositions * s.heads * s.head_dim, 2)),
        values(RandomFloats(kPositions * s.heads * s.head_dim, 3)) {
    for (float& key : keys) key *= 4;  // scores that differ
  }
};

struct CacheMemory {
  std::vector<char> keys, values;
  KvCache cache;

  CacheMemory(const Setting& s, Format format, size_t capacity) {
    cache = {format, nullptr, nullptr, capacity, s.heads, s.head_dim};
    keys.resize(cache.Bytes() / 2);
    values.resize(cache.Bytes() / 2);
    cache.keys = keys.data();
    cache.values = values.data();
  }
};

// All positions, `piece` at a time.
std::vector<float> Attended(Kernels* kernels, const Setting& s, const Signals& in, Format format, size_t capacity,
                            size_t piece) {
  CacheMemory memory(s, format, capacity);
  std::vector<float> out(in.queries.size(), NAN);
  const size_t width = s.heads * s.head_dim;
  for (size_t at = 0; at < kPositions; at += piece) {
    const size_t count = std::min(piece, kPositions - at), offset = at * s.query_heads * s.head_dim;
    kernels->Store(memory.cache, at, in.keys.data() + at * width, in.values.data() + at * width, count);
    const Attention attention{memory.cache, in.queries.data() + offset, out.data() + offset, count, s.query_heads, at,
                              s.window, 1 / std::sqrt(static_cast<float>(s.head_dim))};
    kernels->Attend(&attention, 1);
  }
  return out;
}

double Rounded(float value, Format format) {
  if (format == Format::kBf16) return ToFloat(ToBf16(value));
  if (format == Format::kF16) return ToFloat(ToF16(value));
  return value;
}

std::vector<double> Exact(const Setting& s, const Signals& in, Format format) {
  std::vector<double> out(in.queries.size());
  for (size_t i = 0; i < kPositions; i++) {
    for (size_t h = 0; h < s.query_heads; h++) {
      const size_t kv = h * s.heads / s.query_heads, at = (i * s.query_heads + h) * s.head_dim;
      const size_t first = s.window == 0 || i < s.window ? 0 : i - s.window + 1;
      double total = 0;
      for (size_t j = first; j <= i; j++) {
        double score = 0;
        for (size_t d = 0; d < s.head_dim; d++) {
          score += in.queries[at + d] * Rounded(in.keys[(j * s.heads + kv) * s.head_dim + d], format);
        }
        const double weight = std::exp(score / std::sqrt(static_cast<double>(s.head_dim)));
        total += weight;
        for (size_t d = 0; d < s.head_dim; d++) {
          out[at + d] += weight * Rounded(in.values[(j * s.heads + kv) * s.head_dim + d], format);
        }
      }
      for (size_t d = 0; d < s.head_dim; d++) out[at + d] /= total;
    }
  }
  return out;
}

void AttentionIsWhatDoublePrecisionSays() {
  const auto kernels = MakeKernels();
  for (const Setting& s : kSettings) {
    const Signals in(s);
    for (const Format format : {Format::kF32, Format::kF16, Format::kBf16}) {
      const auto seen = Attended(kernels.get(), s, in, format, kPositions, kPositions);
      const auto wanted = Exact(s, in, format);
      double worst = 0;
      for (size_t i = 0; i < seen.size(); i++) worst = std::fmax(worst, std::fabs(seen[i] - wanted[i]));
      CHECK(worst < 3e-6);
      CHECK(!std::isnan(std::accumulate(seen.begin(), seen.end(), 0.0f)));
    }
  }
}

void EveryVariantThreadAndPieceGivesTheSameBits() {
  for (const Setting& s : kSettings) {
    const Signals in(s);
    for (const Format format : {Format::kF32, Format::kF16, Format::kBf16}) {
      const auto wanted = Attended(MakeKernels().get(), s, in, format, kPositions, kPositions);
      for (const cpu::Variant* variant : Variants()) {
        for (const unsigned threads : {1u, 3u}) {
          const auto kernels = MakeKernels(*variant, threads);
          CHECK(SameBits(Attended(kernels.get(), s, in, format, kPositions, 1), wanted));
          CHECK(SameBits(Attended(kernels.get(), s, in, format, kPositions, 7), wanted));
          // A cache no longer than it must be, so that positions wrap.
          const size_t least = s.window == 0 ? kPositions : s.window + 6;
          CHECK(SameBits(Attended(kernels.get(), s, in, format, least, 7), wanted));
        }
      }
    }
  }
}

void StreamsInOneCallDoNotMeet() {
  const Setting s = kSettings[0];
  const Signals in(s);
  const size_t width = s.query_heads * s.head_dim;
  const auto kernels = MakeKernels(*Variants().back(), 2);
  const auto alone = Attended(kernels.get(), s, in, Format::kBf16, kPositions, kPositions);
  CacheMemory memory(s, Format::kBf16, kPositions);
  kernels->Store(memory.cache, 0, in.keys.data(), in.values.data(), kPositions);
  std::vector<float> together(alone.size());
  std::vector<Attention> streams;
  for (size_t i = 0; i < kPositions; i++) {
    streams.push_back({memory.cache, in.queries.data() + i * width, together.data() + i * width, 1, s.query_heads, i,
                       s.window, 1 / std::sqrt(128.0f)});
  }
  streams[5].count = 0;  // has nothing to ask
  kernels->Attend(streams.data(), streams.size());
  for (size_t i = 0; i < alone.size(); i++) CHECK_EQ(together[i], i / width == 5 ? 0 : alone[i]);
}

bool Refused(const Attention& attention) {
  return RefusalOf([&] { MakeKernels()->Attend(&attention, 1); }) != "";
}

void ACacheThatHasForgottenIsRefused() {
  const Setting s{2, 1, 16, 8};
  CacheMemory memory(s, Format::kF32, 10);
  std::vector<float> rows(10 * 32);
  Attention attention{memory.cache, rows.data(), rows.data(), 3, 2, 100, 8, 1};
  CHECK(!Refused(attention));
  attention.count = 4;  // sees 11 positions
  CHECK(Refused(attention));
  attention.count = 1;
  attention.window = 0;
  CHECK(Refused(attention));
  attention.window = 8;
  attention.query_heads = 0;
  CHECK(Refused(attention));
  attention.query_heads = 2;
  attention.cache.format = Format::kInt8;
  CHECK(Refused(attention));
}

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({
      {"attention is what double precision says", AttentionIsWhatDoublePrecisionSays},
      {"every variant, thread and piece gives the same bits", EveryVariantThreadAndPieceGivesTheSameBits},
      {"streams in one call do not meet", StreamsInOneCallDoNotMeet},
      {"a cache that has forgotten is refused", ACacheThatHasForgottenIsRefused},
  });
}
