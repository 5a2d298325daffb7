// Loops of ids, echoes of the context, copies of the last utterance, and sound that cannot hold speech.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "model/recognition/runaway.h"
#include "model/recognition/speech_energy.h"
#include "test/check.h"
#include "test/random_text.h"

namespace parley {
namespace {

using namespace model;

// "after 32 keep 1": the ids pushed when the loop is reported, and the length to keep.
std::string LoopIn(const std::vector<int32_t>& ids) {
  LoopGuard guard;
  for (size_t n = 0; n < ids.size(); n++) {
    if (const auto loop = guard.Push(ids[n])) {
      CHECK(loop->kind == RunawayKind::kRepetition);
      return "after " + std::to_string(n + 1) + " keep " + std::to_string(loop->keep);
    }
  }
  return "";
}

// `before` different ids, and a unit so often.
std::vector<int32_t> Ids(size_t before, size_t unit, size_t times) {
  std::vector<int32_t> ids;
  for (size_t n = 0; n < before; n++) ids.push_back(static_cast<int32_t>(1'000 + n));
  for (size_t time = 0; time < times; time++) {
    for (size_t n = 0; n < unit; n++) ids.push_back(static_cast<int32_t>(n));
  }
  return ids;
}

void LoopsAreReportedAsSoonAsTheyAreSeen() {
  CHECK_EQ(LoopIn(Ids(0, 1, 40)), "after 32 keep 1");
  CHECK_EQ(LoopIn(Ids(5, 1, 40)), "after 37 keep 6");
  CHECK_EQ(LoopIn(Ids(0, 2, 40)), "after 32 keep 2");
  CHECK_EQ(LoopIn(Ids(7, 3, 40)), "after 55 keep 10");
  CHECK_EQ(LoopIn(Ids(30, 20, 40)), "after 350 keep 50");
}

void LessThanALoopIsSpeech() {
  CHECK_EQ(LoopIn({}), "");
  CHECK_EQ(LoopIn(Ids(3, 1, 31)), "");
  CHECK_EQ(LoopIn(Ids(3, 2, 15)), "");  // "0 0 0 0 ...", a space and a digit
  CHECK_EQ(LoopIn(Ids(3, 20, 15)), "");
  CHECK_EQ(LoopIn(Ids(0, 21, 40)), "");  // longer than the longest unit
  std::vector<int32_t> interrupted = Ids(0, 1, 31);
  interrupted.push_back(9);
  interrupted.insert(interrupted.end(), 31, 0);
  CHECK_EQ(LoopIn(interrupted), "");
}

// The definition, from all ids.
std::string SlowLoopIn(const std::vector<int32_t>& ids) {
  for (size_t end = 1; end <= ids.size(); end++) {
    for (size_t unit = 1; unit <= 20; unit++) {
      size_t from = end;
      while (from > unit && ids[from - 1] == ids[from - 1 - unit]) from--;
      const size_t looped = from < end ? end - from + unit : 0;
      if (looped >= 32 && looped / unit >= 16)
        return "after " + std::to_string(end) + " keep " + std::to_string(from);
    }
  }
  return "";
}

void RandomIdsLoopByTheDefinition() {
  std::mt19937_64 random(11);
  size_t loops = 0;
  for (int round = 0; round < 1'000; round++) {
    std::vector<int32_t> ids;
    while (random() % 5 != 0) {
      std::vector<int32_t> unit;
      for (size_t n = 1 + random() % 22; n > 0; n--) unit.push_back(static_cast<int32_t>(random() % 3));
      for (size_t n = 1 + random() % 20; n > 0; n--) ids.insert(ids.end(), unit.begin(), unit.end());
    }
    const std::string wanted = SlowLoopIn(ids);
    CHECK_EQ(LoopIn(ids), wanted);
    loops += wanted.empty() ? 0 : 1;
  }
  CHECK(loops > 100 && loops < 900);
}

// "context_echo 12": the kind and the length to keep.
std::string EchoIn(std::string_view text, std::string_view context, std::string_view last, double seconds,
                   bool has_speech = true) {
  const auto echo = FindEcho(text, context, last, {seconds, has_speech});
  return echo ? RunawayName(echo->kind) + (" " + std::to_string(echo->keep)) : "";
}

const char* const kHotWords =
    "Parley, Kestrel, Łazydóg, opus, telephone, trunk, codec, jitter, Reynard, turn";

void HotWordsThatNobodyCanHaveSaidAreAnEcho() {
  const char* const text = "Kestrel, Parley, opus, Łazydóg, trunk, telephone, jitter, codec, turn";
  CHECK_EQ(EchoIn(text, kHotWords, "", 1.0), "context_echo 0");
  CHECK_EQ(EchoIn(text, kHotWords, "", 3.0), "");
  CHECK_EQ(EchoIn(text, "other words", "", 1.0), "");
  CHECK_EQ(EchoIn("opus trunk", kHotWords, "", 0.2), "context_echo 0");  // two words in 0.2 s
  CHECK_EQ(EchoIn("opus trunk", kHotWords, "", 0.4), "");
}

void WordsInFrontOfAnEchoAreKept() {
  CHECK_EQ(EchoIn("Yes please. Parley, Kestrel, Łazydóg, opus, telephone", kHotWords, "", 0.5),
           "context_echo 12");
  CHECK_EQ(EchoIn("Yes I want the trunk", kHotWords, "", 0.5), "");  // one word of the context
}

void WithoutSpeechSixWordsOfTheContextAreAnEcho() {
  const char* const context = "The caller wants to move her appointment to Friday.";
  CHECK_EQ(EchoIn("wants to move her appointment to", context, "", 10, false), "context_echo 0");
  CHECK_EQ(EchoIn("Well, caller wants to MOVE her appointment.", context, "", 10, false), "context_echo 6");
  CHECK_EQ(EchoIn("wants to move her appointment", context, "", 10, false), "");
  CHECK_EQ(EchoIn("appointment her move to wants Friday", context, "", 10, false), "");
  CHECK_EQ(EchoIn("wants to move her appointment to", context, "", 10, true), "");
}

void TheLastUtteranceAgainIsACopy() {
  const char* const last = "My number is four eight one five.";
  CHECK_EQ(EchoIn("My number is four", "", last, 0.3), "copy 0");
  CHECK_EQ(EchoIn("number is four eight", "", last, 5, false), "copy 0");
  CHECK_EQ(EchoIn("So: is four eight one", "", last, 0.3), "copy 4");
  CHECK_EQ(EchoIn("number is four", "", last, 0.1), "");
  CHECK_EQ(EchoIn("My number is four eight one five.", "", last, 3), "");  // said twice
}

void IdeographsAndKanaCountAsWords() {
  const char* const context = "今天天气很好，我们去公园散步吧。";
  CHECK_EQ(EchoIn("今天天气很好我们去", context, "", 1.0), "context_echo 0");
  CHECK_EQ(EchoIn("今天天气很好我们去", context, "", 1.2), "");
  CHECK_EQ(EchoIn("天气很好我们", context, "", 9, false), "context_echo 0");
  CHECK_EQ(EchoIn("不，公园散步", "", context, 0.2), "copy 6");
  CHECK_EQ(EchoIn("さんぽに", "", "あさ、さんぽに", 0.2), "copy 0");
}

void SoundWithoutALengthExplainsNothing() {
  for (const double seconds : {0.0, -1.0, static_cast<double>(NAN)})
    CHECK_EQ(EchoIn("opus trunk", kHotWords, "", seconds), "context_echo 0");
  CHECK_EQ(EchoIn("", kHotWords, kHotWords, 0), "");
  CHECK_EQ(EchoIn("...", kHotWords, kHotWords, 0, false), "");
  CHECK_EQ(EchoIn("opus trunk", "", "", 0, false), "");
}

void RandomTextsStayWithinTheirBounds() {
  std::mt19937_64 random(12);
  size_t found = 0;
  for (int round = 0; round < 5'000; round++) {
    const std::string context = test::RandomText(random, 20), last = test::RandomText(random, 20);
    std::string text = test::RandomText(random, 10);
    if (random() % 2 == 0) text += random() % 2 == 0 ? context : last;
    const auto echo = FindEcho(text, context, last, {static_cast<double>(random() % 4), random() % 2 == 0});
    if (!echo) continue;
    found++;
    CHECK(echo->keep < text.size());
    CHECK((static_cast<unsigned char>(text[echo->keep]) & 0xC0) != 0x80);  // a character begins here
  }
  CHECK(found > 200);
}

void HugeTextsTakeLinearTime() {
  const auto began = std::chrono::steady_clock::now();
  std::string same, mixed;
  for (int n = 0; n < 300'000; n++) same += "a ", mixed += n % 1'000 == 999 ? "b " : "a ";
  CHECK_EQ(EchoIn(same, mixed, mixed, 1, false), "context_echo " + std::to_string(2 * (300'000 - 999)));
  CHECK_EQ(EchoIn(same + "c", mixed, mixed, 1e9), "");
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
}

// Appends so many milliseconds of noise at a level in dB of full scale.
void AddNoise(std::vector<float>* samples, int milliseconds, double level) {
  const auto amplitude = static_cast<float>(std::sqrt(3.0) * std::pow(10, level / 20));
  auto state = static_cast<uint32_t>(samples->size()) + 1;
  for (int n = 0; n < milliseconds * 16; n++) {
    state = state * 1664525 + 1013904223;
    samples->push_back((static_cast<float>(state >> 8) / (1 << 23) - 1) * amplitude);
  }
}

// Each sound is a row of stretches: milliseconds, and the level in dB.
void OnlySoundThatRisesAboveItsFloorCanHoldSpeech() {
  const struct {
    std::vector<std::pair<int, double>> stretches;
    bool has_speech;
  } sounds[] = {
      {{}, false},
      {{{3000, -300}}, false},                           // silence
      {{{3000, -20}}, false},                            // steady noise, however loud
      {{{1500, -50}, {500, -44}, {1000, -50}}, false},   // noise that rises a little
      {{{1500, -70}, {60, -20}, {1500, -70}}, false},    // a click
      {{{1500, -300}, {500, -60}, {500, -300}}, false},  // too quiet
      {{{1500, -70}, {200, -20}, {1500, -70}}, true},    // a short word
      {{{300, -300}, {900, -50}, {300, -300}}, true},    // quiet speech in digital silence
      {{{100, -45}, {700, -18}, {60, -40}, {700, -20}, {300, -45}}, true},
  };
  for (const auto& sound : sounds) {
    std::vector<float> samples;
    for (const auto& [milliseconds, level] : sound.stretches) AddNoise(&samples, milliseconds, level);
    model::SpeechEnergy whole, pieces;
    whole.Push(samples.data(), samples.size());
    for (size_t at = 0; at < samples.size(); at += 777)
      pieces.Push(samples.data() + at, std::min<size_t>(777, samples.size() - at));
    CHECK_EQ(whole.HasSpeech(), sound.has_speech);
    CHECK_EQ(pieces.HasSpeech(), sound.has_speech);
  }
}

}  // namespace
}  // namespace parley

TEST_GROUP(recognition_runaway) {
  return parley::test::Run({
      {"loops are reported as soon as they are seen", parley::LoopsAreReportedAsSoonAsTheyAreSeen},
      {"less than a loop is speech", parley::LessThanALoopIsSpeech},
      {"random ids loop by the definition", parley::RandomIdsLoopByTheDefinition},
      {"hot words that nobody can have said are an echo", parley::HotWordsThatNobodyCanHaveSaidAreAnEcho},
      {"words in front of an echo are kept", parley::WordsInFrontOfAnEchoAreKept},
      {"without speech six words of the context are an echo",
       parley::WithoutSpeechSixWordsOfTheContextAreAnEcho},
      {"the last utterance again is a copy", parley::TheLastUtteranceAgainIsACopy},
      {"ideographs and kana count as words", parley::IdeographsAndKanaCountAsWords},
      {"sound without a length explains nothing", parley::SoundWithoutALengthExplainsNothing},
      {"random texts stay within their bounds", parley::RandomTextsStayWithinTheirBounds},
      {"only sound that rises above its floor can hold speech",
       parley::OnlySoundThatRisesAboveItsFloorCanHoldSpeech},
      {"huge texts take linear time", parley::HugeTextsTakeLinearTime},
  });
}
