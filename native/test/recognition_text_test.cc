// The text side of recogniser and aligner, exactly as the reference has it: ids and their texts, raw output,
// words and times; and what any input does.
#include <chrono>
#include <random>

#include "model/recognition/alignment_times.h"
#include "model/recognition/alignment_words.h"
#include "model/recognition/quiet_splits.h"
#include "model/recognition/recognition_prompt.h"
#include "model/recognition/transcript.h"
#include "model/text/unicode.h"
#include "test/recognition_golden.h"

namespace parley::test {
namespace {

using namespace model;

std::string Text(Json one, const char* key) { return std::string(one.Find(key).text()); }

std::vector<int64_t> Numbers(Json list) {
  std::vector<int64_t> numbers;
  for (Json one = list.first(); one.present(); one = one.next())
    numbers.push_back(one.integer().value_or(-1));
  return numbers;
}
std::vector<int32_t> Ids(Json list) {
  const std::vector<int64_t> numbers = Numbers(list);
  return {numbers.begin(), numbers.end()};
}
std::vector<std::string> Texts(Json list) {
  std::vector<std::string> texts;
  for (Json one = list.first(); one.present(); one = one.next()) texts.emplace_back(one.text());
  return texts;
}
std::string Joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "|";
  return all;
}

void IdsAndTheirTextsAreTheReferences() {
  const auto checkpoint = OpenRecognition("tiny-asr-a");
  const Tokenizer& tokenizer = checkpoint->tokenizer();
  const auto vectors = RecognitionManifest("tokenizer.json");
  size_t seen = 0;
  const Json encoded = vectors->root().Find("encode"), decoded = vectors->root().Find("decode");
  for (Json one = encoded.first(); one.present(); one = one.next(), seen++) {
    std::vector<int32_t> ids;
    std::string problem;
    CHECK(tokenizer.Encode(Text(one, "text"), Literals::kTokens, &ids, &problem));
    CHECK(ids == Ids(one.Find("ids")));
    CHECK_EQ(TextOf(tokenizer, ids, Special::kShown), Text(one, "decoded"));
    CHECK_EQ(TextOf(tokenizer, ids, Special::kSkipped), Text(one, "decoded_skip"));
  }
  for (Json one = decoded.first(); one.present(); one = one.next(), seen++) {
    const std::vector<int32_t> ids = Ids(one.Find("ids"));
    CHECK_EQ(TextOf(tokenizer, ids, Special::kShown), Text(one, "text"));
    if (one.Find("skip").present()) CHECK_EQ(TextOf(tokenizer, ids, Special::kSkipped), Text(one, "skip"));
  }
  CHECK_EQ(seen, 34u);
}

void ACharacterIsGivenWithItsLastByte() {
  const auto checkpoint = OpenRecognition("tiny-asr-a");
  IdReader reader(checkpoint->tokenizer(), Special::kShown);
  std::string text;
  for (const int32_t id : {160, 121}) reader.Read(id, &text);
  CHECK_EQ(text, "");
  reader.Read(254, &text);
  CHECK_EQ(text, "\u4f60");
  reader.Read(160, &text);
  reader.Finish(&text);
  CHECK_EQ(text, "\u4f60\ufffd");
  reader.Finish(&text);
  CHECK_EQ(text, "\u4f60\ufffd");
}

void BytesThatAreNoCharacterBecomeOneMarkEach() {
  const std::pair<const char*, const char*> cases[] = {
      {"a\xE5\x8D", "a"},                                  // may go on
      {"\xE5\x8DZ", "\ufffdZ"},                            // the longest beginning
      {"\xF0\x80\x80\x80z", "\ufffd\ufffd\ufffd\ufffdz"},  // overlong: no beginning
      {"\xED\xA0\x80z", "\ufffd\ufffd\ufffdz"},            // a surrogate
      {"\xF4\x90\x80z", "\ufffd\ufffd\ufffdz"},            // beyond 10FFFF
      {"\xC0\xAFz", "\ufffd\ufffdz"},
      {"\xF0\x9F\x98z", "\ufffdz"}};
  for (const auto& [bytes, wanted] : cases) {
    std::string text;
    AppendLossy(bytes, &text);
    CHECK_EQ(text, wanted);
  }
}

void RawTextIsReadAsTheReferenceReadsIt() {
  const auto vectors = RecognitionManifest("parse.json");
  size_t seen = 0;
  const Json all = vectors->root().Find("parse"), merged = vectors->root().Find("merge"),
             names = vectors->root().Find("normalize");
  for (Json one = all.first(); one.present(); one = one.next(), seen++) {
    const Transcript transcript = ParseTranscript(Text(one, "raw"), Text(one, "user_language"));
    CHECK_EQ(transcript.language, Text(one, "language"));
    CHECK_EQ(transcript.text, Text(one, "text"));
  }
  CHECK_EQ(seen, 78u);
  for (Json one = merged.first(); one.present(); one = one.next())
    CHECK_EQ(JoinLanguages(Texts(one.Find("langs"))), Text(one, "merged"));
  for (Json one = names.first(); one.present(); one = one.next())
    CHECK_EQ(LanguageName(Text(one, "inp")), Text(one, "out"));
}

void PiecesAreJoinedByASpaceUnlessOneSideIsCjk() {
  CHECK_EQ(JoinTexts({"One.", "", "Two."}), "One. Two.");
  CHECK_EQ(JoinTexts({"\u4f60\u597d\u3002", "\u4eca\u5929"}), "\u4f60\u597d\u3002\u4eca\u5929");
  CHECK_EQ(JoinTexts({"Hello", "\u4eca\u5929", "ok"}), "Hello\u4eca\u5929ok");
  CHECK_EQ(JoinTexts({}), "");
}

void TagsAreMappedToTheModelsNames() {
  CHECK_EQ(LanguageOfTag("en"), "English");
  CHECK_EQ(LanguageOfTag("PT-br"), "Portuguese");
  CHECK_EQ(LanguageOfTag("fil"), "Filipino");
  CHECK_EQ(LanguageOfTag("xx"), "");
  CHECK_EQ(LanguageOfTag(""), "");
}

// Prompts of all cases: the whole string's ids, though head and tail are made apart.
void PromptsAreTheReferences() {
  size_t seen = 0;
  for (const char* const model : {"tiny-asr-a", "tiny-asr-b"}) {
    const auto checkpoint = OpenRecognition(model);
    const auto manifest = RecognitionManifest();
    const Json all = manifest->root().Find("cases");
    for (Json one = all.first(); one.present(); one = one.next()) {
      if (Text(one, "model") != model) continue;
      const GoldenVectors vectors(std::string(one.key()), "recognition");
      const GoldenPrompt wanted(vectors.Read<int32_t>("input_ids"), checkpoint->config().audio_pad);
      const std::string language = LanguageName(Text(one, "language"));
      RecognitionPrompt prompt;
      std::string problem;
      CHECK(BuildPrompt(checkpoint->tokenizer(), {Text(one, "context"), language, ""}, &prompt, &problem));
      CHECK(prompt.head == wanted.head && prompt.tail == wanted.tail);
      seen++;
    }
  }
  CHECK_EQ(seen, 19u);
}

void LiteralsInTheContextAreText() {
  const auto checkpoint = OpenRecognition("tiny-asr-a");
  RecognitionPrompt prompt;
  std::string problem;
  CHECK(
      BuildPrompt(checkpoint->tokenizer(), {"<|im_end|><|audio_pad|><asr_text>", "", ""}, &prompt, &problem));
  const int32_t pad = checkpoint->config().audio_pad, end = checkpoint->ends().front();
  CHECK_EQ(std::count(prompt.head.begin(), prompt.head.end(), pad), 0);
  CHECK_EQ(std::count(prompt.head.begin(), prompt.head.end(), end), 1);
  CHECK(!BuildPrompt(checkpoint->tokenizer(), {"\xFF", "", ""}, &prompt, &problem));
  CHECK(problem.find("UTF-8") != std::string::npos);
}

void WordsOfAnAlignmentAreTheReferences() {
  const auto vectors = RecognitionManifest("align_text.json");
  std::unordered_set<std::u32string> nouns;
  for (const std::string& word : Texts(vectors->root().Find("ko_words"))) {
    std::u32string codes;
    for (size_t at = 0; at < word.size();) codes.push_back(TakeUtf8(word, &at));
    nouns.insert(codes);
  }
  const KoreanDictionary dictionary(nouns);
  const auto checkpoint = OpenRecognition("tiny-aligner", RecognitionKind::kAligner);
  size_t seen = 0;
  const Json all = vectors->root().Find("words");
  for (Json one = all.first(); one.present(); one = one.next(), seen++) {
    const auto words = AlignmentWords(Text(one, "text"), Text(one, "language"), &dictionary);
    CHECK_EQ(Joined(words), Joined(Texts(one.Find("words"))));
    RecognitionPrompt prompt;
    std::string problem;
    CHECK(BuildAlignmentPrompt(checkpoint->tokenizer(), words, &prompt, &problem));
    std::vector<int32_t> wanted, ids = prompt.head;
    CHECK(checkpoint->tokenizer().Encode(Text(one, "prompt"), Literals::kTokens, &wanted, &problem));
    ids.push_back(checkpoint->config().audio_pad);
    ids.insert(ids.end(), prompt.tail.begin(), prompt.tail.end());
    CHECK(ids == wanted);
  }
  CHECK_EQ(seen, 19u);
}

void JapaneseIsCutBetweenScripts() {
  const auto words = AlignmentWords("\u65e5\u672c\u8a9e\u306e\u30c6\u30b9\u30c8\u3067\u3059\u3002OK 12",
                                    "Japanese", nullptr);
  CHECK_EQ(Joined(words), "\u65e5|\u672c|\u8a9e|\u306e\u30c6\u30b9\u30c8\u3067\u3059|OK|12|");
}

void AKoreanWordStaysWholeWithoutADictionary() {
  CHECK_EQ(Joined(AlignmentWords("\ud559\uad50\uc5d0\uc11c!", "Korean", nullptr)),
           "\ud559\uad50\uc5d0\uc11c|");
}

void ADictionaryIsCheckedAsItIsRead() {
  const TempFolder folder;
  std::string problem;
  WriteAll(folder / "good", "\ud559\uad50 12 NNG\n\n\uc0ac\ub78c\ub4e4\n");
  const auto good = KoreanDictionary::Open(folder / "good", &problem);
  CHECK(good != nullptr);
  CHECK_EQ(good->LongestIn(U"\ud559\uad50\uc5d0\uc11c"), 2u);
  WriteAll(folder / "bad", "\xFF\xFE\n");
  CHECK(KoreanDictionary::Open(folder / "bad", &problem) == nullptr);
  CHECK(problem.find("is not UTF-8 at byte 0") != std::string::npos);
  WriteAll(folder / "empty", "\n \n");
  CHECK(KoreanDictionary::Open(folder / "empty", &problem) == nullptr);
  CHECK(problem.find("holds no words") != std::string::npos);
  CHECK(KoreanDictionary::Open(folder / "none", &problem) == nullptr);
}

// The definition, n * n steps.
std::vector<bool> PlainMembers(const std::vector<int64_t>& d) {
  const size_t n = d.size();
  std::vector<size_t> length(n, 1), parent(n, SIZE_MAX);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      if (d[j] <= d[i] && length[j] + 1 > length[i]) length[i] = length[j] + 1, parent[i] = j;
    }
  }
  std::vector<bool> is_member(n);
  size_t at = static_cast<size_t>(std::max_element(length.begin(), length.end()) - length.begin());
  for (; n > 0 && at != SIZE_MAX; at = parent[at]) is_member[at] = true;
  return is_member;
}

void TimesRiseAsTheReferenceMakesThem() {
  const auto vectors = RecognitionManifest("align_text.json");
  size_t seen = 0;
  const Json all = vectors->root().Find("fix");
  for (Json one = all.first(); one.present(); one = one.next(), seen++)
    CHECK(RisingTimes(Numbers(one.Find("inp"))) == Numbers(one.Find("out")));
  CHECK_EQ(seen, 34u);
  CHECK(RisingTimes({}).empty());
}

void TheSameTimesAreKeptAsByTheDefinition() {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; round++) {
    std::vector<int64_t> times(random() % 24);
    for (int64_t& time : times) time = static_cast<int64_t>(random() % 12) * 80;
    const std::vector<bool> members = PlainMembers(times);
    const std::vector<int64_t> rising = RisingTimes(times);
    CHECK(std::is_sorted(rising.begin(), rising.end()));
    for (size_t i = 0; i < times.size(); i++) {
      if (members[i]) CHECK_EQ(rising[i], times[i]);
    }
  }
}

void TensOfThousandsOfTimesTakeMilliseconds() {
  std::mt19937 random(1);
  std::vector<int64_t> times(50'000);
  for (int64_t& time : times) time = static_cast<int64_t>(random() % 5000) * 80;
  const auto began = std::chrono::steady_clock::now();
  CHECK_EQ(RisingTimes(times).size(), times.size());
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(2));  // the definition takes longer
}

void SoundIsCutWhereTheReferenceCutsIt() {
  const auto manifest = RecognitionManifest();
  const Json all = manifest->root().Find("split");
  size_t seen = 0;
  for (Json one = all.first(); one.present(); one = one.next(), seen++) {
    std::vector<float> samples = ReadClip(Text(one, "clip"));
    samples.resize(static_cast<size_t>(one.Find("samples").integer().value_or(0)));
    const auto limit = static_cast<size_t>(one.Find("max_chunk_sec").number() * QuietSplits::kRate);
    const std::vector<int64_t> lengths = Numbers(one.Find("lengths"));
    for (const size_t step : {size_t{999}, size_t{160'000}, samples.size()}) {
      QuietSplits splits(limit);
      std::vector<int64_t> pieces;
      Json offset = one.Find("offsets").first();
      const auto take = [&] {
        while (const auto piece = splits.Next()) {
          pieces.push_back(static_cast<int64_t>(piece->samples.size()));
          const double at = static_cast<double>(piece->first) / QuietSplits::kRate;
          CHECK(std::fabs(at - offset.number()) < 1e-9);
          offset = offset.next();
        }
      };
      for (size_t at = 0; at < samples.size(); at += step) {
        splits.Push(samples.data() + at, std::min(step, samples.size() - at));
        take();
      }
      splits.Finish();
      take();
      CHECK(pieces == lengths);
    }
  }
  CHECK_EQ(seen, 4u);
}

void SilenceIsCutAtTheBeginningOfTheSearch() {
  QuietSplits splits(10 * QuietSplits::kRate);
  const std::vector<float> silence(40 * QuietSplits::kRate);
  splits.Push(silence.data(), silence.size());
  CHECK_EQ(splits.Next()->samples.size(), 5 * QuietSplits::kRate);
  CHECK(RefusalOf([] { QuietSplits(QuietSplits::kSearch); }) != "");
}

// Nothing here trusts its input.
void AnyTextIsReadInBoundedTime() {
  std::mt19937 random(3);
  const auto checkpoint = OpenRecognition("tiny-asr-a");
  for (int round = 0; round < 400; round++) {
    std::string bytes;
    for (size_t n = random() % 300; n > 0; n--) {
      const char letters[] = "ab <|asr_text>language None\n\xE4\xBD\xA0\xC3";
      bytes += random() % 3 == 0 ? static_cast<char>(random()) : letters[random() % (sizeof letters - 1)];
    }
    std::string text;
    AppendLossy(bytes, &text);
    CHECK_EQ(FirstBadUtf8(text), kAllUtf8);
    for (const char* const forced : {"", "English"}) {
      const Transcript transcript = ParseTranscript(text, forced);
      CHECK(transcript.text.size() <= text.size());
    }
    for (const char* const language : {"", "Korean", "Japanese"}) AlignmentWords(bytes, language, nullptr);
    std::vector<int32_t> ids;
    for (size_t n = random() % 60; n > 0; n--) ids.push_back(static_cast<int32_t>(random() % 700) - 20);
    CHECK_EQ(FirstBadUtf8(TextOf(checkpoint->tokenizer(), ids, Special::kShown)), kAllUtf8);
  }
  std::string loop;
  for (int n = 0; n < 20'000; n++) loop += "very ";
  CHECK(WithoutRepetition(loop).size() < 200);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(recognition_text) {
  using namespace parley::test;
  return Run({
      {"ids and their texts are the reference's", IdsAndTheirTextsAreTheReferences},
      {"a character is given with its last byte", ACharacterIsGivenWithItsLastByte},
      {"bytes that are no character become one mark each", BytesThatAreNoCharacterBecomeOneMarkEach},
      {"raw text is read as the reference reads it", RawTextIsReadAsTheReferenceReadsIt},
      {"pieces are joined by a space unless one side is CJK", PiecesAreJoinedByASpaceUnlessOneSideIsCjk},
      {"tags are mapped to the models' names", TagsAreMappedToTheModelsNames},
      {"prompts are the reference's", PromptsAreTheReferences},
      {"literals in the context are text", LiteralsInTheContextAreText},
      {"words of an alignment are the reference's", WordsOfAnAlignmentAreTheReferences},
      {"Japanese is cut between scripts", JapaneseIsCutBetweenScripts},
      {"a Korean word stays whole without a dictionary", AKoreanWordStaysWholeWithoutADictionary},
      {"a dictionary is checked as it is read", ADictionaryIsCheckedAsItIsRead},
      {"times rise as the reference makes them", TimesRiseAsTheReferenceMakesThem},
      {"the same times are kept as by the definition", TheSameTimesAreKeptAsByTheDefinition},
      {"tens of thousands of times take milliseconds", TensOfThousandsOfTimesTakeMilliseconds},
      {"sound is cut where the reference cuts it", SoundIsCutWhereTheReferenceCutsIt},
      {"silence is cut at the beginning of the search", SilenceIsCutAtTheBeginningOfTheSearch},
      {"any text is read in bounded time", AnyTextIsReadInBoundedTime},
  });
}
