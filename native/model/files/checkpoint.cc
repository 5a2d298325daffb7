#include "model/files/checkpoint.h"

#include <cstdio>
#include <cstdlib>

#include "model/speech/model_tensors.h"

namespace parley::model {
namespace {

constexpr size_t kMaxConfigBytes = size_t{4} << 20;
constexpr const char* kCodecFolder = "/speech_tokenizer";

// `read` takes a ConfigReader and gives the configuration.
template <class Read>
bool ReadConfig(const std::string& path, Read read, std::string* problem) {
  std::string text;
  if (!ReadFile(path, kMaxConfigBytes, &text, problem)) return false;
  const auto document = JsonDocument::Parse(text, problem);
  if (!document) return *problem = path + ": " + *problem, false;
  problem->clear();
  read(ConfigReader(path, document->root(), problem));
  return problem->empty();
}

}  // namespace

std::unique_ptr<const Checkpoint> Checkpoint::Open(const std::string& directory, PieceRule rule,
                                                   std::string* problem) {
  std::unique_ptr<Checkpoint> checkpoint(new Checkpoint());
  if (!checkpoint->ReadConfigs(directory, problem)) return nullptr;
  const int64_t text_vocabulary = checkpoint->config_.talker.text_vocabulary;
  checkpoint->tokenizer_ = Tokenizer::Open(directory, text_vocabulary, rule, problem);
  if (!checkpoint->tokenizer_ || !checkpoint->CheckTokens(directory, problem)) return nullptr;
  checkpoint->model_ = TensorSet::Open(directory, problem);
  if (!checkpoint->model_ || !checkpoint->model_->Check(TensorsOf(checkpoint->config_), problem))
    return nullptr;
  checkpoint->codec_ = TensorSet::Open(directory + kCodecFolder, problem);
  if (!checkpoint->codec_ || !checkpoint->codec_->Check(TensorsOf(checkpoint->codec_config_), problem))
    return nullptr;
  return checkpoint;
}

bool Checkpoint::ReadConfigs(const std::string& directory, std::string* problem) {
  const auto model = [this](const ConfigReader& reader) { config_ = ReadModelConfig(reader); };
  const auto generation = [this](const ConfigReader& reader) { generation_ = ReadGenerationConfig(reader); };
  const auto codec = [this](const ConfigReader& reader) {
    codec_config_ = ReadCodecConfig(reader, config_.type == ModelType::kBase);
    const ConfigReader decoder = reader.Object("decoder_config");
    decoder.Require(codec_config_.decoder.codebook_size == config_.predictor.vocabulary, "codebook_size",
                    std::to_string(config_.predictor.vocabulary) + ", the code predictor's vocab_size");
    decoder.Require(codec_config_.decoder.quantizers == config_.talker.code_groups, "num_quantizers",
                    std::to_string(config_.talker.code_groups) + ", the talker's num_code_groups");
    const auto& speaker = config_.speaker_encoder;
    reader.Require(!speaker || speaker->sample_rate == codec_config_.sample_rate, "output_sample_rate",
                   "the speaker encoder's sample_rate");
  };
  return ReadConfig(directory + "/config.json", model, problem) &&
         ReadConfig(directory + "/generation_config.json", generation, problem) &&
         ReadConfig(directory + kCodecFolder + "/config.json", codec, problem);
}

// The ids of config.json must be tokens that tokenizer_config.json tells of,
// and the two markers of the templates those that are meant.
bool Checkpoint::CheckTokens(const std::string& directory, std::string* problem) const {
  const TextIds& ids = config_.text_ids;
  const struct {
    const char* key;
    int32_t id;
    const char* literal;
  } tokens[] = {
      {"im_start_token_id", ids.im_start, "<|im_start|>"},
      {"im_end_token_id", ids.im_end, "<|im_end|>"},
      {"tts_pad_token_id", ids.tts_pad, "<tts_pad>"},
      {"tts_bos_token_id", ids.tts_bos, "<tts_text_bos>"},
      {"tts_eos_token_id", ids.tts_eos, "<tts_text_eod>"},
  };
  for (const auto& token : tokens) {
    const AddedToken* const added = tokenizer_->added().Find(token.id);
    if (added != nullptr && added->literal == token.literal) continue;
    *problem = directory + "/config.json: " + token.key + ": expected the id of \"" + token.literal +
               "\" in tokenizer_config.json, found " + std::to_string(token.id) + ", which is " +
               (added == nullptr ? "no added token" : "\"" + added->literal + "\"");
    return false;
  }
  return true;
}

const Tensor& Checkpoint::Required(const TensorSet& set, std::string_view name) {
  if (const Tensor* const tensor = set.Find(name)) return *tensor;
  std::fprintf(stderr, "the tensor %.*s is not in the list of expected ones\n", static_cast<int>(name.size()),
               name.data());
  std::abort();
}

}  // namespace parley::model
