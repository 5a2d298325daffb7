#include "model/recognition/live_transcript.h"

#include <algorithm>
#include <utility>

#include "model/text/unicode.h"

namespace parley::model {
namespace {

// The first character of a text that need not be UTF-8 to its end; 0: it has none.
char32_t FirstOf(std::string_view text) {
  size_t at = 0;
  const char32_t code = TakeUtf8(text, &at);
  return at == 0 ? 0 : code;
}

}  // namespace

std::string LiveTranscript::RawOf(size_t count) const {
  return TextOf(tokenizer_, {ids_.begin(), ids_.begin() + static_cast<ptrdiff_t>(count)}, Special::kSkipped);
}

// True if the ids up to here end with a whole word, and what follows is not a part of it.
bool LiveTranscript::EndsWord(size_t count) const {
  const std::string before = RawOf(count);
  if (before.size() >= kReplacement.size() &&
      before.compare(before.size() - kReplacement.size(), kReplacement.size(), kReplacement) == 0)
    return false;
  if (count >= ids_.size()) return false;
  std::string next;
  if (!tokenizer_.AppendBytes(ids_[count], &next)) return true;  // an added token
  const char32_t code = FirstOf(next);
  if (code != 0) return IsBlank(code) || IsCjk(code);
  return !next.empty() && (next[0] & 0xC0) == 0xC0;  // the first bytes of a character, which may be CJK
}

// Makes at most so many ids stable, up to the end of a word.
void LiveTranscript::Fix(size_t most) {
  for (size_t count = most; count > fixed_; count--) {
    if (!EndsWord(count)) continue;
    fixed_ = count;
    return;
  }
}

void LiveTranscript::Take(const std::vector<int32_t>& generated, size_t samples) {
  ids_.resize(fixed_);
  ids_.insert(ids_.end(), generated.begin(), generated.end());
  const auto other = std::mismatch(ids_.begin(), ids_.end(), earlier_.begin(), earlier_.end()).first;
  const auto agreed = static_cast<size_t>(other - ids_.begin());
  if (samples >= kUnfixedSamples) Fix(std::min(agreed, ids_.size() - std::min(ids_.size(), kUnfixedIds)));
  if (samples >= earlier_samples_ + kApart) {
    earlier_ = ids_;
    earlier_samples_ = samples;
  }
  transcript_ = ParseTranscript(RawOf(ids_.size()), language_);
  // Before its marker the text only names the language.
  const std::string raw = RawOf(fixed_);
  const size_t marker = raw.find(kTextMarker);
  const bool has_words = !language_.empty() || marker != std::string::npos;
  const std::string words(has_words ? Stripped(language_.empty()
                                                   ? std::string_view(raw).substr(marker + kTextMarker.size())
                                                   : std::string_view(raw))
                                    : std::string_view());
  if (words.size() >= stable_.size()) stable_ = words;
  std::string& text = transcript_.text;
  if (text.compare(0, stable_.size(), stable_) != 0) text = stable_;  // a loop that was cut out of the text
}

}  // namespace parley::model
