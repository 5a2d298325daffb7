#include "model/speech/embeddings.h"

#include <algorithm>

#include "model/shared/layer_weights.h"

namespace parley::model {
namespace {

const Tensor& TextTensor(const SpeechCheckpoint& checkpoint, const char* name) {
  return checkpoint.ModelTensors().Under("talker.text_projection")[name];
}

}  // namespace

Embeddings::Embeddings(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Weights& weights)
    : kernels_(kernels),
      pad_id_(checkpoint.config().text_ids.tts_pad),
      text_(weights.Of(checkpoint.ModelTensor("talker.model.text_embedding.weight"))),
      widen_(weights.Of(TextTensor(checkpoint, "linear_fc1.weight"))),
      narrow_(weights.Of(TextTensor(checkpoint, "linear_fc2.weight"))),
      widen_bias_(weights.Floats(TextTensor(checkpoint, "linear_fc1.bias"))),
      narrow_bias_(weights.Floats(TextTensor(checkpoint, "linear_fc2.bias"))),
      inner_(kernels),
      table_(kernels),
      pad_(kernels),
      asked_(kernels),
      found_(kernels) {
  codes_.push_back(weights.Of(checkpoint.ModelTensor("talker.model.codec_embedding.weight")));
  const NamedTensors others = checkpoint.ModelTensors().Under("talker.code_predictor.model");
  const auto groups = static_cast<size_t>(checkpoint.config().talker.code_groups);
  for (size_t n = 0; n + 1 < groups; n++)
    codes_.push_back(weights.Of(others.Under("codec_embedding", n)["weight"]));
  Project(&pad_id_, 1, pad_.Floats(hidden()));
}

void Embeddings::SumFrames(const int32_t* frames, size_t count, bool add, float* y) {
  kernels_.GatherSum(codes_.data(), codes_.size(), {frames, codes_.size()}, count, add, y);
}

void Embeddings::SumText(const std::vector<int32_t>& ids, bool add, float* y) {
  const Matrix table = kernels_.AnswersAtOnce() ? Known(ids) : All(ids);
  kernels_.Gather(table, found_.Upload(indexes_), ids.size(), add, y);
}

// Computes each distinct row once. Row 0 is tts_pad: it is cached, and the only one after the end of the
// text.
Matrix Embeddings::Known(const std::vector<int32_t>& ids) {
  distinct_.clear();
  for (const int32_t id : ids) {
    if (id >= 0 && id != pad_id_) distinct_.push_back(id);
  }
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  indexes_.clear();
  for (const int32_t id : ids) {
    const auto found = std::lower_bound(distinct_.begin(), distinct_.end(), id);
    indexes_.push_back(id < 0 ? -1 : id == pad_id_ ? 0 : static_cast<int32_t>(found - distinct_.begin()) + 1);
  }
  const float* const pad = pad_.Floats(hidden());
  if (distinct_.empty()) return {Format::kF32, pad, nullptr, 1, hidden()};
  float* const table = table_.Floats((distinct_.size() + 1) * hidden());
  kernels_.Copy(table, pad, hidden() * sizeof(float));
  Project(distinct_.data(), distinct_.size(), table + hidden());
  return {Format::kF32, table, nullptr, distinct_.size() + 1, hidden()};
}

// Every row, so that the work depends on nothing but their number.
Matrix Embeddings::All(const std::vector<int32_t>& ids) {
  distinct_ = indexes_ = ids;
  for (size_t i = 0; i < ids.size(); i++) {
    if (ids[i] < 0) distinct_[i] = pad_id_;
    else indexes_[i] = static_cast<int32_t>(i);
  }
  float* const table = table_.Floats(ids.size() * hidden());
  Project(distinct_.data(), distinct_.size(), table);
  return {Format::kF32, table, nullptr, table_.Room() / hidden(),
          hidden()};  // whatever their number, the same table
}

// fc2(silu(fc1(row)))
void Embeddings::Project(const int32_t* ids, size_t count, float* y) {
  const size_t most = PromptPieceOf(kernels_);
  for (size_t at = 0; at < count; at += most) {
    const size_t some = std::min(most, count - at);
    piece_.assign(ids + at, ids + at + some);
    const auto [rows, wide] = inner_.Parts<2>({some * text_.columns, some * widen_.rows});
    kernels_.Gather(text_, asked_.Upload(piece_), some, false, rows);
    kernels_.Multiply(widen_, Rows(rows, some, text_.columns), {widen_bias_}, wide);
    kernels_.Activate(Activation::kSilu, wide, some * widen_.rows);
    kernels_.Multiply(narrow_, Rows(wide, some, widen_.rows), {narrow_bias_}, y + at * hidden());
  }
}

}  // namespace parley::model
