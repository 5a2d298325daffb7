#include "tools/checkpoint_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/sampling.h"
#include "model/shared/weights.h"
#include "model/speech/speech_checkpoint.h"
#include "tools/byte_pairs.h"
#include "tools/checkpoint_configs.h"
#include "tools/output_file.h"

namespace parley::tools {
namespace {

using model::ExpectedTensor;
using Tensors = std::vector<ExpectedTensor>;

constexpr size_t kBlock = 1 << 18;  // values made and written at a time
constexpr size_t kHeaderAlignment = 8;

std::string HeaderOf(const Tensors& tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  uint64_t at = 0;
  for (const ExpectedTensor& tensor : tensors) {
    const uint64_t end = at + BytesOf(tensor);
    header += ",\"" + tensor.name + "\":{\"dtype\":\"" + FactsOf(tensor.dtype).name +
              "\",\"shape\":" + model::ToString(tensor.shape) + ",\"data_offsets\":[" + std::to_string(at) +
              "," + std::to_string(end) + "]}";
    at = end;
  }
  header += "}";
  header.resize((header.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  return header;
}

void WriteTensor(const ExpectedTensor& tensor, uint64_t seed, OutputFile* file) {
  RandomWeights weights(seed, tensor);
  std::vector<float> values(kBlock);
  for (size_t left = BytesOf(tensor) / FactsOf(tensor.dtype).bytes; left > 0;) {
    const size_t count = left < kBlock ? left : kBlock;
    weights.Next(values.data(), count);
    const std::vector<uint8_t> rounded = model::Rounded(values.data(), count, model::FormatOf(tensor.dtype));
    file->Write(rounded.data(), rounded.size());
    left -= count;
  }
}

// Shares of about the same bytes, in order.
std::vector<Tensors> SharesOf(const Tensors& tensors, size_t shards) {
  if (shards < 1 || shards > tensors.size()) {
    throw std::invalid_argument("there can be 1 to " + std::to_string(tensors.size()) + " shards");
  }
  std::vector<Tensors> shares(shards);
  const uint64_t all = BytesOf(tensors);
  uint64_t before = 0;
  size_t share = 0, left = tensors.size();
  for (const ExpectedTensor& tensor : tensors) {
    const bool full = before * shards >= all * (share + 1);
    const bool rest = left < shards - share;  // one for each that is still empty
    if (share + 1 < shards && !shares[share].empty() && (full || rest)) share++;
    shares[share].push_back(tensor);
    before += BytesOf(tensor);
    left--;
  }
  return shares;
}

void WriteShards(const std::string& directory, const Tensors& tensors, const WriteOptions& options) {
  const std::vector<Tensors> shares = SharesOf(tensors, options.shards);
  std::string map;
  for (size_t n = 0; n < shares.size(); n++) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", n + 1, shares.size());
    WriteTensorFile(directory + "/" + name, shares[n], options.seed);
    for (const ExpectedTensor& tensor : shares[n]) {
      map += (map.empty() ? "\n    \"" : ",\n    \"") + tensor.name + "\": \"" + name + "\"";
    }
  }
  WriteText(directory + "/model.safetensors.index.json",
            "{\n  \"metadata\": {\"total_size\": " + std::to_string(BytesOf(tensors)) +
                "},\n  \"weight_map\": {" + map + "\n  }\n}\n");
}

}  // namespace

void WriteText(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.Write(text);
  file.Close();
}

void WriteTensorFile(const std::string& path, const Tensors& tensors, uint64_t seed) {
  OutputFile file(path);
  const std::string header = HeaderOf(tensors);
  char length[8];
  for (size_t n = 0; n < sizeof length; n++) length[n] = static_cast<char>(header.size() >> (8 * n) & 0xFF);
  file.Write(length, sizeof length);
  file.Write(header);
  for (const ExpectedTensor& tensor : tensors) WriteTensor(tensor, seed, &file);
  file.Close();
}

void WriteTensors(const std::string& directory, const Tensors& tensors, const WriteOptions& options) {
  if (options.shards == 1) WriteTensorFile(directory + "/model.safetensors", tensors, options.seed);
  else WriteShards(directory, tensors, options);
}

void RefuseCheckpoint(const std::string& directory) {
  const auto holds = [&](const char* name) { return std::filesystem::exists(directory + "/" + name); };
  if (holds("config.json") || holds("config.yaml")) {
    throw std::invalid_argument(directory + " holds a checkpoint already; it is not overwritten");
  }
}

void WriteCheckpoint(const CheckpointSizes& sizes, const std::string& directory,
                     const WriteOptions& options) {
  const CheckpointPlan plan = PlanOf(sizes, options.dtypes);
  const BytePairs pairs = MakeBytePairs(static_cast<size_t>(sizes.text_entries));
  SharesOf(plan.model, options.shards);  // judged before anything is written
  RefuseCheckpoint(directory);
  const std::string codec = directory + "/speech_tokenizer";
  std::filesystem::create_directories(codec);
  WriteTensorFile(codec + "/model.safetensors", plan.codec, options.seed);
  WriteText(codec + "/config.json", plan.codec_config);
  WriteTensors(directory, plan.model, options);
  WriteText(directory + "/vocab.json", pairs.VocabJson());
  WriteText(directory + "/merges.txt", pairs.MergesText());
  WriteText(directory + "/tokenizer_config.json", plan.tokenizer_config);
  WriteText(directory + "/generation_config.json", plan.generation_config);
  WriteText(directory + "/config.json", plan.model_config);  // last: it says that the rest is there
}

namespace {

enum class Scale : uint8_t {
  kFixed,  // the deviation itself
  kFan,    // by 1 / sqrt(inputs of an output): keeps the size of what passes
};

// The first whose `part` is in the name.
struct Rule {
  const char* part;
  float mean;
  Scale scale;
  float deviation;
};

constexpr Rule kRules[] = {
    // Pocket TTS. With random weights speech has no end, so that a stream is as long as its text may be.
    {"flow_lm.out_eos.weight", 0, Scale::kFan, 0.5f},
    {"flow_lm.out_eos.bias", -12, Scale::kFixed, 0},
    {"flow_lm.emb_mean", 0, Scale::kFixed, 0.1f},
    {"flow_lm.emb_std", 1, Scale::kFixed, 0.1f},
    {"flow_lm.bos_emb", 0, Scale::kFixed, 1},
    {"flow_lm.conditioner", 0, Scale::kFixed, 0.8f},
    {"time_embed.0.freqs", 0.5f, Scale::kFixed, 0.1f},
    {"time_embed.1.freqs", 0.5f, Scale::kFixed, 0.1f},
    {"mlp.3.alpha", 1, Scale::kFixed, 0.15f},
    {"in_ln.weight", 1, Scale::kFixed, 0.15f},
    {"norm1.weight", 1, Scale::kFixed, 0.15f},
    {"norm2.weight", 1, Scale::kFixed, 0.15f},
    {"layer_scale_", 0.3f, Scale::kFixed, 0.05f},
    {"adaLN_modulation.1.weight", 0, Scale::kFan, 0.3f},
    {"mimi.upsample", 0, Scale::kFixed, 0.7f},
    {"self_attn/cache", 0, Scale::kFixed, 1},
    {"self_attn/current_end", 0, Scale::kFixed, 0},
    {"codebook.initialized", 1, Scale::kFixed, 0},
    // A table is the sum divided by the usage: rows of about 1. No usage is near the clamp.
    {"cluster_usage", 10, Scale::kFixed, 2},
    {"embedding_sum", 0, Scale::kFixed, 10},
    {"embed_sum", 0, Scale::kFixed, 10},
    {"layer_scale.scale", 0.3f, Scale::kFixed, 0.05f},
    {".gamma", 0.3f, Scale::kFixed, 0.05f},
    {".alpha", 0, Scale::kFixed, 0.25f},  // logarithms
    {".beta", 0, Scale::kFixed, 0.25f},
    {"q_norm.weight", 1.3f, Scale::kFixed, 0.2f},
    {"k_norm.weight", 1.3f, Scale::kFixed, 0.2f},
    {"norm.weight", 1, Scale::kFixed, 0.15f},
    {"ln_post.weight", 1, Scale::kFixed, 0.15f},
    {".bias", 0, Scale::kFixed, 0.05f},
    {"embed_tokens", 0, Scale::kFixed, 0.1f},  // the head too, where it is tied
    {"audio_tower.conv2d", 0, Scale::kFan, 1.4f},
    {"text_embedding", 0, Scale::kFixed, 0.8f},
    {"code_predictor.model.codec_embedding", 0, Scale::kFixed, 0.3f},  // sixteen are summed
    {"model.codec_embedding", 0, Scale::kFixed, 0.6f},
    {"codec_head", 0, Scale::kFan, 2.5f},  // a choice among the likely
    {"lm_head", 0, Scale::kFan, 2.5f},
    {"speaker_encoder.fc", 0, Scale::kFan, 0.1f},  // input is a sum over a rectified signal
    {"speaker_encoder", 0, Scale::kFan, 1.4f},
    {"talker.", 0, Scale::kFan, 1.2f},
    {"decoder.decoder.0.conv", 0, Scale::kFan, 0.5f},
    {"conv1.conv", 0, Scale::kFan, 0.6f},  // residual units add to what they get
    {"conv2.conv", 0, Scale::kFan, 0.6f},
    {"", 0, Scale::kFan, 1},
};

// The decoder's last convolution, to one channel: samples peak near a half.
constexpr Rule kWaveform = {"decoder.decoder", 0, Scale::kFan, 0.04f};
constexpr Rule kPocketWaveform = {"mimi.decoder", 0, Scale::kFan, 0.2f};

const Rule& RuleOf(const model::ExpectedTensor& tensor) {
  const bool convolution = tensor.shape.size() == 3 && tensor.shape[0] == 1;
  for (const Rule* const last : {&kWaveform, &kPocketWaveform})
    if (convolution && tensor.name.rfind(last->part, 0) == 0) return *last;
  for (const Rule& rule : kRules) {
    if (tensor.name.find(rule.part) != std::string::npos) return rule;
  }
  return kRules[0];  // not reached: the last holds for all
}

// Inputs that meet in one output.
double FanOf(const model::ExpectedTensor& tensor) {
  const auto contains = [&](const char* part) { return tensor.name.find(part) != std::string::npos; };
  // Transposed convolutions [in, out, kernel]: one input of each channel, or two where they overlap.
  if (contains("decoder.upsample") && contains(".0.conv")) return static_cast<double>(tensor.shape[0]);
  if ((contains("decoder.decoder") && contains("block.1.conv")) || contains("convtr.weight"))
    return 2.0 * static_cast<double>(tensor.shape[0]);
  double fan = 1;
  for (size_t n = 1; n < tensor.shape.size(); n++) fan *= static_cast<double>(tensor.shape[n]);
  return fan;
}

// FNV-1a
uint64_t HashOf(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  return hash;
}

// The sum of four uniform bytes: bell-shaped, within 3.5 deviations, and quick.
constexpr float kBellMean = 4 * 127.5f;
constexpr float kBellDeviation = 147.80f;  // sqrt(4 (256^2 - 1) / 12)

uint32_t SumOfBytes(uint32_t word) {
  const uint32_t pairs = (word & 0x00FF00FF) + (word >> 8 & 0x00FF00FF);
  return (pairs & 0xFFFF) + (pairs >> 16);
}

}  // namespace

RandomWeights::RandomWeights(uint64_t seed, const model::ExpectedTensor& tensor)
    : seed_(seed), stream_(HashOf(tensor.name)) {
  const Rule& rule = RuleOf(tensor);
  mean_ = rule.mean;
  deviation_ = rule.scale == Scale::kFixed ? rule.deviation
                                           : static_cast<float>(rule.deviation / std::sqrt(FanOf(tensor)));
}

void RandomWeights::Next(float* values, size_t count) {
  const PhiloxKey key = {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)};
  const auto low = static_cast<uint32_t>(stream_), high = static_cast<uint32_t>(stream_ >> 32);
  const float scale = deviation_ / kBellDeviation;
  float four[4];
  for (size_t at = 0; at < count; at += 4, step_++) {
    const PhiloxCounter words =
        Philox({static_cast<uint32_t>(step_), static_cast<uint32_t>(step_ >> 32), low, high}, key);
    for (size_t n = 0; n < 4; n++)
      four[n] = mean_ + scale * (static_cast<float>(SumOfBytes(words[n])) - kBellMean);
    std::memcpy(values + at, four, (count - at < 4 ? count - at : 4) * sizeof(float));
  }
}

namespace {

using model::ExpectedTensor;
using model::ExpectedTensors;

// `read` takes a ConfigReader and gives the configuration.
template <class Read>
auto Validated(const char* file, const std::string& text, Read read) {
  std::string problem;
  const auto document = model::JsonDocument::Parse(text, &problem);
  if (!document) throw std::invalid_argument(std::string(file) + ": " + problem);
  auto config = read(model::ConfigReader(file, document->root(), &problem));
  if (!problem.empty()) throw std::invalid_argument(problem);
  return config;
}

// Tensors of the published file that the engine does not read: projections that only training needs, and the
// codebooks' initialisation flags.
void AddUnread(const model::CodecConfig& config, std::vector<ExpectedTensor>* list) {
  const ExpectedTensors all(model::Dtype::kF32, list);
  const model::CodecDecoderConfig& d = config.decoder;
  for (const char* const half : {"rvq_first", "rvq_rest"}) {
    all.Under("decoder.quantizer")
        .Under(half)
        .Add("input_proj.weight", {d.table_width(), d.codebook_width, 1});
  }
  const model::CodecEncoderConfig& e = *config.encoder;
  for (const bool semantic : {true, false}) {
    const ExpectedTensors half =
        all.Under("encoder.quantizer")
            .Under(semantic ? "semantic_residual_vector_quantizer" : "acoustic_residual_vector_quantizer");
    half.Add("output_proj.weight", {e.transformer.hidden, e.codebook_width, 1});
    for (int64_t n = 0; n < (semantic ? 1 : e.quantizers - 1); n++) {
      half.Under("layers", n).Add("codebook.initialized", {1});
    }
  }
}

void Finish(model::Dtype dtype, std::vector<ExpectedTensor>* list) {
  for (ExpectedTensor& tensor : *list) tensor.dtype = dtype;
  std::sort(list->begin(), list->end(),
            [](const ExpectedTensor& a, const ExpectedTensor& b) { return a.name < b.name; });
}

}  // namespace

CheckpointPlan PlanOf(const CheckpointSizes& sizes, const CheckpointDtypes& dtypes) {
  CheckpointPlan plan;
  plan.model_config = ModelConfigJson(sizes);
  plan.codec_config = CodecConfigJson(sizes);
  plan.generation_config = GenerationConfigJson();
  plan.tokenizer_config = TokenizerConfigJson(sizes);
  if (sizes.text_vocabulary < sizes.text_entries + static_cast<int64_t>(kAddedTokens)) {
    throw std::invalid_argument(
        "the text embedding has fewer rows than the vocabulary has entries and added tokens");
  }
  plan.model = TensorsOf(Validated("config.json", plan.model_config, model::ReadModelConfig));
  model::CodecConfig codec =
      Validated("speech_tokenizer/config.json", plan.codec_config,
                [](const model::ConfigReader& reader) { return model::ReadCodecConfig(reader, true); });
  codec.encoder->quantizers = sizes.encoder.quantizers;  // the file's, not only those in use
  plan.codec = TensorsOf(codec);
  AddUnread(codec, &plan.codec);
  Finish(dtypes.model, &plan.model);
  Finish(dtypes.codec, &plan.codec);
  return plan;
}

uint64_t BytesOf(const ExpectedTensor& tensor) {
  uint64_t bytes = model::FactsOf(tensor.dtype).bytes;
  for (const int64_t size : tensor.shape) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

uint64_t BytesOf(const std::vector<ExpectedTensor>& tensors) {
  uint64_t bytes = 0;
  for (const ExpectedTensor& tensor : tensors) bytes += BytesOf(tensor);
  return bytes;
}

}  // namespace parley::tools
