// Attention over a cache: right, the same bits on every variant, and the same for a query
// alone, in a batch, or fed in pieces.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "test/check.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

struct Setting {
  size_t query_heads, heads, head_dim, window;
  bool whole = false;
};

constexpr Setting kSettings[] = {{4, 2, 128, 0}, {3, 3, 64, 72}, {2, 1, 20, 5}, {2, 2, 7, 0}, {1, 1, 144, 3}};
// An encoder attends block by block: each position of a block sees all of its positions.
constexpr Setting kWhole[] = {{4, 4, 64, 0, true}, {4, 2, 12, 0, true}, {1, 1, 7, 0, true}};
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

// Two layers, of which the second is used.
struct CacheMemory {
  std::vector<char> bytes;
  KvLayout layout;
  AttentionStream stream;

  CacheMemory(const Setting& s, Format format, size_t capacity) : layout{format, s.heads, s.head_dim} {
    bytes.resize(2 * layout.LayerBytes(capacity), 0x55);
    stream.cache = bytes.data();
    stream.capacity = capacity;
  }
};

AttentionBatch BatchOf(const Setting& s, const KvLayout& layout,
                       const std::vector<AttentionStream>& streams) {
  AttentionBatch batch;
  batch.streams = streams.data();
  batch.count = streams.size();
  for (const AttentionStream& stream : streams) {
    batch.rows += stream.count;
    batch.longest = std::max<size_t>(batch.longest, stream.count);
    batch.furthest = std::max<size_t>(batch.furthest, stream.position + stream.count);
  }
  batch.layout = layout;
  batch.query_heads = s.query_heads;
  batch.sight = {s.window, s.whole};
  batch.scale = 1 / std::sqrt(static_cast<float>(s.head_dim));
  return batch;
}

// All positions, `piece` at a time.
std::vector<float> Attended(SpeechKernels* kernels, const Setting& s, const Signals& in, Format format,
                            size_t capacity, size_t piece) {
  CacheMemory memory(s, format, capacity);
  std::vector<float> out(in.queries.size(), NAN);
  Signals rows = in;
  const size_t width = s.heads * s.head_dim;
  for (size_t at = 0; at < kPositions; at += piece) {
    const size_t offset = at * s.query_heads * s.head_dim;
    memory.stream.position = at;
    memory.stream.count = static_cast<uint32_t>(std::min(piece, kPositions - at));
    const std::vector<AttentionStream> streams = {memory.stream};
    const AttentionBatch batch = BatchOf(s, memory.layout, streams);
    const AttentionRows signals{rows.queries.data() + offset, rows.keys.data() + at * width,
                                rows.values.data() + at * width, out.data() + offset};
    kernels->Store(batch, 1, signals);
    kernels->Attend(batch, 1, signals);
  }
  CHECK(std::count(memory.bytes.begin(),
                   memory.bytes.begin() + static_cast<std::ptrdiff_t>(memory.bytes.size() / 2),
                   0x55) == static_cast<std::ptrdiff_t>(memory.bytes.size() / 2));
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
      const size_t last = s.whole ? kPositions - 1 : i;
      double total = 0;
      for (size_t j = first; j <= last; j++) {
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

void ABlockSeesAllOfItself() {
  for (const Setting& s : kWhole) {
    const Signals in(s);
    for (const Format format : {Format::kF32, Format::kF16, Format::kBf16}) {
      const auto wanted = Exact(s, in, format);
      std::vector<float> first;
      for (const cpu::Variant* variant : Variants()) {
        for (const unsigned threads : {1u, 3u}) {
          const auto seen =
              Attended(MakeKernels(*variant, threads).get(), s, in, format, kPositions, kPositions);
          if (first.empty()) first = seen;
          CHECK(SameBits(seen, first));
        }
      }
      double worst = 0;
      for (size_t i = 0; i < first.size(); i++) worst = std::fmax(worst, std::fabs(first[i] - wanted[i]));
      CHECK(worst < 3e-6);
      CHECK(!std::isnan(std::accumulate(first.begin(), first.end(), 0.0f)));
    }
  }
}

// Blocks of several lengths in one call; each is as alone.
void BlocksInOneCallDoNotMeet() {
  const Setting s = kWhole[0];
  const Signals in(s);
  const size_t width = s.heads * s.head_dim, lengths[] = {13, 1, 40, 36};
  for (const cpu::Variant* variant : Variants()) {
    const auto kernels = MakeKernels(*variant, 2);
    std::vector<CacheMemory> memories(4, CacheMemory(s, Format::kF32, 40));
    std::vector<AttentionStream> streams;
    uint32_t row = 0;
    for (size_t n = 0; n < 4; n++) {
      AttentionStream stream = memories[n].stream;
      stream.cache = memories[n].bytes.data();
      stream.count = static_cast<uint32_t>(lengths[n]);
      stream.row = row;
      row += stream.count;
      streams.push_back(stream);
    }
    Signals rows = in;
    std::vector<float> together(in.queries.size(), NAN);
    const auto attend = [&](const AttentionBatch& batch, size_t first, float* out) {
      const size_t at = first * width;
      const AttentionRows signals{rows.queries.data() + at, rows.keys.data() + at, rows.values.data() + at,
                                  out + at};
      kernels->Store(batch, 1, signals);
      kernels->Attend(batch, 1, signals);
    };
    attend(BatchOf(s, memories[0].layout, streams), 0, together.data());
    std::vector<float> alone(in.queries.size(), NAN);
    for (AttentionStream stream : streams) {
      const size_t first = std::exchange(stream.row, 0);
      attend(BatchOf(s, memories[0].layout, {stream}), first, alone.data());
    }
    CHECK(SameBits(together, alone));
  }
}

void StreamsInOneCallDoNotMeet() {
  const Setting s = kSettings[0];
  const Signals in(s);
  Signals rows = in;
  const size_t width = s.query_heads * s.head_dim;
  const auto kernels = MakeKernels(*Variants().back(), 2);
  const auto alone = Attended(kernels.get(), s, in, Format::kBf16, kPositions, kPositions);
  std::vector<float> together(alone.size());
  std::vector<CacheMemory> memories(kPositions, CacheMemory(s, Format::kBf16, kPositions));
  std::vector<AttentionStream> streams;
  // Each has the positions before its own one already.
  for (size_t i = 0; i < kPositions; i++) {
    AttentionStream stream = memories[i].stream;
    stream.cache = memories[i].bytes.data();
    stream.count = static_cast<uint32_t>(i);
    const std::vector<AttentionStream> before = {stream};
    kernels->Store(BatchOf(s, memories[i].layout, before), 0,
                   {nullptr, rows.keys.data(), rows.values.data(), nullptr});
    stream.position = i;
    stream.row = static_cast<uint32_t>(i);
    stream.count = i == 5 ? 0 : 1;  // one has nothing to ask
    streams.push_back(stream);
  }
  AttentionBatch batch = BatchOf(s, memories[0].layout, streams);
  batch.rows = kPositions;
  const AttentionRows signals{rows.queries.data(), rows.keys.data(), rows.values.data(), together.data()};
  kernels->Store(batch, 0, signals);
  kernels->Attend(batch, 0, signals);
  for (size_t i = 0; i < alone.size(); i++) CHECK_EQ(together[i], i / width == 5 ? 0 : alone[i]);
}

void ACacheThatHasForgottenIsRefused() {
  const Setting s{2, 1, 16, 8};
  CacheMemory memory(s, Format::kF32, 10);
  std::vector<float> rows(10 * 32);
  const auto refused = [&](uint32_t count, size_t window, size_t query_heads, Format format) {
    memory.stream.position = 100;
    memory.stream.count = count;
    const std::vector<AttentionStream> streams = {memory.stream};
    AttentionBatch batch = BatchOf(s, memory.layout, streams);
    batch.sight.window = window;
    batch.query_heads = query_heads;
    batch.layout.format = format;
    const AttentionRows signals{rows.data(), rows.data(), rows.data(), rows.data()};
    return RefusalOf([&] { MakeKernels()->Attend(batch, 0, signals); }) != "";
  };
  CHECK(!refused(3, 8, 2, Format::kF32));
  CHECK(refused(4, 8, 2, Format::kF32));  // sees 11 positions
  CHECK(refused(1, 0, 2, Format::kF32));
  CHECK(refused(1, 8, 0, Format::kF32));
  CHECK(refused(1, 8, 2, Format::kInt8));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(kernels_attention) {
  using namespace parley::test;
  return Run({
      {"attention is what double precision says", AttentionIsWhatDoublePrecisionSays},
      {"every variant, thread and piece gives the same bits", EveryVariantThreadAndPieceGivesTheSameBits},
      {"a block sees all of itself", ABlockSeesAllOfItself},
      {"blocks in one call do not meet", BlocksInOneCallDoNotMeet},
      {"streams in one call do not meet", StreamsInOneCallDoNotMeet},
      {"a cache that has forgotten is refused", ACacheThatHasForgottenIsRefused},
  });
}
