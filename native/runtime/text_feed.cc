#include "runtime/text_feed.h"

#include <algorithm>

#include "model/text/unicode.h"

namespace parley::runtime {
namespace {

using model::CharClass;
using model::ClassOf;

constexpr size_t kLongWord = 256;  // bytes

// Bytes of the last character if the end of the text divides it, otherwise 0.
size_t DividedBytes(std::string_view text) {
  for (size_t back = 1; back <= std::min(text.size(), size_t{3}); back++) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

bool IsNewline(char32_t code) { return code == '\r' || code == '\n'; }

// Returns true if pieces end between `before` and `after` whatever stands behind them,
// under both rules of the pre-tokenizer, and no mark can be composed across.
bool IsSettled(char32_t before, char32_t after) {
  const CharClass left = ClassOf(before), right = ClassOf(after);
  if (right == CharClass::kMark) return false;
  if (left == CharClass::kSpace) return IsNewline(before) && right != CharClass::kSpace && after != '/';
  if (left == CharClass::kNumber || right == CharClass::kNumber) return true;
  if (IsLetter(left)) return !IsLetter(right);
  return right == CharClass::kSpace && !IsNewline(after);
}

std::u32string Normalized(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) codes.push_back(model::TakeUtf8(text, &at));
  model::NormalizeNfc(&codes);
  return codes;
}

}  // namespace

Result<std::vector<int32_t>> TextFeed::Add(std::string_view text, bool last) {
  bytes_ += text.size();
  if (bytes_ > model::Tokenizer::kMaxTextBytes) {
    return Problem{"the text is longer than " + std::to_string(model::Tokenizer::kMaxTextBytes) + " bytes"};
  }
  held_ += text;
  ended_ = last;
  std::vector<int32_t> ids;
  if (!last && held_.size() < next_look_) return ids;
  const size_t divided = last ? 0 : DividedBytes(held_);
  const std::string_view whole = std::string_view(held_).substr(0, held_.size() - divided);
  if (model::FirstBadUtf8(whole) != model::kAllUtf8) return Problem{"the text is not UTF-8"};
  std::u32string codes = Normalized(whole);
  if (!begun_) {
    const auto is_word = [](char32_t code) { return ClassOf(code) != CharClass::kSpace; };
    codes.erase(codes.begin(), std::find_if(codes.begin(), codes.end(), is_word));
    begun_ = !codes.empty();
  }
  size_t settled = last ? codes.size() : 0;
  for (size_t at = codes.size(); settled == 0 && at-- > 1;) {
    if (IsSettled(codes[at - 1], codes[at])) settled = at;
  }
  std::string given, kept;
  for (size_t n = 0; n < codes.size(); n++) model::AppendUtf8(codes[n], n < settled ? &given : &kept);
  held_ = kept + held_.substr(whole.size());
  // Something without an end is not looked at again for every character more.
  next_look_ = held_.size() > kLongWord ? 2 * held_.size() : 0;
  std::string problem;
  if (!tokenizer_.Encode(given, model::Literals::kText, &ids, &problem)) return Problem{problem};
  return ids;
}

}  // namespace parley::runtime
