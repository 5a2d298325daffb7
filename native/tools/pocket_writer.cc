#include "tools/pocket_writer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include "model/files/json.h"
#include "model/files/yaml.h"
#include "model/pocket/pocket_checkpoint.h"
#include "model/text/sentence_pieces.h"
#include "tools/output_file.h"

namespace parley::tools {
namespace {

using model::ExpectedTensor;

constexpr const char* kVoices[] = {"alba", "javert", "marius", "fantine"};

constexpr const char* kConfigForm = R"(weights_path: model.safetensors
weights_path_without_voice_cloning: model.safetensors
flow_lm:
  dtype: float32
  insert_bos_before_voice: true
  flow:
    depth: $flow_blocks$
    dim: $flow_width$
  transformer:
    d_model: $width$
    hidden_scale: 4
    max_period: 10000
    num_heads: $heads$
    num_layers: $layers$
  lookup_table:
    dim: $width$
    n_bins: $pieces$
    tokenizer: sentencepiece
    tokenizer_path: tokenizer.model
mimi:
  dtype: float32
  sample_rate: 24000
  channels: 1
  frame_rate: 12.5
  inner_dim: $prompt_width$
  outer_dim: $codec_width$
  seanet:
    dimension: $codec_width$
    channels: 1
    n_filters: $filters$
    n_residual_layers: 1
    ratios:
    - 6
    - 5
    - 4
    kernel_size: 7
    residual_kernel_size: 3
    last_kernel_size: 3
    dilation_base: 2
    pad_mode: constant
    compress: 2
  transformer:
    d_model: $codec_width$
    num_heads: $codec_heads$
    num_layers: 2
    layer_scale: 0.01
    context: $codec_window$
    dim_feedforward: $codec_inner$
    input_dimension: $codec_width$
    output_dimensions:
    - $codec_width$
  quantizer:
    dimension: $latent$
    output_dimension: $codec_width$
)";

std::string ConfigYaml(const PocketSizes& s) {
  const std::pair<const char*, int64_t> values[] = {
      {"$flow_blocks$", s.flow_blocks},
      {"$flow_width$", s.flow_width},
      {"$width$", s.width},
      {"$heads$", s.heads},
      {"$layers$", s.layers},
      {"$pieces$", s.pieces},
      {"$prompt_width$", s.prompt_width},
      {"$codec_width$", s.codec_width},
      {"$filters$", s.filters},
      {"$codec_heads$", s.codec_heads},
      {"$codec_window$", s.codec_window},
      {"$codec_inner$", s.codec_inner},
      {"$latent$", s.latent},
  };
  std::string text = kConfigForm;
  for (const auto& [name, value] : values) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, std::strlen(name), std::to_string(value));
  }
  return text;
}

// Protocol buffers' wire format, as far as a SentencePiece ModelProto needs it.
class Message {
 public:
  void Whole(unsigned field, uint64_t value) {
    Varint(field << 3);
    Varint(value);
  }
  void Float(unsigned field, float value) {
    Varint(field << 3 | 5);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text_.append(bytes, sizeof value);
  }
  void Bytes(unsigned field, const std::string& value) {
    Varint(field << 3 | 2);
    Varint(value.size());
    text_ += value;
  }
  const std::string& text() const { return text_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

// The pieces in the order of the published files: control pieces, bytes, and the text's. Every printable
// character of ASCII is a piece; syllables make a text of about three letters a piece.
class PieceMaker {
 public:
  explicit PieceMaker(int64_t count) : count_(static_cast<size_t>(count)) {}

  std::string Make() {
    Add("<unk>", model::PieceKind::kUnknown);
    for (const char* const name : {"<s>", "</s>", "<pad>"}) Add(name, model::PieceKind::kControl);
    for (unsigned byte = 0; byte < 256; byte++) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", byte);
      Add(name, model::PieceKind::kByte);
    }
    Add(kSpace);
    for (char letter = '!'; letter <= '~'; letter++) Add(std::string(1, letter));
    if (made_ > count_)
      throw std::invalid_argument("a tokenizer has at least " + std::to_string(made_) + " pieces");
    AddSyllables();
    if (made_ < count_)
      throw std::invalid_argument("at most " + std::to_string(made_) + " pieces can be made");
    Message trainer, normalizer;
    trainer.Whole(3, 1);   // model_type: unigram
    trainer.Whole(35, 1);  // byte_fallback
    normalizer.Bytes(1, "identity");
    normalizer.Whole(3, 1);  // add_dummy_prefix
    normalizer.Whole(4, 0);  // remove_extra_whitespaces
    normalizer.Whole(5, 1);  // escape_whitespaces
    file_.Bytes(2, trainer.text());
    file_.Bytes(3, normalizer.text());
    return file_.text();
  }

 private:
  static constexpr const char* kSpace = "\xE2\x96\x81";
  static constexpr const char* kConsonants = "bcdfghjklmnpqrstvwxyz";
  static constexpr const char* kVowels = "aeiou";

  void Add(const std::string& text, model::PieceKind kind = model::PieceKind::kNormal) {
    Message piece;
    piece.Bytes(1, text);
    // Earlier pieces are likelier; fewer pieces are likelier than more.
    piece.Float(2, kind == model::PieceKind::kNormal ? -8 - 1e-4f * static_cast<float>(made_) : 0);
    piece.Whole(3, static_cast<uint64_t>(kind));
    file_.Bytes(1, piece.text());
    made_++;
  }

  void AddSome(const std::string& text) {
    if (made_ < count_) Add(text);
  }

  void AddSyllables() {
    for (const char* const before : {kSpace, ""}) {
      for (char first = 'a'; first <= 'z'; first++)
        for (char second = 'a'; second <= 'z'; second++) AddSome(std::string(before) + first + second);
    }
    for (const char* const before : {kSpace, ""}) {
      for (const char* first = kConsonants; *first != 0; first++)
        for (const char* vowel = kVowels; *vowel != 0; vowel++)
          for (const char* last = kConsonants; *last != 0; last++)
            AddSome(std::string(before) + *first + *vowel + *last);
    }
  }

  const size_t count_;
  size_t made_ = 0;
  Message file_;
};

std::vector<ExpectedTensor> VoiceTensors(const PocketSizes& s) {
  std::vector<ExpectedTensor> tensors;
  const model::Shape cache = {2, 1, s.voice_positions, s.heads, s.width / s.heads};
  for (int64_t n = 0; n < s.layers; n++) {
    const std::string layer = "transformer.layers." + std::to_string(n) + ".self_attn/";
    tensors.push_back({layer + "cache", model::Dtype::kF32, cache});
    tensors.push_back({layer + "current_end", model::Dtype::kF32, {s.voice_positions}});
  }
  return tensors;
}

}  // namespace

PocketSizes PocketSizesNamed(const std::string& size) {
  PocketSizes sizes;
  sizes.layers = size == "336m" ? 24 : 6;
  sizes.heads = 16;
  sizes.width = 1024;
  sizes.flow_width = 512;
  sizes.flow_blocks = 6;
  sizes.codec_width = 512;
  sizes.codec_heads = 8;
  sizes.codec_inner = 2048;
  sizes.codec_window = 250;
  sizes.filters = 64;
  sizes.latent = sizes.prompt_width = 32;
  sizes.pieces = 4000;
  sizes.voice_positions = 125;
  if (size == "100m" || size == "336m") return sizes;
  if (size != "tiny") {
    throw std::invalid_argument("the size of a model of Pocket TTS is 100m, 336m or tiny, not \"" + size +
                                "\"");
  }
  sizes.layers = 2;
  sizes.heads = sizes.codec_heads = 2;
  sizes.width = 64;
  sizes.flow_width = 32;
  sizes.flow_blocks = 2;
  sizes.codec_width = 32;
  sizes.codec_inner = 64;
  sizes.codec_window = 40;
  sizes.filters = 4;
  sizes.latent = sizes.prompt_width = 8;
  sizes.pieces = 500;
  sizes.voice_positions = 12;
  return sizes;
}

PocketPlan PlanOf(const PocketSizes& sizes, model::Dtype dtype) {
  PocketPlan plan{ConfigYaml(sizes), PieceMaker(sizes.pieces).Make(), {}, VoiceTensors(sizes)};
  std::string json, problem;
  std::unique_ptr<const model::JsonDocument> document;
  if (model::JsonOfYaml(plan.config, &json, &problem)) document = model::JsonDocument::Parse(json, &problem);
  if (document != nullptr) {
    const model::ConfigReader reader("config.yaml", document->root(), &problem);
    plan.tensors = model::TensorsOf(model::ReadPocketConfig(reader), true);
  }
  if (!problem.empty()) throw std::invalid_argument(problem);
  for (ExpectedTensor& tensor : plan.tensors) tensor.dtype = dtype;
  std::sort(plan.tensors.begin(), plan.tensors.end(),
            [](const ExpectedTensor& a, const ExpectedTensor& b) { return a.name < b.name; });
  return plan;
}

void WriteCheckpoint(const PocketSizes& sizes, const std::string& directory, const WriteOptions& options) {
  if (options.shards != 1) throw std::invalid_argument("a model of Pocket TTS is one file");
  const PocketPlan plan = PlanOf(sizes, options.dtypes.model);
  RefuseCheckpoint(directory);
  const std::string voices = directory + "/embeddings";
  std::filesystem::create_directories(voices);
  uint64_t seed = options.seed;
  for (const char* const voice : kVoices)
    WriteTensorFile(voices + "/" + voice + ".safetensors", plan.voice, seed++);
  WriteTensors(directory, plan.tensors, options);
  WriteText(directory + "/tokenizer.model", plan.tokenizer);
  WriteText(directory + "/config.yaml", plan.config);  // last: it says that the rest is there
}

}  // namespace parley::tools
