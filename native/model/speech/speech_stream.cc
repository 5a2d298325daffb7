#include "model/speech/speech_stream.h"

#include <algorithm>
#include <stdexcept>

namespace parley::model {
namespace {

bool Equal(const PromptRow& a, const PromptRow& b) {
  return a.text == b.text && a.codec == b.codec && a.frame == b.frame;
}

bool OfVoice(const PromptRow& row) {
  return row.codec == PromptRow::kSpeakerVector || row.frame != PromptRow::kNoRow;
}

// Validates the rules as the kernels do in every step.
bool InRange(const SamplingRules& rules, size_t count, std::string* problem) {
  try {
    ValidateRules(rules, count);
  } catch (const std::invalid_argument& error) {
    *problem = error.what();
  }
  return problem->empty();
}

}  // namespace

DrawRules DefaultRules(const GenerationConfig& generation) {
  const auto of = [](const DrawConfig& draw) {
    SamplingRules rules;
    rules.greedy = !draw.sample;
    rules.temperature = static_cast<float>(draw.temperature);
    rules.top_k = static_cast<uint32_t>(draw.top_k);
    rules.top_p = static_cast<float>(draw.top_p);
    return rules;
  };
  DrawRules rules{of(generation.talker), of(generation.predictor)};
  rules.talker.repetition_penalty = static_cast<float>(generation.repetition_penalty);
  rules.max_new_tokens = static_cast<size_t>(generation.max_new_tokens);
  return rules;
}

bool CompleteRules(const ModelConfig& config, DrawRules* rules, std::string* problem) {
  problem->clear();
  SamplingRules& talker = rules->talker;
  talker.suppress_to = static_cast<int32_t>(config.talker.vocabulary);
  talker.suppress_from = talker.suppress_to - static_cast<int32_t>(TalkerConfig::kControlIds);
  talker.spared = config.talker.ids.eos;
  talker.forbidden = -1;
  SamplingRules& predictor = rules->predictor;
  predictor.repetition_penalty = 1;
  predictor.suppress_from = predictor.suppress_to = 0;
  predictor.spared = predictor.forbidden = -1;
  if (rules->max_new_tokens == 0) *problem = "max_new_tokens must be 1 or more";
  return problem->empty() && InRange(talker, static_cast<size_t>(config.talker.vocabulary), problem) &&
         InRange(predictor, static_cast<size_t>(config.predictor.vocabulary), problem);
}

size_t CommonRows(const Prompt& a, const Prompt& b) {
  const size_t most = std::min(a.rows.size(), b.rows.size());
  size_t common = 0;
  while (common < most && Equal(a.rows[common], b.rows[common])) common++;
  return common;
}

size_t PromptPrefix::SharedWith(const Prompt& prompt, const VoicePrompt* voice) const {
  const size_t most = std::min(rows_.size(), prompt.rows.size());
  size_t shared = 0;
  while (shared < most && Equal(rows_[shared], prompt.rows[shared]) &&
         (voice == voice_.get() || !OfVoice(rows_[shared]))) {
    shared++;
  }
  return shared;
}

size_t PositionsOf(const Prompt& prompt, size_t max_new_tokens) {
  const size_t fed = max_new_tokens - 1;
  return fed > SIZE_MAX - prompt.rows.size() ? SIZE_MAX : prompt.rows.size() + fed;
}

SpeechStream::State::State(SpeechKernels& kernels, const ModelConfig& of, const Prompt& asked,
                           std::shared_ptr<const VoicePrompt> with, const DrawRules& drawn,
                           Format cache_format)
    : config(of),
      prompt(asked),
      voice(std::move(with)),
      rules(drawn),
      cache(kernels, of.talker.transformer, cache_format, PositionsOf(asked, drawn.max_new_tokens)),
      hidden(kernels),
      codes(static_cast<size_t>(of.talker.code_groups)),
      seen(kernels) {
  hidden.Floats(static_cast<size_t>(of.talker.transformer.hidden));
  SeenCodes();
}

uint8_t* SpeechStream::State::SeenCodes() {
  const auto codes_known = static_cast<size_t>(config.talker.vocabulary);
  return reinterpret_cast<uint8_t*>(seen.Floats((codes_known + sizeof(float) - 1) / sizeof(float)));
}

SpeechStream::SpeechStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
SpeechStream::~SpeechStream() = default;

void SpeechStream::AddText(const std::vector<int32_t>& ids) {
  if (!state_->more_text) throw std::logic_error("text for a stream whose text has ended");
  for (const int32_t id : ids) {
    if (id < 0 || id >= state_->config.talker.text_vocabulary)
      throw std::invalid_argument("there is no such text id");
  }
  state_->prompt.trailing.insert(state_->prompt.trailing.end(), ids.begin(), ids.end());
}

void SpeechStream::FinishText() {
  AddText({state_->config.text_ids.tts_eos});
  state_->more_text = false;
}

bool SpeechStream::Starved() const { return state_->Starved(); }
size_t SpeechStream::prompt_left() const { return state_->PromptLeft(); }
size_t SpeechStream::frames() const { return state_->frames; }
size_t SpeechStream::positions() const { return static_cast<size_t>(state_->cache.position()); }

}  // namespace parley::model
