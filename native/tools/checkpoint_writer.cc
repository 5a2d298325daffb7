#include "tools/checkpoint_writer.h"

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "model/shared/weights.h"
#include "tools/byte_pairs.h"
#include "tools/output_file.h"
#include "tools/random_weights.h"

namespace parley::tools {
namespace {

using model::ExpectedTensor;
using Tensors = std::vector<ExpectedTensor>;

constexpr size_t kBlock = 1 << 18;  // values made and written at a time
constexpr size_t kHeaderAlignment = 8;

void WriteText(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.Write(text);
  file.Close();
}

std::string HeaderOf(const Tensors& tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  uint64_t at = 0;
  for (const ExpectedTensor& tensor : tensors) {
    const uint64_t end = at + BytesOf(tensor);
    header += ",\"" + tensor.name + "\":{\"dtype\":\"" + FactsOf(tensor.dtype).name +
              "\",\"shape\":" + model::ToString(tensor.shape) + ",\"data_offsets\":[" + std::to_string(at) + "," +
              std::to_string(end) + "]}";
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

void WriteTensors(const std::string& path, const Tensors& tensors, uint64_t seed) {
  OutputFile file(path);
  const std::string header = HeaderOf(tensors);
  char length[8];
  for (size_t n = 0; n < sizeof length; n++) length[n] = static_cast<char>(header.size() >> (8 * n) & 0xFF);
  file.Write(length, sizeof length);
  file.Write(header);
  for (const ExpectedTensor& tensor : tensors) WriteTensor(tensor, seed, &file);
  file.Close();
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
    WriteTensors(directory + "/" + name, shares[n], options.seed);
    for (const ExpectedTensor& tensor : shares[n]) {
      map += (map.empty() ? "\n    \"" : ",\n    \"") + tensor.name + "\": \"" + name + "\"";
    }
  }
  WriteText(directory + "/model.safetensors.index.json",
            "{\n  \"metadata\": {\"total_size\": " + std::to_string(BytesOf(tensors)) + "},\n  \"weight_map\": {" +
                map + "\n  }\n}\n");
}

}  // namespace

void WriteCheckpoint(const CheckpointSizes& sizes, const std::string& directory, const WriteOptions& options) {
  const CheckpointPlan plan = PlanOf(sizes, options.dtypes);
  const BytePairs pairs = MakeBytePairs(static_cast<size_t>(sizes.text_entries));
  SharesOf(plan.model, options.shards);  // judged before anything is written
  if (std::filesystem::exists(directory + "/config.json")) {
    throw std::invalid_argument(directory + " holds a checkpoint already; it is not overwritten");
  }
  const std::string codec = directory + "/speech_tokenizer";
  std::filesystem::create_directories(codec);
  WriteTensors(codec + "/model.safetensors", plan.codec, options.seed);
  WriteText(codec + "/config.json", plan.codec_config);
  if (options.shards == 1) {
    WriteTensors(directory + "/model.safetensors", plan.model, options.seed);
  } else {
    WriteShards(directory, plan.model, options);
  }
  WriteText(directory + "/vocab.json", pairs.VocabJson());
  WriteText(directory + "/merges.txt", pairs.MergesText());
  WriteText(directory + "/tokenizer_config.json", plan.tokenizer_config);
  WriteText(directory + "/generation_config.json", plan.generation_config);
  WriteText(directory + "/config.json", plan.model_config);  // last: it says that the rest is there
}

}  // namespace parley::tools
