#include "model/recognition/recognition_prompt.h"

namespace parley::model {
namespace {

// A context that begins with line ends merges with the one before it: they are one stretch of text.
constexpr std::string_view kSystem = "<|im_start|>", kRole = "system\n";
constexpr std::string_view kBeforeAudio = "<|im_end|>\n<|im_start|>user\n<|audio_start|>";
constexpr std::string_view kAfterAudio = "<|audio_end|><|im_end|>\n<|im_start|>assistant\n";
constexpr std::string_view kStart = "<|audio_start|>", kEnd = "<|audio_end|>";
constexpr std::string_view kTimes = "<timestamp><timestamp>";

}  // namespace

bool BuildPrompt(const Tokenizer& tokenizer, const RecognitionPromptRequest& request,
                 RecognitionPrompt* prompt, std::string* problem) {
  prompt->head.clear();
  prompt->tail.clear();
  std::string tail(kAfterAudio);
  if (!request.language.empty()) tail += "language " + std::string(request.language) + "<asr_text>";
  tail += request.prefix;
  const std::string context = std::string(kRole) + std::string(request.context);
  return tokenizer.Encode(kSystem, Literals::kTokens, &prompt->head, problem) &&
         tokenizer.Encode(context, Literals::kText, &prompt->head, problem) &&
         tokenizer.Encode(kBeforeAudio, Literals::kTokens, &prompt->head, problem) &&
         tokenizer.Encode(tail, Literals::kTokens, &prompt->tail, problem);
}

bool BuildAlignmentPrompt(const Tokenizer& tokenizer, const std::vector<std::string>& words,
                          RecognitionPrompt* prompt, std::string* problem) {
  prompt->head.clear();
  prompt->tail.clear();
  if (!tokenizer.Encode(kStart, Literals::kTokens, &prompt->head, problem) ||
      !tokenizer.Encode(kEnd, Literals::kTokens, &prompt->tail, problem))
    return false;
  for (const std::string& word : words) {
    if (!tokenizer.Encode(word, Literals::kText, &prompt->tail, problem) ||
        !tokenizer.Encode(kTimes, Literals::kTokens, &prompt->tail, problem))
      return false;
  }
  return !words.empty() || tokenizer.Encode(kTimes, Literals::kTokens, &prompt->tail, problem);
}

}  // namespace parley::model
