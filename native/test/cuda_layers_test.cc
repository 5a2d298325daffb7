// Checks that halves of a layer, whole transformers and the passes of a code predictor give the bits of
// their parts, in whatever grids the CUDA backend runs them. The tests run on the emulated GPU or, if
// PARLEY_CUDA_FILE names the backend's library, on a real one, with the sizes of the models too.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <vector>

#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/emulator/race_check.h"
#include "test/kernel_inputs.h"
#include "test/random_layers.h"

namespace parley::test {
namespace {

struct HalfSizes {
  size_t hidden, inner, query_heads, heads, head_dim;
  Format weights, cache;
  // LayerNorm, biases and no gate, heads that are not rotated, and rows of a stream that see each other.
  bool is_encoder = false;
};

constexpr size_t kCapacity = 320;

class Halves {
 public:
  Halves(SpeechKernels& kernels, const HalfSizes& sizes) : k_(kernels), s_(sizes) {
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
    q_bias_ = Weight(layer_.heads.q.rows);
    layer_.attention_scale = Weight(s_.hidden), layer_.mlp_scale = Weight(s_.hidden);
    if (s_.is_encoder) BecomeEncoder();
  }

  // Rows of streams, `each` after `before` positions; as halves, or as the parts that those are said to be.
  std::vector<float> Run(size_t streams, size_t each, size_t before, bool halves) {
    return Run(std::vector<size_t>(streams, each), before, halves);
  }
  std::vector<float> Run(const std::vector<size_t>& counts, size_t before, bool halves) {
    const size_t streams = counts.size(), rows = std::accumulate(counts.begin(), counts.end(), size_t{0});
    const size_t queries = s_.query_heads * s_.head_dim, keys = s_.heads * s_.head_dim;
    AttentionBatch batch;
    batch.layout = {s_.cache, s_.heads, s_.head_dim};
    std::deque<Signal> caches;
    std::vector<AttentionStream> described;
    std::vector<uint64_t> positions;
    for (size_t n = 0; n < streams; n++) {
      caches.emplace_back(k_, batch.layout.LayerBytes(kCapacity) / 4);
      described.push_back({caches.back().At(), kCapacity, before, static_cast<uint32_t>(counts[n]),
                           static_cast<uint32_t>(positions.size())});
      batch.longest = std::max(batch.longest, counts[n]);
      for (size_t i = 0; i < counts[n]; i++) positions.push_back(before + i);
    }
    Held<AttentionStream> streams_held(k_, described);
    Signal turned(k_, rows * s_.head_dim), x(k_, Input(counts));
    k_.Angles(positions.data(), rows, s_.head_dim, 10000, turned.At());
    const float* const angles = s_.is_encoder ? nullptr : turned.At();
    batch.streams = streams_held.At();
    batch.count = streams, batch.rows = rows, batch.furthest = before + batch.longest;
    batch.sight.whole = s_.is_encoder;
    batch.query_heads = s_.query_heads;
    batch.scale = 1 / std::sqrt(static_cast<float>(s_.head_dim));
    Signal normed = Poison(k_, rows * s_.hidden), q = Poison(k_, rows * queries), k = Poison(k_, rows * keys),
           v = Poison(k_, rows * keys);
    Signal out = Poison(k_, rows * queries), inner = Poison(k_, rows * s_.inner);
    const LayerRoom room{normed.At(), {q.At(), k.At(), v.At(), out.At()}, inner.At()};
    if (halves) {
      k_.AddAttention(layer_, 0, angles, batch, room, x.At());
      k_.AddMlp(layer_, rows, room, x.At());
    } else {
      k_.Kernels::AddAttention(layer_, 0, angles, batch, room, x.At());
      k_.Kernels::AddMlp(layer_, rows, room, x.At());
    }
    return x.Get();
  }

  // A block of an encoder has the same rows beside any others.
  std::vector<float> Input(const std::vector<size_t>& counts) const {
    std::vector<float> all;
    for (size_t n = 0; n < counts.size(); n++) {
      const std::vector<float> its =
          RandomFloats(counts[n] * s_.hidden, s_.is_encoder ? counts[n] : 1000 + n);
      all.insert(all.end(), its.begin(), its.end());
    }
    return all;
  }

  // Every `every`-th row's norm, times q, plus a bias or not.
  std::vector<float> Normed(size_t rows, size_t every, bool whole) {
    const float* const bias = every == 1 ? q_bias_ : nullptr;
    Signal x(k_, RandomFloats(rows * every * s_.hidden, 6)), y = Poison(k_, rows * layer_.heads.q.rows);
    if (whole) k_.MultiplyNormed(layer_.heads.q, layer_.heads.norm, x.At(), rows, every, bias, y.At());
    else
      k_.SpeechKernels::MultiplyNormed(layer_.heads.q, layer_.heads.norm, x.At(), rows, every, bias, y.At());
    return y.Get();
  }

 private:
  void BecomeEncoder() {
    layer_.heads.q_norm = layer_.heads.k_norm = layer_.attention_scale = layer_.mlp_scale = nullptr;
    layer_.heads.norm.bias = Weight(s_.hidden), layer_.mlp_norm.bias = Weight(s_.hidden);
    layer_.heads.q_bias = q_bias_;
    layer_.heads.k_bias = Weight(layer_.heads.k.rows), layer_.heads.v_bias = Weight(layer_.heads.v.rows);
    layer_.o_bias = Weight(s_.hidden);
    layer_.gate = {};
    layer_.up_bias = Weight(s_.inner), layer_.down_bias = Weight(s_.hidden);
  }
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

  SpeechKernels& k_;
  const HalfSizes s_;
  unsigned seed_ = 100;
  std::deque<Signal> floats_;
  std::deque<Held<uint8_t>> matrices_;
  LayerWeights layer_;
  const float* q_bias_;
};

void CheckHalves(SpeechKernels& kernels, const HalfSizes& sizes, std::initializer_list<size_t> counts) {
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
  const HalfSizes small{128, 192, 2, 1, 128, Format::kBf16, Format::kBf16};
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

// The audio encoder's layers: blocks of 1 to 104 rows, one and many, whose bits are those of each alone and
// of the parts; and of the kernels on the CPU but for their tolerance.
void CheckEncoderHalves(const HalfSizes& sizes, bool full) {
  const auto kernels = MakeBackend(full);
  Halves halves(*kernels, sizes);
  std::vector<float> each;
  const std::vector<size_t> blocks = {104, 1, 13, 2};
  for (const size_t rows : blocks) {
    const std::vector<float> alone = halves.Run({rows}, 0, true);
    CHECK(SameBits(alone, halves.Run({rows}, 0, false)));
    each.insert(each.end(), alone.begin(), alone.end());
  }
  CHECK(SameBits(halves.Run(blocks, 0, true), each));
  CHECK(SameBits(halves.Run(blocks, 0, false), each));
  const auto cpu = MakeKernels();
  const std::vector<float> wanted = Halves(*cpu, sizes).Run(blocks, 0, false);
  double error = 0, power = 0;
  for (size_t i = 0; i < wanted.size(); i++) {
    const double off = static_cast<double>(each[i]) - wanted[i];
    error += off * off;
    power += static_cast<double>(wanted[i]) * wanted[i];
  }
  CHECK(std::sqrt(error / power) < (full ? 2e-5 : 1e-2));  // NaN fails
}

void HalvesOfAnEncoderGiveTheBitsOfTheirParts() {
  const HalfSizes small{96, 160, 2, 2, 64, Format::kBf16, Format::kF32, true};
  CheckEncoderHalves(small, false);
  CheckEncoderHalves(small, true);
  CheckEncoderHalves({64, 96, 2, 1, 128, Format::kBf16, Format::kBf16, true}, false);
  CheckEncoderHalves({48, 72, 3, 3, 16, Format::kF32, Format::kF32, true},
                     true);  // as the tests' checkpoints
  if (CudaFile() == nullptr) return;
  CheckEncoderHalves({896, 3584, 14, 14, 64, Format::kBf16, Format::kF32, true}, false);
  CheckEncoderHalves({1024, 4096, 16, 16, 64, Format::kBf16, Format::kF32, true}, false);
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

// --- a whole transformer in one persistent grid; the emulated GPU has one block, or as many as a real one

bool AreSame(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void SamePiecesAndWhole(SpeechKernels& kernels, const Sizes& sizes, bool has_norms,
                        std::initializer_list<size_t> counts) {
  Layers layers(kernels, sizes, has_norms);
  for (const size_t streams : counts) {
    for (const size_t before : {size_t{0}, size_t{9}}) {
      const std::vector<float> pieces = layers.Run(streams, 1, before, false);
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));  // with the first run's tagged words
    }
  }
  CHECK(AreSame(layers.Run(1, 2, 0, true), layers.Run(1, 2, 0, false)));
}

// On the emulator one block does it all, with as much memory as its sums take.
void LayersOfTheModelsSizesGiveTheBitsOfTheirPieces() {
  const auto kernels = MakeBackend(false, size_t{2} << 20);
  for (const size_t hidden : {1024, 2048}) {
    Layers layers(*kernels, {hidden, 3 * hidden, 16, 8, 1, Format::kBf16}, true);
    CHECK(AreSame(layers.Run(2, 1, 3, true), layers.Run(2, 1, 3, false)));
  }
}

// True if the layers of `sizes` are still taken when the matrix of one is another.
bool TakesWith(SpeechKernels& kernels, const Sizes& sizes, Matrix LayerWeights::* matrix,
               const Sizes& of_other) {
  Layers layers(kernels, sizes, true), others(kernels, of_other, true);
  layers.All().back().*matrix = others.All().back().*matrix;
  return layers.Takes(1, 0);
}

// Weights of 8 bits are multiplied grid by grid.
void LayersAreOfBf16() {
  const auto kernels = MakeBackend(false);
  const auto of = [](Format format) { return Sizes{256, 256, 2, 1, 2, Format::kF32, format}; };
  for (const Format other : {Format::kInt8, Format::kFp8}) {
    CHECK(!Layers(*kernels, of(other), true).Takes(1, 0));
    CHECK(!Layers(*kernels, {1024, 3072, 16, 8, 1, Format::kBf16, other}, true).Takes(1, 0));
    for (const auto matrix :
         {&LayerWeights::o, &LayerWeights::gate, &LayerWeights::up, &LayerWeights::down}) {
      CHECK(!TakesWith(*kernels, of(Format::kBf16), matrix, of(other)));
    }
  }
  for (const auto matrix : {&HeadProjections::q, &HeadProjections::k, &HeadProjections::v}) {
    Layers layers(*kernels, of(Format::kBf16), true), others(*kernels, of(Format::kInt8), true);
    layers.All().back().heads.*matrix = others.All().back().heads.*matrix;
    CHECK(!layers.Takes(1, 0));
  }
}

void LayersThatDoNotFitAreLeftToTheGrids() {
  const auto kernels = MakeBackend(false);
  Layers layers(*kernels, {256, 256, 2, 1, 1, Format::kF32}, true);
  CHECK(!layers.Takes(4, 0));
  CHECK(!layers.Takes(1, 5000));
  CHECK(!Layers(*kernels, {256, 512, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
  CHECK(!Layers(*kernels, {256, 256, 2, 1, 1, Format::kF16}, true).Takes(1, 0));
  layers.All().back().mlp_scale = layers.Weight(256);  // as the codec's have
  CHECK(!layers.Takes(1, 0));
  const auto full = MakeBackend(true);
  CHECK(!Layers(*full, {256, 256, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
}

// Nearly as many blocks as a real GPU has, which wait for each other; some have no rows in some steps. Each
// of their threads takes two of the 65,530 memory maps that Linux gives a process by default.
void BlocksMayComeInAnyOrder() {
  if (CudaFile() != nullptr || cuda::emulator::races::kAreChecked)
    return;  // ThreadSanitizer does not tell so many threads apart
  for (const auto order : {cuda::emulator::Order::kForward, cuda::emulator::Order::kBackward,
                           cuda::emulator::Order::kShuffled}) {
    cuda::emulator::DeviceOptions device;
    device.multiprocessors = 96;
    device.rules.order = order;
    const auto kernels = MakeCudaKernels({}, device);
    Layers layers(*kernels, {256, 256, 2, 1, 2, Format::kF32}, true);
    for (const size_t rows : {size_t{2}, size_t{3}})
      CHECK(AreSame(layers.Run(rows, 1, 9, true), layers.Run(rows, 1, 9, false)));
  }
}

void AWholeTransformerGivesTheBitsOfItsPieces() {
  const auto kernels = MakeBackend(false);
  SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 2, Format::kF32}, true, {1, 2, 3});
  SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 1, Format::kF32}, false, {2});
  Layers near(*kernels, {256, 256, 2, 1, 1, Format::kF32}, true);
  CHECK(AreSame(near.Run(2, 1, 290, true), near.Run(2, 1, 290, false)));  // more than a chunk of positions
  if (CudaFile() == nullptr) return;
  SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 5, Format::kF32}, true, {1, 2, 3});
  SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 3, Format::kBf16}, true, {1, 3});
  SamePiecesAndWhole(*kernels, {2048, 6144, 16, 8, 3, Format::kBf16}, true, {1, 2, 3});
  Layers far(*kernels, {2048, 6144, 16, 8, 2, Format::kBf16}, true);
  CHECK(AreSame(far.Run(1, 1, 290, true), far.Run(1, 1, 290, false)));
}

// --- all passes of a code predictor in one grid: codes and caches as in separate steps

constexpr size_t kVocabulary = 1024;

struct Made {
  std::vector<int32_t> codes;  // [streams, 1 + passes]
  std::vector<float> cached;
};

bool operator==(const Made& a, const Made& b) {
  return a.codes == b.codes && a.cached.size() == b.cached.size() &&
         std::memcmp(a.cached.data(), b.cached.data(), a.cached.size() * sizeof(float)) == 0;
}

class Predictor {
 public:
  Predictor(SpeechKernels& kernels, const Sizes& sizes, size_t passes, bool narrow_tables)
      : k_(kernels),
        s_(sizes),
        layers_(kernels, sizes, true),
        norm_{layers_.Weight(sizes.hidden), nullptr, 1e-6f} {
    for (size_t n = 0; n < passes; n++) {
      heads_.push_back(layers_.Of(kVocabulary, s_.hidden));
      if (narrow_tables) tables_.push_back(layers_.Of(Format::kBf16, kVocabulary + 8, s_.hidden));
      else
        tables_.push_back({Format::kF32, layers_.Weight((kVocabulary + 8) * s_.hidden), nullptr,
                           kVocabulary + 8, s_.hidden});
    }
  }

  Made Run(size_t streams, size_t each, const SamplingRules& rules, bool whole, float scale = 1) {
    Layers::Batch its;
    layers_.Begin(streams, each, 0, &its);
    std::vector<float> values = RandomFloats(its.batch.rows * s_.hidden, 7);
    for (float& value : values) value *= scale;
    Signal x(k_, values);
    std::vector<Choice> choices;
    for (size_t n = 0; n < streams; n++) choices.push_back({rules, 11 + n, 5, nullptr});
    const Held<Choice> tagged(k_, choices);
    Held<int32_t> codes(k_, std::vector<int32_t>(streams * (1 + heads_.size()), 7));
    if (whole) RunWhole(its, tagged.At(), x.At(), codes.At());
    else RunPieces(&its, each, tagged.At(), x.At(), codes.At());
    return {codes.Get(), its.Cached()};
  }

  // Pretends that the last head was loaded so.
  void ChangeHead(Format format) { heads_.back() = layers_.Of(format, kVocabulary, s_.hidden); }

  // True if all passes would be done at once.
  bool Takes(size_t streams, size_t each) {
    Layers::Batch its;
    layers_.Begin(streams, each, 0, &its);
    Signal x(k_, its.batch.rows * s_.hidden);
    const Held<Choice> tagged(k_, std::vector<Choice>(streams));
    Held<int32_t> codes(k_, std::vector<int32_t>(streams * (1 + heads_.size())));
    return Poll(its, tagged.At(), x.At(), codes.At());
  }

 private:
  bool Poll(const Layers::Batch& its, const Choice* choices, float* x, int32_t* codes) {
    std::vector<CodePass> passes;
    std::deque<Signal> angles;
    for (size_t n = 0; n < heads_.size(); n++) {
      std::vector<uint64_t> positions(its.batch.count, its.batch.longest + n - 1);
      angles.emplace_back(k_, positions.size() * kDim);
      k_.Angles(positions.data(), positions.size(), kDim, 10000, angles.back().At());
      passes.push_back({n == 0 ? its.angles.back().At() : angles.back().At(), heads_[n],
                        n + 1 < heads_.size() ? tables_[n] : Matrix{}});
    }
    CodePasses all;
    all.layers = layers_.All().data();
    all.layer_count = layers_.All().size();
    all.norm = norm_;
    all.passes = passes.data();
    all.count = passes.size();
    all.choices = choices;
    all.sequence = 3;
    all.codes = codes + 1;
    all.stride = 1 + heads_.size();
    const bool is_done = k_.RunPasses(all, its.batch, x);
    k_.Wait();
    return is_done;
  }
  void RunWhole(const Layers::Batch& its, const Choice* choices, float* x, int32_t* codes) {
    CHECK(Poll(its, choices, x, codes));
  }

  void RunPieces(Layers::Batch* its, size_t each, const Choice* choices, float* x, int32_t* codes) {
    const size_t streams = its->batch.count, stride = 1 + heads_.size();
    Signal logits(k_, streams * kVocabulary);
    for (size_t n = 0; n < heads_.size(); n++) {
      const size_t rows = n == 0 ? each : 1;
      if (n > 0) layers_.Place(1, each + n - 1, its);
      layers_.RunPieces(its->angles.back().At(), its->batch, x);
      k_.RmsNorm(x, norm_.weight, its->batch.rows, s_.hidden, norm_.eps, x);
      k_.Multiply(heads_[n], {x + (rows - 1) * s_.hidden, streams, rows * s_.hidden, s_.hidden, 1, 0}, {},
                  logits.At());
      k_.Choose(choices, streams, logits.At(), kVocabulary, 3 + n, codes + 1 + n, stride);
      if (n + 1 < heads_.size()) k_.Gather(tables_[n], {codes + 1 + n, stride}, streams, false, x);
    }
    k_.Wait();
  }

  SpeechKernels& k_;
  const Sizes s_;
  Layers layers_;
  const Norm norm_;
  std::vector<Matrix> heads_, tables_;
};

SamplingRules Usual() {
  SamplingRules rules;
  rules.top_k = 50;
  rules.temperature = 0.9f;
  return rules;
}

void SameCodes(Predictor* predictor, size_t streams, size_t each, const SamplingRules& rules) {
  const Made pieces = predictor->Run(streams, each, rules, false);
  CHECK(predictor->Run(streams, each, rules, true) == pieces);
  CHECK(predictor->Run(streams, each, rules, true) ==
        pieces);  // memory still holds the first run's tagged words
  CHECK(std::all_of(pieces.codes.begin(), pieces.codes.end(), [](int32_t code) { return code >= 0; }));
}

void AllPassesAtOnceGiveTheCodesOfEach() {
  const auto kernels = MakeBackend(false);
  Predictor small(*kernels, {256, 256, 2, 1, 1, Format::kF32}, 3, false);
  SameCodes(&small, 1, 2, Usual());
  for (const size_t streams : {1, 2, 3}) SameCodes(&small, streams, 1, Usual());
  Predictor narrow(*kernels, {256, 256, 2, 1, 2, Format::kF32}, 3, true);
  SameCodes(&narrow, 2, 1, Usual());
  if (CudaFile() == nullptr) return;
  Predictor large(*kernels, {1024, 3072, 16, 8, 5, Format::kF32}, 15, false);
  SameCodes(&large, 1, 2, Usual());
  for (const size_t streams : {1, 2, 3}) SameCodes(&large, streams, 1, Usual());
}

// On the emulator one block does it all, with as much memory as its sums take.
void PassesOfTheModelsSizesGiveTheCodesOfEach() {
  const auto kernels = MakeBackend(false, size_t{2} << 20);
  Predictor predictor(*kernels, {1024, 3072, 16, 8, 1, Format::kF32}, 2, false);
  SameCodes(&predictor, 2, 1, Usual());
}

void EveryRuleChoosesAsItDoesAlone() {
  const auto kernels = MakeBackend(false);
  Predictor predictor(*kernels, {256, 256, 2, 1, 1, Format::kF32}, 2, false);
  SamplingRules greedy = Usual(), by_mass = Usual(), all;
  greedy.greedy = true;
  by_mass.top_p = 0.7f;
  all.temperature = 1.3f;
  for (const SamplingRules& rules : {greedy, by_mass, all}) SameCodes(&predictor, 2, 1, rules);
}

// A stream with a NaN row gets an invalid code, and the kernel still ends.
void WhatIsNoNumberGivesNoCode() {
  const auto kernels = MakeBackend(false);
  Predictor predictor(*kernels, {256, 256, 2, 1, 1, Format::kF32}, 2, false);
  const Made made = predictor.Run(1, 1, Usual(), true, NAN);
  CHECK_EQ(made.codes[1], -1);
  CHECK(made.codes == predictor.Run(1, 1, Usual(), false, NAN).codes);
}

void PassesThatDoNotFitAreLeftToTheGrids() {
  const auto kernels = MakeBackend(false);
  Predictor predictor(*kernels, {256, 256, 2, 1, 1, Format::kF32}, 2, false);
  CHECK(predictor.Takes(1, 2));
  CHECK(!predictor.Takes(2, 2));  // four rows
  CHECK(!predictor.Takes(4, 1));
  CHECK(!Predictor(*kernels, {256, 512, 2, 1, 1, Format::kF32}, 2, false).Takes(1, 1));
  CHECK(!Predictor(*kernels, {256, 256, 2, 1, 1, Format::kBf16}, 2, false).Takes(1, 1));
  CHECK(!Predictor(*kernels, {256, 256, 2, 1, 1, Format::kF32}, 17, false).Takes(1, 1));
  Predictor mixed(*kernels, {256, 256, 2, 1, 1, Format::kF32}, 2, false);
  mixed.ChangeHead(Format::kInt8);
  CHECK(!mixed.Takes(1, 1));
  CHECK(!Predictor(*kernels, {256, 256, 2, 1, 1, Format::kF32, Format::kInt8}, 2, false).Takes(1, 1));
  CHECK(!MakeKernels()->RunPasses({}, {}, nullptr));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_layers) {
  using namespace parley::test;
  return Run({
      {"halves give the bits of their parts", HalvesGiveTheBitsOfTheirParts},
      {"halves of an encoder give the bits of their parts", HalvesOfAnEncoderGiveTheBitsOfTheirParts},
      {"normed rows are the norm multiplied", NormedRowsAreTheNormMultiplied},
      {"a whole transformer gives the bits of its pieces", AWholeTransformerGivesTheBitsOfItsPieces},
      {"layers of the models' sizes give the bits of their pieces",
       LayersOfTheModelsSizesGiveTheBitsOfTheirPieces},
      {"blocks that wait for each other may come in any order", BlocksMayComeInAnyOrder},
      {"layers are of bf16", LayersAreOfBf16},
      {"layers that do not fit are left to the grids", LayersThatDoNotFitAreLeftToTheGrids},
      {"all passes at once give the codes of each", AllPassesAtOnceGiveTheCodesOfEach},
      {"passes of the models' sizes give the codes of each", PassesOfTheModelsSizesGiveTheCodesOfEach},
      {"every rule chooses as it does alone", EveryRuleChoosesAsItDoesAlone},
      {"what is no number gives no code", WhatIsNoNumberGivesNoCode},
      {"passes that do not fit are left to the grids", PassesThatDoNotFitAreLeftToTheGrids},
  });
}
