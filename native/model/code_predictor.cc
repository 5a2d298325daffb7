#include "model/code_predictor.h"

#include <algorithm>

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
  }
}

size_t CodePredictor::StreamBytes() const {
  return KvState::BytesOf(transformer_.config(), kCacheFormat, embeddings_.code_groups());
}

void CodePredictor::MakeRoom(size_t count) {
  while (states_.size() < count) {
    states_.push_back(
        std::make_unique<KvState>(kernels_, transformer_.config(), kCacheFormat, embeddings_.code_groups()));
  }
  ids_.resize(count);
  choices_.resize(count);
  for (size_t i = 0; i < count; i++) states_[i]->Rewind();
}

void CodePredictor::Predict(const float* hidden, const Job* jobs, size_t count) {
  if (count == 0 || heads_.empty()) return;
  MakeRoom(count);
  for (size_t i = 0; i < count; i++) ids_[i] = jobs[i].codes[0];
  const size_t width = embeddings_.hidden();
  const auto [rows, pairs] = inputs_.Parts<2>({count * width, 2 * count * width});
  // The hidden vector and the first code are positions 0 and 1, computed together.
  kernels_.Gather(embeddings_.codes(0), ids_.data(), count, false, rows);
  kernels_.CopyColumns(hidden, width, 0, pairs, 2 * width, 0, width, count);
  kernels_.CopyColumns(rows, width, 0, pairs, 2 * width, width, width, count);
  Advance(1, pairs, 2, jobs, count);
  for (size_t group = 2; group <= heads_.size(); group++) {
    kernels_.Gather(embeddings_.codes(group - 1), ids_.data(), count, false, rows);
    Advance(group, rows, 1, jobs, count);
  }
}

// rows [count * rows_each, talker's width] to the codes at `group`.
void CodePredictor::Advance(size_t group, const float* rows, size_t rows_each, const Job* jobs, size_t count) {
  const auto width = static_cast<size_t>(transformer_.config().hidden);
  const size_t total = count * rows_each;
  const auto [x, logits] = workspace_.Parts<2>({total * width, count * vocabulary_});
  if (projection_.values != nullptr) {
    kernels_.Multiply(projection_, Rows(rows, total, projection_.columns), {projection_bias_}, x);
  } else {
    kernels_.Copy(x, rows, total * width * sizeof(float));
  }
  streams_.clear();
  for (size_t i = 0; i < count; i++) streams_.push_back({states_[i].get(), rows_each});
  transformer_.Forward(streams_.data(), count, x);
  kernels_.RmsNorm(x, norm_, total, width, static_cast<float>(transformer_.config().norm_eps), x);
  // Of each stream the last row.
  const Vectors last{x + (rows_each - 1) * width, count, rows_each * width, width, 1, 0};
  kernels_.Multiply(heads_[group - 1], last, {}, logits);
  for (size_t i = 0; i < count; i++) {
    choices_[i] = {logits + i * vocabulary_, vocabulary_, nullptr, 0, *jobs[i].rules, {jobs[i].seed, group, jobs[i].frame}};
  }
  kernels_.Choose(choices_.data(), count, ids_.data());
  kernels_.Wait();
  for (size_t i = 0; i < count; i++) {
    jobs[i].codes[group] = ids_[i];
    ids_[i] = std::max(ids_[i], 0);  // what follows a broken one is never used, but must be a row
  }
}

}  // namespace parley::model
