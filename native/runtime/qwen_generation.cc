#include "runtime/qwen_generation.h"

#include <stdexcept>
#include <utility>

#include "model/prompt.h"

namespace parley::runtime {

QwenGeneration::QwenGeneration(const model::Checkpoint& checkpoint, const SpeechRequest& request,
                               const model::DrawRules& rules, std::shared_ptr<Voice> voice)
    : checkpoint_(checkpoint),
      language_(request.language),
      speaker_(request.speaker),
      instruction_(request.instruction),
      more_text_(request.more_text),
      rules_(rules),
      voice_(std::move(voice)),
      feed_(checkpoint.tokenizer()) {}

bool QwenGeneration::Read(const SpeechRequest& request, Refusal* refusal) {
  return FindShared(refusal) && CountNeeded(refusal) && AddText(request.text, !request.more_text, refusal);
}

// A prompt of the same request with another text: refused for what the request says otherwise.
bool QwenGeneration::FindShared(Refusal* refusal) {
  const model::TextIds& ids = checkpoint_.config().text_ids;
  // No text begins with a marker, so the first row of text is another one in every prompt.
  return BuildPrompt({ids.im_start}, &shared_, &refusal->problem);
}

// While the text comes, the frames of a recording stand beside text only, never beside padding.
bool QwenGeneration::CountNeeded(Refusal* refusal) {
  if (voice_ == nullptr || voice_->prompt->codes.empty()) return true;
  model::MarkedText reference;
  if (!model::EncodeMarked(checkpoint_.tokenizer(), model::Template::kReference, voice_->prompt->text, &reference,
                           &refusal->problem)) {
    return false;
  }
  const size_t frames = voice_->prompt->codes.size() / static_cast<size_t>(checkpoint_.config().talker.code_groups);
  const size_t spoken = reference.end - reference.begin;
  if (frames + 1 > spoken) needed_ = frames + 1 - spoken;
  return true;
}

bool QwenGeneration::AddText(std::string_view text, bool last, Refusal* refusal) {
  const size_t before = ids_.size();
  if (!feed_.Add(text, last, &ids_, &refusal->problem)) return false;
  text_tokens_ += ids_.size() - before;
  if (text_tokens_ == 0 && last) return refusal->problem = "the text is empty", false;
  if (stream_ != nullptr) {
    stream_->AddText(std::exchange(ids_, {}));
    if (last) stream_->FinishText();
    return true;
  }
  if (Ready() || (!last && ids_.size() < needed_)) return true;
  // Without its text the prompt was good: now it can only be too long.
  refusal->outcome = Outcome::kTooLarge;
  if (!BuildPrompt(std::exchange(ids_, {}), &prompt_, &refusal->problem)) return false;
  shared_rows_ = model::CommonRows(prompt_, std::exchange(shared_, {}));
  rules_.more_text = more_text_ && !last;
  return true;
}

bool QwenGeneration::BuildPrompt(const std::vector<int32_t>& text_ids, model::Prompt* prompt,
                                 std::string* problem) const {
  model::PromptRequest request;
  request.text_ids = &text_ids;
  request.instruction = instruction_;
  request.language = language_;
  request.speaker = speaker_;
  if (voice_ != nullptr) {
    request.reference_text = voice_->prompt->text;
    request.reference_frames =
        voice_->prompt->codes.size() / static_cast<size_t>(checkpoint_.config().talker.code_groups);
  }
  // As the models are used: a voice by example reads its text frame by frame.
  request.whole_text = !more_text_ && checkpoint_.config().type != model::ModelType::kBase;
  return model::BuildPrompt(checkpoint_.config(), checkpoint_.tokenizer(), request, prompt, problem);
}

void QwenGeneration::Begin(model::SpeechModel& model, model::CodecDecoder& decoder, size_t draws) {
}

}  // namespace parley::runtime
