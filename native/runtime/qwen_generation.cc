#include "runtime/qwen_generation.h"

#include <stdexcept>
#include <utility>

#include "model/speech/prompt.h"

namespace parley::runtime {
namespace {

// Names of languages are ASCII, in any case.
std::string LowerCase(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

}  // namespace

QwenGeneration::QwenGeneration(const model::Checkpoint& checkpoint, const SpeechRequest& request,
                               const model::DrawRules& rules, std::shared_ptr<Voice> voice)
    : checkpoint_(checkpoint),
      language_(LowerCase(request.language)),
      speaker_(request.speaker),
      instruction_(request.instruction),
      more_text_(request.more_text),
      rules_(rules),
      voice_(std::move(voice)),
      feed_(checkpoint.tokenizer()) {}

bool QwenGeneration::Read(std::string_view text, Refusal* refusal) {
  // No text begins with a marker: this prompt differs from every other one where the text begins.
  // It is refused for what the request says beside its text.
  if (!BuildPrompt({checkpoint_.config().text_ids.im_start}, &other_, &refusal->problem)) return false;
  return CountNeeded(&refusal->problem) && AddText(text, !more_text_, refusal);
}

// While the text goes on, a recording's frames stand beside text, never beside padding: that would end it.
bool QwenGeneration::CountNeeded(std::string* problem) {
  if (ReferenceFrames() == 0) return true;
  model::MarkedText reference;
  if (!model::EncodeMarked(checkpoint_.tokenizer(), model::Template::kReference, voice_->prompt->text, &reference,
                           problem)) {
    return false;
  }
  const size_t rows = ReferenceFrames() + 1, spoken = reference.end - reference.begin;
  if (rows > spoken) needed_ = rows - spoken;
  return true;
}

size_t QwenGeneration::ReferenceFrames() const {
  if (voice_ == nullptr) return 0;
  return voice_->prompt->codes.size() / static_cast<size_t>(checkpoint_.config().talker.code_groups);
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
  // With another text it was good: it can only be too long.
  refusal->outcome = Outcome::kTooLarge;
  if (!BuildPrompt(std::exchange(ids_, {}), &prompt_, &refusal->problem)) return false;
  shared_rows_ = model::CommonRows(prompt_, std::exchange(other_, {}));
  text_follows_ = !last;
  return true;
}

bool QwenGeneration::BuildPrompt(const std::vector<int32_t>& text_ids, model::Prompt* prompt,
                                 std::string* problem) const {
  model::PromptRequest request;
  request.text_ids = &text_ids;
  request.instruction = instruction_;
  request.language = language_;
  request.speaker = speaker_;
  request.reference_frames = ReferenceFrames();
  if (request.reference_frames > 0) request.reference_text = voice_->prompt->text;
  // As the models are used: with a voice by example the text is read frame by frame.
  request.whole_text = !more_text_ && checkpoint_.config().type != model::ModelType::kBase;
  return model::BuildPrompt(checkpoint_.config(), checkpoint_.tokenizer(), request, prompt, problem);
}

void QwenGeneration::Begin(model::SpeechModel& model, model::CodecDecoder& decoder, size_t draws) {
  rules_.max_new_tokens = draws;
  model::StreamOptions options;
  options.more_text = text_follows_;
  std::shared_ptr<const model::VoicePrompt> voice;
  if (voice_ != nullptr) {
    voice = voice_->prompt;
    const auto prefix = voice_->prefixes.find(prefix_key());
    if (prefix != voice_->prefixes.end()) options.prefix = prefix->second;
  }
  std::string problem;
  stream_ = model.BeginStream(prompt_, std::move(voice), rules_, &problem, options);
  if (stream_ == nullptr) throw std::logic_error(problem);  // all of it was judged before
  if (text_follows_) {
    stream_->AddText(std::exchange(ids_, {}));
    if (feed_.ended()) stream_->FinishText();
  }
  const bool begun = voice_ != nullptr && voice_->codec != nullptr;
  codec_ = begun ? decoder.CopyOf(*voice_->codec) : decoder.NewState();
}

}  // namespace parley::runtime
