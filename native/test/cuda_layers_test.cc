// Halves of a transformer's layer as the CUDA backend does them, whose grids hand terms to one another: the
// bits of their parts. On the emulated GPU or, where PARLEY_CUDA_FILE names its backend, on a real one, where
// the sizes of the models are tried too.
#include <cmath>
#include <deque>
#include <vector>

#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

struct Sizes {
  size_t hidden, inner, query_heads, heads, head_dim;
  Format weights, cache;
};

constexpr size_t kCapacity = 320;

class Halves {
 public:
  Halves(Kernels& kernels, const Sizes& sizes) : k_(kernels), s_(sizes) {
    layer_.heads.norm = {Weight(s_.hidden), nullptr, 1e-6f};
    layer_.mlp_norm = {Weight(s_.hidden), nullptr, 1e-6f};
    layer_.heads.q = Of(s_.query_heads * s_.head_dim, s_.hidden);
    layer_.heads.k = Of(s_.heads * s_.head_dim, s_.hidden);
    layer_.heads.v = Of(s_.heads * s_.head_dim, s_.hidden);
    layer_.heads.q_norm = Weight(s_.head_dim), layer_.heads.k_norm = Weight(s_.head_dim);
    layer_.o = Of(s_.hidden, s_.query_heads * s_.head_dim);
    layer_.gate = Of(s_.inner, s_.hidden);
    layer_.up = Of(s_.inner, s_.hidden);
    layer_.down = Of(s_.hidden, s_.inner);
    layer_.attention_scale = Weight(s_.hidden), layer_.mlp_scale = Weight(s_.hidden);
    q_bias_ = Weight(layer_.heads.q.rows);
  }

  // Rows of streams, `each` after `before` positions; as halves, or as the parts that those are said to be.
  std::vector<float> Run(size_t streams, size_t each, size_t before, bool halves) {
    const size_t rows = streams * each, queries = s_.query_heads * s_.head_dim, keys = s_.heads * s_.head_dim;
    AttentionBatch batch;
    batch.layout = {s_.cache, s_.heads, s_.head_dim};
    std::deque<Signal> caches;
    std::vector<AttentionStream> described;
    std::vector<uint64_t> positions;
    for (size_t n = 0; n < streams; n++) {
      caches.emplace_back(k_, batch.layout.LayerBytes(kCapacity) / 4);
      described.push_back({caches.back().At(), kCapacity, before, static_cast<uint32_t>(each),
                           static_cast<uint32_t>(n * each)});
      for (size_t i = 0; i < each; i++) positions.push_back(before + i);
    }
    Held<AttentionStream> streams_held(k_, described);
    Signal angles(k_, rows * s_.head_dim), x(k_, RandomFloats(rows * s_.hidden, 5));
    k_.Angles(positions.data(), rows, s_.head_dim, 10000, angles.At());
    batch.streams = streams_held.At();
    batch.count = streams, batch.rows = rows, batch.longest = each, batch.furthest = before + each;
    batch.query_heads = s_.query_heads;
    batch.scale = 1 / std::sqrt(static_cast<float>(s_.head_dim));
    Signal normed = Poison(k_, rows * s_.hidden), q = Poison(k_, rows * queries), k = Poison(k_, rows * keys),
           v = Poison(k_, rows * keys);
    Signal out = Poison(k_, rows * queries), inner = Poison(k_, rows * s_.inner);
    const LayerRoom room{normed.At(), {q.At(), k.At(), v.At(), out.At()}, inner.At()};
    if (halves) {
      k_.AddAttention(layer_, 0, angles.At(), batch, room, x.At());
      k_.AddMlp(layer_, rows, room, x.At());
    } else {
      k_.Kernels::AddAttention(layer_, 0, angles.At(), batch, room, x.At());
      k_.Kernels::AddMlp(layer_, rows, room, x.At());
    }
    return x.Get();
  }

  // Every `every`-th row's norm, times q, plus a bias or not.
  std::vector<float> Normed(size_t rows, size_t every, bool whole) {
    const float* const bias = every == 1 ? q_bias_ : nullptr;
    Signal x(k_, RandomFloats(rows * every * s_.hidden, 6)), y = Poison(k_, rows * layer_.heads.q.rows);
    if (whole) k_.MultiplyNormed(layer_.heads.q, layer_.heads.norm, x.At(), rows, every, bias, y.At());
    else k_.Kernels::MultiplyNormed(layer_.heads.q, layer_.heads.norm, x.At(), rows, every, bias, y.At());
    return y.Get();
  }

 private:
  const float* Weight(size_t count) {
    floats_.emplace_back(k_, RandomFloats(count, ++seed_));
    return floats_.back().At();
  }
  Matrix Of(size_t rows, size_t columns) {
    const auto stored = MakeMatrix(s_.weights, rows, columns, ++seed_);
    Matrix matrix = stored->matrix;
    matrices_.emplace_back(k_, matrix.Bytes());
    k_.Upload(matrices_.back().At(), matrix.values, matrix.Bytes());
    matrix.values = matrices_.back().At();
    if (matrix.scales != nullptr) {
      floats_.emplace_back(k_, std::vector<float>(matrix.scales, matrix.scales + rows));
      matrix.scales = floats_.back().At();
    }
    k_.Wait();
    return matrix;
  }

  Kernels& k_;
  const Sizes s_;
  unsigned seed_ = 100;
  std::deque<Signal> floats_;
  std::deque<Held<uint8_t>> matrices_;
  LayerWeights layer_;
  const float* q_bias_;
};

void CheckHalves(Kernels& kernels, const Sizes& sizes, std::initializer_list<size_t> counts) {
  Halves halves(kernels, sizes);
  for (const size_t streams : counts) {
    const std::vector<float> seen = halves.Run(streams, 1, 3, true);
    CHECK(!std::isnan(seen[0]));
    CHECK(SameBits(seen, halves.Run(streams, 1, 3, false)));
  }
  CHECK(SameBits(halves.Run(3, 21, 0, true), halves.Run(3, 21, 0, false)));
}

// Streams on both sides of where products read floats, terms in fragments and tiles of them.
void HalvesGiveTheBitsOfTheirParts() {
  const auto kernels = MakeBackend(false), full = MakeBackend(true);
  const Sizes small{128, 192, 2, 1, 128, Format::kBf16, Format::kBf16};
  CheckHalves(*kernels, small, {1, 8, 9, 20, 70, 200});
  CheckHalves(*full, small, {9});
  CheckHalves(*kernels, {96, 160, 2, 2, 64, Format::kBf16, Format::kF32}, {12, 40});
  CheckHalves(*kernels, {96, 72, 2, 2, 64, Format::kBf16, Format::kF32},
              {12});  // down is no matrix of tensor cores
  CheckHalves(*kernels, {64, 64, 2, 1, 48, Format::kBf16, Format::kBf16}, {12});
  CheckHalves(*kernels, {128, 192, 2, 1, 128, Format::kInt8, Format::kBf16}, {9, 70});
  CheckHalves(*kernels, {128, 192, 2, 1, 128, Format::kFp8, Format::kBf16}, {12, 40, 200});
  CheckHalves(*kernels, {128, 192, 2, 1, 128, Format::kF32, Format::kF32}, {9});
  if (CudaFile() == nullptr) return;
  for (const size_t hidden : {1024, 2048})
    CheckHalves(*kernels, {hidden, 3 * hidden, 16, 8, 128, Format::kBf16, Format::kBf16},
                {8, 12, 16, 24, 33, 64, 128, 300});
}

void NormedRowsAreTheNormMultiplied() {
  const auto kernels = MakeBackend(false);
  Halves halves(*kernels, {128, 192, 2, 1, 128, Format::kBf16, Format::kBf16}),
      odd(*kernels, {40, 64, 2, 1, 48, Format::kBf16, Format::kBf16});
  for (const size_t rows : {1, 8, 9, 70}) {
    for (const size_t every : {1, 2}) {
      CHECK(SameBits(halves.Normed(rows, every, true), halves.Normed(rows, every, false)));
      CHECK(SameBits(odd.Normed(rows, every, true), odd.Normed(rows, every, false)));
    }
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_layers) {
  using namespace parley::test;
  return Run({{"halves give the bits of their parts", HalvesGiveTheBitsOfTheirParts},
              {"normed rows are the norm multiplied", NormedRowsAreTheNormMultiplied}});
}
