#include "model/text/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "model/files/file.h"
#include "model/files/json.h"
#include "model/text/unicode.h"

namespace parley::model {

std::unique_ptr<const Tokenizer> Tokenizer::Open(const std::string& directory, int64_t size, PieceRule rule,
                                                 std::string* problem) {
  auto vocabulary = Vocabulary::Open(directory, size, problem);
  if (!vocabulary) return nullptr;
  auto added = AddedTokens::Open(directory, size, problem);
  if (!added) return nullptr;
  return std::unique_ptr<const Tokenizer>(new Tokenizer(std::move(vocabulary), std::move(added), rule));
}

bool Tokenizer::Encode(std::string_view text, Literals literals, std::vector<int32_t>* ids,
                       std::string* problem) const {
  if (text.size() > kMaxTextBytes) {
    *problem = "the text is " + std::to_string(text.size()) + " bytes; at most " +
               std::to_string(kMaxTextBytes) + " are read";
    return false;
  }
  if (const size_t bad = FirstBadUtf8(text); bad != kAllUtf8) {
    *problem = "the text is not UTF-8 at byte " + std::to_string(bad);
    return false;
  }
  size_t from = 0, at = 0;
  while (literals == Literals::kTokens && at < text.size()) {
    const AddedToken* const token = added_->At(text, at);
    if (token == nullptr) {
      at++;
      continue;
    }
    EncodeStretch(text.substr(from, at - from), ids);
    ids->push_back(token->id);
    from = at += token->literal.size();
  }
  EncodeStretch(text.substr(from), ids);
  return true;
}

void Tokenizer::EncodeStretch(std::string_view text, std::vector<int32_t>* ids) const {
  std::u32string codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) codes.push_back(TakeUtf8(text, &at));
  NormalizeNfc(&codes);
  size_t from = 0;
  std::string piece;
  for (const size_t end : PieceEnds(codes, rule_)) {
    piece.clear();
    for (; from < end; from++) AppendUtf8(codes[from], &piece);
    vocabulary_->Encode(piece, ids);
  }
}

std::string Tokenizer::Decode(const std::vector<int32_t>& ids) const {
  std::string text;
  for (const int32_t id : ids) {
    if (const AddedToken* const token = added_->Find(id)) {
      text += token->literal;
    } else if (const std::string* const bytes = vocabulary_->BytesOf(id)) {
      text += *bytes;
    }
  }
  return text;
}

bool Tokenizer::AppendBytes(int32_t id, std::string* bytes) const {
  const std::string* const own = vocabulary_->BytesOf(id);
  if (own == nullptr) return false;
  *bytes += *own;
  return true;
}

void IdReader::Read(int32_t id, std::string* text) {
  if (const AddedToken* const token = tokenizer_.added().Find(id)) {
    Finish(text);
    if (special_ == Special::kShown || !token->special) *text += token->literal;
  } else if (tokenizer_.AppendBytes(id, &held_)) {
    held_.erase(0, AppendLossy(held_, text));
  }
}

void IdReader::Finish(std::string* text) {
  if (!held_.empty()) AppendUtf8(0xFFFD, text);  // the beginning of one character
  held_.clear();
}

std::string TextOf(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, Special special) {
  std::string text;
  IdReader reader(tokenizer, special);
  for (const int32_t id : ids) reader.Read(id, &text);
  reader.Finish(&text);
  return text;
}

namespace {

// The key is the id in decimal.
bool ReadToken(const ConfigReader& tokens, Json entry, int64_t size, AddedToken* token) {
  const std::string_view key = entry.key();
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token->id);
  const bool is_id =
      error == std::errc() && end == key.data() + key.size() && token->id >= 0 && token->id < size;
  const std::string_view name = key.substr(0, 40);
  tokens.Require(is_id, name, "a key that is an id below " + std::to_string(size));
  if (!tokens.good()) return false;
  const ConfigReader reader = tokens.Object(key);
  token->literal = entry.Find("content").text();
  reader.Require(!token->literal.empty() && token->literal.size() <= AddedTokens::kMaxLiteralBytes, "content",
                 "a text of 1 to " + std::to_string(AddedTokens::kMaxLiteralBytes) + " bytes");
  for (const char* const flag : {"lstrip", "rstrip", "single_word"}) reader.Only(flag, false);
  token->special = reader.Has("special") && reader.Bool("special");
  return reader.good();
}

}  // namespace

std::unique_ptr<const AddedTokens> AddedTokens::Open(const std::string& directory, int64_t size,
                                                     std::string* problem) {
  const std::string path = directory + "/tokenizer_config.json";
  std::string text;
  if (!ReadFile(path, kMaxFileBytes, &text, problem)) return nullptr;
  const auto document = JsonDocument::Parse(text, problem);
  if (!document) return *problem = path + ": " + *problem, nullptr;
  problem->clear();
  const ConfigReader reader(path, document->root(), problem);
  const ConfigReader tokens = reader.Object("added_tokens_decoder");
  reader.Require(tokens.json().size() <= kMaxTokens, "added_tokens_decoder",
                 "at most " + std::to_string(kMaxTokens) + " tokens");
  std::unique_ptr<AddedTokens> added(new AddedTokens());
  for (Json entry = tokens.json().first(); entry.present() && reader.good(); entry = entry.next()) {
    AddedToken token;
    if (!ReadToken(tokens, entry, size, &token)) break;
    tokens.Require(added->Find(token.id) == nullptr && added->Find(token.literal) == nullptr, entry.key(),
                   "an id and a content that no other token has");
    added->begins_[static_cast<uint8_t>(token.literal[0])] = true;
    added->tokens_.push_back(std::move(token));
  }
  if (!reader.good()) return nullptr;
  std::stable_sort(
      added->tokens_.begin(), added->tokens_.end(),
      [](const AddedToken& a, const AddedToken& b) { return a.literal.size() > b.literal.size(); });
  return added;
}

const AddedToken* AddedTokens::At(std::string_view text, size_t at) const {
  if (!begins_[static_cast<uint8_t>(text[at])]) return nullptr;
  for (const AddedToken& token : tokens_) {
    if (text.compare(at, token.literal.size(), token.literal) == 0) return &token;
  }
  return nullptr;
}

const AddedToken* AddedTokens::Find(int32_t id) const {
  const auto same = [id](const AddedToken& token) { return token.id == id; };
  const auto found = std::find_if(tokens_.begin(), tokens_.end(), same);
  return found == tokens_.end() ? nullptr : &*found;
}

const AddedToken* AddedTokens::Find(std::string_view literal) const {
  const auto same = [literal](const AddedToken& token) { return token.literal == literal; };
  const auto found = std::find_if(tokens_.begin(), tokens_.end(), same);
  return found == tokens_.end() ? nullptr : &*found;
}

namespace {

// Each function is one alternative: the end of its match at `at`, or `at`.
class Cutter {
 public:
  Cutter(std::u32string_view text, PieceRule rule) : text_(text), rule_(rule) {
    classes_.reserve(text.size());
    for (const char32_t code : text) classes_.push_back(ClassOf(code));
  }

  size_t EndFrom(size_t at) const {
    const bool native = rule_ == PieceRule::kNative;
    size_t end = native ? Contraction(at) : at;
    if (end == at) end = native ? Word(at) : CasedWord(at);
    if (end == at && classes_[at] == CharClass::kNumber) end = at + 1;
    if (end == at) end = Symbols(at);
    return end == at ? Space(at) : end;
  }

 private:
  CharClass ClassAt(size_t at) const { return at < text_.size() ? classes_[at] : CharClass::kSpace; }
  bool IsNewline(size_t at) const { return at < text_.size() && (text_[at] == '\r' || text_[at] == '\n'); }
  bool IsLetterAt(size_t at) const { return at < text_.size() && IsLetter(classes_[at]); }

  // Folded as case-insensitive matching does: U+017F is an s.
  char32_t Folded(size_t at) const {
    if (at >= text_.size()) return 0;
    const char32_t code = text_[at];
    return code >= 'A' && code <= 'Z' ? code - 'A' + 'a' : code == 0x17F ? U's' : code;
  }

  size_t Contraction(size_t at) const {
    if (text_[at] != '\'') return at;
    const char32_t first = Folded(at + 1), second = Folded(at + 2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
    const bool two = ((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l');
    return two ? at + 3 : at;
  }

  // [^\r\n\p{L}\p{N}] at the head of a word.
  bool IsLead(size_t at) const {
    return !IsNewline(at) && !IsLetter(classes_[at]) && classes_[at] != CharClass::kNumber;
  }

  size_t Word(size_t at) const {
    size_t end = at + (IsLead(at) ? 1 : 0);
    if (!IsLetterAt(end)) return at;
    while (IsLetterAt(end)) end++;
    return end;
  }

  bool IsU(size_t at) const {
    const CharClass c = ClassAt(at);
    return c == CharClass::kUpper || c == CharClass::kLetter || c == CharClass::kMark;
  }
  bool IsW(size_t at) const {
    const CharClass c = ClassAt(at);
    return c == CharClass::kLower || c == CharClass::kLetter || c == CharClass::kMark;
  }

  // U*W+ : where the U run gives back just enough for W to match once.
  size_t UThenW(size_t from) const {
    size_t end = from;
    while (IsU(end)) end++;
    if (!IsW(end)) {
      while (end > from && !IsW(end - 1)) end--;
      return end;
    }
    while (IsW(end)) end++;
    return end;
  }

  // A mark may be the head of a word or its first character, in this order.
  size_t CasedWord(size_t at) const {
    const size_t lead = at + (IsLead(at) ? 1 : 0);
    for (const size_t from : {lead, at}) {
      if (const size_t end = UThenW(from); end > from) return end;
    }
    for (const size_t from : {lead, at}) {
      size_t end = from;
      while (IsU(end)) end++;
      if (end > from) return end;  // W* matches nothing here, or UThenW had matched
    }
    return at;
  }

  bool IsSymbol(size_t at) const {
    return at < text_.size() && (classes_[at] == CharClass::kOther || classes_[at] == CharClass::kMark);
  }

  size_t Symbols(size_t at) const {
    size_t end = at + (text_[at] == ' ' ? 1 : 0);
    if (!IsSymbol(end)) return at;
    while (IsSymbol(end)) end++;
    while (IsNewline(end) || (rule_ == PieceRule::kCaseSplit && end < text_.size() && text_[end] == '/'))
      end++;
    return end;
  }

  // Up to the last line end of the run; else all but the character before a
  // word; else all.
  size_t Space(size_t at) const {
    size_t end = at;
    while (end < text_.size() && classes_[end] == CharClass::kSpace) end++;
    for (size_t last = end; last > at; last--) {
      if (IsNewline(last - 1)) return last;
    }
    return end < text_.size() && end - at > 1 ? end - 1 : end;
  }

  const std::u32string_view text_;
  const PieceRule rule_;
  std::vector<CharClass> classes_;
};

}  // namespace

std::vector<size_t> PieceEnds(std::u32string_view text, PieceRule rule) {
  const Cutter cutter(text, rule);
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size(); at = ends.back()) ends.push_back(cutter.EndFrom(at));
  return ends;
}

}  // namespace parley::model
