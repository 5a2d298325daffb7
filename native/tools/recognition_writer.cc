#include "tools/recognition_writer.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "model/files/json.h"
#include "model/recognition/recognition_checkpoint.h"
#include "tools/byte_pairs.h"

namespace parley::tools {
namespace {

using model::RecognitionKind;

// In the order of their ids; the marked ones are special.
constexpr std::pair<const char*, bool> kTokens[] = {
    {"<|endoftext|>", true},      {"<|im_start|>", true},
    {"<|im_end|>", true},         {"<|object_ref_start|>", true},
    {"<|object_ref_end|>", true}, {"<|box_start|>", true},
    {"<|box_end|>", true},        {"<|quad_start|>", true},
    {"<|quad_end|>", true},       {"<|vision_start|>", true},
    {"<|vision_end|>", true},     {"<|vision_pad|>", true},
    {"<|image_pad|>", true},      {"<|video_pad|>", true},
    {"<tool_call>", false},       {"</tool_call>", false},
    {"<|fim_prefix|>", false},    {"<|fim_middle|>", false},
    {"<|fim_suffix|>", false},    {"<|fim_pad|>", false},
    {"<|repo_name|>", false},     {"<|file_sep|>", false},
    {"<tool_response>", false},   {"</tool_response>", false},
    {"<think>", false},           {"</think>", false},
    {"<|audio_start|>", true},    {"<|audio_end|>", true},
    {"<tts_pad>", true},          {"<tts_text_bos>", true},
    {"<tts_text_eod>", true},     {"<tts_text_bos_single>", true},
    {"<non_speech>", false},      {"<|audio_pad|>", true},
};
constexpr int64_t kAudioStart = 26, kAudioEnd = 27, kAudioPad = 33;  // among these
constexpr int64_t kBlanks = 27;                                      // special tokens that follow
constexpr int64_t kTextMarker = static_cast<int64_t>(std::size(kTokens)) + kBlanks;  // <asr_text>
constexpr int64_t kTimestamp = kTextMarker + 1;                                      // an aligner's

constexpr const char* kRecogniserLanguages[] = {
    "Chinese",    "English", "Cantonese", "Arabic",   "German",    "French",     "Spanish",  "Portuguese",
    "Indonesian", "Italian", "Korean",    "Russian",  "Thai",      "Vietnamese", "Japanese", "Turkish",
    "Hindi",      "Malay",   "Dutch",     "Swedish",  "Danish",    "Finnish",    "Polish",   "Czech",
    "Filipino",   "Persian", "Greek",     "Romanian", "Hungarian", "Macedonian"};
constexpr const char* kAlignerLanguages[] = {"Chinese", "Cantonese", "English", "German",
                                             "Spanish", "French",    "Italian", "Portuguese",
                                             "Russian", "Korean",    "Japanese"};

constexpr double kEps = 1e-6, kTheta = 1e6;

RecognitionSizes Sizes(RecognitionKind kind, int64_t width, int64_t layers, int64_t hidden,
                       int64_t intermediate) {
  const bool aligns = kind == RecognitionKind::kAligner;
  RecognitionSizes sizes;
  model::RecognitionConfig& c = sizes.config;
  c.kind = kind;
  c.encoder.transformer.hidden = width;
  c.encoder.transformer.intermediate = 4 * width;
  c.encoder.transformer.layers = layers;
  c.encoder.transformer.heads = c.encoder.transformer.kv_heads = width / 64;
  c.encoder.mel_bands = 128, c.encoder.channels = 480, c.encoder.block_tokens = 104;
  c.encoder.output = hidden;
  c.decoder = {hidden, intermediate, 28, 16, 8, 128, kEps, kTheta};
  c.vocabulary = aligns ? 152064 : 151936;
  c.head_rows = aligns ? 5000 : c.vocabulary;
  c.tied_head = !aligns;
  c.positions = aligns ? 8192 : 65536;
  c.class_milliseconds = 80;
  sizes.text_entries = 151643;
  return sizes;
}

RecognitionSizes Tiny(RecognitionKind kind) {
  RecognitionSizes sizes = Sizes(kind, 32, 2, 48, 80);
  model::RecognitionConfig& c = sizes.config;
  c.encoder.transformer.heads = c.encoder.transformer.kv_heads = 2;
  c.encoder.channels = 8;
  c.decoder.layers = 2, c.decoder.heads = 4, c.decoder.kv_heads = 2, c.decoder.head_dim = 16;
  c.vocabulary = 704;
  c.head_rows = kind == RecognitionKind::kAligner ? 420 : c.vocabulary;
  sizes.text_entries = 600;
  return sizes;
}

std::string Number(int64_t value) { return std::to_string(value); }

// "\"key\": value" of all, one a line.
std::string Members(const std::string& indent,
                    const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text;
  for (const auto& [key, value] : members)
    text += (text.empty() ? "" : ",\n") + indent + "\"" + key + "\": " + value;
  return "{\n" + text + "\n" + indent.substr(2) + "}";
}

template <class Names>
std::string Listed(const Names& names) {
  std::string text;
  for (const char* const name : names) text += (text.empty() ? "[\"" : "\", \"") + std::string(name);
  return text + "\"]";
}

std::string AudioConfig(const model::AudioEncoderConfig& c) {
  const int64_t window = c.block_tokens / model::kChunkTokens * model::kChunkFrames;
  return Members("      ", {{"activation_function", "\"gelu\""},
                            {"conv_chunksize", "500"},
                            {"d_model", Number(c.transformer.hidden)},
                            {"downsample_hidden_size", Number(c.channels)},
                            {"encoder_attention_heads", Number(c.transformer.heads)},
                            {"encoder_ffn_dim", Number(c.transformer.intermediate)},
                            {"encoder_layers", Number(c.transformer.layers)},
                            {"max_source_positions", "1500"},
                            {"n_window", Number(model::kChunkFrames / 2)},
                            {"n_window_infer", Number(window)},
                            {"num_mel_bins", Number(c.mel_bands)},
                            {"output_dim", Number(c.output)},
                            {"scale_embedding", "false"}});
}

std::string TextConfig(const model::RecognitionConfig& c) {
  return Members("      ", {{"attention_bias", "false"},
                            {"head_dim", Number(c.decoder.head_dim)},
                            {"hidden_act", "\"silu\""},
                            {"hidden_size", Number(c.decoder.hidden)},
                            {"intermediate_size", Number(c.decoder.intermediate)},
                            {"max_position_embeddings", Number(c.positions)},
                            {"num_attention_heads", Number(c.decoder.heads)},
                            {"num_hidden_layers", Number(c.decoder.layers)},
                            {"num_key_value_heads", Number(c.decoder.kv_heads)},
                            {"rms_norm_eps", "1e-06"},
                            {"rope_scaling", "{\"rope_type\": \"default\", \"type\": \"default\"}"},
                            {"rope_theta", "1000000"},
                            {"tie_word_embeddings", c.tied_head ? "true" : "false"},
                            {"vocab_size", Number(c.vocabulary)}});
}

std::string ModelConfig(const RecognitionSizes& sizes) {
  const model::RecognitionConfig& c = sizes.config;
  const bool aligns = c.kind == RecognitionKind::kAligner;
  std::vector<std::pair<std::string, std::string>> thinker = {
      {"audio_config", AudioConfig(c.encoder)},
      {"audio_end_token_id", Number(sizes.text_entries + kAudioEnd)},
      {"audio_start_token_id", Number(sizes.text_entries + kAudioStart)},
      {"audio_token_id", Number(sizes.text_entries + kAudioPad)},
      {"dtype", "\"bfloat16\""},
      {"model_type", aligns ? "\"qwen3_forced_aligner\"" : "\"qwen3_asr\""},
      {"text_config", TextConfig(c)}};
  if (aligns) thinker.emplace_back("classify_num", Number(c.head_rows));
  std::vector<std::pair<std::string, std::string>> top = {
      {"model_type", "\"qwen3_asr\""},
      {"support_languages", aligns ? Listed(kAlignerLanguages) : Listed(kRecogniserLanguages)},
      {"thinker_config", Members("    ", thinker)}};
  if (aligns) {
    top.emplace_back("timestamp_segment_time", Number(c.class_milliseconds));
    top.emplace_back("timestamp_token_id", Number(sizes.text_entries + kTimestamp));
  }
  return Members("  ", top) + "\n";
}

std::string TokenizerConfig(const RecognitionSizes& sizes) {
  std::vector<std::pair<std::string, bool>> tokens(std::begin(kTokens), std::end(kTokens));
  for (int64_t n = 1; n <= kBlanks; n++) tokens.emplace_back("<blank" + Number(n) + ">", true);
  tokens.emplace_back("<asr_text>", false);
  if (sizes.config.kind == RecognitionKind::kAligner) tokens.emplace_back("<timestamp>", false);
  std::vector<std::pair<std::string, std::string>> entries;
  for (size_t n = 0; n < tokens.size(); n++) {
    entries.emplace_back(Number(sizes.text_entries + static_cast<int64_t>(n)),
                         "{\"content\": \"" + tokens[n].first +
                             "\", \"lstrip\": false, \"normalized\": false, \"rstrip\": false, "
                             "\"single_word\": false, \"special\": " +
                             (tokens[n].second ? "true" : "false") + "}");
  }
  return Members("  ", {{"add_bos_token", "false"},
                        {"add_prefix_space", "false"},
                        {"added_tokens_decoder", Members("    ", entries)},
                        {"tokenizer_class", "\"Qwen2Tokenizer\""}}) +
         "\n";
}

std::string GenerationConfig(const RecognitionSizes& sizes) {
  const std::string end = Number(sizes.text_entries);
  return Members("  ", {{"do_sample", "false"},
                        {"eos_token_id", "[" + end + ", " + Number(sizes.text_entries + 2) + "]"},
                        {"pad_token_id", end}}) +
         "\n";
}

std::string PreprocessorConfig(const RecognitionSizes& sizes) {
  return Members("  ", {{"dither", "0.0"},
                        {"feature_extractor_type", "\"WhisperFeatureExtractor\""},
                        {"feature_size", Number(sizes.config.encoder.mel_bands)},
                        {"hop_length", "160"},
                        {"n_fft", "400"},
                        {"padding_value", "0.0"}}) +
         "\n";
}

}  // namespace

RecognitionSizes RecognitionSizesNamed(const std::string& size, RecognitionKind kind) {
  const bool aligns = kind == RecognitionKind::kAligner;
  if (size == "tiny") return Tiny(kind);
  if (size == "0.6b") return Sizes(kind, aligns ? 1024 : 896, aligns ? 24 : 18, 1024, 3072);
  if (size == "1.7b" && !aligns) return Sizes(kind, 1024, 24, 2048, 6144);
  throw std::invalid_argument(aligns ? "an aligner's size is 0.6b or tiny, not \"" + size + "\""
                                     : "the size is 0.6b, 1.7b or tiny, not \"" + size + "\"");
}

RecognitionPlan PlanOf(const RecognitionSizes& sizes, model::Dtype dtype) {
  RecognitionPlan plan{
      ModelConfig(sizes), GenerationConfig(sizes), PreprocessorConfig(sizes), TokenizerConfig(sizes), {}};
  std::string problem;
  const auto document = model::JsonDocument::Parse(plan.model_config, &problem);
  if (document != nullptr) {
    const model::ConfigReader reader("config.json", document->root(), &problem);
    plan.tensors = TensorsOf(model::ReadRecognitionConfig(reader));
  }
  if (!problem.empty()) throw std::invalid_argument(problem);
  if (sizes.config.tied_head)
    plan.tensors.push_back(
        {"thinker.lm_head.weight", dtype, {sizes.config.vocabulary, sizes.config.decoder.hidden}});
  for (model::ExpectedTensor& tensor : plan.tensors) tensor.dtype = dtype;
  std::sort(plan.tensors.begin(), plan.tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return plan;
}

void WriteCheckpoint(const RecognitionSizes& sizes, const std::string& directory,
                     const WriteOptions& options) {
  const RecognitionPlan plan = PlanOf(sizes, options.dtypes.model);
  const BytePairs pairs = MakeBytePairs(static_cast<size_t>(sizes.text_entries));
  RefuseCheckpoint(directory);
  std::filesystem::create_directories(directory);
  WriteTensors(directory, plan.tensors, options);
  WriteText(directory + "/vocab.json", pairs.VocabJson());
  WriteText(directory + "/merges.txt", pairs.MergesText());
  WriteText(directory + "/tokenizer_config.json", plan.tokenizer_config);
  WriteText(directory + "/generation_config.json", plan.generation_config);
  WriteText(directory + "/preprocessor_config.json", plan.preprocessor_config);
  WriteText(directory + "/config.json", plan.model_config);  // last: it says that the rest is there
}

}  // namespace parley::tools
