#include "model/speech/prompt_rows.h"

#include <algorithm>

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

// The same steps for every row, so that what is done depends on nothing but their number.
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
  kernels_.Gather(embeddings_.codes(0), told_codes_.Tell(codes_), rows, false, x);
  for (size_t n = 0; n < rows; n++) {
    if (speakers_[n] != nullptr) kernels_.Upload(x + n * hidden, speakers_[n]->speaker.data(), hidden * sizeof(float));
  }
  if (has_frames_) embeddings_.SumFrames(told_frames_.Tell(frames_).values, rows, true, x);
  embeddings_.SumText(texts_, true, x);
}

}  // namespace parley::model
