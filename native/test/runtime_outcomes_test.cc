// Checks every way a stream can end: it leaves nothing behind, and all others continue as they were.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {
namespace {

struct Ended {
  std::string outcome, problem;
  uint64_t frames;
};

Ended EndOf(const std::shared_ptr<TestSink>& sink) {
  CHECK(sink->ended);
  CHECK_EQ(sink->late_calls, size_t{0});
  CHECK_EQ(sink->wrong_samples + sink->overruns, size_t{0});
  return {sink->EndText(), sink->end.problem, sink->end.frames};
}

// Nothing of a stream is left, and the next one is served.
void CheckStillServing(Desk& desk) {
  CHECK_EQ(desk.model.bytes_in_use, size_t{0});
  CHECK_EQ(desk.stats().memory_in_use, desk.model.VoiceBytes());
  CHECK_EQ(desk.stats().live + desk.stats().waiting, size_t{0});
  const auto sink = Sink();
  desk.Start("next frames=2", sink);
  desk.ToIdle();
  CHECK_EQ(EndOf(sink).outcome, "done");
  CHECK_EQ(desk.model.bytes_in_use, size_t{0});
}

Ended Spoken(Desk& desk, const std::string& script, SpeechRequest request = {}) {
  const auto sink = Sink();
  desk.Start(script, sink, std::move(request));
  desk.ToIdle();
  const Ended end = EndOf(sink);
  CheckStillServing(desk);
  return end;
}

void AStreamThatTheModelEndsIsDone() {
  Desk desk;
  const Ended end = Spoken(desk, "a frames=7");
  CHECK_EQ(end.outcome + "/" + end.problem, "done/");
  CHECK_EQ(end.frames, uint64_t{7});
  CHECK_EQ(desk.stats().done, uint64_t{2});
}

void ARequestGetsAsManyTokensAsItAskedFor() {
  Desk desk;
  SpeechRequest request;
  request.max_new_tokens = 6;
  const Ended end = Spoken(desk, "a", request);
  CHECK_EQ(end.outcome, "budget");
  CHECK_EQ(end.problem, "no end after 5 frames, the max_new_tokens of the request");
  CHECK_EQ(end.frames, uint64_t{5});
  CHECK_EQ(desk.stats().done, uint64_t{2});
}

void AStreamThatOutlivesItsTextIsARunaway() {
  Desk desk;
  const Ended end = Spoken(desk, "a tokens=10");
  CHECK_EQ(end.outcome, "runaway");
  CHECK_EQ(end.problem, "no end after 184 frames of a text of 10 tokens");
  CHECK_EQ(end.frames, uint64_t{3 * 45 + 50 - 1});
  CHECK_EQ(desk.stats().runaways, uint64_t{1});
}

void TheLanguageSaysHowLongATextCanTake() {
  Desk desk;
  SpeechRequest request;
  request.language = "German";
  CHECK_EQ(Spoken(desk, "a tokens=10", request).frames, uint64_t{3 * 32 + 50 - 1});
}

void ATextThatCameBitByBitIsMeasuredAsAWhole() {
  Desk desk;
  const auto sink = Sink();
  const StreamId id = desk.StartOpen("a words=1", sink);
  desk.mailbox.AddText(id, "1 2 3 4", false);
  desk.ToIdle();
  CHECK(!sink->ended);
  desk.mailbox.AddText(id, "5 6 7 8 9 10", true);
  desk.ToIdle();
  CHECK_EQ(EndOf(sink).outcome, "runaway");
  CHECK_EQ(EndOf(sink).frames, uint64_t{3 * 45 + 50 - 1});
}

void TheEnginesTokensAreALimitThatIsReported() {
  SchedulerOptions options = Usual();
  options.max_new_tokens = 9;
  Desk desk(options);
  const Ended end = Spoken(desk, "a tokens=100");
  CHECK_EQ(end.outcome, "runaway");
  CHECK_EQ(end.problem, "no end after 8 frames, the max_new_tokens of the engine");
}

void TextForWhichThereIsNoRoomEndsAStreamAsTooLarge() {
  Desk desk;
  desk.model.most_positions = 104;
  const auto sink = Sink();
  const StreamId id = desk.StartOpen("a words=1", sink);
  desk.mailbox.AddText(id, "first", false);
  desk.ToIdle();
  for (int n = 1; n < 300; n++) desk.mailbox.AddText(id, "word", false);
  desk.ToIdle();
  const Ended end = EndOf(sink);
  CHECK_EQ(end.outcome, "too large");
  CHECK_EQ(end.problem, "no end after 99 frames of a text of 300 tokens: there is no room for more");
  desk.model.most_positions = 100'000;
  CheckStillServing(desk);
}

void ATextThatIsLongerThanTheModelIsRefused() {
  Desk desk;
  desk.model.most_positions = 1000;
  const Ended end = Spoken(desk, "a tokens=300");
  CHECK_EQ(end.outcome, "too large");
  CHECK_EQ(end.problem, "the text takes about 1350 frames; 996 are the most");
  SpeechRequest request;
  request.max_new_tokens = 997;
  CHECK_EQ(Spoken(desk, "a", request).problem,
           "max_new_tokens is 997; the prompt leaves 996 of 1000 positions");
  CHECK_EQ(desk.stats().refused, uint64_t{2});
}

void ARequestThatTheModelRefusesIsABadOne() {
  Desk desk;
  const Ended end = Spoken(desk, "a refuse");
  CHECK_EQ(end.outcome + "/" + end.problem, "bad request/refused by script");
}

void TextThatCannotBeReadEndsAStream() {
  for (const bool begun : {false, true}) {
    Desk desk;
    const auto sink = Sink();
    const StreamId id = desk.StartOpen("a words=2", sink);
    desk.mailbox.AddText(id, begun ? "one two three" : "one", false);
    desk.ToIdle();
    desk.mailbox.AddText(id, "bad", false);
    desk.ToIdle();
    CHECK_EQ(EndOf(sink).outcome + "/" + EndOf(sink).problem, "bad request/bad text");
    CHECK_EQ(EndOf(sink).frames, begun ? uint64_t{1} : uint64_t{0});
    CHECK_EQ(sink->written, begun ? size_t{80} : size_t{0});
    CheckStillServing(desk);
  }
}

void MemoryThatRunsOutEndsOnlyTheStreamsOfThatCall() {
  struct Case {
    const char* where;
    bool joins_later;  // else both are in every call together
    const char* other;
  };
  for (const Case& one : {Case{"begin", false, "done"}, Case{"prefill", true, "done"},
                          Case{"prefill", false, "out of memory"}, Case{"step", true, "out of memory"},
                          Case{"decode", true, "done"}, Case{"decode", false, "out of memory"}}) {
    Desk desk;
    const auto other = Sink(), bad = Sink();
    desk.Start("other frames=20", other);
    if (one.joins_later) desk.Rounds(3);
    desk.Start("bad at=" + std::string(one.where) + " what=memory after=2", bad);
    desk.ToIdle();
    CHECK_EQ(EndOf(bad).outcome + "/" + EndOf(bad).problem, "out of memory/memory is out");
    CHECK_EQ(EndOf(other).outcome, one.other);
    CHECK_EQ(desk.stats().failed, std::string(one.other) == "done" ? uint64_t{1} : uint64_t{2});
    CheckStillServing(desk);
  }
}

void AMistakeEndsOnlyTheStreamsOfThatCall() {
  for (const char* const where : {"read", "begin", "prefill", "step", "decode"}) {
    Desk desk;
    const Ended end = Spoken(desk, "a at=" + std::string(where) + " what=throw");
    CHECK_EQ(end.outcome + "/" + end.problem, "failed/a mistake in the engine: scripted");
  }
}

template <class Work>
std::string LossOf(const Work& work) {
  try {
    work();
  } catch (const BackendLost& lost) {
    return lost.what();
  }
  return "";
}

// The caller learns that its stream is lost, and the round reports the loss at its end: its caller ends the
// other streams.
void ALostDeviceIsEverybodysEnd() {
  for (const char* const where : {"read", "begin", "prefill", "step", "decode"}) {
    Desk desk;
    const auto other = Sink(), bad = Sink();
    desk.Start("other frames=20", other);
    desk.Rounds(2);
    desk.Start("bad at=" + std::string(where) + " what=lost", bad);
    CHECK_EQ(LossOf([&] { desk.ToIdle(); }), "the GPU fell off the bus");
    desk.scheduler.EndAll(Outcome::kLost, "the GPU fell off the bus");
    for (const auto& sink : {other, bad}) {
      CHECK_EQ(EndOf(sink).outcome + "/" + EndOf(sink).problem, "lost/the GPU fell off the bus");
    }
    CHECK_EQ(LossOf([&] { desk.Rounds(1); }), "the GPU fell off the bus");
  }
}

void NumbersThatAreNoneEndOneStreamAlone() {
  Desk desk;
  const auto good = Sink();
  desk.Start("good frames=9", good);
  const auto sink = Sink();
  desk.Start("a what=broken after=4", sink);
  desk.ToIdle();
  CHECK_EQ(EndOf(sink).outcome + "/" + EndOf(sink).problem, "failed/the model computed what is not a number");
  CHECK_EQ(sink->written, size_t{4 * 80});  // frames made before the failure stay
  CHECK_EQ(EndOf(good).outcome, "done");
  CheckStillServing(desk);
}

void SoundThatIsNotFiniteEndsOneStreamAlone() {
  Desk desk;
  const auto good = Sink(), sink = Sink();
  desk.Start("good frames=9", good);
  desk.Start("a what=infinite after=3 frames=20", sink);
  desk.ToIdle();
  CHECK_EQ(EndOf(sink).outcome + "/" + EndOf(sink).problem,
           "failed/the codec computed sound that is not finite");
  CHECK_EQ(sink->written, size_t{3 * 80});  // the chunk is not written
  CHECK_EQ(EndOf(good).outcome, "done");
  CheckStillServing(desk);
}

void ASinkThatThrowsEndsItsStreamAlone() {
  Desk desk;
  const auto good = Sink(), bad = Sink();
  bad->throws = true;
  desk.Start("good frames=9", good);
  desk.Start("bad frames=9", bad);
  desk.ToIdle();
  CHECK_EQ(bad->EndText() + "/" + bad->end.problem, "failed/the sink threw: the sink is gone");
  CHECK_EQ(EndOf(good).outcome, "done");
  CheckStillServing(desk);
}

void ACancelledStreamEndsBeforeItsNextFrame() {
  Desk desk;
  const auto waiting = Sink(), live = Sink(), other = Sink();
  const StreamId id = desk.Start("live", live);
  desk.Start("other frames=9", other);
  desk.Rounds(3);
  const size_t written = live->written;
  desk.mailbox.Cancel(id);
  CHECK_EQ(desk.Rounds(1), "step other");
  CHECK_EQ(EndOf(live).outcome + "/" + EndOf(live).problem, "cancelled/it was cancelled");
  CHECK_EQ(live->written, written);
  desk.mailbox.Cancel(id);  // nobody any more
  desk.mailbox.Cancel(4711);
  const StreamId unread = desk.Start("waiting", waiting);
  desk.mailbox.Cancel(unread);
  CHECK_EQ(desk.Rounds(1), "step other");
  CHECK_EQ(EndOf(waiting).outcome, "cancelled");
  desk.ToIdle();
  CHECK_EQ(desk.stats().cancelled, uint64_t{2});
  CheckStillServing(desk);
}

void ACancelDuringAPromptIsHeardBeforeTheStep() {
  Desk desk;
  const auto sink = Sink();
  const StreamId id = desk.Start("a", sink);
  desk.model.during_prefill = [&] { desk.mailbox.Cancel(id); };
  CHECK_EQ(desk.Rounds(1), "read a; begin a:65; prefill a:4");
  CHECK_EQ(EndOf(sink).outcome, "cancelled");
  CHECK_EQ(sink->written, size_t{0});
  desk.model.during_prefill = nullptr;
  CheckStillServing(desk);
}

void AParkedStreamCanBeCancelled() {
  Desk desk;
  const auto full = Sink(1), starved = Sink();
  const StreamId a = desk.Start("full", full);
  const StreamId b = desk.StartOpen("starved words=1", starved);
  desk.mailbox.AddText(b, "one", false);
  desk.ToIdle();
  CHECK_EQ(desk.stats().parked, size_t{2});
  desk.mailbox.Cancel(a);
  desk.mailbox.Cancel(b);
  desk.ToIdle();
  CHECK_EQ(EndOf(full).outcome + EndOf(starved).outcome, "cancelledcancelled");
  CheckStillServing(desk);
}

void EndingAllLeavesNobody() {
  Desk desk;
  const auto live = Sink(), parked = Sink(1), unread = Sink();
  desk.Start("live", live);
  desk.Start("parked", parked);
  desk.Rounds(2);
  desk.Start("unread", unread);
  desk.scheduler.EndAll(Outcome::kClosed, "the engine closed");
  CHECK_EQ(EndOf(live).outcome + EndOf(parked).outcome + EndOf(unread).outcome, "closedclosedclosed");
  CHECK_EQ(EndOf(live).problem, "the engine closed");
  CheckStillServing(desk);
}

void WhoeverEndsLetsGoOfItsSink() {
  Desk desk;
  const auto done = Sink(), cancelled = Sink(), refused = Sink();
  desk.Start("a frames=1", done);
  desk.mailbox.Cancel(desk.Start("b", cancelled));
  desk.Start("c refuse", refused);
  desk.ToIdle();
  CHECK_EQ(done.use_count() + cancelled.use_count() + refused.use_count(), 3L);
}

// --- streams wait for room, a place among the live or memory; one that can never fit is refused

void StreamsWithoutAPlaceWait() {
  SchedulerOptions options = Usual();
  options.max_streams = 2;
  Desk desk(options);
  std::vector<std::shared_ptr<TestSink>> sinks;
  for (int n = 0; n < 7; n++) {
    sinks.push_back(Sink());
    CHECK(desk.Start("a frames=3", sinks.back()) != 0);
    CHECK(!sinks.back()->ended);  // never from within Start
  }
  desk.Rounds(1);
  CHECK_EQ(desk.stats().live, size_t{2});
  CHECK_EQ(desk.stats().waiting, size_t{5});
  CHECK_EQ(desk.stats().refused, uint64_t{0});
  for (const auto& sink : sinks) CHECK_EQ(sink->EndText(), "not ended");
  for (size_t n = 0; n < 7; n++) CHECK_EQ(sinks[n]->changes, n < 2 ? "" : "waits ");
  desk.ToIdle();
  for (const auto& sink : sinks) CHECK_EQ(EndOf(sink).outcome, "done");
  CheckStillServing(desk);
}

// A stream takes its prompt and its tokens.
SpeechRequest Takes(size_t bytes) {
  SpeechRequest request;
  request.max_new_tokens = bytes - 4;
  return request;
}

void ARequestThatCanNeverFitIsRefusedAtOnce() {
  Desk desk(WithMemory(100));
  const Ended end = Spoken(desk, "a", Takes(101));
  CHECK_EQ(end.outcome + "/" + end.problem, "too large/it takes 101 bytes of memory; 100 are the most");
  CHECK_EQ(Spoken(desk, "a", Takes(100)).outcome, "budget");
}

void ARequestThatFitsLaterWaits() {
  Desk desk(WithMemory(100));
  const auto a = Sink(), b = Sink(), c = Sink();
  desk.Start("a", a, Takes(60));
  desk.Start("b", b, Takes(50));
  desk.Start("c frames=1", c, Takes(10));
  desk.Rounds(1);
  // c would fit, but b was here before it.
  CHECK_EQ(desk.stats().live, size_t{1});
  CHECK_EQ(desk.stats().waiting, size_t{2});
  CHECK_EQ(desk.stats().memory_in_use, size_t{60});
  CHECK_EQ(desk.model.bytes_in_use, size_t{60});
  CHECK_EQ(desk.stats().memory_limit, size_t{100});
  desk.ToIdle();
  CHECK_EQ(EndOf(a).outcome + EndOf(b).outcome + EndOf(c).outcome, "budgetbudgetdone");
  CheckStillServing(desk);
}

void StreamsThatWaitForMemoryAreServedOneAfterTheOther() {
  Desk desk(WithMemory(100));
  const auto a = Sink(), b = Sink(), c = Sink();
  desk.Start("a", a, Takes(80));
  desk.Start("b", b, Takes(80));
  desk.Start("c", c, Takes(80));
  desk.Rounds(1);
  CHECK_EQ(desk.stats().live, size_t{1});
  CHECK_EQ(a->changes + "|" + b->changes + "|" + c->changes, "|waits |waits ");
  desk.ToIdle();
  CHECK_EQ(EndOf(a).outcome + EndOf(b).outcome + EndOf(c).outcome, "budgetbudgetbudget");
  CheckStillServing(desk);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_outcomes) {
  using namespace parley::test;
  return Run({
      {"a stream that the model ends is done", AStreamThatTheModelEndsIsDone},
      {"a request gets as many tokens as it asked for", ARequestGetsAsManyTokensAsItAskedFor},
      {"a stream that outlives its text is a runaway", AStreamThatOutlivesItsTextIsARunaway},
      {"the language says how long a text can take", TheLanguageSaysHowLongATextCanTake},
      {"a text that came bit by bit is measured as a whole", ATextThatCameBitByBitIsMeasuredAsAWhole},
      {"the engine's tokens are a limit that is reported", TheEnginesTokensAreALimitThatIsReported},
      {"text for which there is no room ends a stream as too large",
       TextForWhichThereIsNoRoomEndsAStreamAsTooLarge},
      {"a text that is longer than the model is refused", ATextThatIsLongerThanTheModelIsRefused},
      {"a request that the model refuses is a bad one", ARequestThatTheModelRefusesIsABadOne},
      {"text that cannot be read ends a stream", TextThatCannotBeReadEndsAStream},
      {"memory that runs out ends only the streams of that call",
       MemoryThatRunsOutEndsOnlyTheStreamsOfThatCall},
      {"a mistake ends only the streams of that call", AMistakeEndsOnlyTheStreamsOfThatCall},
      {"a lost device is everybody's end", ALostDeviceIsEverybodysEnd},
      {"numbers that are none end one stream alone", NumbersThatAreNoneEndOneStreamAlone},
      {"sound that is not finite ends one stream alone", SoundThatIsNotFiniteEndsOneStreamAlone},
      {"a sink that throws ends its stream alone", ASinkThatThrowsEndsItsStreamAlone},
      {"a cancelled stream ends before its next frame", ACancelledStreamEndsBeforeItsNextFrame},
      {"a cancel during a prompt is heard before the step", ACancelDuringAPromptIsHeardBeforeTheStep},
      {"a parked stream can be cancelled", AParkedStreamCanBeCancelled},
      {"ending all leaves nobody", EndingAllLeavesNobody},
      {"whoever ends lets go of its sink", WhoeverEndsLetsGoOfItsSink},
      {"streams without a place wait", StreamsWithoutAPlaceWait},
      {"a request that can never fit is refused at once", ARequestThatCanNeverFitIsRefusedAtOnce},
      {"a request that fits later waits", ARequestThatFitsLaterWaits},
      {"streams that wait for memory are served one after the other",
       StreamsThatWaitForMemoryAreServedOneAfterTheOther},
  });
}
