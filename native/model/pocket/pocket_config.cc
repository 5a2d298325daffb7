#include "model/pocket/pocket_config.h"

#include <cmath>

#include "model/files/config_file.h"
#include "model/text/unicode.h"

namespace parley::model {
namespace {

constexpr double kNormEps = 1e-5;      // of both transformers, fixed by the architecture
constexpr double kMaxPeriod = 10'000;  // where a configuration has none
constexpr int64_t kMostRatio = 64;
constexpr int64_t kMostTaps = 63;

bool BoolOr(const ConfigReader& reader, std::string_view key, bool otherwise) {
  return reader.Has(key) ? reader.Bool(key) : otherwise;
}

void ReadReplacements(const ConfigReader& reader, PocketTextConfig* text) {
  if (!reader.Has("replace_characters")) return;
  const ConfigReader map = reader.Object("replace_characters");
  for (Json entry = map.json().first(); entry.present(); entry = entry.next()) {
    size_t at = 0;
    const std::string_view from = entry.key();
    const char32_t code = TakeUtf8(from, &at);
    map.Require(at > 0 && at == from.size() && entry.is(JsonKind::kString), from,
                "one character with the text that stands for it");
    text->replace_characters.emplace_back(code, entry.text());
  }
}

PocketTextConfig ReadText(const ConfigReader& reader) {
  PocketTextConfig text;
  text.pad_with_spaces_for_short_inputs = BoolOr(reader, "pad_with_spaces_for_short_inputs", false);
  text.remove_semicolons = BoolOr(reader, "remove_semicolons", false);
  text.capitalize_first_letter = BoolOr(reader, "capitalize_first_letter", true);
  text.append_terminal_punctuation = BoolOr(reader, "append_terminal_punctuation", true);
  if (reader.Has("model_recommended_frames_after_eos"))
    text.recommended_frames_after_eos =
        static_cast<size_t>(reader.Whole("model_recommended_frames_after_eos", 0, 1000));
  ReadReplacements(reader, &text);
  return text;
}

// Heads as wide as the model has room for.
void Divide(const ConfigReader& reader, TransformerConfig* config) {
  config->kv_heads = config->heads;
  config->norm_eps = kNormEps;
  reader.Require(config->heads > 0 && config->hidden % (2 * config->heads) == 0, "num_heads",
                 "heads of an even width that divide d_model");
  config->head_dim = config->heads > 0 ? config->hidden / config->heads : 0;
}

double MaxPeriod(const ConfigReader& reader) {
  return reader.Has("max_period") ? reader.Real("max_period", 1, 1e12) : kMaxPeriod;
}

TransformerConfig ReadBackbone(const ConfigReader& reader) {
  reader.OnlyKeys({"d_model", "hidden_scale", "max_period", "num_heads", "num_layers"});
  TransformerConfig config;
  config.hidden = reader.Whole("d_model", 2, kMaxWidth);
  config.intermediate = config.hidden * reader.Whole("hidden_scale", 1, 64);
  config.layers = reader.Whole("num_layers", 1, kMaxLayers);
  config.heads = reader.Whole("num_heads", 1, kMaxHeads);
  config.rope_theta = MaxPeriod(reader);
  Divide(reader, &config);
  return config;
}

void ReadFlowModel(const ConfigReader& reader, PocketConfig* config) {
  reader.OnlyKeys(
      {"dtype", "insert_bos_before_voice", "weights_path", "flow", "transformer", "lookup_table"});
  reader.Only("dtype", std::string_view("float32"));
  config->bos_before_voice = BoolOr(reader, "insert_bos_before_voice", false);
  config->backbone = ReadBackbone(reader.Object("transformer"));
  const ConfigReader flow = reader.Object("flow");
  flow.OnlyKeys({"dim", "depth", "type"});
  flow.Only("type", std::string_view("lsd"));
  config->flow = {flow.Whole("dim", 2, kMaxWidth), flow.Whole("depth", 1, kMaxLayers)};
  const ConfigReader table = reader.Object("lookup_table");
  table.OnlyKeys({"dim", "n_bins", "tokenizer", "tokenizer_path"});
  table.Text("tokenizer", {"sentencepiece", "tokenizers"});
  config->vocabulary = table.Whole("n_bins", 1, kMaxVocabulary);
  const int64_t width = table.Whole("dim", 1, kMaxWidth);
  table.Require(width == config->backbone.hidden, "dim",
                "d_model, which is " + std::to_string(config->backbone.hidden));
}

TransformerConfig ReadCodecTransformer(const ConfigReader& reader, PocketCodecConfig* codec) {
  reader.OnlyKeys({"d_model", "num_heads", "num_layers", "layer_scale", "context", "dim_feedforward",
                   "input_dimension", "output_dimensions", "max_period"});
  TransformerConfig config;
  config.hidden = reader.Whole("d_model", 2, kMaxWidth);
  config.intermediate = reader.Whole("dim_feedforward", 1, kMaxWidth);
  config.layers = reader.Whole("num_layers", 1, kMaxLayers);
  config.heads = reader.Whole("num_heads", 1, kMaxHeads);
  config.rope_theta = MaxPeriod(reader);
  Divide(reader, &config);
  codec->window = reader.Whole("context", 1, kMaxPositions);
  // Other widths would have projections, which no published model has.
  const std::string width = "d_model, which is " + std::to_string(config.hidden);
  reader.Require(reader.Whole("input_dimension", 1, kMaxWidth) == config.hidden, "input_dimension", width);
  const std::vector<int64_t> outputs = reader.Wholes("output_dimensions", 1, 1, 1, kMaxWidth);
  reader.Require(!outputs.empty() && outputs[0] == config.hidden, "output_dimensions", width);
  return config;
}

void ReadConvolutions(const ConfigReader& reader, PocketCodecConfig* codec) {
  reader.OnlyKeys({"dimension", "channels", "n_filters", "n_residual_layers", "ratios", "kernel_size",
                   "residual_kernel_size", "last_kernel_size", "dilation_base", "pad_mode", "compress"});
  reader.Only("channels", 1.0);
  reader.Only("pad_mode", std::string_view("constant"));
  codec->dimension = reader.Whole("dimension", 1, kMaxWidth);
  codec->filters = reader.Whole("n_filters", 1, kMaxWidth);
  codec->residual_layers = reader.Whole("n_residual_layers", 0, 8);
  codec->ratios = reader.Wholes("ratios", 1, 8, 1, kMostRatio);
  codec->kernel = reader.Whole("kernel_size", 1, kMostTaps);
  codec->residual_kernel = reader.Whole("residual_kernel_size", 1, kMostTaps);
  codec->last_kernel = reader.Whole("last_kernel_size", 1, kMostTaps);
  codec->dilation_base = reader.Whole("dilation_base", 1, 8);
  codec->compress = reader.Whole("compress", 1, 64);
  reader.Require(codec->compress > 0 && codec->filters % codec->compress == 0, "compress",
                 "a divisor of n_filters, which is " + std::to_string(codec->filters));
}

void ReadRates(const ConfigReader& reader, PocketCodecConfig* codec) {
  codec->sample_rate = reader.Whole("sample_rate", 8000, 192'000);
  const double frame_rate = reader.Real("frame_rate", 0.1, 1000);
  if (!reader.good()) return;
  int64_t hop = 1;
  for (const int64_t ratio : codec->ratios) hop *= ratio;
  const double samples = static_cast<double>(codec->sample_rate) / frame_rate;
  codec->frame_samples = std::llround(samples);
  reader.Require(std::fabs(samples - static_cast<double>(codec->frame_samples)) < 1e-6 &&
                     codec->frame_samples >= hop && codec->frame_samples % hop == 0,
                 "frame_rate",
                 "frames of a multiple of the product of the ratios, which is " + std::to_string(hop));
  codec->stride = codec->frame_samples / hop;
}

void ReadCodec(const ConfigReader& reader, PocketConfig* config) {
  reader.OnlyKeys({"dtype", "sample_rate", "channels", "frame_rate", "inner_dim", "outer_dim", "weights_path",
                   "seanet", "transformer", "quantizer"});
  reader.Only("dtype", std::string_view("float32"));
  reader.Only("channels", 1.0);
  ReadConvolutions(reader.Object("seanet"), &config->codec);
  config->codec.transformer = ReadCodecTransformer(reader.Object("transformer"), &config->codec);
  ReadRates(reader, &config->codec);
  const ConfigReader quantizer = reader.Object("quantizer");
  quantizer.OnlyKeys({"dimension", "output_dimension"});
  config->latent = quantizer.Whole("dimension", 1, kMaxWidth);
  const int64_t dimension = config->codec.dimension;
  const std::string equal = "seanet.dimension, which is " + std::to_string(dimension);
  quantizer.Require(quantizer.Whole("output_dimension", 1, kMaxWidth) == dimension, "output_dimension",
                    equal);
  reader.Require(config->codec.transformer.hidden == dimension, "transformer", "a d_model of " + equal);
  reader.Require(reader.WholeOr("outer_dim", 1, kMaxWidth, dimension) == dimension, "outer_dim", equal);
  config->prompt_width = reader.WholeOr("inner_dim", 1, kMaxWidth, dimension);
}

}  // namespace

PocketConfig ReadPocketConfig(const ConfigReader& reader) {
  PocketConfig config;
  reader.OnlyKeys({"weights_path", "weights_path_without_voice_cloning", "pad_with_spaces_for_short_inputs",
                   "remove_semicolons", "model_recommended_frames_after_eos", "default_temperature",
                   "replace_characters", "append_terminal_punctuation", "capitalize_first_letter", "flow_lm",
                   "mimi"});
  config.text = ReadText(reader);
  if (reader.Has("default_temperature"))
    config.default_temperature = reader.Real("default_temperature", 0, 100);
  ReadFlowModel(reader.Object("flow_lm"), &config);
  ReadCodec(reader.Object("mimi"), &config);
  return config;
}

std::optional<PocketConfig> ReadPocketConfigFile(const std::string& path, std::string* problem) {
  PocketConfig config;
  const auto read = [&config](const ConfigReader& reader) { config = ReadPocketConfig(reader); };
  if (!ReadYamlFile(path, read, problem)) return std::nullopt;
  return config;
}

}  // namespace parley::model
