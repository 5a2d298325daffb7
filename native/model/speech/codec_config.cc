#include "model/speech/codec_config.h"

#include <algorithm>

namespace parley::model {
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
