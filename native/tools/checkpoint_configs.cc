#include "tools/checkpoint_configs.h"

#include <cstdio>
#include <map>
#include <stdexcept>

#include "tools/byte_pairs.h"

namespace parley::tools {
namespace {

using model::ModelType;

struct AddedToken {
  const char* literal;
  bool special;
};

constexpr AddedToken kTokens[kAddedTokens] = {
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
    {"<|audio_pad|>", true},
};
constexpr int64_t kImStart = 1, kImEnd = 2, kTtsPad = 28, kTtsBos = 29, kTtsEos = 30;  // among these

// Ids of the talker's vocabulary as published, where 2048 codes stand before them.
constexpr int64_t kPublishedCodes = 2048;
struct Name {
  const char* name;
  int64_t id;
  const char* dialect;  // a speaker's, or null
};
constexpr Name kLanguages[] = {
    {"chinese", 2055, nullptr},  {"english", 2050, nullptr},    {"german", 2053, nullptr},
    {"italian", 2070, nullptr},  {"portuguese", 2071, nullptr}, {"spanish", 2054, nullptr},
    {"japanese", 2058, nullptr}, {"korean", 2064, nullptr},     {"french", 2061, nullptr},
    {"russian", 2069, nullptr},
};
constexpr Name kDialects[] = {{"beijing_dialect", 2074, nullptr}, {"sichuan_dialect", 2062, nullptr}};
constexpr Name kSpeakers[] = {
    {"serena", 3066, nullptr}, {"vivian", 3065, nullptr},         {"uncle_fu", 3010, nullptr},
    {"ryan", 3061, nullptr},   {"aiden", 2861, nullptr},          {"ono_anna", 2873, nullptr},
    {"sohee", 2864, nullptr},  {"eric", 2875, "sichuan_dialect"}, {"dylan", 2878, "beijing_dialect"},
};

// In a form $name$ stands for a value.
using Values = std::map<std::string, std::string>;

std::string Filled(const std::string& form, const Values& values) {
  std::string text;
  for (size_t at = 0; at < form.size();) {
    const size_t begin = form.find('$', at);
    text += form.substr(at, begin - at);
    if (begin == std::string::npos) break;
    const size_t end = form.find('$', begin + 1);
    text += values.at(form.substr(begin + 1, end - begin - 1));
    at = end + 1;
  }
  return text;
}

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

template <class Numbers>
std::string Listed(const Numbers& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "[" : ", ") + std::to_string(number);
  return text.empty() ? "[]" : text + "]";
}

std::string Real(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

void AddTransformer(const std::string& prefix, const model::TransformerConfig& c, Values* values) {
  (*values)[prefix] = "\"hidden_size\": " + std::to_string(c.hidden) +
                      ",\n    \"intermediate_size\": " + std::to_string(c.intermediate) +
                      ",\n    \"num_hidden_layers\": " + std::to_string(c.layers) +
                      ",\n    \"num_attention_heads\": " + std::to_string(c.heads) +
                      ",\n    \"num_key_value_heads\": " + std::to_string(c.kv_heads) +
                      ",\n    \"head_dim\": " + std::to_string(c.head_dim) +
                      ",\n    \"rope_theta\": " + Real(c.rope_theta);
  (*values)[prefix + ".eps"] = Real(c.norm_eps);
}

// The talker's ids move with the number of codes before them.
std::string IdOf(const CheckpointSizes& sizes, int64_t published) {
  return std::to_string(published - kPublishedCodes + sizes.codes);
}

std::string LanguagesOf(const CheckpointSizes& sizes) {
  std::string text;
  const auto add = [&](const Name& one) {
    text += (text.empty() ? "" : ", ") + Quoted(one.name) + ": " + IdOf(sizes, one.id);
  };
  for (const Name& one : kLanguages) add(one);
  if (sizes.type == ModelType::kCustomVoice) {
    for (const Name& one : kDialects) add(one);
  }
  return "{" + text + "}";
}

std::string SpeakersOf(const CheckpointSizes& sizes, bool dialects) {
  if (sizes.type != ModelType::kCustomVoice) return "{}";
  std::string text;
  for (const Name& one : kSpeakers) {
    text += (text.empty() ? "" : ", ") + Quoted(one.name) + ": ";
    text += !dialects ? IdOf(sizes, one.id) : one.dialect ? Quoted(one.dialect) : "false";
  }
  return "{" + text + "}";
}

std::string SpeakerEncoderOf(const CheckpointSizes& sizes) {
  if (sizes.type != ModelType::kBase) return "";
  const auto whole = [](int64_t value) { return std::to_string(value); };
  const auto& s = sizes.speaker;
  return Filled(kSpeakerForm, {{"mel", whole(s.mel_bands)},
                               {"embedding", whole(s.embedding)},
                               {"channels", Listed(s.channels)},
                               {"kernels", Listed(s.kernels)},
                               {"dilations", Listed(s.dilations)},
                               {"attention", whole(s.attention)},
                               {"scale", whole(s.res2net_scale)},
                               {"squeeze", whole(s.squeeze)},
                               {"rate", whole(s.sample_rate)}});
}

}  // namespace

std::string ModelConfigJson(const CheckpointSizes& sizes) {
  const auto whole = [](int64_t value) { return std::to_string(value); };
  const int64_t added = sizes.text_entries;
  const bool published = added > static_cast<int64_t>(kAssistantId);
  Values values = {{"size", sizes.name},
                   {"type", model::NameOf(sizes.type)},
                   {"assistant", whole(published ? static_cast<int64_t>(kAssistantId)
                                                 : 256 + 7)},  // the eighth merge makes it
                   {"im_start", whole(added + kImStart)},
                   {"im_end", whole(added + kImEnd)},
                   {"tts_pad", whole(added + kTtsPad)},
                   {"tts_bos", whole(added + kTtsBos)},
                   {"tts_eos", whole(added + kTtsEos)},
                   {"positions", whole(sizes.positions)},
                   {"groups", whole(sizes.code_groups)},
                   {"text_hidden", whole(sizes.text_hidden)},
                   {"text_vocabulary", whole(sizes.text_vocabulary)},
                   {"codes", whole(sizes.codes)},
                   {"vocabulary", whole(sizes.codes + model::TalkerConfig::kControlIds)},
                   {"codec_pad", IdOf(sizes, 2148)},
                   {"codec_bos", IdOf(sizes, 2149)},
                   {"codec_eos", IdOf(sizes, 2150)},
                   {"think", IdOf(sizes, 2154)},
                   {"nothink", IdOf(sizes, 2155)},
                   {"think_bos", IdOf(sizes, 2156)},
                   {"think_eos", IdOf(sizes, 2157)},
                   {"languages", LanguagesOf(sizes)},
                   {"speakers", SpeakersOf(sizes, false)},
                   {"dialects", SpeakersOf(sizes, true)},
                   {"speaker_encoder", SpeakerEncoderOf(sizes)}};
  AddTransformer("talker", sizes.talker, &values);
  AddTransformer("predictor", sizes.predictor, &values);
  return Filled(kModelForm, values);
}

std::string CodecConfigJson(const CheckpointSizes& sizes) {
  const auto whole = [](int64_t value) { return std::to_string(value); };
  const model::CodecDecoderConfig& d = sizes.decoder;
  const model::CodecEncoderConfig& e = sizes.encoder;
  const std::vector<int64_t> ratios(e.ratios.rbegin(),
                                    e.ratios.rend());  // the file has them from the last stage
  Values values = {{"groups", whole(sizes.code_groups)},
                   {"rate", whole(sizes.sample_rate)},
                   {"frame", whole(sizes.frame_samples())},
                   {"latent", whole(d.latent)},
                   {"width", whole(d.codebook_width)},
                   {"codes", whole(sizes.codes)},
                   {"channels", whole(d.channels)},
                   {"window", whole(d.window)},
                   {"rates", Listed(d.upsample_rates)},
                   {"ratios", Listed(d.upsampling_ratios)},
                   {"encoder_width", whole(e.codebook_width)},
                   {"compress", whole(e.compress)},
                   {"kernel", whole(e.kernel)},
                   {"last_kernel", whole(e.last_kernel)},
                   {"residual_kernel", whole(e.residual_kernel)},
                   {"filters", whole(e.filters)},
                   {"encoder_quantizers", whole(e.quantizers)},
                   {"encoder_window", whole(sizes.encoder_window)},
                   {"encoder_ratios", Listed(ratios)}};
  AddTransformer("decoder", d.transformer, &values);
  AddTransformer("encoder", e.transformer, &values);
  return Filled(kCodecForm, values);
}

std::string GenerationConfigJson() {
  return R"({
  "do_sample": true,
  "repetition_penalty": 1.05,
  "temperature": 0.9,
  "top_p": 1.0,
  "top_k": 50,
  "subtalker_dosample": true,
  "subtalker_temperature": 0.9,
  "subtalker_top_p": 1.0,
  "subtalker_top_k": 50,
  "max_new_tokens": 8192
}
)";
}

std::string TokenizerConfigJson(const CheckpointSizes& sizes) {
  std::string tokens;
  for (size_t n = 0; n < kAddedTokens; n++) {
    tokens += n == 0 ? "" : ",\n";
    tokens += "    " + Quoted(std::to_string(sizes.text_entries + static_cast<int64_t>(n))) +
              ": {\"content\": " + Quoted(kTokens[n].literal) +
              ", \"lstrip\": false, \"normalized\": false, \"rstrip\": false, " +
              "\"single_word\": false, \"special\": " + (kTokens[n].special ? "true" : "false") + "}";
  }
  return "{\n  \"add_bos_token\": false,\n  \"add_prefix_space\": false,\n  \"added_tokens_decoder\": {\n" +
         tokens +
         "\n  },\n  \"bos_token\": null,\n  \"eos_token\": \"<|im_end|>\",\n  \"errors\": \"replace\",\n" +
         "  \"pad_token\": \"<|endoftext|>\",\n  \"tokenizer_class\": \"Qwen2Tokenizer\",\n  \"unk_token\": null\n}\n";
}

namespace {

constexpr double kTalkerTheta = 1e6, kCodecTheta = 1e4;
constexpr double kTalkerEps = 1e-6, kCodecEps = 1e-5;

CheckpointSizes Published(bool large) {
  CheckpointSizes s;
  s.name = large ? "1b7" : "0b6";
  s.talker = {large ? 2048 : 1024, large ? 6144 : 3072, 28, 16, 8, 128, kTalkerEps, kTalkerTheta};
  s.predictor = {1024, 3072, 5, 16, 8, 128, kTalkerEps, kTalkerTheta};
  s.text_entries = 151643, s.text_vocabulary = 151936, s.text_hidden = 2048;
  s.codes = 2048, s.code_groups = 16, s.positions = 32768;
  s.speaker = {
      128, s.talker.hidden, 24000, {512, 512, 512, 512, 1536}, {5, 3, 3, 3, 1}, {1, 2, 3, 4, 1}, 128, 8, 128};
  s.sample_rate = 24000;
  s.decoder = {{512, 1024, 8, 16, 16, 64, kCodecEps, kCodecTheta},
               72,
               1024,
               512,
               2048,
               16,
               1536,
               {2, 2},
               {8, 5, 4, 3}};
  s.encoder = {
      {512, 2048, 8, 8, 8, 64, kCodecEps, kCodecTheta}, 64, 7, 3, 3, 2, {4, 5, 6, 8}, 2048, 256, 32, 2};
  s.encoder_window = 250;
  return s;
}

// The rest of a transformer is alike in all of its sizes.
void Resize(int64_t hidden, int64_t intermediate, int64_t heads, int64_t kv_heads,
            model::TransformerConfig* c) {
  c->hidden = hidden, c->intermediate = intermediate, c->heads = heads, c->kv_heads = kv_heads;
  c->layers = 2, c->head_dim = 16;
}

// The large one with other sizes.
CheckpointSizes Tiny() {
  CheckpointSizes s = Published(true);
  Resize(48, 80, 4, 2, &s.talker);
  Resize(32, 64, 2, 1, &s.predictor);
  Resize(24, 48, 2, 2, &s.decoder.transformer);
  Resize(32, 48, 2, 2, &s.encoder.transformer);
  s.text_entries = 600, s.text_vocabulary = 640, s.text_hidden = 40, s.positions = 4096;
  s.speaker.mel_bands = 32, s.speaker.embedding = s.talker.hidden, s.speaker.channels = {16, 16, 16, 16, 48};
  s.speaker.attention = s.speaker.squeeze = 8, s.speaker.res2net_scale = 4;
  s.codes = s.decoder.codebook_size = s.encoder.codebook_size = 64;
  s.decoder.window = 12, s.decoder.latent = s.decoder.channels = 32, s.decoder.codebook_width = 16;
  s.encoder.filters = 4, s.encoder.codebook_width = 8, s.encoder.quantizers = 20;
  s.encoder_window = 20;
  return s;
}

}  // namespace

int64_t CheckpointSizes::frame_samples() const {
  int64_t samples = 1;
  for (const int64_t rate : decoder.upsample_rates) samples *= rate;
  for (const int64_t ratio : decoder.upsampling_ratios) samples *= ratio;
  return samples;
}

CheckpointSizes SizesNamed(const std::string& size, model::ModelType type) {
  if (size != "0.6b" && size != "1.7b" && size != "tiny") {
    throw std::invalid_argument("the size is 0.6b, 1.7b or tiny, not \"" + size + "\"");
  }
  if (size == "0.6b" && type == model::ModelType::kVoiceDesign) {
    throw std::invalid_argument("voice_design is published in 1.7b only: 0.6b takes no instruction");
  }
  CheckpointSizes sizes = size == "tiny" ? Tiny() : Published(size == "1.7b");
  sizes.type = type;
  return sizes;
}

}  // namespace parley::tools
