#include "model/speech/model_tensors.h"

namespace parley::model {
namespace {

void AddLayer(const TransformerConfig& c, const ExpectedTensors& layer) {
  layer.Add("input_layernorm.weight", {c.hidden});
  layer.Add("self_attn.q_proj.weight", {c.query_width(), c.hidden});
  layer.Add("self_attn.k_proj.weight", {c.kv_width(), c.hidden});
  layer.Add("self_attn.v_proj.weight", {c.kv_width(), c.hidden});
  layer.Add("self_attn.q_norm.weight", {c.head_dim});
  layer.Add("self_attn.k_norm.weight", {c.head_dim});
  layer.Add("self_attn.o_proj.weight", {c.hidden, c.query_width()});
  layer.Add("post_attention_layernorm.weight", {c.hidden});
  layer.Add("mlp.gate_proj.weight", {c.intermediate, c.hidden});
  layer.Add("mlp.up_proj.weight", {c.intermediate, c.hidden});
  layer.Add("mlp.down_proj.weight", {c.hidden, c.intermediate});
}

void AddTalker(const TalkerConfig& c, const ExpectedTensors& talker) {
  const int64_t hidden = c.transformer.hidden;
  talker.Add("model.text_embedding.weight", {c.text_vocabulary, c.text_hidden});
  talker.AddWithBias("text_projection.linear_fc1", {c.text_hidden, c.text_hidden});
  talker.AddWithBias("text_projection.linear_fc2", {hidden, c.text_hidden});
  talker.Add("model.codec_embedding.weight", {c.vocabulary, hidden});
  for (int64_t n = 0; n < c.transformer.layers; n++) AddLayer(c.transformer, talker.Under("model.layers", n));
  talker.Add("model.norm.weight", {hidden});
  talker.Add("codec_head.weight", {c.vocabulary, hidden});
}

// One table and one head for every code of a frame but the first.
void AddPredictor(const ModelConfig& config, const ExpectedTensors& predictor) {
  const PredictorConfig& c = config.predictor;
  const int64_t hidden = c.transformer.hidden, talker_hidden = config.talker.transformer.hidden;
  if (config.has_projection()) predictor.AddWithBias("small_to_mtp_projection", {hidden, talker_hidden});
  for (int64_t n = 0; n < c.transformer.layers; n++) AddLayer(c.transformer, predictor.Under("model.layers", n));
  predictor.Add("model.norm.weight", {hidden});
  for (int64_t n = 0; n + 1 < config.talker.code_groups; n++) {
    predictor.Under("model.codec_embedding", n).Add("weight", {c.vocabulary, talker_hidden});
    predictor.Under("lm_head", n).Add("weight", {c.vocabulary, hidden});
  }
}

// ECAPA-TDNN: a convolution, squeeze-excitation res2net blocks, one over all
// of their outputs, attentive statistics, a projection.
void AddSpeakerEncoder(const SpeakerEncoderConfig& c, const ExpectedTensors& encoder) {
  const int64_t width = c.channels.front(), last = c.channels.back();
  const int64_t group = width / c.res2net_scale;
  encoder.AddWithBias("blocks.0.conv", {width, c.mel_bands, c.kernels.front()});
  for (size_t n = 1; n + 1 < c.channels.size(); n++) {
    const ExpectedTensors block = encoder.Under("blocks", static_cast<int64_t>(n));
    block.AddWithBias("tdnn1.conv", {width, width, 1});
    for (int64_t part = 0; part + 1 < c.res2net_scale; part++) {
      block.Under("res2net_block.blocks", part).AddWithBias("conv", {group, group, c.kernels[n]});
    }
    block.AddWithBias("tdnn2.conv", {width, width, 1});
    block.AddWithBias("se_block.conv1", {c.squeeze, width, 1});
    block.AddWithBias("se_block.conv2", {width, c.squeeze, 1});
  }
  encoder.AddWithBias("mfa.conv", {last, last, c.kernels.back()});
  encoder.AddWithBias("asp.tdnn.conv", {c.attention, 3 * last, 1});
  encoder.AddWithBias("asp.conv", {last, c.attention, 1});
  encoder.AddWithBias("fc", {c.embedding, 2 * last, 1});
}

}  // namespace

std::vector<ExpectedTensor> TensorsOf(const ModelConfig& config) {
  std::vector<ExpectedTensor> list;
  const ExpectedTensors all(Dtype::kBf16, &list);
  AddTalker(config.talker, all.Under("talker"));
  AddPredictor(config, all.Under("talker.code_predictor"));
  if (config.speaker_encoder) AddSpeakerEncoder(*config.speaker_encoder, all.Under("speaker_encoder"));
  return list;
}

}  // namespace parley::model
