#include "model/code_predictor.h"

#include "model/layer_weights.h"

namespace parley::model {
namespace {

NamedTensors TensorsOf(const Checkpoint& checkpoint) {
  return NamedTensors::OfModel(checkpoint).Under("talker.code_predictor");
}

}  // namespace

CodePredictor::CodePredictor(Kernels& kernels, const Checkpoint& checkpoint, Embeddings& embeddings, Weights& weights,
                             std::optional<Format> format)
    : kernels_(kernels),
      embeddings_(embeddings),
      vocabulary_(static_cast<size_t>(checkpoint.config().predictor.vocabulary)),
      transformer_(kernels, checkpoint.config().predictor.transformer,
                   LoadLayers(weights, TensorsOf(checkpoint).Under("model"),
                              static_cast<size_t>(checkpoint.config().predictor.transformer.layers), kTalkerLayer, format),
                   0),
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
    passes_.push_back(std::make_unique<Transformer::Standing>(kernels));
  }
}

size_t CodePredictor::StreamBytes() const {
  const size_t positions = embeddings_.code_groups();
  const size_t angles = positions * static_cast<size_t>(transformer_.config().head_dim) * sizeof(float);
  return KvState::BytesOf(transformer_.config(), kCacheFormat, positions) + angles + passes_.size() * sizeof(AttentionStream);
}

void CodePredictor::MakeRoom(size_t count) {
  while (states_.size() < count) {
    states_.push_back(
        std::make_unique<KvState>(kernels_, transformer_.config(), kCacheFormat, embeddings_.code_groups()));
  }
  if (told_ < states_.size()) TellPasses();
}

// Positions 0 and 1, then one after the other.
void CodePredictor::TellPasses() {
  for (size_t n = 0; n < passes_.size(); n++) {
    streams_.clear();
    for (const std::unique_ptr<KvState>& state : states_) {
      state->Rewind();
      if (n > 0) state->Advance(n + 1);
      streams_.push_back({state.get(), n == 0 ? size_t{2} : size_t{1}});
    }
    transformer_.Tell(streams_.data(), streams_.size(), passes_[n].get());
  }
  told_ = states_.size();
}

void CodePredictor::Predict(const float* hidden, const Choice* choices, size_t count, int32_t* codes) {
  if (count == 0 || heads_.empty()) return;
  MakeRoom(count);
  const size_t width = embeddings_.hidden(), groups = embeddings_.code_groups();
  const auto [rows, pairs] = inputs_.Parts<2>({count * width, 2 * count * width});
  // The hidden vector and the first code are positions 0 and 1, computed together.
  kernels_.Gather(embeddings_.codes(0), {codes, groups}, count, false, rows);
  kernels_.CopyColumns(hidden, width, 0, pairs, 2 * width, 0, width, count);
  kernels_.CopyColumns(rows, width, 0, pairs, 2 * width, width, width, count);
  Advance(1, pairs, 2, choices, count, codes);
  for (size_t group = 2; group <= heads_.size(); group++) {
    // What follows a broken one is never used.
    kernels_.Gather(embeddings_.codes(group - 1), {codes + group - 1, groups}, count, false, rows);
    Advance(group, rows, 1, choices, count, codes);
  }
}

// rows [count * rows_each, talker's width], which are lost, to the codes at `group`.
void CodePredictor::Advance(size_t group, float* rows, size_t rows_each, const Choice* choices, size_t count,
                            int32_t* codes) {
  const auto width = static_cast<size_t>(transformer_.config().hidden);
  const size_t total = count * rows_each;
  const bool projected = projection_.values != nullptr;
  const auto [room, logits] = workspace_.Parts<2>({projected ? total * width : 0, count * vocabulary_});
  float* const x = projected ? room : rows;
  if (projected) kernels_.Multiply(projection_, Rows(rows, total, projection_.columns), {projection_bias_}, x);
  transformer_.Forward(*passes_[group - 1], count, x);
  kernels_.RmsNorm(x, norm_, total, width, static_cast<float>(transformer_.config().norm_eps), x);
  // Of each stream the last row.
  const Vectors last{x + (rows_each - 1) * width, count, rows_each * width, width, 1, 0};
  kernels_.Multiply(heads_[group - 1], last, {}, logits);
  kernels_.Choose(choices, count, logits, vocabulary_, group, codes + group, embeddings_.code_groups());
}

}  // namespace parley::model
