// The prompts of recogniser and aligner as ids, cut where the audio tokens stand.
#ifndef PARLEY_MODEL_RECOGNITION_RECOGNITION_PROMPT_H_
#define PARLEY_MODEL_RECOGNITION_RECOGNITION_PROMPT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/tokenizer.h"

namespace parley::model {

struct RecognitionPrompt {
  std::vector<int32_t> head;  // up to <|audio_start|>
  std::vector<int32_t> tail;  // from <|audio_end|> on
};

struct RecognitionPromptRequest {
  std::string_view context;   // background, names and hotwords
  std::string_view language;  // English name; empty: to be found
  std::string_view prefix;    // how the raw text begins; its literals are tokens
};

// False with `problem` set: a text is not UTF-8, or too long. Literals of tokens in the context are text.
bool BuildPrompt(const Tokenizer& tokenizer, const RecognitionPromptRequest& request,
                 RecognitionPrompt* prompt, std::string* problem);

// The aligner's: after each word two <timestamp>, after no words two as well. Literals in words are text.
bool BuildAlignmentPrompt(const Tokenizer& tokenizer, const std::vector<std::string>& words,
                          RecognitionPrompt* prompt, std::string* problem);

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_RECOGNITION_PROMPT_H_
