// A transformer of random weights whose layers run piece by piece, or as a backend does them at once.
#ifndef PARLEY_TEST_RANDOM_LAYERS_H_
#define PARLEY_TEST_RANDOM_LAYERS_H_

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "kernels/speech_kernels.h"
#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/kernel_inputs.h"

namespace parley::test {

struct Sizes {
  size_t hidden, inner, query_heads, heads, layers;
  Format cache, weights = Format::kBf16;
};

constexpr size_t kDim = 128, kCapacity = 300;  // values per head; positions in the cache

// Rows of a stream after so many positions.
struct Stand {
  size_t before, rows;
};

class Layers {
 public:
  Layers(SpeechKernels& kernels, const Sizes& sizes, bool has_norms) : k_(kernels), s_(sizes) {
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

  // Output rows and caches of `streams` streams, each with `each` rows after `before` positions.
  std::vector<float> Run(size_t streams, size_t each, size_t before, bool whole) {
    return Run(std::vector<Stand>(streams, {before, each}), whole);
  }
  std::vector<float> Run(const std::vector<Stand>& streams, bool whole) {
    Batch its;
    Begin(streams, &its);
    Signal x(k_, RandomFloats(its.batch.rows * s_.hidden, 5));
    float* const angles = its.angles.back().At();
    if (whole) CHECK(k_.RunLayers(layers_.data(), layers_.size(), angles, its.batch, x.At()));
    else RunPieces(angles, its.batch, x.At());
    std::vector<float> all = x.Get();
    const std::vector<float> cached = its.Cached();
    all.insert(all.end(), cached.begin(), cached.end());
    return all;
  }

  // True if so many streams of one row would go through all layers at once. They have no caches: only for
  // those that do not.
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

  // Streams of `each` positions after `before`, in memory.
  struct Batch {
    std::deque<Signal> caches;
    std::deque<Held<AttentionStream>> tagged;
    std::deque<Signal> angles;
    AttentionBatch batch;

    std::vector<float> Cached() const {
      std::vector<float> all;
      for (const Signal& cache : caches) {
        const std::vector<float> its = cache.Get();
        all.insert(all.end(), its.begin(), its.end());
      }
      return all;
    }
  };
  void Begin(size_t streams, size_t each, size_t before, Batch* its) {
    Begin(std::vector<Stand>(streams, {before, each}), its);
  }
  void Begin(const std::vector<Stand>& streams, Batch* its) {
    AttentionBatch& batch = its->batch;
    batch.layout = {s_.cache, s_.heads, kDim};
    for (const Stand& stream : streams) its->caches.emplace_back(k_, CacheOf(batch.layout, stream));
    batch.query_heads = s_.query_heads;
    batch.scale = 1 / std::sqrt(static_cast<float>(kDim));
    Place(streams, its);
  }
  // Places these streams elsewhere.
  void Place(size_t each, size_t before, Batch* its) {
    Place(std::vector<Stand>(its->caches.size(), {before, each}), its);
  }
  void Place(const std::vector<Stand>& streams, Batch* its) {
    AttentionBatch& batch = its->batch;
    batch.longest = batch.furthest = 0;
    std::vector<AttentionStream> tagged;
    std::vector<uint64_t> positions;
    for (size_t n = 0; n < streams.size(); n++) {
      const auto [before, rows] = streams[n];
      tagged.push_back({its->caches[n].At(), kCapacity, before, static_cast<uint32_t>(rows),
                        static_cast<uint32_t>(positions.size())});
      for (size_t i = 0; i < rows; i++) positions.push_back(before + i);
      batch.longest = std::max(batch.longest, rows);
      batch.furthest = std::max(batch.furthest, before + rows);
    }
    its->tagged.emplace_back(k_, tagged);
    its->angles.emplace_back(k_, positions.size() * kDim);
    k_.Angles(positions.data(), positions.size(), kDim, 10000, its->angles.back().At());
    batch.streams = its->tagged.back().At();
    batch.count = streams.size(), batch.rows = positions.size();
  }
  const std::vector<LayerWeights>& All() const { return layers_; }
  std::vector<LayerWeights>& All() { return layers_; }

  void RunPieces(const float* angles, const AttentionBatch& batch, float* x) {
    const size_t rows = batch.rows, queries = s_.query_heads * kDim, keys = s_.heads * kDim;
    Signal normed = Poison(k_, rows * s_.hidden), q = Poison(k_, rows * queries), k = Poison(k_, rows * keys),
           v = Poison(k_, rows * keys);
    Signal out = Poison(k_, rows * queries), inner = Poison(k_, rows * s_.inner);
    for (size_t n = 0; n < layers_.size(); n++) {
      const LayerWeights& layer = layers_[n];
      k_.AttendRows(layer.heads, {x, rows, normed.At()}, angles, batch, n,
                    {q.At(), k.At(), v.At(), out.At()});
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
  Matrix Of(size_t rows, size_t columns) { return Of(s_.weights, rows, columns); }
  // Rows are of different sizes, so that none has the scale of another.
  Matrix Of(Format format, size_t rows, size_t columns) {
    std::vector<float> values = RandomFloats(rows * columns, ++seed_);
    for (size_t i = 0; i < values.size(); i++)
      values[i] *= (0.5f + static_cast<float>(i / columns % 9) / 8) / std::sqrt(static_cast<float>(columns));
    if (HasScales(format)) return Quantized({Format::kF32, values.data(), nullptr, rows, columns}, format);
    std::vector<Bf16> rounded;
    for (const float value : values) rounded.push_back(ToBf16(value));
    matrices_.emplace_back(k_, rounded);
    return {Format::kBf16, matrices_.back().At(), nullptr, rows, columns};
  }

 private:
  Matrix Quantized(const Matrix& plain, Format format) {
    const QuantizedMatrix its = Quantize(plain, format);
    bytes_.emplace_back(k_, its.values);
    floats_.emplace_back(k_, its.scales);
    return {format, bytes_.back().At(), floats_.back().At(), plain.rows, plain.columns};
  }

  // In f32, positions that were not written are NaN, so that a read of them is noticed.
  std::vector<float> CacheOf(const KvLayout& layout, const Stand& stream) const {
    const size_t bytes = s_.layers * layout.LayerBytes(kCapacity);
    if (s_.cache != Format::kF32) return std::vector<float>(bytes / 4);
    std::vector<float> values(bytes / 4, NAN);
    const std::vector<float> seen = RandomFloats(values.size(), 3 + stream.before);
    const size_t width = s_.heads * kDim, array = layout.LayerBytes(kCapacity) / 8;
    for (size_t n = 0; n < 2 * s_.layers; n++) {
      for (size_t position = 0; position < stream.before; position++) {
        const size_t at = n * array + position % kCapacity * width;
        std::copy_n(seen.begin() + static_cast<std::ptrdiff_t>(at), width,
                    values.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    return values;
  }

  SpeechKernels& k_;
  const Sizes s_;
  unsigned seed_ = 100;
  std::deque<Signal> floats_;
  std::deque<Held<Bf16>> matrices_;
  std::deque<Held<int8_t>> bytes_;
  std::vector<LayerWeights> layers_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_RANDOM_LAYERS_H_
