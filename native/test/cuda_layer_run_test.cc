// A whole transformer as one grid that stays: the bits of its layers done piece by piece, on the emulated GPU (of one block) or,
// where PARLEY_CUDA_FILE names its backend, on a real one, where the sizes of the models are tried too.
#include <cmath>
#include <cstring>
#include <deque>
#include <vector>

#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

struct Sizes {
  size_t hidden, inner, query_heads, heads, layers;
  Format cache;
};

constexpr size_t kDim = 128, kCapacity = 300;

class Layers {
 public:
  Layers(Kernels& kernels, const Sizes& sizes, bool has_norms) : k_(kernels), s_(sizes) {
    for (size_t n = 0; n < s_.layers; n++) {
      LayerWeights layer;
      layer.heads.norm = {Weight(s_.hidden), nullptr, 1e-6f};
      layer.mlp_norm = {Weight(s_.hidden), nullptr, 1e-6f};
      layer.heads.q = Of(s_.query_heads * kDim, s_.hidden);
      layer.heads.k = Of(s_.heads * kDim, s_.hidden);
      layer.heads.v = Of(s_.heads * kDim, s_.hidden);
      if (has_norms) layer.heads.q_norm = Weight(kDim), layer.heads.k_norm = Weight(kDim);
      layer.o = Of(s_.hidden, s_.query_heads * kDim);
      layer.gate = Of(s_.inner, s_.hidden);
      layer.up = Of(s_.inner, s_.hidden);
      layer.down = Of(s_.hidden, s_.inner);
      layers_.push_back(layer);
    }
  }

  // What becomes of rows of streams, `each` after `before` positions, and of their caches.
  std::vector<float> Run(size_t streams, size_t each, size_t before, bool whole) {
    const size_t rows = streams * each;
    AttentionBatch batch;
    batch.layout = {s_.cache, s_.heads, kDim};
    const size_t bytes = s_.layers * batch.layout.LayerBytes(kCapacity);
    std::deque<Signal> caches;
    std::vector<AttentionStream> told;
    std::vector<uint64_t> positions;
    for (size_t n = 0; n < streams; n++) {
      // Small ones, whatever the format.
      caches.emplace_back(k_, std::vector<float>(bytes / 4, s_.cache == Format::kF32 ? 0.25f : 0.0f));
      told.push_back({caches.back().At(), kCapacity, before, static_cast<uint32_t>(each), static_cast<uint32_t>(n * each)});
      for (size_t i = 0; i < each; i++) positions.push_back(before + i);
    }
    Held<AttentionStream> streams_told(k_, told);
    Signal angles(k_, rows * kDim), x(k_, RandomFloats(rows * s_.hidden, 5));
    k_.Angles(positions.data(), rows, kDim, 10000, angles.At());
    batch.streams = streams_told.At();
    batch.count = streams, batch.rows = rows, batch.longest = each, batch.furthest = before + each;
    batch.query_heads = s_.query_heads;
    batch.scale = 1 / std::sqrt(static_cast<float>(kDim));
    if (whole) CHECK(k_.RunLayers(layers_.data(), layers_.size(), angles.At(), batch, x.At()));
    else RunPieces(angles.At(), batch, x.At());
    std::vector<float> all = x.Get();
    for (const Signal& cache : caches) {
      const std::vector<float> its = cache.Get();
      all.insert(all.end(), its.begin(), its.end());
    }
    return all;
  }

  // Whether so many streams of one row would go through all layers at once. They have no caches: only for those that do not.
  bool Takes(size_t streams, size_t before) {
    AttentionBatch batch;
    batch.layout = {s_.cache, s_.heads, kDim};
    Held<AttentionStream> none(k_, std::vector<AttentionStream>(streams));
    Signal angles(k_, streams * kDim), x(k_, streams * s_.hidden);
    batch.streams = none.At();
    batch.count = batch.rows = streams, batch.longest = 1, batch.furthest = before + 1;
    batch.query_heads = s_.query_heads;
    const bool takes = k_.RunLayers(layers_.data(), layers_.size(), angles.At(), batch, x.At());
    k_.Wait();
    return takes;
  }

 private:
  void RunPieces(const float* angles, const AttentionBatch& batch, float* x) {
    const size_t rows = batch.rows, queries = s_.query_heads * kDim, keys = s_.heads * kDim;
    Signal normed(k_, rows * s_.hidden), q(k_, rows * queries), k(k_, rows * keys), v(k_, rows * keys), out(k_, rows * queries), inner(k_, rows * s_.inner);
    for (size_t n = 0; n < layers_.size(); n++) {
      const LayerWeights& layer = layers_[n];
      k_.AttendRows(layer.heads, {x, rows, normed.At()}, angles, batch, n, {q.At(), k.At(), v.At(), out.At()});
      k_.Multiply(layer.o, Rows(out.At(), rows, queries), {nullptr, nullptr, true}, x);
      k_.ExpandRows(layer.mlp_norm, layer.gate, layer.up, {x, rows, normed.At()}, inner.At());
      k_.Multiply(layer.down, Rows(inner.At(), rows, s_.inner), {nullptr, nullptr, true}, x);
    }
    k_.Wait();
  }

  const float* Weight(size_t count) {
    floats_.emplace_back(k_, RandomFloats(count, ++seed_));
    return floats_.back().At();
  }
  Matrix Of(size_t rows, size_t columns) {
    std::vector<float> values = RandomFloats(rows * columns, ++seed_);
    std::vector<Bf16> rounded;
    for (const float value : values) rounded.push_back(ToBf16(value / std::sqrt(static_cast<float>(columns))));
    matrices_.emplace_back(k_, rounded);
    return {Format::kBf16, matrices_.back().At(), nullptr, rows, columns};
  }

  Kernels& k_;
  const Sizes s_;
  unsigned seed_ = 100;
  std::deque<Signal> floats_;
  std::deque<Held<Bf16>> matrices_;
  std::vector<LayerWeights> layers_;
};

bool AreSame(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void SamePiecesAndWhole(Kernels& kernels, const Sizes& sizes, bool has_norms, std::initializer_list<size_t> counts) {
  Layers layers(kernels, sizes, has_norms);
  for (const size_t streams : counts) {
    for (const size_t before : {size_t{0}, size_t{9}}) {
      const std::vector<float> pieces = layers.Run(streams, 1, before, false);
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));  // what was told before is still there
    }
  }
  CHECK(AreSame(layers.Run(1, 2, 0, true), layers.Run(1, 2, 0, false)));
}

void WhatDoesNotFitIsLeftToTheGrids() {
  const auto kernels = MakeBackend(false);
  Layers layers(*kernels, {256, 256, 2, 1, 1, Format::kF32}, true);
  CHECK(!layers.Takes(4, 0));
  CHECK(!layers.Takes(1, 5000));
  CHECK(!Layers(*kernels, {256, 512, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
  CHECK(!Layers(*kernels, {256, 256, 2, 1, 1, Format::kF16}, true).Takes(1, 0));
  const auto full = MakeBackend(true);
  CHECK(!Layers(*full, {256, 256, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
}

void AWholeTransformerGivesTheBitsOfItsPieces() {
  const auto kernels = MakeBackend(false);
  SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 2, Format::kF32}, true, {1, 2, 3});
  SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 1, Format::kF32}, false, {2});
  if (CudaFile() == nullptr) return;
  SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 5, Format::kF32}, true, {1, 2, 3});
  SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 3, Format::kBf16}, true, {1, 3});
  SamePiecesAndWhole(*kernels, {2048, 6144, 16, 8, 3, Format::kBf16}, true, {1, 2, 3});
  Layers far(*kernels, {2048, 6144, 16, 8, 2, Format::kBf16}, true);
  CHECK(AreSame(far.Run(1, 1, 290, true), far.Run(1, 1, 290, false)));
}

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({{"a whole transformer gives the bits of its pieces", AWholeTransformerGivesTheBitsOfItsPieces},
              {"what does not fit is left to the grids", WhatDoesNotFitIsLeftToTheGrids}});
}
