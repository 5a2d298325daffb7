// Admission: a stream is admitted only if the live ones can still keep pace.
#include "runtime/round_times.h"
#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {
namespace {

double Ms(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

bool Near(double seen, double wanted) { return std::abs(seen - wanted) < 1e-3; }

void TimesAreOnTheLineThroughWhatWasMeasured() {
  RoundTimes times;
  CHECK_EQ(Ms(times.Of(5)), 0.0);
  times.Record(8, milliseconds(16));
  CHECK(Near(Ms(times.Of(4)), 16));   // no less is known
  CHECK(Near(Ms(times.Of(12)), 24));  // in proportion
  times.Record(2, milliseconds(10));
  CHECK(Near(Ms(times.Of(1)), 10));
  CHECK(Near(Ms(times.Of(5)), 13));
  CHECK(Near(Ms(times.Of(20)), 28));
  // Noise does not make more streams cost less.
  RoundTimes odd;
  odd.Record(1, milliseconds(10));
  odd.Record(4, milliseconds(8));
  CHECK(Near(Ms(odd.Of(8)), 8));
}

void WhatTookLongOnceIsForgotten() {
  RoundTimes times;
  times.Record(4, milliseconds(500));
  for (int n = 0; n < 200; n++) times.Record(4, milliseconds(20));
  CHECK(Ms(times.Of(4)) < 21 && Ms(times.Of(4)) > 19.9);
}

// 256 and 257 streams are of two classes: what one more took is chance.
void NeighboursAreNoSlope() {
  RoundTimes times;
  for (const size_t n : {64u, 128u, 256u}) times.Record(n, milliseconds(n / 8));
  times.Record(257, milliseconds(36));
  CHECK(Near(Ms(times.Of(257)), 36));
  CHECK(Near(Ms(times.Of(514)), 36 + 20.0 / 129 * 257));
}

// A round is 20 ms and 10 for each stream, and may take a fifth longer while nothing is known of that; a
// frame is 80 ms: four streams.
SchedulerOptions Measured() {
  SchedulerOptions options = Usual();
  for (const size_t n : {1u, 2u}) options.times.rounds.Record(n, milliseconds(20 + 10 * n));
  return options;
}

void Slow(Desk* desk) {
  desk->model.step_time = milliseconds(20);
  desk->model.stream_time = milliseconds(10);
}

size_t LiveOf(Desk& desk) {
  desk.Rounds(1);
  return desk.stats().live;
}

void AsManyAreLiveAsGetTheirFramesInTime() {
  Desk desk(Measured());
  Slow(&desk);
  std::vector<std::shared_ptr<TestSink>> sinks;
  for (int n = 0; n < 8; n++) {
    sinks.push_back(Sink());
    desk.StartDue("s" + std::to_string(n) + " frames=30 tokens=20", sinks.back(), milliseconds(0));
  }
  desk.Rounds(1);
  CHECK_EQ(desk.stats().live, size_t{4});
  CHECK_EQ(desk.stats().waiting, size_t{4});
  desk.ToIdle();
  for (const auto& sink : sinks) CHECK_EQ(sink->EndText(), "done");
}

void WhoIsAloneIsLiveHoweverSlowItIs() {
  SchedulerOptions options = Usual();
  options.times.rounds.Record(1, milliseconds(200));
  Desk desk(options);
  const auto a = Sink(), b = Sink();
  desk.StartDue("a frames=2", a, milliseconds(0));
  desk.StartDue("b frames=2", b, milliseconds(0));
  CHECK_EQ(LiveOf(desk), size_t{1});
  desk.ToIdle();
  CHECK_EQ(a->EndText() + b->EndText(), "donedone");
}

void WithoutListenersEverybodyIsLive() {
  SchedulerOptions options = Usual();
  options.times.rounds.Record(1, milliseconds(200));
  Desk desk(options);
  for (int n = 0; n < 6; n++) desk.Start("s" + std::to_string(n) + " frames=30 tokens=20", Sink());
  CHECK_EQ(LiveOf(desk), size_t{6});
}

// Streams that yield in three rounds of four count as a quarter.
void WhoIsInNoHurryCountsAsTheRoundsThatItIsIn() {
  Desk desk(Measured());
  Slow(&desk);
  for (int n = 0; n < 4; n++) desk.Start("h" + std::to_string(n) + " frames=30 tokens=20", Sink());
  CHECK_EQ(LiveOf(desk), size_t{4});
  for (int n = 0; n < 6; n++) {
    desk.StartDue("s" + std::to_string(n) + " frames=30 tokens=20", Sink(), milliseconds(0));
  }
  // Three listeners and a quarter of four.
  desk.Rounds(1);
  CHECK_EQ(desk.stats().live, size_t{7});
  CHECK_EQ(desk.stats().waiting, size_t{3});
}

// A round of one stream takes 100 ms and of two 140: a frame is heard for 80.
void SlowerThanRealTime(Desk* desk) {
  desk->model.step_time = milliseconds(60);
  desk->model.stream_time = milliseconds(40);
}

// A round of one stream takes 60 ms and of two 100.
void RealTimeForOne(Desk* desk) {
  desk->model.step_time = milliseconds(20);
  desk->model.stream_time = milliseconds(40);
}

void ReadersShareRoundsThatAreSlowerThanRealTime() {
  Desk desk;
  SlowerThanRealTime(&desk);
  const auto whole = Sink(), brief = Sink(), other = Sink();
  desk.StartFor(Listener::kReader, "whole frames=200 tokens=50", whole);
  desk.Rounds(20);
  desk.StartFor(Listener::kReader, "brief frames=10 tokens=10", brief);
  desk.StartFor(Listener::kReader, "other frames=10 tokens=10", other);
  CHECK_EQ(LiveOf(desk), size_t{3});
  desk.Rounds(12);
  CHECK_EQ(brief->EndText() + other->EndText(), "donedone");
  CHECK_EQ(brief->changes + other->changes, "");
  CHECK(brief->end.queue_ms < 1);
  CHECK(brief->end.total_ms < 13 * 180 + 1);
  desk.ToIdle();
  CHECK_EQ(whole->EndText(), "done");
}

// Chunks of one frame would cost each reader more time, and nobody hears them.
void ReadersWhoAreBehindGetLargeChunks() {
  Desk desk;
  SlowerThanRealTime(&desk);
  const auto a = Sink(), b = Sink();
  desk.StartFor(Listener::kReader, "a frames=50 tokens=20", a);
  desk.StartFor(Listener::kReader, "b frames=50 tokens=20", b);
  desk.ToIdle();
  CHECK(a->chunks.size() < 20);
  CHECK_EQ(a->written + b->written, size_t{2 * 50 * 80});
}

// Plays what it gets as it comes, and counts the gaps.
struct Played {
  std::shared_ptr<TestSink> sink = Sink();
  Clock::time_point until{};
  size_t seen = 0, gaps = 0;

  void Look(Clock::time_point now) {
    if (seen > 0 && !sink->ended && now > until) gaps++, until = now;
    if (sink->written == seen) return;
    until = std::max(until, now) + milliseconds(sink->written - seen);
    seen = sink->written;
  }
};

void AReaderWaitsWhileAListenerWouldLoseItsPaceAndIsToldSo() {
  Desk desk;
  RealTimeForOne(&desk);
  Played call;
  const auto file = Sink();
  desk.StartDue("call frames=100 tokens=40", call.sink, milliseconds(0));
  desk.Rounds(3);
  desk.StartFor(Listener::kReader, "file frames=5", file);
  CHECK_EQ(LiveOf(desk), size_t{1});
  CHECK_EQ(file->changes, "waits ");
  for (int n = 0; n < 110 && !call.sink->ended; n++) desk.Rounds(1), call.Look(desk.model.now());
  CHECK_EQ(call.gaps, size_t{0});
  desk.Rounds(1);
  CHECK_EQ(file->changes, "waits works ");
  desk.ToIdle();
  CHECK_EQ(file->EndText(), "done");
}

// The reader has a place already when the call begins, and gives way to it.
void AListenerKeepsItsPaceBesideReaders() {
  Desk desk;
  desk.model.step_time = milliseconds(30);
  desk.model.stream_time = milliseconds(20);
  std::vector<std::shared_ptr<TestSink>> files;
  for (int n = 0; n < 6; n++) {
    files.push_back(Sink());
    desk.StartFor(Listener::kReader, "f" + std::to_string(n) + " frames=40 tokens=40", files.back());
  }
  desk.Rounds(3);
  Played call;
  desk.StartDue("call frames=400 tokens=150", call.sink, milliseconds(0));
  desk.Rounds(2);  // its first sound comes when it can
  const auto first_due = [&] { return call.sink->written > 0; };
  while (!first_due()) desk.Rounds(1);
  for (int n = 0; n < 420 && !call.sink->ended; n++) call.Look(desk.model.now()), desk.Rounds(1);
  CHECK(call.gaps <= 1);  // the readers' step that was on its way when it began
  for (const auto& file : files) CHECK_EQ(file->EndText(), "done");
}

// One call speaks after the other, two at a time: there is always one who waits.
void AReaderIsServedThoughListenersNeverCease() {
  Desk desk;
  RealTimeForOne(&desk);
  std::vector<std::shared_ptr<TestSink>> calls;
  const auto file = Sink();
  const auto speak = [&] {
    calls.push_back(Sink());
    desk.StartDue("call" + std::to_string(calls.size()) + " frames=20 tokens=20", calls.back(),
                  milliseconds(0));
  };
  speak(), speak();
  desk.StartFor(Listener::kReader, "file frames=10", file);
  const Clock::time_point began = desk.model.now();
  while (!file->ended && desk.model.now() - began < seconds(60)) {
    const auto open = std::count_if(calls.begin(), calls.end(), [](const auto& one) { return !one->ended; });
    if (open < 2) speak();
    desk.Rounds(1);
  }
  CHECK_EQ(file->EndText(), "done");
  CHECK(file->end.queue_ms < 6000);  // its patience, and what was being said
  CHECK(calls.size() >= 3);
}

void ListenersWhoWaitAreServedOneAfterTheOther() {
  SchedulerOptions options = Usual();
  options.times.rounds.Record(1, milliseconds(100));
  Desk desk(options);
  SlowerThanRealTime(&desk);
  std::vector<std::shared_ptr<TestSink>> sinks;
  for (int n = 0; n < 3; n++) {
    sinks.push_back(Sink());
    desk.StartDue("s" + std::to_string(n) + " frames=100 tokens=40", sinks.back(), milliseconds(n));
  }
  desk.ToIdle();
  for (const auto& sink : sinks) CHECK_EQ(sink->EndText(), "done");
  CHECK_EQ(sinks[0]->changes + "|" + sinks[2]->changes, "|waits works ");
}

void AListenerWithoutTextHoldsNobodyUp() {
  Desk desk;
  SlowerThanRealTime(&desk);
  const auto open = Sink(), next = Sink();
  SpeechRequest request;
  request.more_text = true;
  request.due = desk.model.now();
  const StreamId id = desk.Start("open frames=40 words=2", open, std::move(request));
  desk.mailbox.AddText(id, "one two three", false);
  desk.Rounds(10);
  CHECK_EQ(desk.stats().parked, size_t{1});
  desk.model.Pass(seconds(1));
  desk.StartDue("next frames=5", next, milliseconds(0));
  CHECK_EQ(LiveOf(desk), size_t{2});
  desk.ToIdle();
  CHECK_EQ(next->EndText(), "done");
}

// Three rounds of four are the readers' alone.
void TheServersPromptsComeAfterReaders() {
  Desk desk;
  SlowerThanRealTime(&desk);
  const auto prompt = Sink();
  desk.StartFor(Listener::kServer, "prompt frames=9 tokens=20", prompt);
  desk.StartFor(Listener::kReader, "file frames=40 tokens=20", Sink());
  std::string steps;
  for (int n = 0; n < 8; n++) {
    const std::string log = desk.Rounds(1);
    steps += log.find("step file prompt") != std::string::npos ? "both "
             : log.find("step file") != std::string::npos      ? "file "
                                                               : "none ";
  }
  CHECK_EQ(steps, "file file file both file file file both ");
  desk.ToIdle();
  CHECK_EQ(prompt->EndText(), "done");
}

void ReadersTakeTurnsWhereAStepIsTooSmallForAll() {
  SchedulerOptions options = Usual();
  options.max_batch = 2;
  Desk desk(options);
  SlowerThanRealTime(&desk);
  std::vector<std::shared_ptr<TestSink>> files;
  for (int n = 0; n < 4; n++) {
    files.push_back(Sink());
    desk.StartFor(Listener::kReader, "f" + std::to_string(n) + " frames=50 tokens=20", files.back());
  }
  desk.Rounds(40);
  for (const auto& file : files) CHECK(file->written >= 10 * 80 && file->written <= 20 * 80);
  desk.ToIdle();
  for (const auto& file : files) CHECK_EQ(file->EndText(), "done");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_pace) {
  using namespace parley::test;
  return Run({
      {"times are on the line through what was measured", TimesAreOnTheLineThroughWhatWasMeasured},
      {"neighbours are no slope", NeighboursAreNoSlope},
      {"what took long once is forgotten", WhatTookLongOnceIsForgotten},
      {"as many are live as get their frames in time", AsManyAreLiveAsGetTheirFramesInTime},
      {"who is alone is live however slow it is", WhoIsAloneIsLiveHoweverSlowItIs},
      {"without listeners everybody is live", WithoutListenersEverybodyIsLive},
      {"who is in no hurry counts as the rounds that it is in", WhoIsInNoHurryCountsAsTheRoundsThatItIsIn},
      {"readers share rounds that are slower than real time", ReadersShareRoundsThatAreSlowerThanRealTime},
      {"readers who are behind get large chunks", ReadersWhoAreBehindGetLargeChunks},
      {"a reader waits while a listener would lose its pace, and is told so",
       AReaderWaitsWhileAListenerWouldLoseItsPaceAndIsToldSo},
      {"a listener keeps its pace beside readers", AListenerKeepsItsPaceBesideReaders},
      {"a reader is served though listeners never cease", AReaderIsServedThoughListenersNeverCease},
      {"listeners who wait are served one after the other", ListenersWhoWaitAreServedOneAfterTheOther},
      {"a listener without text holds nobody up", AListenerWithoutTextHoldsNobodyUp},
      {"the server's prompts come after readers", TheServersPromptsComeAfterReaders},
      {"readers take turns where a step is too small for all", ReadersTakeTurnsWhereAStepIsTooSmallForAll},
  });
}
