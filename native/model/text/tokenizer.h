// Text to the ids of the talker's text vocabulary and back: byte-level BPE as
// the model was trained with.
#ifndef PARLEY_MODEL_TOKENIZER_H_
#define PARLEY_MODEL_TOKENIZER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/vocabulary.h"

namespace parley::model {

// The pre-tokenizer: cuts text into the pieces that byte pairs are merged in.
// Regular expressions that are fixed, so written out as code.
enum class PieceRule {
  // The vocabulary's own: (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|
  // ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
  kNative,
  // The rule that the reference package uses under some circumstances; it splits camel case:
  // [^\r\n\p{L}\p{N}]?U*W+|[^\r\n\p{L}\p{N}]?U+W*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
  // with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and W = [\p{Ll}\p{Lm}\p{Lo}\p{M}]
  kCaseSplit,
};

// Returns the end of each piece; the last is the end of the text. Linear time.
std::vector<size_t> PieceEnds(std::u32string_view text, PieceRule rule);

// The tokens beside the vocabulary: tokenizer_config.json's
// added_tokens_decoder, the literals that stand for one id each.
struct AddedToken {
  int32_t id = 0;
  std::string literal;
  bool special = false;
};

class AddedTokens {
 public:
  static constexpr size_t kMaxFileBytes = size_t{16} << 20;
  static constexpr size_t kMaxTokens = 1'000;
  static constexpr size_t kMaxLiteralBytes = 256;

  // Null with `problem` set.
  static std::unique_ptr<const AddedTokens> Open(const std::string& directory, int64_t size,
                                                 std::string* problem);

  // The longest literal that begins at `at`; null: none.
  const AddedToken* At(std::string_view text, size_t at) const;
  const AddedToken* Find(int32_t id) const;
  const AddedToken* Find(std::string_view literal) const;
  const std::vector<AddedToken>& all() const { return tokens_; }  // longest first

 private:
  AddedTokens() = default;
  std::vector<AddedToken> tokens_;
  std::array<bool, 256> begins_{};  // some literal begins with this byte
};

// Meaning of added tokens' literals ("<|im_end|>") in a text.
enum class Literals {
  kTokens,  // themselves: for templates
  kText,    // the characters: for what users say, which must not steer the model
};

// Not changed after Open(), so any thread may use it.
class Tokenizer {
 public:
  static constexpr size_t kMaxTextBytes = size_t{1} << 20;

  // From vocab.json, merges.txt and tokenizer_config.json; ids are below
  // `size`. Null with `problem` set.
  static std::unique_ptr<const Tokenizer> Open(const std::string& directory, int64_t size, PieceRule rule,
                                               std::string* problem);

  // Appends to `ids`. False with `problem` set, and nothing appended, when the
  // text is not UTF-8 or longer than kMaxTextBytes.
  bool Encode(std::string_view text, Literals literals, std::vector<int32_t>* ids,
              std::string* problem) const;

  // The text of ids; what has none is left out. Not UTF-8 where the ids end
  // within a character.
  std::string Decode(const std::vector<int32_t>& ids) const;

  // Appends the bytes of an id of the vocabulary. False: it has none.
  bool AppendBytes(int32_t id, std::string* bytes) const;

  const AddedTokens& added() const { return *added_; }

 private:
  Tokenizer(std::unique_ptr<const Vocabulary> vocabulary, std::unique_ptr<const AddedTokens> added,
            PieceRule rule)
      : vocabulary_(std::move(vocabulary)), added_(std::move(added)), rule_(rule) {}
  void EncodeStretch(std::string_view text, std::vector<int32_t>* ids) const;

  const std::unique_ptr<const Vocabulary> vocabulary_;
  const std::unique_ptr<const AddedTokens> added_;
  const PieceRule rule_;
};

// Says if a text shows special tokens, such as <|im_end|>. Others are always shown.
enum class Special { kShown, kSkipped };

// Ids to text, one by one. A character is given once its last byte has come; what is none becomes U+FFFD, as
// Python decodes it. An added token ends the bytes before it.
class IdReader {
 public:
  // The tokenizer outlives it.
  IdReader(const Tokenizer& tokenizer, Special special) : tokenizer_(tokenizer), special_(special) {}

  // Appends what is whole.
  void Read(int32_t id, std::string* text);
  // Appends what was held back. It can be used again.
  void Finish(std::string* text);

 private:
  const Tokenizer& tokenizer_;
  const Special special_;
  std::string held_;  // bytes of a character
};

// All at once.
std::string TextOf(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, Special special);

}  // namespace parley::model

#endif  // PARLEY_MODEL_TOKENIZER_H_
