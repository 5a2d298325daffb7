// The tokens beside the vocabulary: tokenizer_config.json's
// added_tokens_decoder, the literals that stand for one id each.
#ifndef PARLEY_MODEL_ADDED_TOKENS_H_
#define PARLEY_MODEL_ADDED_TOKENS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace parley::model {

struct AddedToken {
  int32_t id = 0;
  std::string literal;
};

class AddedTokens {
 public:
  static constexpr size_t kMaxFileBytes = size_t{16} << 20;
  static constexpr size_t kMaxTokens = 1'000;
  static constexpr size_t kMaxLiteralBytes = 256;

  // Null with `problem` set.
  static std::unique_ptr<const AddedTokens> Open(const std::string& directory, int64_t size, std::string* problem);

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

}  // namespace parley::model

#endif  // PARLEY_MODEL_ADDED_TOKENS_H_
