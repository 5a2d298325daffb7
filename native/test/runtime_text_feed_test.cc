// Text bit by bit gives the ids of the whole, wherever it is cut, and gives
// them out as soon as they are certain.
#include "runtime/text_feed.h"

#include <algorithm>
#include <set>

#include "model/files/json.h"
#include "model/speech/prompt.h"
#include "model/text/tokenizer.h"
#include "model/text/unicode.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley::test {
namespace {

using namespace model;
using runtime::TextFeed;

constexpr PieceRule kRules[] = {PieceRule::kNative, PieceRule::kCaseSplit};

std::unique_ptr<const Tokenizer> Opened(PieceRule rule) {
  std::string problem;
  auto tokenizer = Tokenizer::Open(kGolden + "/tiny-customvoice", 576, rule, &problem);
  CHECK_EQ(problem, "");
  return tokenizer;
}

std::string Shown(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += std::to_string(id) + " ";
  return text;
}

// The strings of both golden files: every kind of character, and what follows what.
std::vector<std::string> Texts() {
  std::vector<std::string> texts;
  std::string problem;
  const auto golden = JsonDocument::Parse(ReadAll(kGolden + "/vectors/tokenizer.json"), &problem);
  for (Json item = golden->root().Find("items").first(); item.present(); item = item.next()) {
    texts.emplace_back(item.Find("text").text());
  }
  const auto random = JsonDocument::Parse(ReadAll(kGolden + "/vectors/tokenizer_random.json"), &problem);
  for (Json item = random->root().first(); item.present(); item = item.next()) {
    texts.emplace_back(item.first().text());
  }
  CHECK(texts.size() > 400);
  return texts;
}

std::string TextOf(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) AppendUtf8(code, &text);
  return text;
}

// Piece boundaries of the whole text: the offsets in bytes at which a piece ends.
std::set<size_t> EndsOf(const std::string& text, PieceRule rule) {
  std::u32string codes;
  for (size_t at = 0; at < text.size();) codes.push_back(TakeUtf8(text, &at));
  NormalizeNfc(&codes);
  std::set<size_t> ends = {0};
  for (const size_t end : PieceEnds(codes, rule))
    ends.insert(TextOf(std::u32string_view(codes).substr(0, end)).size());
  return ends;
}

std::vector<int32_t> IdsOfWhole(const Tokenizer& tokenizer, const std::string& text) {
  MarkedText marked;
  std::string problem;
  if (!EncodeMarked(tokenizer, Template::kTarget, text, &marked, &problem)) return {};
  return {marked.ids.begin() + static_cast<ptrdiff_t>(marked.begin),
          marked.ids.begin() + static_cast<ptrdiff_t>(marked.end)};
}

struct Fed {
  std::vector<int32_t> ids;
  size_t inside = 0;  // number of parts after which the output ended within a piece
};

Fed Feed(const Tokenizer& tokenizer, const std::vector<std::string>& parts, const std::set<size_t>& ends) {
  TextFeed feed(tokenizer);
  Fed fed;
  for (size_t n = 0; n < parts.size(); n++) {
    const auto ids = feed.Add(parts[n], n + 1 == parts.size());
    CHECK(ids);
    if (!ids) return fed;
    fed.ids.insert(fed.ids.end(), ids->begin(), ids->end());
    if (ends.count(tokenizer.Decode(fed.ids).size()) == 0) fed.inside++;
  }
  CHECK(feed.ended());
  return fed;
}

void EveryCutGivesTheIdsOfTheWhole() {
  for (const PieceRule rule : kRules) {
    const auto tokenizer = Opened(rule);
    for (const std::string& text : Texts()) {
      const std::vector<int32_t> whole = IdsOfWhole(*tokenizer, text);
      const std::set<size_t> ends = EndsOf(tokenizer->Decode(whole), rule);
      size_t wrong = 0;
      for (size_t cut = 0; cut <= text.size(); cut++) {
        const Fed fed = Feed(*tokenizer, {text.substr(0, cut), text.substr(cut)}, ends);
        wrong += fed.ids != whole || fed.inside > 0;
      }
      std::vector<std::string> bytes;
      for (const char byte : text) bytes.emplace_back(1, byte);
      bytes.emplace_back();
      const Fed fed = Feed(*tokenizer, bytes, ends);
      wrong += fed.ids != whole || fed.inside > 0;
      if (wrong > 0) std::fprintf(stderr, "    in \"%s\": %s\n", text.c_str(), Shown(whole).c_str());
      CHECK_EQ(wrong, size_t{0});
    }
  }
}

// Text given out after the first part.
std::string Given(std::string_view part, PieceRule rule = PieceRule::kNative) {
  static const auto native = Opened(PieceRule::kNative), split = Opened(PieceRule::kCaseSplit);
  const Tokenizer& tokenizer = rule == PieceRule::kNative ? *native : *split;
  TextFeed feed(tokenizer);
  const auto ids = feed.Add(part, false);
  return ids ? tokenizer.Decode(*ids) : ids.problem();
}

void WordsAreGivenOutWhenTheNextOneBegins() {
  CHECK_EQ(Given("Hel"), "");
  CHECK_EQ(Given("Hello"), "");
  CHECK_EQ(Given("Hello "), "Hello");
  CHECK_EQ(Given("Hello, "), "Hello,");
  CHECK_EQ(Given("Hello there"), "Hello");
  CHECK_EQ(Given("Hello there."), "Hello there");
  CHECK_EQ(Given("It cost 12"), "It cost 1");
  CHECK_EQ(Given("  \n Hello "), "Hello");
  CHECK_EQ(Given("\u4f60\u597d\uff0c\u4e16\u754c"), "\u4f60\u597d");
  CHECK_EQ(Given("\u4f60\u597d\uff0c\u4e16\u754c\u3002"), "\u4f60\u597d\uff0c\u4e16\u754c");
}

void WhatCouldStillChangeIsHeldBack() {
  CHECK_EQ(Given("don"), "");
  CHECK_EQ(Given("don'"), "don");
  CHECK_EQ(Given("don't"), "don");   // 'the is a word of its own
  CHECK_EQ(Given("end\n "), "end");  // more line ends would join them
  CHECK_EQ(Given("wait!"), "wait");  // a second mark joins the first
  CHECK_EQ(Given("wait!\n"), "wait");
  CHECK_EQ(Given("x\u0323"), "");                         // with a dot above the x is another letter
  CHECK_EQ(Given("\u4e2dA", PieceRule::kCaseSplit), "");  // with a small letter behind it is one piece
  CHECK_EQ(Given("caf\u00c3"), "");
}

void ACharacterMayBeDivided() {
  const std::string text = "\u4f60 \U0001F600 \u00e9.";
  const auto tokenizer = Opened(PieceRule::kNative);
  for (size_t cut = 0; cut <= text.size(); cut++) {
    CHECK_EQ(Shown(Feed(*tokenizer, {text.substr(0, cut), text.substr(cut)}, {}).ids),
             Shown(IdsOfWhole(*tokenizer, text)));
  }
}

std::string ProblemOf(const std::vector<std::string>& parts) {
  const auto tokenizer = Opened(PieceRule::kNative);
  TextFeed feed(*tokenizer);
  for (size_t n = 0; n < parts.size(); n++) {
    const auto ids = feed.Add(parts[n], n + 1 == parts.size());
    if (!ids) return ids.problem();
  }
  return "none";
}

void TextThatCannotBeReadIsRefused() {
  CHECK_EQ(ProblemOf({"\xff"}), "the text is not UTF-8");
  CHECK_EQ(ProblemOf({"a\xe4\xbd", "b"}), "the text is not UTF-8");
  CHECK_EQ(ProblemOf({"a\xe4\xbd"}), "the text is not UTF-8");  // it ends within a character
  CHECK_EQ(ProblemOf({"a \x80\x80\x80\x80", "b"}), "the text is not UTF-8");
  CHECK_EQ(ProblemOf({std::string(600'000, 'a'), std::string(600'000, ' ')}),
           "the text is longer than 1048576 bytes");
  CHECK_EQ(ProblemOf({"", "  ", ""}), "none");
}

// A megabyte without a place to cut, letter by letter, is read in well under a second.
void AnEndlessWordIsNotReadAgainForEveryLetter() {
  const auto tokenizer = Opened(PieceRule::kNative);
  TextFeed feed(*tokenizer);
  constexpr size_t kLetters = 100'000;
  size_t letters = 0;
  for (size_t n = 0; n < kLetters; n++) {
    const auto ids = feed.Add("a", n + 1 == kLetters);
    CHECK(ids);
    if (ids) letters += tokenizer->Decode(*ids).size();
  }
  CHECK_EQ(letters, kLetters);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_text_feed) {
  using namespace parley::test;
  return Run({
      {"every cut gives the ids of the whole", EveryCutGivesTheIdsOfTheWhole},
      {"words are given out when the next one begins", WordsAreGivenOutWhenTheNextOneBegins},
      {"what could still change is held back", WhatCouldStillChangeIsHeldBack},
      {"a character may be divided", ACharacterMayBeDivided},
      {"text that cannot be read is refused", TextThatCannotBeReadIsRefused},
      {"an endless word is not read again for every letter", AnEndlessWordIsNotReadAgainForEveryLetter},
  });
}
