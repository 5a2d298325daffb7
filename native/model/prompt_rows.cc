#include "model/prompt_rows.h"

#include <algorithm>

namespace parley::model {
namespace {

// Rows whose sums have the same kinds of parts are summed together.
bool Alike(const PromptRow& a, const PromptRow& b) {
  const auto kind = [](int32_t id) { return std::min(id, 0); };
  return kind(a.text) == kind(b.text) && kind(a.codec) == kind(b.codec) && kind(a.frame) == kind(b.frame);
}

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
    const int64_t codes = n % groups == 0 ? config.talker.vocabulary - TalkerConfig::kControlIds : config.predictor.vocabulary;
    if (voice.codes[n] >= 0 && voice.codes[n] < codes) continue;
    *problem = "code " + std::to_string(n % groups) + " of frame " + std::to_string(n / groups) + " of the reference is " +
               std::to_string(voice.codes[n]) + ", expected 0 to " + std::to_string(codes - 1);
    return false;
  }
  return true;
}

}  // namespace

bool FitsModel(const ModelConfig& config, const Prompt& prompt, const VoicePrompt* voice, std::string* problem) {
  if (prompt.rows.empty()) return *problem = "the prompt is empty", false;
  if (voice != nullptr && !FitsVoice(config, *voice, problem)) return false;
  const size_t frames = voice == nullptr ? 0 : voice->codes.size() / static_cast<size_t>(config.talker.code_groups);
  for (size_t n = 0; n < prompt.rows.size(); n++) {
    const PromptRow& row = prompt.rows[n];
    if (row.text == PromptRow::kNoRow && row.codec == PromptRow::kNoRow && row.frame == PromptRow::kNoRow) {
      return Refuse(n, "is the sum of nothing", problem);
    }
    if (!FitsTable(row.text, config.talker.text_vocabulary)) return Refuse(n, "there is no such text id", problem);
    if (row.codec == PromptRow::kSpeakerVector) {
      if (voice == nullptr) return Refuse(n, "needs a voice by example", problem);
    } else if (!FitsTable(row.codec, config.talker.vocabulary)) {
      return Refuse(n, "there is no such codec id", problem);
    }
    if (!FitsTable(row.frame, static_cast<int64_t>(frames))) return Refuse(n, "the reference has no such frame", problem);
  }
  for (const int32_t id : prompt.trailing) {
    if (id < 0 || id >= config.talker.text_vocabulary) return *problem = "there is no such text id behind the prompt", false;
  }
  return true;
}

void PromptRows::Sum(const Prompt& prompt, const VoicePrompt* voice, size_t first, size_t last, float* x) {
  const PromptRow* const rows = prompt.rows.data();
  ids_.clear();
  for (size_t n = first; n < last; n++) {
    if (rows[n].text != PromptRow::kNoRow) ids_.push_back(rows[n].text);
  }
  text_rows_.resize(ids_.size());
  const Matrix text = embeddings_.TextRows(ids_.data(), ids_.size(), text_rows_.data());
  size_t used = 0;
  for (size_t at = first; at < last;) {
    size_t end = at + 1;
    while (end < last && Alike(rows[at], rows[end])) end++;
    SumAlike(rows + at, end - at, voice, text, text_rows_.data() + used, x + (at - first) * embeddings_.hidden());
    if (rows[at].text != PromptRow::kNoRow) used += end - at;
    at = end;
  }
}

void PromptRows::SumAlike(const PromptRow* rows, size_t count, const VoicePrompt* voice, const Matrix& text,
                          const int32_t* text_rows, float* x) {
  const size_t hidden = embeddings_.hidden(), groups = embeddings_.code_groups();
  bool begun = false;
  if (rows->codec == PromptRow::kSpeakerVector) {
    for (size_t n = 0; n < count; n++) kernels_.Upload(x + n * hidden, voice->speaker.data(), hidden * sizeof(float));
    begun = true;
  } else if (rows->codec != PromptRow::kNoRow) {
    ids_.resize(count);
    for (size_t n = 0; n < count; n++) ids_[n] = rows[n].codec;
    kernels_.Gather(embeddings_.codes(0), ids_.data(), count, false, x);
    begun = true;
  }
  if (rows->frame != PromptRow::kNoRow) {
    frames_.clear();
    for (size_t n = 0; n < count; n++) {
      const auto frame = voice->codes.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(rows[n].frame) * groups);
      frames_.insert(frames_.end(), frame, frame + static_cast<ptrdiff_t>(groups));
    }
    embeddings_.SumFrames(frames_.data(), count, begun, x);
    begun = true;
  }
  if (rows->text != PromptRow::kNoRow) kernels_.Gather(text, text_rows, count, begun, x);
}

}  // namespace parley::model
