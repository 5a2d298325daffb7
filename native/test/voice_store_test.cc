// Voices that are kept ready: which go, which stay, and who still holds what went.
#include "runtime/voice_store.h"

#include "test/check.h"

namespace parley {
namespace {

using runtime::Voice;
using runtime::VoiceStore;

std::shared_ptr<Voice> VoiceOf(size_t bytes) {
  auto voice = std::make_shared<Voice>();
  auto prompt = std::make_shared<model::VoicePrompt>();
  prompt->speaker.assign(bytes, 0.5f);
  voice->prompt = prompt;
  voice->bytes = bytes;
  return voice;
}

void AVoiceIsFoundByItsHash() {
  VoiceStore store(2);
  const auto voice = VoiceOf(10);
  store.Keep("a", voice);
  CHECK(store.Find("a") == voice);
  CHECK(store.Find("b") == nullptr);
  CHECK_EQ(store.size(), size_t{1});
  CHECK_EQ(store.Bytes(), size_t{10});
}

void TheLongestUnusedGoesFirst() {
  VoiceStore store(3);
  for (const char* hash : {"a", "b", "c"}) store.Keep(hash, VoiceOf(1));
  CHECK(store.Find("a") != nullptr);
  store.Keep("d", VoiceOf(1));
  CHECK(store.Find("b") == nullptr);
  store.Keep("e", VoiceOf(1));
  CHECK(store.Find("c") == nullptr);
  for (const char* hash : {"a", "d", "e"}) CHECK(store.Find(hash) != nullptr);
  CHECK_EQ(store.size(), size_t{3});
}

void AVoiceThatIsSpokenWithOutlivesItsPlace() {
  VoiceStore store(1);
  store.Keep("a", VoiceOf(4));
  auto spoken = store.Find("a");
  const std::weak_ptr<const model::VoicePrompt> prompt = spoken->prompt;
  store.Keep("b", VoiceOf(4));
  CHECK(store.Find("a") == nullptr);
  CHECK(!prompt.expired());
  CHECK_EQ(spoken->prompt->speaker.size(), size_t{4});
  CHECK_EQ(store.Bytes(), size_t{8});
  spoken.reset();
  CHECK_EQ(store.Bytes(), size_t{4});
}

void AVoiceThatNobodySpeaksWithIsFreedWithItsPlace() {
  VoiceStore store(1);
  store.Keep("a", VoiceOf(4));
  const std::weak_ptr<Voice> voice = store.Find("a");
  store.Keep("b", VoiceOf(4));
  CHECK(voice.expired());
}

void TheSameHashTakesThePlaceOfWhatWasThere() {
  VoiceStore store(2);
  store.Keep("a", VoiceOf(1));
  store.Keep("b", VoiceOf(1));
  const auto newer = VoiceOf(7);
  store.Keep("a", newer);
  CHECK(store.Find("a") == newer);
  CHECK(store.Find("b") != nullptr);
  CHECK_EQ(store.size(), size_t{2});
  CHECK_EQ(store.Bytes(), size_t{8});
}

void RoomIsMadeOfVoicesThatNobodySpeaksWith() {
  VoiceStore store(4);
  for (const char* hash : {"a", "b", "c", "d"}) store.Keep(hash, VoiceOf(10));
  const auto spoken = store.Find("b");
  CHECK(store.Find("a") != nullptr);  // the last used one; now c, d, b, a
  CHECK_EQ(store.MakeRoom(0), size_t{0});
  CHECK_EQ(store.MakeRoom(11), size_t{20});
  CHECK(store.Find("c") == nullptr && store.Find("d") == nullptr);
  CHECK_EQ(store.MakeRoom(1000), size_t{10});
  CHECK(store.Find("a") == nullptr);
  CHECK(store.Find("b") == spoken);
  CHECK_EQ(store.Bytes(), size_t{10});
}

void PrefixesAreSharedByWhoeverHoldsTheVoice() {
  VoiceStore store(1);
  store.Keep("a", VoiceOf(1));
  const auto first = store.Find("a");
  const auto prefix =
      std::make_shared<const model::PromptPrefix>(std::vector<model::PromptRow>(9), nullptr, nullptr);
  first->prefixes["english"] = prefix;
  first->bytes += 100;
  CHECK_EQ(store.Find("a")->prefixes.at("english")->rows(), size_t{9});
  CHECK_EQ(store.Bytes(), size_t{101});
}

void WhereNothingIsKeptNothingIsFound() {
  VoiceStore none(0);
  none.Keep("a", VoiceOf(1));
  CHECK(none.Find("a") == nullptr);
  CHECK_EQ(none.Bytes(), size_t{0});
  VoiceStore store(2);
  store.Keep("a", VoiceOf(1));
  store.Clear();
  CHECK(store.Find("a") == nullptr);
  CHECK_EQ(store.size(), size_t{0});
  store.Keep("a", VoiceOf(1));
  CHECK(store.Find("a") != nullptr);
}

}  // namespace
}  // namespace parley

TEST_GROUP(voice_store) {
  return parley::test::Run({
      {"a voice is found by its hash", parley::AVoiceIsFoundByItsHash},
      {"the longest unused goes first", parley::TheLongestUnusedGoesFirst},
      {"a voice that is spoken with outlives its place", parley::AVoiceThatIsSpokenWithOutlivesItsPlace},
      {"a voice that nobody speaks with is freed with its place",
       parley::AVoiceThatNobodySpeaksWithIsFreedWithItsPlace},
      {"the same hash takes the place of what was there", parley::TheSameHashTakesThePlaceOfWhatWasThere},
      {"room is made of voices that nobody speaks with", parley::RoomIsMadeOfVoicesThatNobodySpeaksWith},
      {"prefixes are shared by whoever holds the voice", parley::PrefixesAreSharedByWhoeverHoldsTheVoice},
      {"where nothing is kept nothing is found", parley::WhereNothingIsKeptNothingIsFound},
  });
}
