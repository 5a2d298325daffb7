// What a voice by example brings to a prompt.
#ifndef PARLEY_MODEL_VOICE_PROMPT_H_
#define PARLEY_MODEL_VOICE_PROMPT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace parley::model {

// Immutable, shared by streams.
struct VoicePrompt {
  std::vector<float> speaker;   // [hidden] of the talker, on the host
  std::vector<int32_t> codes;   // [frames, code_groups], or empty: only the voice is used
  std::string text;             // what the recording says; with codes
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_VOICE_PROMPT_H_
