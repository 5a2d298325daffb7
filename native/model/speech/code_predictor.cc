#include "model/speech/code_predictor.h"

#include <algorithm>
#include <numeric>

#include "model/shared/layer_weights.h"
#include "model/shared/workspace.h"

namespace parley::model {
namespace {

constexpr size_t kPiece = 256;  // rows that are projected together: bounds the memory, changes no bit

NamedTensors TensorsOf(const SpeechCheckpoint& checkpoint) {
  return checkpoint.ModelTensors().Under("talker.code_predictor");
}

}  // namespace

CodePredictor::CodePredictor(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint,
                             Embeddings& embeddings, Weights& weights, std::optional<Format> format)
    : kernels_(kernels),
      embeddings_(embeddings),
      vocabulary_(static_cast<size_t>(checkpoint.config().predictor.vocabulary)),
      transformer_(kernels, checkpoint.config().predictor.transformer,
                   LoadLayers(weights, TensorsOf(checkpoint).Under("model"),
                              static_cast<size_t>(checkpoint.config().predictor.transformer.layers),
                              kQwen3Layer, format),
                   Sight{}),
      norm_(weights.Floats(TensorsOf(checkpoint)["model.norm.weight"])),
      inputs_(kernels),
      workspace_(kernels) {
  const NamedTensors tensors = TensorsOf(checkpoint);
  if (checkpoint.config().has_projection()) {
    projection_ = weights.Of(tensors["small_to_mtp_projection.weight"], format);
    projection_bias_ = weights.Floats(tensors["small_to_mtp_projection.bias"]);
  }
  for (size_t n = 0; n + 1 < embeddings.code_groups(); n++) {
    heads_.push_back(weights.Of(tensors.Under("lm_head", n)["weight"], format));
    tables_.push_back(projection_.values == nullptr ? embeddings.codes(n)
                                                    : Projected(embeddings.codes(n), weights));
    passes_.push_back(std::make_unique<Transformer::Standing>(kernels));
  }
}

// Projects all rows of a table once, not with every frame. The tables of the talker's codes and 14 others
// take about 130 MB.
Matrix CodePredictor::Projected(const Matrix& table, Weights& weights) {
  const size_t width = projection_.rows;
  float* const made = weights.Room(table.rows * width);
  IdList id_list(kernels_);
  for (size_t at = 0; at < table.rows; at += kPiece) {
    std::vector<int32_t> ids(std::min(kPiece, table.rows - at));
    std::iota(ids.begin(), ids.end(), static_cast<int32_t>(at));
    float* const rows = inputs_.Floats(ids.size() * table.columns);
    kernels_.Gather(table, id_list.Upload(ids), ids.size(), false, rows);
    kernels_.Multiply(projection_, Rows(rows, ids.size(), table.columns), {projection_bias_},
                      made + at * width);
    kernels_.Wait();
  }
  return {Format::kF32, made, nullptr, table.rows, width};
}

size_t CodePredictor::StreamBytes() const {
  const size_t positions = embeddings_.code_groups();
  const size_t angles = positions * static_cast<size_t>(transformer_.config().head_dim) * sizeof(float);
  return KvState::BytesOf(transformer_.config(), kCacheFormat, positions) + angles +
         passes_.size() * sizeof(AttentionStream);
}

void CodePredictor::MakeRoom(size_t count) {
  while (states_.size() < count) {
    states_.push_back(
        std::make_unique<KvState>(kernels_, transformer_.config(), kCacheFormat, embeddings_.code_groups()));
  }
  if (described_ < states_.size()) DescribePasses();
}

// Positions 0 and 1, then one after the other.
void CodePredictor::DescribePasses() {
  for (size_t n = 0; n < passes_.size(); n++) {
    streams_.clear();
    for (const std::unique_ptr<KvState>& state : states_) {
      state->Rewind();
      if (n > 0) state->Advance(n + 1);
      streams_.push_back({state.get(), n == 0 ? size_t{2} : size_t{1}});
    }
    transformer_.Describe(streams_.data(), streams_.size(), passes_[n].get());
  }
  described_ = states_.size();
  all_passes_.clear();
  for (size_t n = 0; n < passes_.size(); n++) {
    all_passes_.push_back(
        {passes_[n]->angles(), heads_[n], n + 1 < tables_.size() ? tables_[n + 1] : Matrix{}});
  }
}

void CodePredictor::Predict(const float* hidden, const Choice* choices, size_t count, int32_t* codes) {
  if (count == 0 || heads_.empty()) return;
  MakeRoom(count);
  const auto width = static_cast<size_t>(transformer_.config().hidden);
  const auto [x, pairs] = inputs_.Parts<2>({count * width, 2 * count * width});
  Begin(hidden, count, codes, x, pairs);
  if (AdvanceAll(1, pairs, choices, count, codes)) return;
  Advance(1, pairs, 2, choices, count, codes);
  for (size_t group = 2; group <= heads_.size(); group++) {
    // Codes after an invalid first code are never used.
    kernels_.Gather(tables_[group - 1], {codes + group - 1, tables_.size() + 1}, count, false, x);
    if (group == 2 && AdvanceAll(2, x, choices, count, codes)) return;
    Advance(group, x, 1, choices, count, codes);
  }
}

// The hidden vector and the first code are positions 0 and 1, computed together. x [count, 2, width]; rows:
// room for [count, width]
void CodePredictor::Begin(const float* hidden, size_t count, const int32_t* codes, float* rows, float* x) {
  const auto width = static_cast<size_t>(transformer_.config().hidden);
  const auto place = [&](const float* from, size_t at) {
    kernels_.CopyColumns(from, width, 0, x, 2 * width, at, width, count);
  };
  if (projection_.values != nullptr)
    kernels_.Multiply(projection_, Rows(hidden, count, projection_.columns), {projection_bias_}, rows);
  place(projection_.values != nullptr ? rows : hidden, 0);
  kernels_.Gather(tables_[0], {codes, tables_.size() + 1}, count, false, rows);
  place(rows, width);
}

// x, the rows of the pass of `group`, which are lost, to the codes from `group` on, where a backend does all
// of it at once: whether it did.
bool CodePredictor::AdvanceAll(size_t group, float* x, const Choice* choices, size_t count, int32_t* codes) {
  CodePasses passes;
  passes.norm = {norm_, nullptr, static_cast<float>(transformer_.config().norm_eps)};
  passes.passes = all_passes_.data() + group - 1;
  passes.count = all_passes_.size() - (group - 1);
  passes.choices = choices;
  passes.sequence = group;
  passes.codes = codes + group;
  passes.stride = tables_.size() + 1;
  passes.layers = transformer_.layers().data();
  passes.layer_count = transformer_.layers().size();
  return kernels_.RunPasses(passes, passes_[group - 1]->First(count), x);
}

// x [count * rows_each, width], which is lost, to the codes at `group`.
void CodePredictor::Advance(size_t group, float* x, size_t rows_each, const Choice* choices, size_t count,
                            int32_t* codes) {
  const auto width = static_cast<size_t>(transformer_.config().hidden);
  float* const logits = workspace_.Floats(count * vocabulary_);
  transformer_.Forward(*passes_[group - 1], count, x);
  // The last row of each stream.
  const Norm norm{norm_, nullptr, static_cast<float>(transformer_.config().norm_eps)};
  kernels_.MultiplyNormed(heads_[group - 1], norm, x + (rows_each - 1) * width, count, rows_each, nullptr,
                          logits);
  kernels_.Choose(choices, count, logits, vocabulary_, group, codes + group, tables_.size() + 1);
}

}  // namespace parley::model
