// The rows of a prompt as the talker reads them: ids become sums of embeddings.
#ifndef PARLEY_MODEL_PROMPT_ROWS_H_
#define PARLEY_MODEL_PROMPT_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/embeddings.h"
#include "model/prompt.h"
#include "model/voice_prompt.h"

namespace parley::model {

// Whether every id of a prompt is a row of its table, and the voice has what it asks for. Else
// `problem` names the row.
bool FitsModel(const ModelConfig& config, const Prompt& prompt, const VoicePrompt* voice, std::string* problem);

class PromptRows {
 public:
  PromptRows(Kernels& kernels, Embeddings& embeddings) : kernels_(kernels), embeddings_(embeddings) {}

  // x [last - first, hidden]: the rows first .. last of a prompt that FitsModel.
  void Sum(const Prompt& prompt, const VoicePrompt* voice, size_t first, size_t last, float* x);

 private:
  void SumAlike(const PromptRow* rows, size_t count, const VoicePrompt* voice, const Matrix& text,
                const int32_t* text_rows, float* x);

  Kernels& kernels_;
  Embeddings& embeddings_;
  std::vector<int32_t> ids_, text_rows_, frames_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_PROMPT_ROWS_H_
