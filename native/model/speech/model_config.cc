#include "model/speech/model_config.h"

#include <algorithm>
#include <string>

#include "model/text/unicode.h"

namespace parley::model {
namespace {

constexpr size_t kMaxNames = 10'000;
constexpr size_t kMaxNameBytes = 100;

int32_t Id(const ConfigReader& reader, const char* key, int64_t least, int64_t end) {
  return static_cast<int32_t>(reader.Whole(key, least, end - 1));
}

TextIds ReadTextIds(const ConfigReader& reader, int64_t vocabulary) {
  TextIds ids;
  ids.im_start = Id(reader, "im_start_token_id", 0, vocabulary);
  ids.im_end = Id(reader, "im_end_token_id", 0, vocabulary);
  ids.tts_pad = Id(reader, "tts_pad_token_id", 0, vocabulary);
  ids.tts_bos = Id(reader, "tts_bos_token_id", 0, vocabulary);
  ids.tts_eos = Id(reader, "tts_eos_token_id", 0, vocabulary);
  return ids;
}

CodecIds ReadCodecIds(const ConfigReader& reader, int64_t vocabulary) {
  const int64_t least = vocabulary - TalkerConfig::kControlIds;
  CodecIds ids;
  ids.pad = Id(reader, "codec_pad_id", least, vocabulary);
  ids.bos = Id(reader, "codec_bos_id", least, vocabulary);
  ids.eos = Id(reader, "codec_eos_token_id", least, vocabulary);
  ids.think = Id(reader, "codec_think_id", least, vocabulary);
  ids.nothink = Id(reader, "codec_nothink_id", least, vocabulary);
  ids.think_bos = Id(reader, "codec_think_bos_id", least, vocabulary);
  ids.think_eos = Id(reader, "codec_think_eos_id", least, vocabulary);
  return ids;
}

bool NamesAreGood(const ConfigReader& names, const char* of) {
  for (Json entry = names.json().first(); entry.present(); entry = entry.next()) {
    names.Require(!entry.key().empty() && entry.key().size() <= kMaxNameBytes,
                  entry.key().substr(0, kMaxNameBytes),
                  std::string("a name of a ") + of + " of 1 to " + std::to_string(kMaxNameBytes) + " bytes");
  }
  if (names.json().size() <= kMaxNames) return names.good();
  names.Require(false, "", "at most " + std::to_string(kMaxNames) + " entries");
  return false;
}

std::vector<Language> ReadLanguages(const ConfigReader& reader, int64_t vocabulary) {
  const ConfigReader names = reader.Object("codec_language_id");
  std::vector<Language> languages;
  if (!NamesAreGood(names, "language")) return languages;
  for (Json entry = names.json().first(); entry.present(); entry = entry.next()) {
    Language language;
    language.name = LowerAscii(entry.key());
    language.id = static_cast<int32_t>(names.Whole(entry.key(), 0, vocabulary - 1));
    language.dialect = language.name.find("dialect") != std::string::npos;
    languages.push_back(std::move(language));
  }
  return languages;
}

std::vector<Speaker> ReadSpeakers(const ConfigReader& reader, const std::vector<Language>& languages,
                                  int64_t vocabulary) {
  const ConfigReader names = reader.Object("spk_id"), dialects = reader.Object("spk_is_dialect");
  std::vector<Speaker> speakers;
  if (!NamesAreGood(names, "speaker")) return speakers;
  for (Json entry = names.json().first(); entry.present(); entry = entry.next()) {
    Speaker speaker;
    speaker.name = LowerAscii(entry.key());
    speaker.id = static_cast<int32_t>(names.Whole(entry.key(), 0, vocabulary - 1));
    // Either false or the name of a language.
    const Json dialect = dialects.json().Find(entry.key());
    bool known = dialect.is(JsonKind::kBool) && !dialect.boolean();
    speaker.dialect = LowerAscii(dialect.text());
    for (const Language& language : languages) known = known || language.name == speaker.dialect;
    dialects.Require(known, entry.key(), "false or a name in codec_language_id");
    speakers.push_back(std::move(speaker));
  }
  return speakers;
}

TalkerConfig ReadTalker(const ConfigReader& reader) {
  TalkerConfig talker;
  talker.transformer = ReadTransformer(reader, "rms_norm_eps", "silu", false);
  talker.vocabulary = reader.Whole("vocab_size", TalkerConfig::kControlIds + 1, kMaxVocabulary);
  talker.text_vocabulary = reader.Whole("text_vocab_size", 1, kMaxVocabulary);
  talker.text_hidden = reader.Whole("text_hidden_size", 1, kMaxWidth);
  talker.code_groups = reader.Whole("num_code_groups", 2, 64);
  talker.positions = reader.Whole("max_position_embeddings", 1, kMaxPositions);
  talker.ids = ReadCodecIds(reader, talker.vocabulary);
  talker.languages = ReadLanguages(reader, talker.vocabulary);
  talker.speakers = ReadSpeakers(reader, talker.languages, talker.vocabulary);
  RequireFullAttention(reader);
  return talker;
}

PredictorConfig ReadPredictor(const ConfigReader& reader, const TalkerConfig& talker) {
  PredictorConfig predictor;
  predictor.transformer = ReadTransformer(reader, "rms_norm_eps", "silu", false);
  predictor.vocabulary = reader.Whole("vocab_size", 1, kMaxVocabulary);
  // A code that the talker may choose must have a row in the predictor's world.
  reader.Require(predictor.vocabulary == talker.vocabulary - TalkerConfig::kControlIds, "vocab_size",
                 std::to_string(talker.vocabulary - TalkerConfig::kControlIds) +
                     ", the talker's without its control ids");
  reader.Require(reader.Whole("num_code_groups", 2, 64) == talker.code_groups, "num_code_groups",
                 std::to_string(talker.code_groups) + ", as the talker's");
  RequireFullAttention(reader);
  reader.Only("tie_word_embeddings", false);
  return predictor;
}

// Published files name only enc_dim and sample_rate; the rest is the class's.
SpeakerEncoderConfig ReadSpeakerEncoder(const ConfigReader& reader, int64_t talker_hidden) {
  SpeakerEncoderConfig config;
  config.mel_bands = reader.WholeOr("mel_dim", 1, 1024, 128);
  config.embedding = reader.Whole("enc_dim", 1, kMaxWidth);
  config.sample_rate = reader.Whole("sample_rate", 8000, 192'000);
  config.channels = reader.WholesOr("enc_channels", 3, 16, 1, kMaxWidth, {512, 512, 512, 512, 1536});
  const size_t count = config.channels.size();
  config.kernels = reader.WholesOr("enc_kernel_sizes", count, count, 1, 255, {5, 3, 3, 3, 1});
  config.dilations = reader.WholesOr("enc_dilations", count, count, 1, 255, {1, 2, 3, 4, 1});
  config.attention = reader.WholeOr("enc_attention_channels", 1, kMaxWidth, 128);
  config.res2net_scale = reader.WholeOr("enc_res2net_scale", 2, 256, 8);
  config.squeeze = reader.WholeOr("enc_se_channels", 1, kMaxWidth, 128);
  reader.Require(config.embedding == talker_hidden, "enc_dim",
                 "the talker's hidden_size, " + std::to_string(talker_hidden));
  reader.Require(config.kernels.size() == count, "enc_kernel_sizes", "as many numbers as enc_channels has");
  reader.Require(config.dilations.size() == count, "enc_dilations", "as many numbers as enc_channels has");
  for (size_t n = 1; n + 1 < count; n++) {
    reader.Require(config.channels[n] == config.channels[0], "enc_channels",
                   "equal numbers but for the last");
  }
  const auto blocks = static_cast<int64_t>(count) - 2;
  reader.Require(config.channels.back() == blocks * config.channels[0], "enc_channels",
                 "the last to be the sum of the blocks'");
  reader.Require(config.channels[0] % config.res2net_scale == 0, "enc_res2net_scale",
                 "a divisor of enc_channels[0]");
  return config;
}

template <class Entry>
const Entry* FindByName(const std::vector<Entry>& entries, std::string_view name) {
  const std::string lower = LowerAscii(name);
  for (const Entry& entry : entries) {
    if (entry.name == lower) return &entry;
  }
  return nullptr;
}

}  // namespace

const char* NameOf(ModelType type) {
  switch (type) {
    case ModelType::kCustomVoice:
      return "custom_voice";
    case ModelType::kVoiceDesign:
      return "voice_design";
    case ModelType::kBase:
      return "base";
  }
  return "";
}

const Language* ModelConfig::FindLanguage(std::string_view name) const {
  return FindByName(talker.languages, name);
}
const Speaker* ModelConfig::FindSpeaker(std::string_view name) const {
  return FindByName(talker.speakers, name);
}

ModelConfig ReadModelConfig(const ConfigReader& reader) {
  ModelConfig config;
  reader.Text("tokenizer_type", {"qwen3_tts_tokenizer_12hz"});
  const std::string type = reader.Text("tts_model_type", {"custom_voice", "voice_design", "base"});
  for (const ModelType one : {ModelType::kCustomVoice, ModelType::kVoiceDesign, ModelType::kBase}) {
    if (type == NameOf(one)) config.type = one;
  }
  config.size = reader.Name("tts_model_size");
  const ConfigReader talker = reader.Object("talker_config");
  config.talker = ReadTalker(talker);
  config.predictor = ReadPredictor(talker.Object("code_predictor_config"), config.talker);
  config.text_ids = ReadTextIds(reader, config.talker.text_vocabulary);
  if (config.type == ModelType::kBase) {
    config.speaker_encoder =
        ReadSpeakerEncoder(reader.Object("speaker_encoder_config"), config.talker.transformer.hidden);
  }
  if (config.type == ModelType::kCustomVoice) {
    talker.Require(!config.talker.speakers.empty(), "spk_id", "at least one speaker");
  }
  return config;
}

namespace {

double RealOr(const ConfigReader& reader, const std::string& key, double least, double most,
              double otherwise) {
  return reader.Has(key) ? reader.Real(key, least, most) : otherwise;
}

void ReadDraw(const ConfigReader& reader, const std::string& prefix, const char* sample_key,
              DrawConfig* draw) {
  if (reader.Has(sample_key)) draw->sample = reader.Bool(sample_key);
  draw->temperature = RealOr(reader, prefix + "temperature", 1e-3, 100, draw->temperature);
  draw->top_k = reader.WholeOr(prefix + "top_k", 0, 1 << 20, draw->top_k);
  draw->top_p = RealOr(reader, prefix + "top_p", 1e-6, 1, draw->top_p);
}

}  // namespace

GenerationConfig ReadGenerationConfig(const ConfigReader& reader) {
  GenerationConfig config;
  ReadDraw(reader, "", "do_sample", &config.talker);
  ReadDraw(reader, "subtalker_", "subtalker_dosample", &config.predictor);
  config.repetition_penalty = RealOr(reader, "repetition_penalty", 1e-2, 100, config.repetition_penalty);
  config.max_new_tokens = reader.WholeOr("max_new_tokens", 1, 1 << 20, config.max_new_tokens);
  return config;
}

namespace {

constexpr size_t kMaxStages = 8;
constexpr int64_t kMaxRatio = 64;
constexpr int64_t kMaxQuantizers = 64;
constexpr int64_t kMaxKernel = 255;

constexpr int64_t kMostFrameSamples = 1 << 20;

// Product of factors from 1 to 64. Any result above kMostFrameSamples is returned as kMostFrameSamples + 1.
int64_t Product(const std::vector<int64_t>& factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) product = std::min(product * factor, kMostFrameSamples + 1);
  return product;
}

CodecDecoderConfig ReadDecoder(const ConfigReader& reader) {
  CodecDecoderConfig config;
  config.transformer = ReadTransformer(reader, "rms_norm_eps", "silu", false);
  config.window = reader.Whole("sliding_window", 1, kMaxPositions);
  config.latent = reader.Whole("latent_dim", 1, kMaxWidth);
  config.codebook_width = reader.Whole("codebook_dim", 2, kMaxWidth);
  config.codebook_size = reader.Whole("codebook_size", 1, kMaxVocabulary);
  config.quantizers = reader.Whole("num_quantizers", 2, kMaxQuantizers);
  config.channels = reader.Whole("decoder_dim", 1, kMaxWidth);
  config.upsampling_ratios = reader.Wholes("upsampling_ratios", 0, kMaxStages, 1, kMaxRatio);
  config.upsample_rates = reader.Wholes("upsample_rates", 1, kMaxStages, 1, kMaxRatio);
  reader.Only("num_semantic_quantizers", 1.0);
  reader.Require(config.codebook_width % 2 == 0, "codebook_dim", "an even number");
  const int64_t halvings = int64_t{1} << config.upsample_rates.size();
  reader.Require(config.channels % halvings == 0, "decoder_dim",
                 "a multiple of " + std::to_string(halvings) + ": each of upsample_rates halves it");
  return config;
}

CodecEncoderConfig ReadEncoder(const ConfigReader& reader, int64_t sample_rate, int64_t frame_samples) {
  CodecEncoderConfig config;
  config.transformer = ReadTransformer(reader, "norm_eps", "gelu", true);
  config.filters = reader.Whole("num_filters", 1, kMaxWidth);
  config.kernel = reader.Whole("kernel_size", 1, kMaxKernel);
  config.last_kernel = reader.Whole("last_kernel_size", 1, kMaxKernel);
  config.residual_kernel = reader.Whole("residual_kernel_size", 1, kMaxKernel);
  config.compress = reader.Whole("compress", 1, kMaxWidth);
  config.ratios = reader.Wholes("upsampling_ratios", 1, kMaxStages, 1, kMaxRatio);
  std::reverse(config.ratios.begin(), config.ratios.end());
  config.codebook_size = reader.Whole("codebook_size", 1, kMaxVocabulary);
  config.codebook_width = reader.Whole("codebook_dim", 1, kMaxWidth);
  config.quantizers = reader.Whole("num_quantizers", 2, kMaxQuantizers);
  const int64_t hop = Product(config.ratios);
  reader.Require(hop <= frame_samples && frame_samples % hop == 0, "upsampling_ratios",
                 "a product that divides encode_downsample_rate, " + std::to_string(frame_samples));
  config.downsample = std::max<int64_t>(frame_samples / hop, 1);
  reader.Require(config.filters % config.compress == 0, "compress", "a divisor of num_filters");
  reader.Require(reader.WholeOr("sampling_rate", 1, 192'000, sample_rate) == sample_rate, "sampling_rate",
                 "input_sample_rate, " + std::to_string(sample_rate));
  reader.Only("num_semantic_quantizers", 1.0);
  reader.Only("num_residual_layers", 1.0);
  reader.Only("audio_channels", 1.0);
  reader.Only("use_causal_conv", true);
  reader.Only("use_conv_shortcut", false);
  reader.Only("normalize", false);
  reader.Only("pad_mode", std::string_view("constant"));
  reader.Only("vector_quantization_hidden_dimension", static_cast<double>(config.codebook_width));
  return config;
}

}  // namespace

CodecConfig ReadCodecConfig(const ConfigReader& reader, bool with_encoder) {
  CodecConfig config;
  config.sample_rate = reader.Whole("output_sample_rate", 8000, 192'000);
  config.frame_samples = reader.Whole("decode_upsample_rate", 1, kMostFrameSamples);
  const ConfigReader decoder = reader.Object("decoder_config");
  config.decoder = ReadDecoder(decoder);
  const int64_t rates = Product(config.decoder.upsample_rates),
                ratios = Product(config.decoder.upsampling_ratios);
  reader.Require(rates * ratios == config.frame_samples, "decode_upsample_rate",
                 "the product of upsample_rates and upsampling_ratios");
  if (!with_encoder) return config;
  reader.Require(reader.Whole("input_sample_rate", 8000, 192'000) == config.sample_rate, "input_sample_rate",
                 "output_sample_rate, " + std::to_string(config.sample_rate));
  reader.Require(reader.Whole("encode_downsample_rate", 1, kMostFrameSamples) == config.frame_samples,
                 "encode_downsample_rate", "decode_upsample_rate, " + std::to_string(config.frame_samples));
  const ConfigReader encoder = reader.Object("encoder_config");
  config.encoder = ReadEncoder(encoder, config.sample_rate, config.frame_samples);
  encoder.Require(config.encoder->codebook_size == config.decoder.codebook_size, "codebook_size",
                  std::to_string(config.decoder.codebook_size) + ", as the decoder's");
  // The file may hold more codebooks than are used.
  const int64_t used = reader.Whole("encoder_valid_num_quantizers", 2, config.encoder->quantizers);
  reader.Require(used == config.decoder.quantizers, "encoder_valid_num_quantizers",
                 std::to_string(config.decoder.quantizers) + ", as the decoder's num_quantizers");
  config.encoder->quantizers = used;
  return config;
}

}  // namespace parley::model
