#include "model/recognition/recognition_checkpoint.h"

#include "kernels/log_mel.h"
#include "model/files/config_file.h"
#include "model/shared/layer_weights.h"

namespace parley::model {
namespace {

constexpr int64_t kConvolutionTaps = 3;  // in time, and over the bands

void AddEncoder(const AudioEncoderConfig& c, const ExpectedTensors& encoder) {
  const TransformerConfig& t = c.transformer;
  encoder.AddWithBias("conv2d1", {c.channels, 1, kConvolutionTaps, kConvolutionTaps});
  encoder.AddWithBias("conv2d2", {c.channels, c.channels, kConvolutionTaps, kConvolutionTaps});
  encoder.AddWithBias("conv2d3", {c.channels, c.channels, kConvolutionTaps, kConvolutionTaps});
  encoder.Add("conv_out.weight", {t.hidden, c.channels * c.bands_left()});
  for (int64_t n = 0; n < t.layers; n++) {
    const ExpectedTensors layer = encoder.Under("layers", n);
    layer.AddWithBias("self_attn_layer_norm", {t.hidden});
    for (const char* const name : {"q_proj", "k_proj", "v_proj", "out_proj"})
      layer.Under("self_attn").AddWithBias(name, {t.hidden, t.hidden});
    layer.AddWithBias("final_layer_norm", {t.hidden});
    layer.AddWithBias("fc1", {t.intermediate, t.hidden});
    layer.AddWithBias("fc2", {t.hidden, t.intermediate});
  }
  encoder.AddWithBias("ln_post", {t.hidden});
  encoder.AddWithBias("proj1", {t.hidden, t.hidden});
  encoder.AddWithBias("proj2", {c.output, t.hidden});
}

// True if the file has another rate, window or hop than the models were trained with.
void CheckPreprocessor(const RecognitionConfig& config, const ConfigReader& reader) {
  reader.Only("feature_size", static_cast<double>(config.encoder.mel_bands));
  reader.Only("hop_length", static_cast<double>(kRecognitionMel.hop));
  reader.Only("n_fft", static_cast<double>(kRecognitionMel.window));
  reader.Only("sampling_rate", static_cast<double>(kRecognitionMel.sample_rate));
  reader.Only("dither", 0.0);
}

}  // namespace

std::vector<ExpectedTensor> TensorsOf(const RecognitionConfig& config) {
  std::vector<ExpectedTensor> list;
  const ExpectedTensors thinker = ExpectedTensors(Dtype::kBf16, &list).Under("thinker");
  AddEncoder(config.encoder, thinker.Under("audio_tower"));
  const int64_t hidden = config.decoder.hidden;
  thinker.Add("model.embed_tokens.weight", {config.vocabulary, hidden});
  for (int64_t n = 0; n < config.decoder.layers; n++)
    AddQwen3Layer(config.decoder, thinker.Under("model.layers", n));
  thinker.Add("model.norm.weight", {hidden});
  if (!config.tied_head) thinker.Add("lm_head.weight", {config.head_rows, hidden});
  return list;
}

std::unique_ptr<const RecognitionCheckpoint> RecognitionCheckpoint::Open(const std::string& directory,
                                                                         RecognitionKind kind,
                                                                         std::string* problem) {
  std::unique_ptr<RecognitionCheckpoint> checkpoint(new RecognitionCheckpoint());
  if (!checkpoint->ReadConfigs(directory, kind, problem)) return nullptr;
  checkpoint->tokenizer_ =
      Tokenizer::Open(directory, checkpoint->config_.vocabulary, PieceRule::kNative, problem);
  if (!checkpoint->tokenizer_ || !checkpoint->FindTokens(directory, problem)) return nullptr;
  checkpoint->set_ = TensorSet::Open(directory, problem);
  if (!checkpoint->set_ || !checkpoint->set_->Check(TensorsOf(checkpoint->config_), problem)) return nullptr;
  return checkpoint;
}

bool RecognitionCheckpoint::ReadConfigs(const std::string& directory, RecognitionKind kind,
                                        std::string* problem) {
  const auto model = [&](const ConfigReader& reader) { config_ = ReadRecognitionConfig(reader); };
  const auto preprocessor = [&](const ConfigReader& reader) { CheckPreprocessor(config_, reader); };
  if (!ReadConfigFile(directory + "/config.json", model, problem) ||
      !ReadConfigFile(directory + "/preprocessor_config.json", preprocessor, problem))
    return false;
  if (config_.kind == kind) return true;
  *problem =
      directory + ": expected a checkpoint of a " + NameOf(kind) + ", found one of a " + NameOf(config_.kind);
  return false;
}

// The ids of config.json must be tokens that tokenizer_config.json tells of, and those that are meant.
bool RecognitionCheckpoint::FindTokens(const std::string& directory, std::string* problem) {
  const AddedTokens& added = tokenizer_->added();
  const bool aligns = config_.kind == RecognitionKind::kAligner;
  const struct {
    const char* key;
    int32_t id;
    const char* literal;
  } tokens[] = {
      {"thinker_config.audio_token_id", config_.audio_pad, "<|audio_pad|>"},
      {"thinker_config.audio_start_token_id", config_.audio_start, "<|audio_start|>"},
      {"thinker_config.audio_end_token_id", config_.audio_end, "<|audio_end|>"},
      {"timestamp_token_id", config_.timestamp, "<timestamp>"},
  };
  for (const auto& token : tokens) {
    if (token.id < 0) continue;
    const AddedToken* const found = added.Find(token.id);
    if (found != nullptr && found->literal == token.literal) continue;
    *problem = directory + "/config.json: " + token.key + ": expected the id of \"" + token.literal +
               "\" in tokenizer_config.json, found " + std::to_string(token.id) + ", which is " +
               (found == nullptr ? "no added token" : "\"" + found->literal + "\"");
    return false;
  }
  if (aligns) return true;
  for (const char* const literal : {"<|im_end|>", "<|endoftext|>", "<|im_start|>", "<asr_text>"}) {
    const AddedToken* const found = added.Find(std::string_view(literal));
    if (found == nullptr) {
      *problem = directory + "/tokenizer_config.json: added_tokens_decoder: lacks \"" + literal + "\"";
      return false;
    }
    if (ends_.size() < 2) ends_.push_back(found->id);
  }
  return true;
}

}  // namespace parley::model
