#include "model/text/added_tokens.h"

#include <algorithm>
#include <charconv>

#include "model/files/config_reader.h"
#include "model/files/file.h"

namespace parley::model {
namespace {

// The key is the id in decimal.
bool ReadToken(const ConfigReader& tokens, Json entry, int64_t size, AddedToken* token) {
  const std::string_view key = entry.key();
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token->id);
  const bool is_id = error == std::errc() && end == key.data() + key.size() && token->id >= 0 && token->id < size;
  const std::string_view name = key.substr(0, 40);
  tokens.Require(is_id, name, "a key that is an id below " + std::to_string(size));
  if (!tokens.good()) return false;
  const ConfigReader reader = tokens.Object(key);
  token->literal = entry.Find("content").text();
  reader.Require(!token->literal.empty() && token->literal.size() <= AddedTokens::kMaxLiteralBytes, "content",
                 "a text of 1 to " + std::to_string(AddedTokens::kMaxLiteralBytes) + " bytes");
  for (const char* const flag : {"lstrip", "rstrip", "single_word"}) reader.Only(flag, false);
  return reader.good();
}

}  // namespace

std::unique_ptr<const AddedTokens> AddedTokens::Open(const std::string& directory, int64_t size, std::string* problem) {
  const std::string path = directory + "/tokenizer_config.json";
  std::string text;
  if (!ReadFile(path, kMaxFileBytes, &text, problem)) return nullptr;
  const auto document = JsonDocument::Parse(text, problem);
  if (!document) return *problem = path + ": " + *problem, nullptr;
  problem->clear();
  const ConfigReader reader(path, document->root(), problem);
  const ConfigReader tokens = reader.Object("added_tokens_decoder");
  reader.Require(tokens.json().size() <= kMaxTokens, "added_tokens_decoder", "at most " + std::to_string(kMaxTokens) + " tokens");
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
  std::stable_sort(added->tokens_.begin(), added->tokens_.end(),
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

}  // namespace parley::model
