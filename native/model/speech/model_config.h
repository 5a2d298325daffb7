// Reads and checks the configuration of a checkpoint: config.json (talker, code predictor and, for Base, the
// speaker encoder) and speech_tokenizer/config.json (the codec).
#ifndef PARLEY_MODEL_MODEL_CONFIG_H_
#define PARLEY_MODEL_MODEL_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/json.h"
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

// generation_config.json: the sampling options of requests that state none.
struct DrawConfig {
  bool sample = true;  // else the largest logit
  double temperature = 0.9;
  int64_t top_k = 50;  // 0: all
  double top_p = 1.0;  // 1: all
};

// The initial values are those of the published checkpoints: for keys that the
// file leaves out, as the model's own package does.
struct GenerationConfig {
  DrawConfig talker;
  DrawConfig predictor;
  double repetition_penalty = 1.05;
  int64_t max_new_tokens = 2048;  // first codes drawn, the end among them: at most one frame less
};

GenerationConfig ReadGenerationConfig(const ConfigReader& reader);

enum class ModelType {
  kCustomVoice,  // named speakers
  kVoiceDesign,  // the voice is described in the instruction
  kBase,         // the voice comes from a reference recording
};

const char* NameOf(ModelType type);  // as config.json writes it

// Ids of the talker's own vocabulary.
struct CodecIds {
  int32_t pad = 0, bos = 0, eos = 0, think = 0, nothink = 0, think_bos = 0, think_eos = 0;
};

// Ids of the text vocabulary.
struct TextIds {
  int32_t im_start = 0, im_end = 0, tts_pad = 0, tts_bos = 0, tts_eos = 0;
};

struct Language {
  std::string name;      // lower case
  int32_t id = 0;        // in the talker's vocabulary
  bool dialect = false;  // chosen by way of a speaker, not offered to users
};

struct Speaker {
  std::string name;     // lower case
  int32_t id = 0;       // in the talker's vocabulary
  std::string dialect;  // a language's name, or empty
};

struct TalkerConfig {
  TransformerConfig transformer;
  int64_t vocabulary = 0;  // codes, then kControlIds control ids
  int64_t text_vocabulary = 0;
  int64_t text_hidden = 0;
  int64_t code_groups = 0;  // codes of a frame
  int64_t positions = 0;    // most rows of prompt and frames together
  CodecIds ids;
  std::vector<Language> languages;
  std::vector<Speaker> speakers;

  static constexpr int64_t kControlIds = 1024;  // at the end of the vocabulary; never a code
};

struct PredictorConfig {
  TransformerConfig transformer;
  int64_t vocabulary = 0;  // codes of a codebook
};

struct SpeakerEncoderConfig {
  int64_t mel_bands = 0;
  int64_t embedding = 0;  // the talker's hidden size
  int64_t sample_rate = 0;
  std::vector<int64_t> channels, kernels, dilations;  // first, the res2net blocks (equal channels), last
  int64_t attention = 0;
  int64_t res2net_scale = 0;
  int64_t squeeze = 0;
};

struct ModelConfig {
  ModelType type = ModelType::kCustomVoice;
  std::string size;  // "0b6", "1b7": a name
  TextIds text_ids;
  TalkerConfig talker;
  PredictorConfig predictor;
  std::optional<SpeakerEncoderConfig> speaker_encoder;  // for kBase, always; else never

  // True if the model was trained with instructions; others ignore them. A described voice is one.
  bool takes_instruction() const {
    return type == ModelType::kVoiceDesign || (type == ModelType::kCustomVoice && size != "0b6");
  }
  // The projection between talker and predictor; absent where they are equally wide.
  bool has_projection() const { return talker.transformer.hidden != predictor.transformer.hidden; }
  // Null: none. Any case.
  const Language* FindLanguage(std::string_view name) const;
  const Speaker* FindSpeaker(std::string_view name) const;
};

ModelConfig ReadModelConfig(const ConfigReader& reader);

}  // namespace parley::model

#endif  // PARLEY_MODEL_MODEL_CONFIG_H_
