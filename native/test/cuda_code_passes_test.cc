// All passes of a code predictor as one grid: the codes and the caches of its layers, norms, products and
// choices done piece by piece, on the emulated GPU (of one block) or, where PARLEY_CUDA_FILE names its
// backend, on a real one, where the models' sizes are tried too.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "test/cuda_backend.h"
#include "test/random_layers.h"

namespace parley::test {
namespace {

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
  Predictor(Kernels& kernels, const Sizes& sizes, size_t passes, bool narrow_tables)
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

  // As if the last head had been loaded so.
  void ChangeHead(Format format) { heads_.back() = layers_.Of(format, kVocabulary, s_.hidden); }

  // Whether all passes would be done at once.
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

  Kernels& k_;
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

void WhatDoesNotFitIsLeftToTheGrids() {
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

TEST_GROUP(cuda_code_passes) {
  using namespace parley::test;
  return Run(
      {{"all passes at once give the codes of each", AllPassesAtOnceGiveTheCodesOfEach},
       {"passes of the models' sizes give the codes of each", PassesOfTheModelsSizesGiveTheCodesOfEach},
       {"every rule chooses as it does alone", EveryRuleChoosesAsItDoesAlone},
       {"what is no number gives no code", WhatIsNoNumberGivesNoCode},
       {"what does not fit is left to the grids", WhatDoesNotFitIsLeftToTheGrids}});
}
