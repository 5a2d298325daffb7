// config.json of a checkpoint: the talker, the code predictor and, for Base,
// the speaker encoder. Every number comes from the file and was judged.
#ifndef PARLEY_MODEL_MODEL_CONFIG_H_
#define PARLEY_MODEL_MODEL_CONFIG_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/config_reader.h"
#include "model/shared/transformer.h"

namespace parley::model {

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

  // Whether the model was trained with instructions; others ignore them. A described voice is one.
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
