#include "model/recognition/text_decoder.h"

#include <algorithm>

#include "model/shared/layer_weights.h"

namespace parley::model {
namespace {

NamedTensors ModelOf(const RecognitionCheckpoint& checkpoint) { return checkpoint.tensors().Under("model"); }

// A stored copy of a tied head need not be equal.
const Tensor& HeadOf(const RecognitionCheckpoint& checkpoint) {
  return checkpoint.config().tied_head ? ModelOf(checkpoint)["embed_tokens.weight"]
                                       : checkpoint.tensors()["lm_head.weight"];
}

}  // namespace

TextDecoder::TextDecoder(Kernels& kernels, Weights& weights, const RecognitionCheckpoint& checkpoint,
                         std::optional<Format> format)
    : kernels_(kernels),
      embedding_(weights.Of(ModelOf(checkpoint)["embed_tokens.weight"])),
      head_(checkpoint.config().tied_head ? embedding_ : weights.Of(HeadOf(checkpoint))),
      transformer_(kernels, checkpoint.config().decoder,
                   LoadLayers(weights, ModelOf(checkpoint),
                              static_cast<size_t>(checkpoint.config().decoder.layers), kQwen3Layer, format),
                   Sight{}),
      norm_(weights.Floats(ModelOf(checkpoint)["norm.weight"])),
      logits_(kernels),
      choices_(kernels),
      chosen_(kernels),
      ids_(kernels) {}

void TextDecoder::Embed(const Rows* streams, size_t count, float* x) {
  gathered_.clear();
  for (size_t s = 0; s < count; s++)
    gathered_.insert(gathered_.end(), streams[s].ids, streams[s].ids + streams[s].count);
  kernels_.Gather(embedding_, ids_.Upload(gathered_), gathered_.size(), false, x);
  size_t row = 0;
  for (size_t s = 0; s < count; s++) {
    const float* audio = streams[s].audio;
    const int32_t* const end = streams[s].ids + streams[s].count;
    for (const int32_t* id = streams[s].ids; id < end;) {
      const int32_t* const other = std::find_if(id, end, [](int32_t one) { return one != kAudioToken; });
      const auto run = static_cast<size_t>(other - id);
      if (run > 0) kernels_.Copy(x + row * hidden(), audio, run * hidden() * sizeof(float));
      audio += run * hidden();
      const size_t step = std::max<size_t>(run, 1);
      row += step;
      id += step;
    }
  }
}

void TextDecoder::Begin(const Rows* streams, size_t count, float* x, Transformer::Passage* passage) {
  streams_.clear();
  for (size_t s = 0; s < count; s++) streams_.push_back({streams[s].state, streams[s].count});
  transformer_.Begin(streams_.data(), count, x, passage);
}

void TextDecoder::Forward(const Rows* streams, size_t count, float* x) {
  streams_.clear();
  size_t rows = 0;
  for (size_t s = 0; s < count; s++) {
    streams_.push_back({streams[s].state, streams[s].count});
    rows += streams[s].count;
  }
  transformer_.Forward(streams_.data(), count, x);
  Norm(x, rows);
}

void TextDecoder::Norm(float* x, size_t rows) {
  kernels_.RmsNorm(x, norm_, rows, hidden(), static_cast<float>(transformer_.config().norm_eps), x);
}

void TextDecoder::Choose(const float* hidden, size_t count, int32_t* ids) {
  if (count == 0) return;
  const size_t most = std::min(count, std::max<size_t>(most_logit_bytes_ / (head_.rows * sizeof(float)), 1));
  Choice greedy;
  greedy.rules.greedy = true;
  const std::vector<Choice> choices(most, greedy);
  float* const logits = logits_.Floats(most * head_.rows);
  float* const uploaded = choices_.Floats(most * sizeof(Choice) / sizeof(float));
  auto* const chosen = reinterpret_cast<int32_t*>(chosen_.Floats(count));
  kernels_.Upload(uploaded, choices.data(), most * sizeof(Choice));
  for (size_t first = 0; first < count; first += most) {
    const size_t some = std::min(most, count - first);
    kernels_.Multiply(head_, parley::Rows(hidden + first * head_.columns, some, head_.columns), {}, logits);
    kernels_.Choose(reinterpret_cast<const Choice*>(uploaded), some, logits, head_.rows, 0, chosen + first,
                    1);
  }
  kernels_.Download(ids, chosen, count * sizeof(int32_t));
  kernels_.Wait();
  last_logits_ = logits;
}

}  // namespace parley::model
