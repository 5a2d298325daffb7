// Sizes of a checkpoint to be written, and the small files of its directory, laid out as the published ones.
#ifndef PARLEY_TOOLS_CHECKPOINT_CONFIGS_H_
#define PARLEY_TOOLS_CHECKPOINT_CONFIGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/speech/model_config.h"

namespace parley::tools {

// Published sizes, tiny ones, or those of a test.
struct CheckpointSizes {
  model::ModelType type = model::ModelType::kCustomVoice;
  std::string name;  // tts_model_size: "0b6", "1b7"
  model::TransformerConfig talker, predictor;
  int64_t text_entries = 0;     // entries of vocab.json; the added tokens follow
  int64_t text_vocabulary = 0;  // rows of the text embedding, at least all of these
  int64_t text_hidden = 0;
  int64_t codes = 0;  // entries of a codebook; the control ids follow
  int64_t code_groups = 0;
  int64_t positions = 0;
  model::SpeakerEncoderConfig speaker;  // used for ModelType::kBase
  int64_t sample_rate = 0;
  model::CodecDecoderConfig decoder;
  model::CodecEncoderConfig encoder;  // quantizers: all that the file holds
  int64_t encoder_window = 0;

  int64_t frame_samples() const;
};

// "0.6b", "1.7b" or "tiny". Throws std::invalid_argument for another, and for what is not published.
CheckpointSizes SizesNamed(const std::string& size, model::ModelType type);

// The configuration files as they are published, with $name$ where a size or an id stands.

inline constexpr const char* kModelForm = R"({
  "architectures": ["Qwen3TTSForConditionalGeneration"],
  "model_type": "qwen3_tts",
  "tokenizer_type": "qwen3_tts_tokenizer_12hz",
  "tts_model_size": "$size$",
  "tts_model_type": "$type$",
  "assistant_token_id": $assistant$,
  "im_start_token_id": $im_start$,
  "im_end_token_id": $im_end$,
  "tts_pad_token_id": $tts_pad$,
  "tts_bos_token_id": $tts_bos$,
  "tts_eos_token_id": $tts_eos$,
  "talker_config": {
    $talker$,
    "model_type": "qwen3_tts_talker",
    "attention_bias": false,
    "attention_dropout": 0,
    "hidden_act": "silu",
    "initializer_range": 0.02,
    "max_position_embeddings": $positions$,
    "num_code_groups": $groups$,
    "position_id_per_seconds": 13,
    "rms_norm_eps": $talker.eps$,
    "rope_scaling": {"interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default", "type": "default"},
    "sliding_window": null,
    "use_sliding_window": false,
    "use_cache": true,
    "text_hidden_size": $text_hidden$,
    "text_vocab_size": $text_vocabulary$,
    "vocab_size": $vocabulary$,
    "codec_pad_id": $codec_pad$,
    "codec_bos_id": $codec_bos$,
    "codec_eos_token_id": $codec_eos$,
    "codec_think_id": $think$,
    "codec_nothink_id": $nothink$,
    "codec_think_bos_id": $think_bos$,
    "codec_think_eos_id": $think_eos$,
    "codec_language_id": $languages$,
    "spk_id": $speakers$,
    "spk_is_dialect": $dialects$,
    "code_predictor_config": {
    $predictor$,
    "model_type": "qwen3_tts_talker_code_predictor",
    "vocab_size": $codes$,
    "hidden_act": "silu",
    "rms_norm_eps": $predictor.eps$,
    "rope_scaling": null,
    "attention_bias": false,
    "attention_dropout": 0,
    "max_position_embeddings": 65536,
    "num_code_groups": $groups$,
    "sliding_window": null,
    "use_sliding_window": false,
    "use_cache": true,
    "tie_word_embeddings": false
    }
  },$speaker_encoder$
  "transformers_version": "4.57.3"
}
)";

inline constexpr const char* kSpeakerForm = R"(
  "speaker_encoder_config": {
    "mel_dim": $mel$,
    "enc_dim": $embedding$,
    "enc_channels": $channels$,
    "enc_kernel_sizes": $kernels$,
    "enc_dilations": $dilations$,
    "enc_attention_channels": $attention$,
    "enc_res2net_scale": $scale$,
    "enc_se_channels": $squeeze$,
    "sample_rate": $rate$
  },)";

inline constexpr const char* kCodecForm = R"({
  "architectures": ["Qwen3TTSTokenizerV2Model"],
  "model_type": "qwen3_tts_tokenizer_12hz",
  "encoder_valid_num_quantizers": $groups$,
  "input_sample_rate": $rate$,
  "output_sample_rate": $rate$,
  "decode_upsample_rate": $frame$,
  "encode_downsample_rate": $frame$,
  "decoder_config": {
    $decoder$,
    "attention_bias": false,
    "attention_dropout": 0.0,
    "latent_dim": $latent$,
    "codebook_dim": $width$,
    "codebook_size": $codes$,
    "decoder_dim": $channels$,
    "hidden_act": "silu",
    "layer_scale_initial_scale": 0.01,
    "max_position_embeddings": 8000,
    "num_quantizers": $groups$,
    "num_semantic_quantizers": 1,
    "rms_norm_eps": $decoder.eps$,
    "semantic_codebook_size": 4096,
    "sliding_window": $window$,
    "upsample_rates": $rates$,
    "upsampling_ratios": $ratios$,
    "vector_quantization_hidden_dimension": $width$
  },
  "encoder_config": {
    $encoder$,
    "_frame_rate": 12.5,
    "attention_bias": false,
    "attention_dropout": 0.0,
    "audio_channels": 1,
    "codebook_dim": $encoder_width$,
    "codebook_size": $codes$,
    "compress": $compress$,
    "dilation_growth_rate": 2,
    "hidden_act": "gelu",
    "kernel_size": $kernel$,
    "last_kernel_size": $last_kernel$,
    "residual_kernel_size": $residual_kernel$,
    "max_position_embeddings": 8000,
    "norm_eps": $encoder.eps$,
    "normalize": false,
    "num_filters": $filters$,
    "num_quantizers": $encoder_quantizers$,
    "num_residual_layers": 1,
    "num_semantic_quantizers": 1,
    "pad_mode": "constant",
    "sampling_rate": $rate$,
    "sliding_window": $encoder_window$,
    "upsampling_ratios": $encoder_ratios$,
    "use_causal_conv": true,
    "use_conv_shortcut": false,
    "vector_quantization_hidden_dimension": $encoder_width$
  },
  "transformers_version": "4.57.3"
}
)";

std::string ModelConfigJson(const CheckpointSizes& sizes);      // config.json
std::string CodecConfigJson(const CheckpointSizes& sizes);      // speech_tokenizer/config.json
std::string GenerationConfigJson();                             // generation_config.json
std::string TokenizerConfigJson(const CheckpointSizes& sizes);  // tokenizer_config.json

// Ids of text are the entries of the vocabulary, then these.
constexpr size_t kAddedTokens = 33;

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_CHECKPOINT_CONFIGS_H_
