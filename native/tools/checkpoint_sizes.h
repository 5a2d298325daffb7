// The sizes of a checkpoint that is to be written: the published ones, tiny ones, or a test's own.
#ifndef PARLEY_TOOLS_CHECKPOINT_SIZES_H_
#define PARLEY_TOOLS_CHECKPOINT_SIZES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/speech/codec_config.h"
#include "model/speech/model_config.h"

namespace parley::tools {

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

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_CHECKPOINT_SIZES_H_
