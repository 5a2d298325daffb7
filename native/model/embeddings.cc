#include "model/embeddings.h"

#include <algorithm>

#include "model/layer_weights.h"

namespace parley::model {
namespace {

constexpr size_t kPiece = 256;  // ids that are projected together: bounds the memory, changes no bit

const Tensor& TextTensor(const Checkpoint& checkpoint, const char* name) {
  return NamedTensors::OfModel(checkpoint).Under("talker.text_projection")[name];
}

}  // namespace

Embeddings::Embeddings(Kernels& kernels, const Checkpoint& checkpoint, Weights& weights)
    : kernels_(kernels),
      pad_id_(checkpoint.config().text_ids.tts_pad),
      text_(weights.Of(checkpoint.ModelTensor("talker.model.text_embedding.weight"))),
      widen_(weights.Of(TextTensor(checkpoint, "linear_fc1.weight"))),
      narrow_(weights.Of(TextTensor(checkpoint, "linear_fc2.weight"))),
      widen_bias_(weights.Floats(TextTensor(checkpoint, "linear_fc1.bias"))),
      narrow_bias_(weights.Floats(TextTensor(checkpoint, "linear_fc2.bias"))),
      inner_(kernels),
      table_(kernels),
      pad_(kernels) {
  codes_.push_back(weights.Of(checkpoint.ModelTensor("talker.model.codec_embedding.weight")));
  const NamedTensors others = NamedTensors::OfModel(checkpoint).Under("talker.code_predictor.model");
  const auto groups = static_cast<size_t>(checkpoint.config().talker.code_groups);
  for (size_t n = 0; n + 1 < groups; n++) codes_.push_back(weights.Of(others.Under("codec_embedding", n)["weight"]));
  Project(&pad_id_, 1, pad_.Floats(hidden()));
}

void Embeddings::SumFrames(const int32_t* frames, size_t count, bool add, float* y) {
  column_.resize(count);
  for (size_t group = 0; group < codes_.size(); group++) {
    for (size_t i = 0; i < count; i++) column_[i] = frames[i * codes_.size() + group];
    kernels_.Gather(codes_[group], column_.data(), count, add || group > 0, y);
  }
}

Matrix Embeddings::TextRows(const int32_t* ids, size_t count, int32_t* indexes) {
  distinct_.clear();
  for (size_t i = 0; i < count; i++) {
    if (ids[i] != pad_id_) distinct_.push_back(ids[i]);
  }
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  // The row of tts_pad is the first: known, and once the text is over the only one.
  for (size_t i = 0; i < count; i++) {
    const auto found = std::lower_bound(distinct_.begin(), distinct_.end(), ids[i]);
    indexes[i] = ids[i] == pad_id_ ? 0 : static_cast<int32_t>(found - distinct_.begin()) + 1;
  }
  const float* const pad = pad_.Floats(hidden());
  if (distinct_.empty()) return {Format::kF32, pad, nullptr, 1, hidden()};
  float* const table = table_.Floats((distinct_.size() + 1) * hidden());
  kernels_.Copy(table, pad, hidden() * sizeof(float));
  for (size_t at = 0; at < distinct_.size(); at += kPiece) {
    Project(&distinct_[at], std::min(kPiece, distinct_.size() - at), table + (at + 1) * hidden());
  }
  return {Format::kF32, table, nullptr, distinct_.size() + 1, hidden()};
}

// fc2(silu(fc1(row)))
void Embeddings::Project(const int32_t* ids, size_t count, float* y) {
  const auto [rows, wide] = inner_.Parts<2>({count * text_.columns, count * widen_.rows});
  kernels_.Gather(text_, ids, count, false, rows);
  kernels_.Multiply(widen_, Rows(rows, count, text_.columns), {widen_bias_}, wide);
  kernels_.Activate(Activation::kSilu, wide, count * widen_.rows);
  kernels_.Multiply(narrow_, Rows(wide, count, widen_.rows), {narrow_bias_}, y);
}

}  // namespace parley::model
