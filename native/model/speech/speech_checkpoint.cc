#include "model/speech/speech_checkpoint.h"

#include "model/files/config_file.h"
#include "model/files/file.h"
#include "model/shared/layer_weights.h"

namespace parley::model {
namespace {

constexpr const char* kCodecFolder = "/speech_tokenizer";
constexpr size_t kMostConfigBytes = 1 << 20;

// True for a folder of Phonon, or of another model that has a configuration beside its tokenizer's one file.
bool IsOfAnotherGraph(const std::string& directory) {
  const bool has_tokenizer =
      FileExists(directory + "/tokenizer.json") || FileExists(directory + "/tokenizer.model");
  std::string config, problem;
  return has_tokenizer && !FileExists(directory + kCodecFolder + "/config.json") &&
         ReadFile(directory + "/config.json", kMostConfigBytes, &config, &problem) &&
         config.find("\"tts_model_type\"") == std::string::npos;
}

}  // namespace

std::unique_ptr<const SpeechCheckpoint> SpeechCheckpoint::Open(const std::string& directory, PieceRule rule,
                                                               std::string* problem) {
  if (IsOfAnotherGraph(directory)) {
    *problem = directory +
               "/config.json: expected \"tts_model_type\" of Qwen3-TTS; a folder of Pocket TTS has no " +
               "config.json. Phonon has one, and another graph than Pocket TTS, which no engine here runs";
    return nullptr;
  }
  std::unique_ptr<SpeechCheckpoint> checkpoint(new SpeechCheckpoint());
  if (!checkpoint->ReadConfigs(directory, problem)) return nullptr;
  const int64_t text_vocabulary = checkpoint->config_.talker.text_vocabulary;
  checkpoint->tokenizer_ = Tokenizer::Open(directory, text_vocabulary, rule, problem);
  if (!checkpoint->tokenizer_ || !checkpoint->CheckTokens(directory, problem)) return nullptr;
  checkpoint->model_ = TensorSet::Open(directory, problem);
  if (!checkpoint->model_ || !checkpoint->model_->Check(TensorsOf(checkpoint->config_), problem))
    return nullptr;
  checkpoint->codec_ = TensorSet::Open(directory + kCodecFolder, problem);
  if (!checkpoint->codec_ || !checkpoint->codec_->Check(TensorsOf(checkpoint->codec_config_), problem))
    return nullptr;
  return checkpoint;
}

bool SpeechCheckpoint::ReadConfigs(const std::string& directory, std::string* problem) {
  const auto model = [this](const ConfigReader& reader) { config_ = ReadModelConfig(reader); };
  const auto generation = [this](const ConfigReader& reader) { generation_ = ReadGenerationConfig(reader); };
  const auto codec = [this](const ConfigReader& reader) {
    codec_config_ = ReadCodecConfig(reader, config_.type == ModelType::kBase);
    const ConfigReader decoder = reader.Object("decoder_config");
    decoder.Require(codec_config_.decoder.codebook_size == config_.predictor.vocabulary, "codebook_size",
                    std::to_string(config_.predictor.vocabulary) + ", the code predictor's vocab_size");
    decoder.Require(codec_config_.decoder.quantizers == config_.talker.code_groups, "num_quantizers",
                    std::to_string(config_.talker.code_groups) + ", the talker's num_code_groups");
    const auto& speaker = config_.speaker_encoder;
    reader.Require(!speaker || speaker->sample_rate == codec_config_.sample_rate, "output_sample_rate",
                   "the speaker encoder's sample_rate");
  };
  return ReadConfigFile(directory + "/config.json", model, problem) &&
         ReadConfigFile(directory + "/generation_config.json", generation, problem) &&
         ReadConfigFile(directory + kCodecFolder + "/config.json", codec, problem);
}

// The ids of config.json must be tokens that tokenizer_config.json tells of,
// and the two markers of the templates those that are meant.
bool SpeechCheckpoint::CheckTokens(const std::string& directory, std::string* problem) const {
  const TextIds& ids = config_.text_ids;
  const struct {
    const char* key;
    int32_t id;
    const char* literal;
  } tokens[] = {
      {"im_start_token_id", ids.im_start, "<|im_start|>"},
      {"im_end_token_id", ids.im_end, "<|im_end|>"},
      {"tts_pad_token_id", ids.tts_pad, "<tts_pad>"},
      {"tts_bos_token_id", ids.tts_bos, "<tts_text_bos>"},
      {"tts_eos_token_id", ids.tts_eos, "<tts_text_eod>"},
  };
  for (const auto& token : tokens) {
    const AddedToken* const added = tokenizer_->added().Find(token.id);
    if (added != nullptr && added->literal == token.literal) continue;
    *problem = directory + "/config.json: " + token.key + ": expected the id of \"" + token.literal +
               "\" in tokenizer_config.json, found " + std::to_string(token.id) + ", which is " +
               (added == nullptr ? "no added token" : "\"" + added->literal + "\"");
    return false;
  }
  return true;
}

namespace {

void AddTalker(const TalkerConfig& c, const ExpectedTensors& talker) {
  const int64_t hidden = c.transformer.hidden;
  talker.Add("model.text_embedding.weight", {c.text_vocabulary, c.text_hidden});
  talker.AddWithBias("text_projection.linear_fc1", {c.text_hidden, c.text_hidden});
  talker.AddWithBias("text_projection.linear_fc2", {hidden, c.text_hidden});
  talker.Add("model.codec_embedding.weight", {c.vocabulary, hidden});
  for (int64_t n = 0; n < c.transformer.layers; n++)
    AddQwen3Layer(c.transformer, talker.Under("model.layers", n));
  talker.Add("model.norm.weight", {hidden});
  talker.Add("codec_head.weight", {c.vocabulary, hidden});
}

// One table and one head for every code of a frame but the first.
void AddPredictor(const ModelConfig& config, const ExpectedTensors& predictor) {
  const PredictorConfig& c = config.predictor;
  const int64_t hidden = c.transformer.hidden, talker_hidden = config.talker.transformer.hidden;
  if (config.has_projection()) predictor.AddWithBias("small_to_mtp_projection", {hidden, talker_hidden});
  for (int64_t n = 0; n < c.transformer.layers; n++)
    AddQwen3Layer(c.transformer, predictor.Under("model.layers", n));
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

namespace {

constexpr int64_t kPreConvKernel = 3;
constexpr int64_t kKernel = 7;         // the decoder's other convolutions
constexpr int64_t kWidening = 4;       // upsampling stages' pointwise layers
constexpr int64_t kResidualUnits = 3;  // per decoder block

void AddDecoderTables(const CodecDecoderConfig& c, const ExpectedTensors& quantizer) {
  for (const char* const half : {"rvq_first", "rvq_rest"}) {
    const ExpectedTensors rvq = quantizer.Under(half);
    const int64_t tables = half == std::string("rvq_first") ? 1 : c.quantizers - 1;
    rvq.Add("output_proj.weight", {c.codebook_width, c.table_width(), 1});
    for (int64_t n = 0; n < tables; n++) {
      rvq.Under("vq.layers", n).Add("_codebook.embedding_sum", {c.codebook_size, c.table_width()});
      rvq.Under("vq.layers", n).Add("_codebook.cluster_usage", {c.codebook_size});
    }
  }
}

void AddDecoderTransformer(const CodecDecoderConfig& config, const ExpectedTensors& transformer) {
  const TransformerConfig& c = config.transformer;
  transformer.AddWithBias("input_proj", {c.hidden, config.latent});
  for (int64_t n = 0; n < c.layers; n++) {
    const ExpectedTensors layer = transformer.Under("layers", n);
    layer.Add("input_layernorm.weight", {c.hidden});
    layer.Add("self_attn.q_proj.weight", {c.query_width(), c.hidden});
    layer.Add("self_attn.k_proj.weight", {c.kv_width(), c.hidden});
    layer.Add("self_attn.v_proj.weight", {c.kv_width(), c.hidden});
    layer.Add("self_attn.o_proj.weight", {c.hidden, c.query_width()});
    layer.Add("self_attn_layer_scale.scale", {c.hidden});
    layer.Add("post_attention_layernorm.weight", {c.hidden});
    layer.Add("mlp.gate_proj.weight", {c.intermediate, c.hidden});
    layer.Add("mlp.up_proj.weight", {c.intermediate, c.hidden});
    layer.Add("mlp.down_proj.weight", {c.hidden, c.intermediate});
    layer.Add("mlp_layer_scale.scale", {c.hidden});
  }
  transformer.Add("norm.weight", {c.hidden});
  transformer.AddWithBias("output_proj", {config.latent, c.hidden});
}

void AddUpsampling(const CodecDecoderConfig& c, const ExpectedTensors& decoder) {
  for (size_t n = 0; n < c.upsampling_ratios.size(); n++) {
    const ExpectedTensors stage = decoder.Under("upsample", static_cast<int64_t>(n));
    stage.AddWithBias("0.conv", {c.latent, c.latent, c.upsampling_ratios[n]}, 1);
    stage.AddWithBias("1.dwconv.conv", {c.latent, 1, kKernel});
    stage.Add("1.norm.weight", {c.latent});
    stage.Add("1.norm.bias", {c.latent});
    stage.AddWithBias("1.pwconv1", {kWidening * c.latent, c.latent});
    stage.AddWithBias("1.pwconv2", {c.latent, kWidening * c.latent});
    stage.Add("1.gamma", {c.latent});
  }
}

void AddSnake(const std::string& name, int64_t channels, const ExpectedTensors& at) {
  at.Add(name + "alpha", {channels});
  at.Add(name + "beta", {channels});
}

// 0: a convolution; 1 ...: blocks, each a transposed convolution and residual
// units; then Snake and a convolution to one channel.
void AddWaveform(const CodecDecoderConfig& c, const ExpectedTensors& waveform) {
  waveform.AddWithBias("0.conv", {c.channels, c.latent, kKernel});
  int64_t channels = c.channels, place = 1;
  for (const int64_t rate : c.upsample_rates) {
    const ExpectedTensors at = waveform.Under(std::to_string(place++));
    AddSnake("block.0.", channels, at);
    at.AddWithBias("block.1.conv", {channels, channels / 2, 2 * rate}, 1);
    channels /= 2;
    for (int64_t unit = 0; unit < kResidualUnits; unit++) {
      const ExpectedTensors residual = at.Under("block", 2 + unit);
      AddSnake("act1.", channels, residual);
      residual.AddWithBias("conv1.conv", {channels, channels, kKernel});
      AddSnake("act2.", channels, residual);
      residual.AddWithBias("conv2.conv", {channels, channels, 1});
    }
  }
  AddSnake("", channels, waveform.Under(std::to_string(place++)));
  waveform.Under(std::to_string(place)).AddWithBias("conv", {1, channels, kKernel});
}

// Convolutions by their number in the list of layers: the activations between
// them count but have no tensors.
void AddEncoderConvolutions(const CodecEncoderConfig& c, const ExpectedTensors& encoder) {
  encoder.AddWithBias("layers.0.conv", {c.filters, 1, c.kernel});
  int64_t channels = c.filters, place = 1;
  for (const int64_t ratio : c.ratios) {
    const int64_t narrow = channels / c.compress;
    encoder.Under("layers", place).AddWithBias("block.1.conv", {narrow, channels, c.residual_kernel});
    encoder.Under("layers", place).AddWithBias("block.3.conv", {channels, narrow, 1});
    encoder.Under("layers", place + 2).AddWithBias("conv", {2 * channels, channels, 2 * ratio});
    channels *= 2;
    place += 3;
  }
  encoder.Under("layers", place + 1).AddWithBias("conv", {c.transformer.hidden, channels, c.last_kernel});
}

void AddEncoderLayer(const TransformerConfig& c, const ExpectedTensors& layer) {
  for (const char* const norm : {"input_layernorm", "post_attention_layernorm"}) {
    layer.Add(std::string(norm) + ".weight", {c.hidden});
    layer.Add(std::string(norm) + ".bias", {c.hidden});
  }
  layer.Add("self_attn.q_proj.weight", {c.query_width(), c.hidden});
  layer.Add("self_attn.k_proj.weight", {c.kv_width(), c.hidden});
  layer.Add("self_attn.v_proj.weight", {c.kv_width(), c.hidden});
  layer.Add("self_attn.o_proj.weight", {c.hidden, c.query_width()});
  layer.Add("mlp.fc1.weight", {c.intermediate, c.hidden});
  layer.Add("mlp.fc2.weight", {c.hidden, c.intermediate});
  layer.Add("self_attn_layer_scale.scale", {c.hidden});
  layer.Add("mlp_layer_scale.scale", {c.hidden});
}

void AddEncoderTables(const CodecEncoderConfig& c, const ExpectedTensors& quantizer) {
  for (const bool semantic : {true, false}) {
    const ExpectedTensors rvq = quantizer.Under(semantic ? "semantic_residual_vector_quantizer"
                                                         : "acoustic_residual_vector_quantizer");
    rvq.Add("input_proj.weight", {c.codebook_width, c.transformer.hidden, 1});
    for (int64_t n = 0; n < (semantic ? 1 : c.quantizers - 1); n++) {
      rvq.Under("layers", n).Add("codebook.embed_sum", {c.codebook_size, c.codebook_width});
      rvq.Under("layers", n).Add("codebook.cluster_usage", {c.codebook_size});
    }
  }
}

}  // namespace

std::vector<ExpectedTensor> TensorsOf(const CodecConfig& config) {
  std::vector<ExpectedTensor> list;
  const ExpectedTensors all(Dtype::kF32, &list);
  const CodecDecoderConfig& d = config.decoder;
  const ExpectedTensors decoder = all.Under("decoder");
  AddDecoderTables(d, decoder.Under("quantizer"));
  decoder.AddWithBias("pre_conv.conv", {d.latent, d.codebook_width, kPreConvKernel});
  AddDecoderTransformer(d, decoder.Under("pre_transformer"));
  AddUpsampling(d, decoder);
  AddWaveform(d, decoder.Under("decoder"));
  if (!config.encoder) return list;
  const CodecEncoderConfig& e = *config.encoder;
  const ExpectedTensors encoder = all.Under("encoder");
  AddEncoderConvolutions(e, encoder.Under("encoder"));
  for (int64_t n = 0; n < e.transformer.layers; n++) {
    AddEncoderLayer(e.transformer, encoder.Under("encoder_transformer.layers", n));
  }
  if (e.downsample > 1) {  // else the convolutions reach the frame rate by themselves
    encoder.Add("downsample.conv.weight", {e.transformer.hidden, e.transformer.hidden, 2 * e.downsample});
  }
  AddEncoderTables(e, encoder.Under("quantizer"));
  return list;
}

}  // namespace parley::model
