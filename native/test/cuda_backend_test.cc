// Frames of a small model on the CUDA backend: they are those of the CPU, and steps of one bucket are one
// graph.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

constexpr size_t kWidth = 64, kInner = 96, kQueryHeads = 4, kHeads = 2, kHeadDim = 32, kCapacity = 12,
                 kMostStreams = 8;
constexpr size_t kVocabulary = 40;
constexpr float kEps = 1e-6f;

// A matrix in the memory of a backend.
struct HeldMatrix {
  HeldMatrix(SpeechKernels& kernels, size_t rows, size_t columns, uint64_t seed)
      : stored(MakeMatrix(Format::kBf16, rows, columns, seed)),
        values(kernels, stored->matrix.Bytes()),
        matrix(stored->matrix) {
    kernels.Upload(values.At(), matrix.values, matrix.Bytes());
    matrix.values = values.At();
  }
  std::unique_ptr<StoredMatrix> stored;
  Held<uint8_t> values;
  Matrix matrix;
};

// One layer, a convolution and a head over it.
class Model {
 public:
  explicit Model(SpeechKernels& kernels)
      : k_(kernels),
        q(kernels, kQueryHeads * kHeadDim, kWidth, 1),
        k(kernels, kHeads * kHeadDim, kWidth, 2),
        v(kernels, kHeads * kHeadDim, kWidth, 3),
        o(kernels, kWidth, kQueryHeads * kHeadDim, 4),
        gate(kernels, kInner, kWidth, 5),
        up(kernels, kInner, kWidth, 6),
        down(kernels, kWidth, kInner, 7),
        head(kernels, kVocabulary, 3 * kWidth, 8),
        table(kernels, kVocabulary, kWidth, 9),
        weight(kernels, RandomFloats(kWidth, 10)),
        head_weight(kernels, RandomFloats(kHeadDim, 11)),
        x(kernels, kMostStreams * kWidth),
        normed(kernels, kMostStreams * kWidth),
        heads(kernels, 4 * kMostStreams * kQueryHeads * kHeadDim),
        inner(kernels, kMostStreams * kInner),
        angles(kernels, kMostStreams * kHeadDim),
        signals(kernels, kMostStreams * 3 * kWidth),
        tails(kernels, kMostStreams * 2 * kWidth),
        logits(kernels, kMostStreams * kVocabulary),
        ids(kernels, std::vector<int32_t>(kMostStreams, 1)),
        streams(kernels, kMostStreams),
        choices(kernels, kMostStreams) {
    for (size_t s = 0; s < kMostStreams; s++) caches.emplace_back(kernels, layout.LayerBytes(kCapacity));
    kernels.Wait();
  }

  // Returns the chosen ids of the first `count` streams. `seen` receives the logits.
  std::vector<int32_t> Step(size_t count, std::vector<float>* seen) {
    Attend(count);
    k_.ExpandRows({weight.At(), nullptr, kEps}, gate.matrix, up.matrix, {x.At(), count, normed.At()},
                  inner.At());
    k_.Multiply(down.matrix, Rows(inner.At(), count, kInner), {nullptr, nullptr, true}, x.At());
    Convolve(count);
    std::vector<Choice> rules(count);
    for (Choice& choice : rules) choice.rules.greedy = true;
    k_.Upload(choices.At(), rules.data(), count * sizeof(Choice));
    seen->resize(count * kVocabulary);
    k_.Download(seen->data(), logits.At(), seen->size() * sizeof(float));
    k_.Choose(choices.At(), count, logits.At(), kVocabulary, 0, ids.At(), 1);
    std::vector<int32_t> chosen(count);
    k_.Download(chosen.data(), ids.At(), count * sizeof(int32_t));
    k_.Wait();
    return chosen;
  }

 private:
  void Attend(size_t count) {
    std::vector<AttentionStream> who(count);
    std::vector<uint64_t> at(count);
    for (size_t s = 0; s < count; s++) {
      at[s] = positions[s]++;
      who[s] = {caches[s].At(), kCapacity, at[s], 1, static_cast<uint32_t>(s)};
    }
    k_.Upload(streams.At(), who.data(), count * sizeof(AttentionStream));
    k_.Gather(table.matrix, {ids.At(), 1}, count, false, x.At());
    k_.Angles(at.data(), count, kHeadDim, 10000, angles.At());
    const size_t part = kMostStreams * kQueryHeads * kHeadDim;
    const AttentionRows rows{heads.At(), heads.At(part), heads.At(2 * part), heads.At(3 * part)};
    AttentionBatch batch;
    batch.streams = streams.At();
    batch.count = batch.rows = count;
    batch.longest = 1;
    batch.furthest = *std::max_element(at.begin(), at.end()) + 1;
    batch.layout = layout;
    batch.query_heads = kQueryHeads;
    batch.scale = 0.2f;
    k_.AttendRows(
        {{weight.At(), nullptr, kEps}, q.matrix, k.matrix, v.matrix, head_weight.At(), head_weight.At()},
        {x.At(), count, normed.At()}, angles.At(), batch, 0, rows);
    k_.Multiply(o.matrix, Rows(rows.output, count, kQueryHeads * kHeadDim), {nullptr, nullptr, true}, x.At());
  }

  // Three taps over the stream's last positions.
  void Convolve(size_t count) {
    std::vector<Stretch> stretches;
    for (size_t s = 0; s < count; s++)
      stretches.push_back({signals.At((s * 3 + 2) * kWidth), 1, tails.At(s * 2 * kWidth)});
    k_.Spread(x.At(), nullptr, nullptr, kWidth, stretches.data(), count);
    k_.ConvolveCausal({head.matrix, nullptr, kWidth, 3, 1, 1}, stretches.data(), count, logits.At());
  }

  SpeechKernels& k_;
  const KvLayout layout{Format::kF32, kHeads, kHeadDim};
  HeldMatrix q, k, v, o, gate, up, down, head, table;
  Signal weight, head_weight, x, normed, heads, inner, angles, signals, tails, logits;
  Held<int32_t> ids;
  Held<AttentionStream> streams;
  Held<Choice> choices;
  std::vector<Held<uint8_t>> caches;
  uint64_t positions[kMostStreams] = {};
};

void FramesAreThoseOfTheCpu() {
  const auto cpu = MakeKernels();
  cuda::CudaOptions full;
  full.full_vectors = true;
  const auto cuda = MakeCudaKernels(full);
  Model a(*cpu), b(*cuda);
  for (const size_t count : {1, 2, 5, 6, 6, 3, 8}) {
    std::vector<float> wanted, seen;
    const auto ids = a.Step(count, &wanted);
    CHECK(b.Step(count, &seen) == ids);
    float largest = 0, off = 0;
    for (size_t i = 0; i < wanted.size(); i++) {
      largest = std::max(largest, std::fabs(wanted[i]));
      off = std::max(off, std::fabs(seen[i] - wanted[i]));
    }
    CHECK(largest > 1);
    CHECK(off < 4e-5f * largest);  // 9.7e-6: activations have 16 bits in the products
  }
}

void StepsOfOneBucketAreOneGraph() {
  const auto cuda = MakeCudaKernels();
  Model model(*cuda);
  std::vector<float> seen;
  for (const size_t count : {5, 6}) model.Step(count, &seen);
  const BackendFigures before = cuda->Figures();
  for (const size_t count : {5, 6, 5, 5, 6}) model.Step(count, &seen);
  const BackendFigures after = cuda->Figures();
  CHECK_EQ(after.eager, before.eager);
  CHECK_EQ(after.captures, before.captures);
  CHECK_EQ(after.launches, before.launches + 5);
}

// A stream has the same bits alone and among others, as a graph and as single grids.
void AStreamAloneIsAStreamAmongOthers() {
  cuda::CudaOptions eager;
  eager.recorder.graphs = false;
  const auto some = MakeCudaKernels(), other = MakeCudaKernels(eager);
  Model among(*some), alone(*other);
  for (const size_t count : {8, 3, 5, 8, 8, 2}) {
    std::vector<float> all, one;
    among.Step(count, &all);
    alone.Step(1, &one);
    all.resize(kVocabulary);
    CHECK(SameBits(all, one));
  }
  CHECK_EQ(other->Figures().launches, 0u);
}

void WrongShapesAreRefused() {
  const auto cuda = MakeCudaKernels();
  const Matrix w{Format::kBf16, nullptr, nullptr, 4, 8}, bare{Format::kInt8, nullptr, nullptr, 4, 8};
  const Matrix shorter{Format::kBf16, nullptr, nullptr, 3, 8};
  CHECK_EQ(RefusalOf([&] { cuda->Multiply(w, Rows(nullptr, 1, 7), {}, nullptr); }),
           std::string("the vectors do not have as many values as the matrix has columns"));
  CHECK_EQ(RefusalOf([&] { cuda->Multiply(bare, Rows(nullptr, 1, 8), {}, nullptr); }),
           std::string("a matrix of 8 bits has no scales"));
  CHECK_EQ(RefusalOf([&] { cuda->MultiplyGated(w, shorter, Rows(nullptr, 1, 8), nullptr); }),
           std::string("gate and up differ in their rows"));
  CHECK_EQ(RefusalOf([&] { cuda->ConvolveCausal({w, nullptr, 4, 2, 1, 2}, nullptr, 0, nullptr); }),
           std::string("a causal convolution with state has stride 1"));
  AttentionBatch batch;
  batch.layout = {Format::kInt8, 1, 8};
  CHECK_EQ(RefusalOf([&] { cuda->Attend(batch, 0, {}); }), std::string("a KV cache holds f32, f16 or bf16"));
  batch.layout = {Format::kF32, 2, 8};
  batch.query_heads = 3;
  CHECK_EQ(RefusalOf([&] { cuda->Attend(batch, 0, {}); }),
           std::string("query heads are no multiple of the cache's"));
  batch.query_heads = 2;
  batch.sight = {5, true};
  CHECK_EQ(RefusalOf([&] { cuda->Attend(batch, 0, {}); }),
           std::string("attention to a whole block has no window"));
  batch.sight = {0, true};
  HeadProjections heads;
  heads.q = heads.k = heads.v = {Format::kBf16, nullptr, nullptr, 8, 8};
  CHECK_EQ(RefusalOf([&] { cuda->AttendRows(heads, {}, nullptr, batch, 0, {}); }),
           std::string("the projections do not have as many rows as heads times head_dim"));
  CHECK_EQ(RefusalOf([&] { cuda->GatherPlanes(nullptr, {size_t{1} << 20, 100, 128, 480}, nullptr); }),
           std::string("more windows of planes than a grid has threads"));
  CHECK_EQ(RefusalOf([&] { cuda->GatherPlanes(nullptr, {1, 2, 2, 1}, reinterpret_cast<float*>(4)); }),
           std::string("windows of planes lie at no multiple of 16 bytes"));
  LayerWeights layer;
  layer.up = {Format::kBf16, nullptr, nullptr, 8, 4}, layer.down = {Format::kBf16, nullptr, nullptr, 4, 7};
  CHECK_EQ(RefusalOf([&] { cuda->AddMlp(layer, 1, {}, nullptr); }),
           std::string("the vectors do not have as many values as the matrix has columns"));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_backend) {
  using namespace parley::test;
  return Run({
      {"frames are those of the CPU", FramesAreThoseOfTheCpu},
      {"steps of one bucket are one graph", StepsOfOneBucketAreOneGraph},
      {"a stream alone is a stream among others", AStreamAloneIsAStreamAmongOthers},
      {"wrong shapes are refused", WrongShapesAreRefused},
  });
}
