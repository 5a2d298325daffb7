#include "model/recognition/recognition_config.h"

namespace parley::model {
namespace {

constexpr double kLayerNormEps = 1e-5;
// Mel frames that attend to each other: five minutes; the models have 800. Every block of a round takes
// memory for the keys and values of so many.
constexpr int64_t kMaxBlockFrames = 30'000;
constexpr int64_t kMaxSegmentMilliseconds = 10'000;
constexpr size_t kMaxLanguages = 1000;

AudioEncoderConfig ReadEncoder(const ConfigReader& reader) {
  AudioEncoderConfig config;
  TransformerConfig& transformer = config.transformer;
  transformer.hidden = reader.Whole("d_model", 4, kMaxWidth);
  transformer.intermediate = reader.Whole("encoder_ffn_dim", 1, kMaxWidth);
  transformer.layers = reader.Whole("encoder_layers", 1, kMaxLayers);
  transformer.heads = transformer.kv_heads = reader.Whole("encoder_attention_heads", 1, kMaxHeads);
  transformer.norm_eps = kLayerNormEps;
  config.mel_bands = reader.Whole("num_mel_bins", 1, 1024);
  config.channels = reader.Whole("downsample_hidden_size", 1, kMaxWidth);
  config.output = reader.Whole("output_dim", 1, kMaxWidth);
  const int64_t window = reader.Whole("n_window_infer", kChunkFrames, kMaxBlockFrames);
  config.block_tokens = kChunkTokens * (window / kChunkFrames);
  // Their formula for the number of audio tokens holds for no other.
  reader.Only("n_window", static_cast<double>(kChunkFrames) / 2);
  reader.Only("activation_function", std::string_view("gelu"));
  reader.Only("scale_embedding", false);
  reader.Require(transformer.hidden % 2 == 0, "d_model", "an even number");
  reader.Require(transformer.hidden % transformer.heads == 0, "encoder_attention_heads",
                 "a divisor of d_model, which is " + std::to_string(transformer.hidden));
  if (reader.good()) transformer.head_dim = transformer.hidden / transformer.heads;
  return config;
}

std::vector<std::string> ReadLanguages(const ConfigReader& reader) {
  std::vector<std::string> languages;
  const Json list = reader.json().Find("support_languages");
  reader.Require(list.is(JsonKind::kArray) && list.size() > 0 && list.size() <= kMaxLanguages,
                 "support_languages", "a list of names");
  for (Json name = list.first(); name.present(); name = name.next()) {
    reader.Require(name.is(JsonKind::kString) && !name.text().empty() && name.text().size() <= 64,
                   "support_languages", "names of 1 to 64 bytes");
    languages.emplace_back(name.text());
  }
  return languages;
}

int32_t ReadId(const ConfigReader& reader, const char* key, int64_t vocabulary) {
  return static_cast<int32_t>(reader.Whole(key, 0, vocabulary - 1));
}

}  // namespace

const char* NameOf(RecognitionKind kind) {
  return kind == RecognitionKind::kAligner ? "forced aligner" : "recogniser";
}

RecognitionConfig ReadRecognitionConfig(const ConfigReader& reader) {
  RecognitionConfig config;
  reader.Only("model_type", std::string_view("qwen3_asr"));
  reader.Require(reader.Has("thinker_config"), "thinker_config",
                 "an object: the configuration of Qwen3-ASR or Qwen3-ForcedAligner");
  const ConfigReader thinker = reader.Object("thinker_config");
  const bool aligns =
      thinker.Text("model_type", {"qwen3_asr", "qwen3_forced_aligner"}) == "qwen3_forced_aligner";
  config.kind = aligns ? RecognitionKind::kAligner : RecognitionKind::kRecogniser;
  config.encoder = ReadEncoder(thinker.Object("audio_config"));
  const ConfigReader text = thinker.Object("text_config");
  config.decoder = ReadTransformer(text, "rms_norm_eps", "silu", false);
  RequireFullAttention(text);
  config.vocabulary = text.Whole("vocab_size", 1, kMaxVocabulary);
  config.positions = text.Whole("max_position_embeddings", 1, kMaxPositions);
  config.tied_head = text.Bool("tie_word_embeddings");
  config.head_rows = aligns ? thinker.Whole("classify_num", 1, kMaxVocabulary) : config.vocabulary;
  config.audio_pad = ReadId(thinker, "audio_token_id", config.vocabulary);
  config.audio_start = ReadId(thinker, "audio_start_token_id", config.vocabulary);
  config.audio_end = ReadId(thinker, "audio_end_token_id", config.vocabulary);
  if (aligns) {
    config.timestamp = ReadId(reader, "timestamp_token_id", config.vocabulary);
    config.class_milliseconds = reader.Whole("timestamp_segment_time", 1, kMaxSegmentMilliseconds);
    text.Require(!config.tied_head, "tie_word_embeddings", "false: an aligner's head has classes of time");
  }
  config.languages = ReadLanguages(reader);
  thinker.Object("audio_config")
      .Require(config.encoder.output == config.decoder.hidden, "output_dim",
               "the decoder's hidden_size, " + std::to_string(config.decoder.hidden));
  return config;
}

size_t AudioTokensOf(size_t frames) {
  const size_t rest = frames % kChunkFrames;
  const auto halved = [](size_t count) { return (count + 1) / 2; };
  return frames / kChunkFrames * kChunkTokens + (rest == 0 ? 0 : halved(halved(halved(rest))));
}

}  // namespace parley::model
