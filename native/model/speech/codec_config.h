// speech_tokenizer/config.json: the codec, codes to waveform and back. Every
// number comes from the file and was judged.
#ifndef PARLEY_MODEL_CODEC_CONFIG_H_
#define PARLEY_MODEL_CODEC_CONFIG_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "model/files/config_reader.h"
#include "model/shared/transformer.h"

namespace parley::model {

// Codes to waveform.
struct CodecDecoderConfig {
  TransformerConfig transformer;
  int64_t window = 0;          // positions that a position attends to, itself among them
  int64_t latent = 0;          // channels around the transformer
  int64_t codebook_width = 0;  // sum of codes; even: each half-width table is projected to it
  int64_t codebook_size = 0;
  int64_t quantizers = 0;
  int64_t channels = 0;                    // first convolution's; halved by every block
  std::vector<int64_t> upsampling_ratios;  // before the blocks: 2, 2
  std::vector<int64_t> upsample_rates;     // the blocks': 8, 5, 4, 3

  int64_t table_width() const { return codebook_width / 2; }
};

// Waveform to codes: only for reference recordings.
struct CodecEncoderConfig {
  TransformerConfig transformer;
  int64_t filters = 0;  // first convolution's; doubled by every stage
  int64_t kernel = 0, last_kernel = 0, residual_kernel = 0;
  int64_t compress = 0;
  std::vector<int64_t> ratios;  // per stage, in order: 4, 5, 6, 8 (the file has them reversed)
  int64_t codebook_size = 0;
  int64_t codebook_width = 0;
  int64_t quantizers = 0;  // used: the semantic one and the first acoustic ones
  int64_t downsample = 0;  // stride of the last convolution
};

struct CodecConfig {
  int64_t sample_rate = 0;
  int64_t frame_samples = 0;  // samples in a frame of codes
  CodecDecoderConfig decoder;
  std::optional<CodecEncoderConfig> encoder;  // if requested
};

CodecConfig ReadCodecConfig(const ConfigReader& reader, bool with_encoder);

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODEC_CONFIG_H_
