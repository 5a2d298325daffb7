// A checkpoint whose codec decoder has any sizes, with seeded random weights that keep its
// signals near 1. The rest of it is a tiny golden checkpoint.
#ifndef PARLEY_TEST_RANDOM_CODEC_H_
#define PARLEY_TEST_RANDOM_CODEC_H_

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "media/random.h"
#include "model/files/json.h"
#include "model/speech/model_config.h"
#include "model/speech/speech_checkpoint.h"
#include "test/checkpoint_copy.h"

namespace parley::test {

struct CodecSizes {
  int latent, codebook, channels;
  int hidden, intermediate, layers, heads, kv_heads, head_dim, window;
  std::vector<int> ratios, rates;
};

inline int FrameSamples(const CodecSizes& sizes) {
  const auto product = [](const std::vector<int>& factors) {
    return std::accumulate(factors.begin(), factors.end(), 1, [](int a, int b) { return a * b; });
  };
  return product(sizes.ratios) * product(sizes.rates);
}

inline std::string ListOf(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "[" : ", ") + std::to_string(number);
  return (text.empty() ? "[" : text) + "]";
}

// Quantizers and entries are the golden checkpoint's: its code predictor makes them.
inline std::string CodecConfigText(const CodecSizes& s) {
  std::ostringstream text;
  text
      << "{\"encoder_valid_num_quantizers\": 16, \"input_sample_rate\": 24000, \"output_sample_rate\": 24000,"
      << " \"decode_upsample_rate\": " << FrameSamples(s)
      << ", \"encode_downsample_rate\": " << FrameSamples(s)
      << ", \"decoder_config\": {\"attention_bias\": false, \"latent_dim\": " << s.latent
      << ", \"codebook_dim\": " << s.codebook << ", \"codebook_size\": 128, \"decoder_dim\": " << s.channels
      << ", \"hidden_act\": \"silu\", \"hidden_size\": " << s.hidden
      << ", \"intermediate_size\": " << s.intermediate << ", \"head_dim\": " << s.head_dim
      << ", \"num_attention_heads\": " << s.heads << ", \"num_hidden_layers\": " << s.layers
      << ", \"num_key_value_heads\": " << s.kv_heads
      << ", \"num_quantizers\": 16, \"num_semantic_quantizers\": 1, \"rms_norm_eps\": 1e-05, \"rope_theta\": 10000"
      << ", \"sliding_window\": " << s.window << ", \"upsample_rates\": " << ListOf(s.rates)
      << ", \"upsampling_ratios\": " << ListOf(s.ratios) << "}}";
  return text.str();
}

// The middle and the width of a tensor's values.
inline std::pair<double, double> RangeOf(const model::ExpectedTensor& tensor) {
  const auto ends = [&](const std::string& end) {
    return tensor.name.size() >= end.size() &&
           tensor.name.compare(tensor.name.size() - end.size(), end.size(), end) == 0;
  };
  if (ends("cluster_usage")) return {1, 1};
  if (ends("norm.weight") || ends("scale") || ends("gamma")) return {0.7, 0.6};
  if (ends("bias")) return {0, 0.2};
  if (tensor.shape.size() == 1) return {0, 0.6};  // alpha, beta
  double inputs = 1;
  for (size_t n = 1; n < tensor.shape.size(); n++) inputs *= static_cast<double>(tensor.shape[n]);
  return {0, ends("embedding_sum") ? 1 : 3 / std::sqrt(inputs)};
}

// Their header; all_bytes: of what comes after it.
inline std::string HeaderOf(const std::vector<model::ExpectedTensor>& tensors, size_t* all_bytes) {
  std::ostringstream header;
  size_t at = 0;
  for (const model::ExpectedTensor& tensor : tensors) {
    size_t bytes = sizeof(float);
    for (const int64_t size : tensor.shape) bytes *= static_cast<size_t>(size);
    header << (at == 0 ? "{" : ",") << "\"" << tensor.name
           << "\":{\"dtype\":\"F32\",\"shape\":" << model::ToString(tensor.shape) << ",\"data_offsets\":["
           << at << "," << at + bytes << "]}";
    at += bytes;
  }
  header << "}";
  std::string text = header.str();
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');  // the data begins at a cache line
  *all_bytes = at;
  return SafetensorsOf(text, 0);
}

// Zeros, which take no room on a disk.
inline void WriteBlankTensors(const std::string& path, const std::vector<model::ExpectedTensor>& tensors) {
  size_t bytes = 0;
  const std::string header = HeaderOf(tensors, &bytes);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << header;
  std::filesystem::resize_file(path, header.size() + bytes);
}

inline void WriteRandomTensors(const std::string& path, const std::vector<model::ExpectedTensor>& tensors,
                               uint64_t seed) {
  size_t bytes = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << HeaderOf(tensors, &bytes);
  Random random(seed);
  std::vector<float> values;
  for (const model::ExpectedTensor& tensor : tensors) {
    size_t count = 1;
    for (const int64_t size : tensor.shape) count *= static_cast<size_t>(size);
    const auto [middle, width] = RangeOf(tensor);
    values.resize(count);
    for (float& value : values) value = static_cast<float>(middle + width * (random.Unit() - 0.5));
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(count * sizeof(float)));
  }
  file.close();
  CHECK(file.good());
}

constexpr uint64_t kBlank = 0;  // for a seed: all weights are zeros

// Gone with it.
class RandomCodec {
 public:
  explicit RandomCodec(const CodecSizes& sizes, uint64_t seed = 1) : copy_("tiny-customvoice") {
    const std::string text = CodecConfigText(sizes);
    copy_.Write("speech_tokenizer/config.json", text);
    std::string problem;
    const auto document = model::JsonDocument::Parse(text, &problem);
    const auto config =
        model::ReadCodecConfig(model::ConfigReader("config.json", document->root(), &problem), false);
    CHECK_EQ(problem, "");
    copy_.Remove("speech_tokenizer/model.safetensors");
    const std::string path = copy_.path() + "/speech_tokenizer/model.safetensors";
    if (seed == kBlank) WriteBlankTensors(path, TensorsOf(config));
    else WriteRandomTensors(path, TensorsOf(config), seed);
  }

  std::unique_ptr<const model::SpeechCheckpoint> Open() const { return Opened(copy_.path()); }

 private:
  CheckpointCopy copy_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_RANDOM_CODEC_H_
