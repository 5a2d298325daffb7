// The rows of a prompt as the talker reads them: ids become sums of embeddings.
#ifndef PARLEY_MODEL_PROMPT_ROWS_H_
#define PARLEY_MODEL_PROMPT_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/speech/embeddings.h"
#include "model/speech/prompt.h"
#include "model/speech/voice_prompt.h"

namespace parley::model {

// Whether every id of a prompt is a row of its table, and the voice has what it asks for. Else
// `problem` names the row.
bool FitsModel(const ModelConfig& config, const Prompt& prompt, const VoicePrompt* voice, std::string* problem);

class PromptRows {
 public:
  PromptRows(Kernels& kernels, Embeddings& embeddings)
      : kernels_(kernels), embeddings_(embeddings), told_codes_(kernels), told_frames_(kernels) {}

  // The rows first .. last of a prompt that FitsModel.
  struct Part {
    const Prompt* prompt;
    const VoicePrompt* voice;
    size_t first, last;
  };
  // x: the rows of all parts, part by part.
  void Sum(const Part* parts, size_t count, float* x);

 private:
  void Add(const PromptRow& row, const VoicePrompt* voice);

  Kernels& kernels_;
  Embeddings& embeddings_;
  IdList told_codes_, told_frames_;
  std::vector<int32_t> texts_, codes_, frames_;  // of every row, -1 where it has none
  std::vector<const VoicePrompt*> speakers_;     // of every row whose codec part is the voice's vector; else null
  bool has_frames_ = false;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_PROMPT_ROWS_H_
