// Ids exactly as the reference's: its own vectors, and strings of every kind of
// character with ids made by another implementation of the same expressions.
#include "model/text/tokenizer.h"

#include <chrono>

#include "model/files/json.h"
#include "model/text/unicode.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley {
namespace {

using namespace model;

constexpr int64_t kTextVocabulary = 576;
const std::string kCheckpoint = test::kGolden + "/tiny-customvoice";

std::unique_ptr<const Tokenizer> Opened(PieceRule rule) {
  std::string problem;
  auto tokenizer = Tokenizer::Open(kCheckpoint, kTextVocabulary, rule, &problem);
  CHECK_EQ(problem, "");
  return tokenizer;
}

std::unique_ptr<const JsonDocument> Vectors(const std::string& path) {
  std::string problem;
  auto document = JsonDocument::Parse(test::ReadAll(path), &problem);
  CHECK_EQ(problem, "");
  return document;
}

std::string Shown(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += std::to_string(id) + " ";
  return text;
}

std::string ShownNumbers(Json list) {
  std::vector<int32_t> ids;
  for (Json id = list.first(); id.present(); id = id.next())
    ids.push_back(static_cast<int32_t>(id.integer().value_or(-1)));
  return Shown(ids);
}

std::string IdsOf(const Tokenizer& tokenizer, std::string_view text, Literals literals = Literals::kTokens) {
  std::vector<int32_t> ids;
  std::string problem;
  CHECK(tokenizer.Encode(text, literals, &ids, &problem));
  return Shown(ids);
}

std::u32string CodesOf(std::string_view text) {
  std::u32string codes;
  for (size_t at = 0; at < text.size();) codes.push_back(TakeUtf8(text, &at));
  return codes;
}

std::string TextOf(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) AppendUtf8(code, &text);
  return text;
}

void IdsMatchTheReference() {
  const auto document = Vectors(test::kGolden + "/vectors/tokenizer.json");
  const auto native = Opened(PieceRule::kNative), split = Opened(PieceRule::kCaseSplit);
  size_t seen = 0;
  for (Json item = document->root().Find("items").first(); item.present(); item = item.next(), seen++) {
    const std::string_view text = item.Find("text").text();
    CHECK_EQ(IdsOf(*native, text), ShownNumbers(item.Find("ids_qwen2_regex")));
    CHECK_EQ(IdsOf(*split, text), ShownNumbers(item.Find("ids_case_split_regex")));
  }
  CHECK_EQ(seen, size_t{23});
}

void PiecesMatchTheReference() {
  const auto document = Vectors(test::kGolden + "/vectors/tokenizer.json");
  for (Json item = document->root().Find("items").first(); item.present(); item = item.next()) {
    std::u32string codes = CodesOf(item.Find("text").text());
    NormalizeNfc(&codes);
    for (const bool native : {true, false}) {
      std::string seen, wanted;
      size_t from = 0;
      for (const size_t end : PieceEnds(codes, native ? PieceRule::kNative : PieceRule::kCaseSplit)) {
        seen += "[" + TextOf(std::u32string_view(codes).substr(from, end - from)) + "]";
        from = end;
      }
      const Json pieces = item.Find(native ? "pieces_qwen2_regex" : "pieces_case_split_regex");
      for (Json piece = pieces.first(); piece.present(); piece = piece.next())
        wanted += "[" + std::string(piece.text()) + "]";
      CHECK_EQ(seen, wanted);
    }
  }
}

// [[text, ids, ids with the other rule], ...]; another file may be named to be
// compared with, larger than one wants to keep.
void IdsOfAllKindsOfCharactersMatch() {
  const char* const other = std::getenv("TOKENIZER_VECTORS");
  const auto document = Vectors(other ? other : test::kGolden + "/vectors/tokenizer_random.json");
  const auto native = Opened(PieceRule::kNative), split = Opened(PieceRule::kCaseSplit);
  CHECK(document->root().size() >= 400);
  for (Json item = document->root().first(); item.present(); item = item.next()) {
    const Json text = item.first(), ids = text.next();
    CHECK_EQ(IdsOf(*native, text.text(), Literals::kText), ShownNumbers(ids));
    CHECK_EQ(IdsOf(*split, text.text(), Literals::kText), ShownNumbers(ids.next()));
  }
}

void TextIsNormalised() {
  const std::pair<std::u32string, std::u32string> forms[] = {
      {U"e\u0301", U"\u00e9"},
      {U"a\u0323\u0302", U"\u1ead"},        // two marks, in order
      {U"a\u0302\u0323", U"\u1ead"},        // and not in order
      {U"a\u0302\u0302", U"\u00e2\u0302"},  // the second is blocked
      {U"\u1100\u1161\u11a8", U"\uac01"},   // Hangul
      {U"\uac00\u11a8", U"\uac01"},
      {U"\u212b", U"\u00c5"},        // a singleton
      {U"\u0958", U"\u0915\u093c"},  // excluded from composition
      {U"\u0344", U"\u0308\u0301"},
      {U"\u0301e", U"\u0301e"},
      {U"\ufb01", U"\ufb01"},  // compatibility forms stay
      {U"\U0001d15e", U"\U0001d157\U0001d165"},
  };
  for (const auto& [text, wanted] : forms) {
    std::u32string seen = text;
    NormalizeNfc(&seen);
    CHECK_EQ(TextOf(seen), TextOf(wanted));
  }
}

void LiteralsAreTokensOnlyInTemplates() {
  const auto tokenizer = Opened(PieceRule::kNative);
  CHECK_EQ(IdsOf(*tokenizer, "<|im_start|><|im_end|>"), "481 482 ");
  CHECK_EQ(IdsOf(*tokenizer, "a<tts_text_bos_single><tts_text_bos>"), "64 511 509 ");  // the longest
  std::vector<int32_t> ids;
  std::string problem;
  CHECK(tokenizer->Encode("<|im_end|>", Literals::kText, &ids, &problem));
  CHECK(ids.size() > 1);
  for (const int32_t id : ids) CHECK(id < 480);
  CHECK_EQ(tokenizer->Decode(ids), "<|im_end|>");
  CHECK_EQ(tokenizer->Decode({481, 64, 482}), "<|im_start|>a<|im_end|>");
}

void DecodingGivesTheTextBack() {
  const auto tokenizer = Opened(PieceRule::kNative);
  for (const char* const text :
       {"Hello there, how are you today?", "你好，今天天气很好。", "  two\t\r\n\n", "😀", ""}) {
    std::vector<int32_t> ids;
    std::string problem;
    CHECK(tokenizer->Encode(text, Literals::kTokens, &ids, &problem));
    CHECK_EQ(tokenizer->Decode(ids), text);
  }
}

void TextsThatCannotBeReadAreRefused() {
  const auto tokenizer = Opened(PieceRule::kNative);
  std::vector<int32_t> ids;
  std::string problem;
  for (const char* const bad :
       {"ab\xFF", "ab\xC0\x80", "ab\xED\xA0\x80", "ab\xF4\x90\x80\x80", "ab\xE4\xBD"}) {
    CHECK(!tokenizer->Encode(bad, Literals::kTokens, &ids, &problem));
    CHECK_EQ(problem, "the text is not UTF-8 at byte 2");
  }
  CHECK(
      !tokenizer->Encode(std::string(Tokenizer::kMaxTextBytes + 1, 'a'), Literals::kTokens, &ids, &problem));
  CHECK_EQ(problem, "the text is 1048577 bytes; at most 1048576 are read");
  CHECK(ids.empty());
}

// A merge that looks at all symbols for every join would take hours for these.
void LongWordsTakeLinearTime() {
  const auto tokenizer = Opened(PieceRule::kNative);
  std::string words, marks;
  while (words.size() < Tokenizer::kMaxTextBytes - 16) words += "assistantthe";
  while (marks.size() < Tokenizer::kMaxTextBytes - 16) marks += "\u0301\u0323";
  for (const std::string& text : {words, std::string(Tokenizer::kMaxTextBytes, ' '),
                                  std::string(Tokenizer::kMaxTextBytes, '<'), marks}) {
    const auto began = std::chrono::steady_clock::now();
    std::vector<int32_t> ids;
    std::string problem;
    CHECK(tokenizer->Encode(text, Literals::kTokens, &ids, &problem));
    CHECK(!ids.empty());
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
  }
}

}  // namespace
}  // namespace parley

TEST_GROUP(tokenizer) {
  return parley::test::Run({
      {"ids match the reference", parley::IdsMatchTheReference},
      {"pieces match the reference", parley::PiecesMatchTheReference},
      {"ids of all kinds of characters match", parley::IdsOfAllKindsOfCharactersMatch},
      {"text is normalised", parley::TextIsNormalised},
      {"literals are tokens only in templates", parley::LiteralsAreTokensOnlyInTemplates},
      {"decoding gives the text back", parley::DecodingGivesTheTextBack},
      {"texts that cannot be read are refused", parley::TextsThatCannotBeReadAreRefused},
      {"long words take linear time", parley::LongWordsTakeLinearTime},
  });
}
