// Ids, prepared texts and chunks of Pocket TTS exactly as the official package makes them, and tokenizer
// files that are damaged or of another kind.
#include <map>
#include <string>

#include "model/files/json.h"
#include "model/pocket/text_rules.h"
#include "model/text/sentence_pieces.h"
#include "model/text/unicode.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley {
namespace {

using namespace model;

const std::string kPocket = test::kGolden + "/pocket";
constexpr const char* kModels[] = {"tiny-current", "tiny-first"};

std::unique_ptr<const SentencePieces> PiecesOf(const std::string& model) {
  std::string problem;
  auto pieces = SentencePieces::Open(kPocket + "/" + model + "/tokenizer.model", &problem);
  CHECK_EQ(problem, "");
  return pieces;
}

std::unique_ptr<const JsonDocument> VectorsOf(const std::string& model) {
  std::string problem;
  auto document = JsonDocument::Parse(test::ReadAll(kPocket + "/" + model + "__text.json"), &problem);
  CHECK_EQ(problem, "");
  return document;
}

std::string Shown(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += std::to_string(id) + " ";
  return text;
}

std::string ShownNumbers(Json list) {
  std::string text;
  for (Json id = list.first(); id.present(); id = id.next())
    text += std::to_string(id.integer().value_or(-1)) + " ";
  return text;
}

Json At(Json list, size_t place) {
  Json item = list.first();
  for (size_t n = 0; n < place; n++) item = item.next();
  return item;
}

void IdsAreThoseOfThePackage() {
  for (const char* const model : kModels) {
    const auto pieces = PiecesOf(model);
    const auto document = VectorsOf(model);
    CHECK_EQ(static_cast<int64_t>(pieces->size()), document->root().Find("vocab").integer().value_or(0));
    size_t texts = 0;
    for (Json item = document->root().Find("texts").first(); item.present(); item = item.next(), texts++) {
      const std::vector<int32_t> ids = pieces->Encode(item.Find("text").text());
      CHECK_EQ(Shown(ids), ShownNumbers(item.Find("ids")));
      if (!item.Find("decoded").present()) continue;
      CHECK_EQ(pieces->Decode(ids, 0, ids.size()), std::string(item.Find("decoded").text()));
      CHECK_EQ(pieces->Decode(ids, 1, ids.size()), std::string(item.Find("decoded_from_1").text()));
      for (size_t n = 0; n < ids.size(); n++)
        CHECK_EQ(pieces->PieceOf(ids[n]), std::string(At(item.Find("pieces"), n).text()));
    }
    CHECK_EQ(texts, size_t{51});
  }
}

void CheckChunks(const std::vector<TextChunk>& chunks, Json wanted) {
  CHECK_EQ(chunks.size(), wanted.Find("chunks").size());
  for (size_t n = 0; n < chunks.size(); n++) {
    CHECK_EQ(chunks[n].text, std::string(At(wanted.Find("chunks"), n).text()));
    CHECK_EQ(Shown(chunks[n].ids), ShownNumbers(At(wanted.Find("spoken_ids"), n)));
    CHECK_EQ(static_cast<int64_t>(chunks[n].frames_after_eos),
             At(wanted.Find("frames_after_eos"), n).integer().value_or(-1));
    CHECK_EQ(static_cast<int64_t>(chunks[n].max_frames),
             At(wanted.Find("max_frames"), n).integer().value_or(-1));
  }
}

void TextsAreCutAsThePackageCutsThem() {
  constexpr size_t kLimits[] = {50, 20, 12, 8};
  for (const char* const model : kModels) {
    const auto pieces = PiecesOf(model);
    const auto document = VectorsOf(model);
    for (Json item = document->root().Find("texts").first(); item.present(); item = item.next()) {
      const std::string_view text = item.Find("text").text();
      for (unsigned flags = 0; flags < 8; flags++) {
        PocketTextConfig config;
        config.rules = (flags & 1) != 0 ? PocketRules::k33 : PocketRules::k21;
        config.pad_with_spaces_for_short_inputs = (flags & 2) != 0;
        config.remove_semicolons = (flags & 4) != 0;
        const std::string key = std::string((flags & 1) != 0 ? "3.3" : "2.1") +
                                " pad=" + ((flags & 2) != 0 ? "1" : "0") +
                                " semi=" + ((flags & 4) != 0 ? "1" : "0");
        const Json wanted = item.Find(key);
        const PreparedText prepared = PrepareText(text, config);
        CHECK_EQ(prepared.text, std::string(wanted.Find("prepared").text()));
        if (!wanted.present()) {
          CHECK(ChunksOf(text, *pieces, config).empty());
          continue;
        }
        CHECK_EQ(static_cast<int64_t>(prepared.trailing_guess), wanted.Find("guess").integer().value_or(-1));
        for (const size_t limit : kLimits)
          CheckChunks(ChunksOf(text, *pieces, config, limit),
                      wanted.Find("max_tokens " + std::to_string(limit)));
      }
    }
  }
}

void ASentenceOfATextThatGoesOnHasEndedOnceTheNextHasBegun() {
  const std::string first = "Your three books are ready.";
  for (const auto& [more, is_whole] : std::map<std::string, bool>{{"", false},
                                                                  {" ", false},
                                                                  {" P", true},
                                                                  {"\nP", true},
                                                                  {"\" P", false},
                                                                  {" ...", false},
                                                                  {"5", false}})
    CHECK_EQ(WholeSentences(first + more), is_whole ? first.size() : 0);
  CHECK_EQ(WholeSentences("It opens today at 9. 30 people"), size_t{0});
  CHECK_EQ(WholeSentences("Dr. Smith"), size_t{0});
  CHECK_EQ(WholeSentences("Oh no! Not today! Wait, what"), size_t{0});
  CHECK_EQ(WholeSentences("Oh no! Not today! Wait! What"), size_t{23});
  CHECK_EQ(WholeSentences(""), size_t{0});
}

// Two letters or digits to a frame; marks and spaces take no time that the rule counts on.
void TheLeastTimeOfAChunkFollowsFromItsLetters() {
  const auto pieces = PiecesOf("tiny-current");
  const auto least = [&pieces](const std::string& text) {
    return ChunksOf(text, *pieces, PocketTextConfig())[0].least_frames;
  };
  CHECK_EQ(least("Hi."), size_t{1});
  CHECK_EQ(least("7"), size_t{0});
  CHECK_EQ(least("Meet me at 10:30, room 4b!"), size_t{9});
  CHECK_EQ(least("Gr\u00FC\u00DFe aus K\u00F6ln"), size_t{6});
  CHECK_EQ(least("!!! ... \u2014 ???"), size_t{0});
}

void CharactersAreReplacedAsAConfigurationSays() {
  PocketTextConfig config;
  config.replace_characters = {{0x2019, "'"}, {'"', ""}, {0xAB, ""}, {'(', ""}};
  CHECK_EQ(PrepareText("it\u2019s   \"here\" ", config).text, "It's here.");
  CHECK_EQ(PrepareText("Really? , yes.; No\u2026: go", config).text, "Really? yes. No\u2026 go.");
  CHECK_EQ(PrepareText("\u00AB\"(", config).text, "");
}

void FirstLettersAndLastMarksFollowTheRules() {
  PocketTextConfig config;
  CHECK_EQ(PrepareText("\u00DFa", config).text, "SSa.");
  CHECK_EQ(PrepareText("\u01C5a", config).text, "\u01C4a.");  // a title-case letter
  CHECK_EQ(PrepareText("Go (now,)", config).text, "Go (now.)");
  CHECK_EQ(PrepareText("Go \u2014", config).text, "Go.");
  CHECK_EQ(PrepareText("\"", config).text, "\"");
  config.capitalize_first_letter = config.append_terminal_punctuation = false;
  CHECK_EQ(PrepareText("go on", config).text, "go on");
  config.rules = PocketRules::k21;
  CHECK_EQ(PrepareText("go (now)", config).text, "Go (now)");
  CHECK_EQ(PrepareText("go \u00BD", config).text, "Go \u00BD.");
}

void AnyBytesAreSpelledOut() {
  const auto pieces = PiecesOf("tiny-current");
  const std::string text("<s>\xFF\xE2\x82 \xF0\x9F\x98\x80\0x", 14);
  const std::vector<int32_t> ids = pieces->Encode(text);
  CHECK_EQ(pieces->Decode(ids, 0, ids.size()), std::string("<s>\uFFFD\uFFFD\uFFFD \U0001F600\0x", 20));
  PocketTextConfig config;
  CHECK(!ChunksOf(std::string(10'000, 'a'), *pieces, config).empty());
}

void DamagedFilesAreRefused() {
  const std::string whole = test::ReadAll(kPocket + "/tiny-current/tokenizer.model");
  const test::TempFolder folder;
  const std::string path = folder / "tokenizer.model";
  std::string problem;
  CHECK(SentencePieces::Open(path + ".missing", &problem) == nullptr);
  CHECK(problem.find(path) == 0);
  for (size_t length = 0; length < whole.size(); length += 97) {
    test::WriteAll(path, whole.substr(0, length));
    const auto pieces = SentencePieces::Open(path, &problem);
    if (pieces != nullptr) pieces->Encode("Hello world.");  // cut between two fields
    if (pieces == nullptr) CHECK(problem.find(path) == 0);
  }
  for (size_t at = 0; at < whole.size(); at += 13) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    test::WriteAll(path, damaged);
    const auto pieces = SentencePieces::Open(path, &problem);
    if (pieces != nullptr) pieces->Encode("Hello world. \u4E00");
  }
}

void OtherKindsOfModelsAreRefusedByName() {
  const std::string whole = test::ReadAll(kPocket + "/tiny-current/tokenizer.model");
  const test::TempFolder folder;
  const std::string path = folder / "tokenizer.model";
  std::string problem;
  // The last value of a field counts: trainer {model_type: 2}, then normaliser {precompiled map}.
  test::WriteAll(path, whole + std::string("\x12\x02\x18\x02", 4));
  CHECK(SentencePieces::Open(path, &problem) == nullptr);
  CHECK_EQ(problem, path + ": is a SentencePiece model of byte pairs, words or characters: expected unigram");
  test::WriteAll(path, whole + std::string("\x1A\x03\x12\x01x", 5));
  CHECK(SentencePieces::Open(path, &problem) == nullptr);
  CHECK_EQ(problem, path + ": normalises text by a map: expected the normaliser \"identity\"");
}

}  // namespace

TEST_GROUP(pocket_text) {
  return test::Run({
      {"ids are those of the package", IdsAreThoseOfThePackage},
      {"texts are cut as the package cuts them", TextsAreCutAsThePackageCutsThem},
      {"a sentence of a text that goes on has ended once the next has begun",
       ASentenceOfATextThatGoesOnHasEndedOnceTheNextHasBegun},
      {"the least time of a chunk follows from its letters", TheLeastTimeOfAChunkFollowsFromItsLetters},
      {"characters are replaced as a configuration says", CharactersAreReplacedAsAConfigurationSays},
      {"first letters and last marks follow the rules", FirstLettersAndLastMarksFollowTheRules},
      {"any bytes are spelled out", AnyBytesAreSpelledOut},
      {"damaged files are refused", DamagedFilesAreRefused},
      {"other kinds of models are refused by name", OtherKindsOfModelsAreRefusedByName},
  });
}

}  // namespace parley
