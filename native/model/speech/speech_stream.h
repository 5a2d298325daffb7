// State of one generation between frames.
#ifndef PARLEY_MODEL_SPEECH_STREAM_H_
#define PARLEY_MODEL_SPEECH_STREAM_H_

#include <memory>
#include <vector>

#include "model/shared/workspace.h"
#include "model/speech/speech_model.h"

namespace parley::model {

struct SpeechStream::State {
  State(SpeechKernels& kernels, const ModelConfig& config, const Prompt& prompt,
        std::shared_ptr<const VoicePrompt> voice, const DrawRules& rules, Format cache_format);

  const ModelConfig& config;
  Prompt prompt;  // its trailing rows grow as text comes
  const std::shared_ptr<const VoicePrompt> voice;
  const DrawRules rules;
  KvState cache;
  Workspace hidden;            // [hidden] after the prompt's last row, until the first step
  size_t prompt_done = 0;      // rows of the prompt in the cache
  size_t frames = 0;           // made; as many first codes were drawn
  std::vector<int32_t> codes;  // the last frame's, which is not fed back yet
  Workspace seen;              // bytes: SeenCodes()
  bool more_text = false;
  bool ended = false;

  uint8_t* SeenCodes();  // Choice::seen of the first codes
  size_t PromptLeft() const { return prompt.rows.size() - prompt_done; }
  bool Starved() const { return frames > 0 && more_text && frames > prompt.trailing.size(); }
  // The text row that is added to the last frame's.
  int32_t NextText() const {
    return frames > prompt.trailing.size() ? config.text_ids.tts_pad : prompt.trailing[frames - 1];
  }
};

// The positions that a generation of so many first codes takes: the last of them is never fed back.
size_t PositionsOf(const Prompt& prompt, size_t max_new_tokens);

// The rules of a request with what is the model's own. False with `problem` set when they are out of range.
bool CompleteRules(const ModelConfig& config, DrawRules* rules, std::string* problem);

}  // namespace parley::model

#endif  // PARLEY_MODEL_SPEECH_STREAM_H_
