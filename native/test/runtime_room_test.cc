// Streams wait for room: a place among the live, or memory. A stream that can never fit is refused.
#include <memory>
#include <vector>

#include "test/check.h"
#include "test/scripted_desk.h"
#include "test/stream_ends.h"

namespace parley::test {
namespace {

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

TEST_GROUP(runtime_room) {
  using namespace parley::test;
  return Run({
      {"streams without a place wait", StreamsWithoutAPlaceWait},
      {"a request that can never fit is refused at once", ARequestThatCanNeverFitIsRefusedAtOnce},
      {"a request that fits later waits", ARequestThatFitsLaterWaits},
      {"streams that wait for memory are served one after the other",
       StreamsThatWaitForMemoryAreServedOneAfterTheOther},
  });
}
