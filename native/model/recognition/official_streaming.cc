#include "model/recognition/official_streaming.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/recognition/recognition_prompt.h"
#include "model/text/unicode.h"

namespace parley::model {
namespace {

std::vector<int32_t> HeadOf(const RecognitionModel& model, const std::string& context) {
  RecognitionPrompt prompt;
  std::string problem;
  if (!BuildPrompt(model.checkpoint().tokenizer(), {context, "", ""}, &prompt, &problem))
    throw std::invalid_argument("the context: " + problem);
  return prompt.head;
}

}  // namespace

OfficialStreaming::OfficialStreaming(RecognitionModel& model, std::string context, std::string language,
                                     const OfficialStreamingRules& rules, Format cache_format)
    : model_(model),
      language_(std::move(language)),
      rules_(rules),
      stream_(model, HeadOf(model, context), cache_format) {}

void OfficialStreaming::Push(const float* samples, size_t count) {
  buffer_.insert(buffer_.end(), samples, samples + count);
}

// The text that a step goes on from.
std::string OfficialStreaming::PrefixOf(bool guarded) const {
  if (steps_ < rules_.unfixed_chunks) return "";
  const Tokenizer& tokenizer = model_.checkpoint().tokenizer();
  std::vector<int32_t> ids;
  std::string problem;
  if (!tokenizer.Encode(raw_, Literals::kTokens, &ids, &problem)) return "";
  const auto of = [&](size_t count) {
    return TextOf(tokenizer, {ids.begin(), ids.begin() + static_cast<ptrdiff_t>(count)}, Special::kShown);
  };
  size_t end = ids.size() - std::min(ids.size(), rules_.unfixed_tokens);
  if (!guarded) return of(std::min(ids.size(), std::max<size_t>(end, 1)));
  for (; end > 0; end--) {
    std::string prefix = of(end);
    if (prefix.find(kReplacement) == std::string::npos) return prefix;
  }
  return "";
}

bool OfficialStreaming::BeginStep() {
  const bool last = buffer_.size() < rules_.chunk_samples;
  if (last && (!finished_ || buffer_.empty())) return false;
  const size_t count = std::min(buffer_.size(), rules_.chunk_samples);
  if (stream_.samples() + count < MelFeatures::kLeastSamples) return false;
  stream_.Push(buffer_.data(), count);
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(count));
  prefix_ = PrefixOf(!last || rules_.guards_finish);
  RecognitionPrompt prompt;
  std::string problem;
  if (!BuildPrompt(model_.checkpoint().tokenizer(), {"", language_, prefix_}, &prompt, &problem))
    throw std::invalid_argument("the text so far: " + problem);
  Pass pass;
  pass.last = LastFrame::kFilled;
  pass.tail = std::move(prompt.tail);
  pass.max_new_tokens = rules_.max_new_tokens;
  return stream_.BeginPass(std::move(pass));
}

void OfficialStreaming::EndStep() {
  raw_ = prefix_ + TextOf(model_.checkpoint().tokenizer(), stream_.generated(), Special::kSkipped);
  transcript_ = ParseTranscript(raw_, language_);
  steps_++;
}

}  // namespace parley::model
