// Text to the ids of the talker's text vocabulary and back: byte-level BPE as
// the model was trained with.
#ifndef PARLEY_MODEL_TOKENIZER_H_
#define PARLEY_MODEL_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/added_tokens.h"
#include "model/text/pieces.h"
#include "model/text/vocabulary.h"

namespace parley::model {

// What literals of added tokens ("<|im_end|>") in a text mean.
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
  bool Encode(std::string_view text, Literals literals, std::vector<int32_t>* ids, std::string* problem) const;

  // The text of ids; what has none is left out. Not UTF-8 where the ids end
  // within a character.
  std::string Decode(const std::vector<int32_t>& ids) const;

  const AddedTokens& added() const { return *added_; }

 private:
  Tokenizer(std::unique_ptr<const Vocabulary> vocabulary, std::unique_ptr<const AddedTokens> added, PieceRule rule)
      : vocabulary_(std::move(vocabulary)), added_(std::move(added)), rule_(rule) {}
  void EncodeStretch(std::string_view text, std::vector<int32_t>* ids) const;

  const std::unique_ptr<const Vocabulary> vocabulary_;
  const std::unique_ptr<const AddedTokens> added_;
  const PieceRule rule_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_TOKENIZER_H_
