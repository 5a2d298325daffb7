#include "model/text/tokenizer.h"

#include "model/text/nfc.h"
#include "model/text/utf8.h"

namespace parley::model {

std::unique_ptr<const Tokenizer> Tokenizer::Open(const std::string& directory, int64_t size, PieceRule rule,
                                                 std::string* problem) {
  auto vocabulary = Vocabulary::Open(directory, size, problem);
  if (!vocabulary) return nullptr;
  auto added = AddedTokens::Open(directory, size, problem);
  if (!added) return nullptr;
  return std::unique_ptr<const Tokenizer>(new Tokenizer(std::move(vocabulary), std::move(added), rule));
}

bool Tokenizer::Encode(std::string_view text, Literals literals, std::vector<int32_t>* ids, std::string* problem) const {
  if (text.size() > kMaxTextBytes) {
    *problem = "the text is " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kMaxTextBytes) + " are read";
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

}  // namespace parley::model
