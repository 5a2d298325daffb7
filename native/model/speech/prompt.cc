#include "model/speech/prompt.h"

#include <strings.h>

#include <algorithm>

#include "model/text/unicode.h"

namespace parley::model {
namespace {

bool Refuse(size_t row, const std::string& what, std::string* problem) {
  *problem = "row " + std::to_string(row) + " of the prompt: " + what;
  return false;
}

bool FitsTable(int32_t id, int64_t rows) { return id == PromptRow::kNoRow || (id >= 0 && id < rows); }

bool FitsVoice(const ModelConfig& config, const VoicePrompt& voice, std::string* problem) {
  const auto groups = static_cast<size_t>(config.talker.code_groups);
  if (voice.speaker.size() != static_cast<size_t>(config.talker.transformer.hidden)) {
    *problem = "the speaker's vector has " + std::to_string(voice.speaker.size()) + " numbers, expected " +
               std::to_string(config.talker.transformer.hidden);
    return false;
  }
  if (voice.codes.size() % groups != 0) return *problem = "the reference's codes are no whole frames", false;
  for (size_t n = 0; n < voice.codes.size(); n++) {
    const int64_t codes =
        n % groups == 0 ? config.talker.vocabulary - TalkerConfig::kControlIds : config.predictor.vocabulary;
    if (voice.codes[n] >= 0 && voice.codes[n] < codes) continue;
    *problem = "code " + std::to_string(n % groups) + " of frame " + std::to_string(n / groups) +
               " of the reference is " + std::to_string(voice.codes[n]) + ", expected 0 to " +
               std::to_string(codes - 1);
    return false;
  }
  return true;
}

}  // namespace

bool FitsModel(const ModelConfig& config, const Prompt& prompt, const VoicePrompt* voice,
               std::string* problem) {
  if (prompt.rows.empty()) return *problem = "the prompt is empty", false;
  if (voice != nullptr && !FitsVoice(config, *voice, problem)) return false;
  const size_t frames =
      voice == nullptr ? 0 : voice->codes.size() / static_cast<size_t>(config.talker.code_groups);
  for (size_t n = 0; n < prompt.rows.size(); n++) {
    const PromptRow& row = prompt.rows[n];
    if (row.text == PromptRow::kNoRow && row.codec == PromptRow::kNoRow && row.frame == PromptRow::kNoRow) {
      return Refuse(n, "is the sum of nothing", problem);
    }
    if (!FitsTable(row.text, config.talker.text_vocabulary))
      return Refuse(n, "there is no such text id", problem);
    if (row.codec == PromptRow::kSpeakerVector) {
      if (voice == nullptr) return Refuse(n, "needs a voice by example", problem);
    } else if (!FitsTable(row.codec, config.talker.vocabulary)) {
      return Refuse(n, "there is no such codec id", problem);
    }
    if (!FitsTable(row.frame, static_cast<int64_t>(frames)))
      return Refuse(n, "the reference has no such frame", problem);
  }
  for (const int32_t id : prompt.trailing) {
    if (id < 0 || id >= config.talker.text_vocabulary)
      return *problem = "there is no such text id behind the prompt", false;
  }
  return true;
}

void PromptRows::Add(const PromptRow& row, const VoicePrompt* voice) {
  const size_t groups = embeddings_.code_groups();
  texts_.push_back(std::max(row.text, -1));
  codes_.push_back(std::max(row.codec, -1));
  speakers_.push_back(row.codec == PromptRow::kSpeakerVector ? voice : nullptr);
  if (row.frame == PromptRow::kNoRow) {
    frames_.insert(frames_.end(), groups, -1);
    return;
  }
  const auto frame = voice->codes.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(row.frame) * groups);
  frames_.insert(frames_.end(), frame, frame + static_cast<ptrdiff_t>(groups));
  has_frames_ = true;
}

// Every row takes the same steps, so that the work depends only on the number of rows.
void PromptRows::Sum(const Part* parts, size_t count, float* x) {
  texts_.clear();
  codes_.clear();
  frames_.clear();
  speakers_.clear();
  has_frames_ = false;
  for (size_t p = 0; p < count; p++) {
    for (size_t n = parts[p].first; n < parts[p].last; n++) Add(parts[p].prompt->rows[n], parts[p].voice);
  }
  const size_t rows = texts_.size(), hidden = embeddings_.hidden();
  kernels_.Gather(embeddings_.codes(0), code_ids_.Upload(codes_), rows, false, x);
  for (size_t n = 0; n < rows; n++) {
    if (speakers_[n] != nullptr)
      kernels_.Upload(x + n * hidden, speakers_[n]->speaker.data(), hidden * sizeof(float));
  }
  if (has_frames_) embeddings_.SumFrames(frame_ids_.Upload(frames_).values, rows, true, x);
  embeddings_.SumText(texts_, true, x);
}

namespace {

struct Frame {
  const char* name;
  const char* head;
  const char* tail;
};

// Indexed by Template.
constexpr Frame kFrames[] = {
    {"the text", "<|im_start|>assistant\n", "<|im_end|>\n<|im_start|>assistant\n"},
    {"the reference's text", "<|im_start|>assistant\n", "<|im_end|>\n"},
    {"the instruction", "<|im_start|>user\n", "<|im_end|>\n"},
};

const Frame& FrameOf(Template form) { return kFrames[static_cast<size_t>(form)]; }

std::string_view WithoutLeadingSpace(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t next = at;
    const char32_t code = TakeUtf8(text, &next);
    if (next == at || ClassOf(code) != CharClass::kSpace) break;
    at = next;
  }
  return text.substr(at);
}

constexpr size_t kMostNames = 40;

template <class Known, class Offered>
std::string Unknown(const char* what, std::string_view name, const std::vector<Known>& known,
                    Offered offered) {
  std::string problem = "there is no " + std::string(what) + " \"" + std::string(name.substr(0, 100)) + "\"";
  size_t named = 0;
  for (const Known& one : known) {
    if (!offered(one) || ++named > kMostNames) continue;
    problem += (named == 1 ? "; there are: " : ", ") + one.name;
  }
  return named > kMostNames ? problem + " and " + std::to_string(named - kMostNames) + " more" : problem;
}

// One prompt in the making.
class Builder {
 public:
  Builder(const ModelConfig& config, const Tokenizer& tokenizer, const PromptRequest& request,
          std::string* problem)
      : config_(config), tokenizer_(tokenizer), request_(request), problem_(problem) {}

  bool Build(Prompt* prompt) {
    MarkedText target, instruction, reference;
    if (!FindVoice() || !FindLanguage() || !CheckReference()) return false;
    if (!EncodeTarget(&target)) return false;
    if (!request_.instruction.empty()) {
      if (!config_.takes_instruction()) return Refuse("this model takes no instruction");
      if (!EncodeMarked(tokenizer_, Template::kInstruction, request_.instruction, &instruction, problem_))
        return false;
    }
    if (in_context_ &&
        !EncodeMarked(tokenizer_, Template::kReference, request_.reference_text, &reference, problem_)) {
      return false;
    }
    for (const int32_t id : instruction.ids) prompt->rows.push_back({id});
    for (size_t n = 0; n < target.begin; n++) prompt->rows.push_back({target.ids[n]});
    AddHeader(prompt);
    std::vector<int32_t> text(reference.ids.begin() + static_cast<ptrdiff_t>(reference.begin),
                              reference.ids.begin() + static_cast<ptrdiff_t>(reference.end));
    text.insert(text.end(), target.ids.begin() + static_cast<ptrdiff_t>(target.begin),
                target.ids.begin() + static_cast<ptrdiff_t>(target.end));
    text.push_back(config_.text_ids.tts_eos);
    in_context_ ? AddInContext(text, prompt) : AddBody(text, prompt);
    // One position more is where the first frame is fed back.
    if (static_cast<int64_t>(prompt->rows.size()) < config_.talker.positions) return true;
    return Refuse("the prompt takes " + std::to_string(prompt->rows.size()) + " positions of " +
                  std::to_string(config_.talker.positions));
  }

 private:
  bool Refuse(std::string problem) {
    *problem_ = std::move(problem);
    return false;
  }

  bool EncodeTarget(MarkedText* target) const {
    if (request_.text_ids == nullptr) {
      return EncodeMarked(tokenizer_, Template::kTarget, request_.text, target, problem_);
    }
    if (!tokenizer_.Encode(FrameOf(Template::kTarget).head, Literals::kTokens, &target->ids, problem_))
      return false;
    target->begin = target->ids.size();
    target->ids.insert(target->ids.end(), request_.text_ids->begin(), request_.text_ids->end());
    target->end = target->ids.size();
    return target->end > target->begin || (*problem_ = "the text is empty", false);
  }

  bool FindVoice() {
    if (config_.type == ModelType::kBase) voice_ = PromptRow::kSpeakerVector;
    if (config_.type != ModelType::kCustomVoice) {
      return request_.speaker.empty() || Refuse("this model has no named speakers");
    }
    speaker_ = config_.FindSpeaker(request_.speaker);
    if (speaker_ == nullptr) {
      const auto all = [](const Speaker&) { return true; };
      return Refuse(Unknown("speaker", request_.speaker, config_.talker.speakers, all));
    }
    voice_ = speaker_->id;
    return true;
  }

  // A speaker's dialect takes the place of "auto" and of Chinese.
  bool FindLanguage() {
    const Language* language = config_.FindLanguage(request_.language);
    if (language != nullptr && language->dialect) language = nullptr;
    const bool automatic = strcasecmp(std::string(request_.language).c_str(), "auto") == 0;
    if (language == nullptr && !automatic) {
      const auto offered = [](const Language& one) { return !one.dialect; };
      return Refuse(Unknown("language", request_.language, config_.talker.languages, offered));
    }
    if (speaker_ != nullptr && !speaker_->dialect.empty() &&
        (language == nullptr || language->name == "chinese")) {
      language = config_.FindLanguage(speaker_->dialect);
    }
    language_ = language == nullptr ? PromptRow::kNoRow : language->id;
    return true;
  }

  bool CheckReference() {
    in_context_ = request_.reference_frames > 0;
    if (in_context_ == request_.reference_text.empty())
      return Refuse("a reference needs both its text and its frames");
    if (in_context_ && config_.type != ModelType::kBase) return Refuse("this model takes no reference");
    return static_cast<int64_t>(request_.reference_frames) < config_.talker.positions ||
           Refuse("the reference is longer than the model's " + std::to_string(config_.talker.positions) +
                  " positions");
  }

  // The codec side runs one row ahead: codec_bos is held back for the body.
  void AddHeader(Prompt* prompt) const {
    const CodecIds& ids = config_.talker.ids;
    std::vector<int32_t> codec = {ids.nothink, ids.think_bos, ids.think_eos};
    if (language_ != PromptRow::kNoRow) codec = {ids.think, ids.think_bos, language_, ids.think_eos};
    if (voice_ != PromptRow::kNoRow) codec.push_back(voice_);
    for (const int32_t id : codec) prompt->rows.push_back({config_.text_ids.tts_pad, id});
    prompt->rows.push_back({config_.text_ids.tts_bos, ids.pad});
  }

  // `text` ends with tts_eos.
  void AddBody(const std::vector<int32_t>& text, Prompt* prompt) const {
    const CodecIds& ids = config_.talker.ids;
    if (request_.whole_text) {
      for (const int32_t id : text) prompt->rows.push_back({id, ids.pad});
      prompt->rows.push_back({config_.text_ids.tts_pad, ids.bos});
    } else {
      prompt->rows.push_back({text.front(), ids.bos});
      prompt->trailing.assign(text.begin() + 1, text.end());
    }
  }

  // The reference's frames stand beside the text, or behind all of it.
  void AddInContext(const std::vector<int32_t>& text, Prompt* prompt) const {
    const TextIds& ids = config_.text_ids;
    if (request_.whole_text) {
      for (const int32_t id : text) prompt->rows.push_back({id, config_.talker.ids.pad});
    }
    const auto text_at = [&](size_t n) {
      return !request_.whole_text && n < text.size() ? text[n] : ids.tts_pad;
    };
    prompt->rows.push_back({text_at(0), config_.talker.ids.bos});
    for (size_t n = 0; n < request_.reference_frames; n++) {
      prompt->rows.push_back({text_at(n + 1), PromptRow::kNoRow, static_cast<int32_t>(n)});
    }
    const size_t used = request_.reference_frames + 1;
    if (!request_.whole_text && text.size() > used) {
      prompt->trailing.assign(text.begin() + static_cast<ptrdiff_t>(used), text.end());
    }
  }

  const ModelConfig& config_;
  const Tokenizer& tokenizer_;
  const PromptRequest& request_;
  std::string* const problem_;
  const Speaker* speaker_ = nullptr;
  int32_t voice_ = PromptRow::kNoRow;
  int32_t language_ = PromptRow::kNoRow;
  bool in_context_ = false;
};

}  // namespace

bool EncodeMarked(const Tokenizer& tokenizer, Template form, std::string_view text, MarkedText* marked,
                  std::string* problem) {
  const Frame& frame = FrameOf(form);
  const std::string_view own = WithoutLeadingSpace(text);
  if (own.empty()) return *problem = std::string(frame.name) + " is empty", false;
  *marked = {};
  if (!tokenizer.Encode(frame.head, Literals::kTokens, &marked->ids, problem)) return false;
  marked->begin = marked->ids.size();
  if (!tokenizer.Encode(own, Literals::kText, &marked->ids, problem)) return false;
  marked->end = marked->ids.size();
  return tokenizer.Encode(frame.tail, Literals::kTokens, &marked->ids, problem);
}

bool BuildPrompt(const ModelConfig& config, const Tokenizer& tokenizer, const PromptRequest& request,
                 Prompt* prompt, std::string* problem) {
  *prompt = {};
  return Builder(config, tokenizer, request, problem).Build(prompt);
}

}  // namespace parley::model
