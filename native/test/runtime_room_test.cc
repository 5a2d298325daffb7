// Refusals for lack of room: a full queue, or memory.
#include <memory>
#include <vector>

#include "test/check.h"
#include "test/scripted_desk.h"
#include "test/stream_ends.h"

namespace parley::test {
namespace {

void BeyondTheWaitingNobodyIsTaken() {
  SchedulerOptions options = Usual();
  options.max_streams = 2;
  options.max_waiting = 3;
  Desk desk(options);
  std::vector<std::shared_ptr<TestSink>> sinks;
  for (int n = 0; n < 7; n++) {
    sinks.push_back(Sink());
    CHECK(desk.Start("a frames=3", sinks.back()) != 0);
    CHECK(!sinks.back()->ended);  // never from within Start
  }
  desk.Rounds(1);
  CHECK_EQ(desk.stats().live, size_t{2});
  CHECK_EQ(desk.stats().waiting, size_t{3});
  CHECK_EQ(desk.stats().refused, uint64_t{2});
  for (int n = 0; n < 7; n++)
    CHECK_EQ(sinks[static_cast<size_t>(n)]->EndText(), n < 5 ? "not ended" : "busy");
  desk.ToIdle();
  for (int n = 0; n < 5; n++) CHECK_EQ(EndOf(sinks[static_cast<size_t>(n)]).outcome, "done");
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

void TooManyWhoWaitForMemoryAreRefused() {
  SchedulerOptions options = WithMemory(100);
  options.max_waiting = 1;
  Desk desk(options);
  const auto a = Sink(), b = Sink(), c = Sink();
  desk.Start("a", a, Takes(80));
  desk.Start("b", b, Takes(80));
  desk.Start("c", c, Takes(80));
  desk.Rounds(1);
  CHECK_EQ(a->EndText() + b->EndText() + c->EndText(), "not endednot endedbusy");
  desk.ToIdle();
  CheckStillServing(desk);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_room) {
  using namespace parley::test;
  return Run({
      {"beyond the waiting nobody is taken", BeyondTheWaitingNobodyIsTaken},
      {"a request that can never fit is refused at once", ARequestThatCanNeverFitIsRefusedAtOnce},
      {"a request that fits later waits", ARequestThatFitsLaterWaits},
      {"too many who wait for memory are refused", TooManyWhoWaitForMemoryAreRefused},
  });
}
