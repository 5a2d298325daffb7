// Checks voices by example and the voice store: they are encoded between the frames of other streams, once
// for all requests, and dropped when their memory is needed.
#include "runtime/voice_store.h"
#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {
namespace {

void ARecordingIsEncodedBetweenTheFramesOfOthers() {
  Desk desk;
  const auto other = Sink(), sink = Sink();
  desk.Start("other", other);
  desk.Rounds(1);
  desk.StartVoice("a frames=2", "alice", sink);
  CHECK_EQ(desk.Rounds(1), "voice alice; step other");
  CHECK_EQ(desk.Rounds(1), "voice alice; step other; decode other:2");
  CHECK_EQ(desk.Rounds(1), "voice alice; read a; begin a:65; prefill a:4; step other a; decode a:1");
  CHECK_EQ(desk.stats().voices, size_t{1});
}

void AVoiceIsEncodedOnceForAllWhoWantIt() {
  Desk desk;
  const auto a = Sink(), b = Sink(), c = Sink();
  desk.StartVoice("a frames=1", "alice", a);
  desk.StartVoice("b frames=1", "alice", b);
  desk.Rounds(2);
  CHECK_EQ(desk.Rounds(1),
           "voice alice; read a; read b; begin a:65; begin b:65; prefill a:4 b:4; step a b; decode a:1 b:1");
  desk.ToIdle();
  desk.StartVoice("c frames=1", "alice", c);
  CHECK_EQ(desk.Rounds(1), "read c; begin c:65; prefill c:4; step c; decode c:1");
}

void AVoiceThatIsReadyDoesNotWaitForAnother() {
  Desk desk;
  desk.StartVoice("a frames=1", "alice", Sink());
  desk.ToIdle();
  desk.StartVoice("b frames=1", "bob", Sink());
  desk.StartVoice("c frames=1", "alice", Sink());
  CHECK_EQ(desk.Rounds(1), "voice bob; read c; begin c:65; prefill c:4; step c; decode c:1");
}

void OneRecordingIsWorkedOnAtATime() {
  Desk desk;
  desk.StartVoice("a frames=1", "alice", Sink());
  desk.StartVoice("b frames=1", "bob", Sink());
  CHECK_EQ(desk.Rounds(1), "voice alice");
  CHECK_EQ(desk.Rounds(1), "voice alice");
  desk.Rounds(1);
  CHECK_EQ(desk.Rounds(1).substr(0, 9), "voice bob");
}

void ARecordingThatCannotBeUsedIsABadRequest() {
  Desk desk;
  desk.model.bad_voices = {"noise"};
  const auto sink = Sink(), good = Sink();
  desk.StartVoice("a", "noise", sink);
  desk.StartVoice("b frames=1", "alice", good);
  desk.ToIdle();
  CHECK_EQ(sink->EndText() + "/" + sink->end.problem, "bad request/a bad recording");
  CHECK_EQ(good->EndText(), "done");
}

void MemoryThatRunsOutWhileEncodingEndsThatRequestAlone() {
  Desk desk;
  const auto sink = Sink(), other = Sink();
  desk.Start("other frames=5", other);
  desk.StartVoice("a", "memory", sink);
  desk.ToIdle();
  CHECK_EQ(sink->EndText() + other->EndText(), "out of memorydone");
}

void ARequestThatWaitsForItsVoiceCanBeCancelled() {
  Desk desk;
  const auto sink = Sink();
  const StreamId id = desk.StartVoice("a", "alice", sink);
  desk.Rounds(1);
  desk.mailbox.Cancel(id);
  CHECK_EQ(desk.ToIdle(), "drop");
  CHECK_EQ(sink->EndText(), "cancelled");
}

// A voice takes 100, a stream its prompt and its tokens.
void AVoiceThatNobodyUsesMakesRoom() {
  Desk desk(WithMemory(300));
  desk.StartVoice("a frames=1", "alice", Sink());
  desk.ToIdle();
  desk.StartVoice("b frames=1", "bob", Sink());
  desk.ToIdle();
  CHECK_EQ(desk.stats().memory_in_use, size_t{200});
  SpeechRequest request;
  request.max_new_tokens = 116;
  const auto sink = Sink();
  desk.Start("c frames=1", sink, request);
  desk.ToIdle();
  CHECK_EQ(sink->EndText(), "done");
  CHECK_EQ(desk.stats().voices, size_t{1});
  // The one that was used last is still here.
  desk.StartVoice("d frames=1", "bob", Sink());
  CHECK_EQ(desk.Rounds(1).substr(0, 6), "read d");
}

void AVoiceThatIsSpokenWithIsNotForgotten() {
  Desk desk(WithMemory(300));
  const auto parked = Sink(1), waiting = Sink();
  const StreamId first = desk.StartVoice("a", "alice", parked);
  desk.ToIdle();
  CHECK_EQ(desk.stats().memory_in_use, size_t{169});
  SpeechRequest request;
  request.max_new_tokens = 150;
  desk.Start("b frames=1", waiting, request);
  desk.ToIdle();
  CHECK_EQ(waiting->EndText(), "not ended");
  CHECK_EQ(desk.stats().voices, size_t{1});
  desk.mailbox.Cancel(first);
  desk.ToIdle();
  CHECK_EQ(waiting->EndText(), "done");
}

void EncodingTakesMemoryToo() {
  Desk desk(WithMemory(300));
  desk.model.voice_work_bytes = 301;
  const auto sink = Sink();
  desk.StartVoice("a", "alice", sink);
  desk.ToIdle();
  CHECK_EQ(sink->EndText() + "/" + sink->end.problem,
           "too large/it takes 301 bytes of memory; 300 are the most");

  desk.model.voice_work_bytes = 250;
  const auto parked = Sink(1), later = Sink();
  const StreamId id = desk.Start("b", parked);
  desk.ToIdle();
  desk.StartVoice("c frames=1", "alice", later);
  CHECK_EQ(desk.ToIdle(), "");  // 69 are taken
  desk.mailbox.Cancel(id);
  desk.ToIdle();
  CHECK_EQ(later->EndText(), "done");
}

// --- the voice store: which voices it evicts, which it keeps, and which stay in use

using runtime::Voice;
using runtime::VoiceStore;

std::shared_ptr<Voice> VoiceOf(size_t bytes) {
  auto voice = std::make_shared<Voice>();
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
  store.Keep("b", VoiceOf(4));
  CHECK(store.Find("a") == nullptr);
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

void WhatIsAddedToAVoiceCounts() {
  VoiceStore store(1);
  store.Keep("a", VoiceOf(1));
  store.Find("a")->bytes += 100;
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
}  // namespace parley::test

TEST_GROUP(runtime_voices) {
  using namespace parley::test;
  return Run({
      {"a recording is encoded between the frames of others", ARecordingIsEncodedBetweenTheFramesOfOthers},
      {"a voice is encoded once for all who want it", AVoiceIsEncodedOnceForAllWhoWantIt},
      {"a voice that is ready does not wait for another", AVoiceThatIsReadyDoesNotWaitForAnother},
      {"one recording is worked on at a time", OneRecordingIsWorkedOnAtATime},
      {"a recording that cannot be used is a bad request", ARecordingThatCannotBeUsedIsABadRequest},
      {"memory that runs out while encoding ends that request alone",
       MemoryThatRunsOutWhileEncodingEndsThatRequestAlone},
      {"a request that waits for its voice can be cancelled", ARequestThatWaitsForItsVoiceCanBeCancelled},
      {"a voice that nobody uses makes room", AVoiceThatNobodyUsesMakesRoom},
      {"a voice that is spoken with is not forgotten", AVoiceThatIsSpokenWithIsNotForgotten},
      {"encoding takes memory too", EncodingTakesMemoryToo},
      {"a voice is found by its hash", AVoiceIsFoundByItsHash},
      {"the longest unused goes first", TheLongestUnusedGoesFirst},
      {"a voice that is spoken with outlives its place", AVoiceThatIsSpokenWithOutlivesItsPlace},
      {"a voice that nobody speaks with is freed with its place",
       AVoiceThatNobodySpeaksWithIsFreedWithItsPlace},
      {"the same hash takes the place of what was there", TheSameHashTakesThePlaceOfWhatWasThere},
      {"room is made of voices that nobody speaks with", RoomIsMadeOfVoicesThatNobodySpeaksWith},
      {"what is added to a voice counts", WhatIsAddedToAVoiceCounts},
      {"where nothing is kept nothing is found", WhereNothingIsKeptNothingIsFound},
  });
}
