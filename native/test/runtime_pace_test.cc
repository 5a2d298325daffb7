// Who gets a place: only whom the others can afford to listen beside.
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
  times.Did(8, milliseconds(16));
  CHECK(Near(Ms(times.Of(4)), 16));  // no less is known
  CHECK(Near(Ms(times.Of(12)), 24));  // in proportion
  times.Did(2, milliseconds(10));
  CHECK(Near(Ms(times.Of(1)), 10));
  CHECK(Near(Ms(times.Of(5)), 13));
  CHECK(Near(Ms(times.Of(20)), 28));
  // Noise does not make more streams cost less.
  RoundTimes odd;
  odd.Did(1, milliseconds(10));
  odd.Did(4, milliseconds(8));
  CHECK(Near(Ms(odd.Of(8)), 8));
}

void WhatTookLongOnceIsForgotten() {
  RoundTimes times;
  times.Did(4, milliseconds(500));
  for (int n = 0; n < 200; n++) times.Did(4, milliseconds(20));
  CHECK(Ms(times.Of(4)) < 21 && Ms(times.Of(4)) > 19.9);
}

// 256 and 257 streams are of two classes: what one more took is chance.
void NeighboursAreNoSlope() {
  RoundTimes times;
  for (const size_t n : {64u, 128u, 256u}) times.Did(n, milliseconds(n / 8));
  times.Did(257, milliseconds(36));
  CHECK(Near(Ms(times.Of(257)), 36));
  CHECK(Near(Ms(times.Of(514)), 36 + 20.0 / 129 * 257));
}

// A round is 20 ms and 10 for each stream, and may take a fifth longer while nothing is known of that; a frame is 80 ms: four streams.
SchedulerOptions Measured() {
  SchedulerOptions options = Usual();
  for (const size_t n : {1u, 2u}) options.times.rounds.Did(n, milliseconds(20 + 10 * n));
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
  options.times.rounds.Did(1, milliseconds(200));
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
  options.times.rounds.Did(1, milliseconds(200));
  Desk desk(options);
  for (int n = 0; n < 6; n++) desk.Start("s" + std::to_string(n) + " frames=30 tokens=20", Sink());
  CHECK_EQ(LiveOf(desk), size_t{6});
}

// Those who give way three times of four count as a quarter.
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

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({
      {"times are on the line through what was measured", TimesAreOnTheLineThroughWhatWasMeasured},
      {"neighbours are no slope", NeighboursAreNoSlope},
      {"what took long once is forgotten", WhatTookLongOnceIsForgotten},
      {"as many are live as get their frames in time", AsManyAreLiveAsGetTheirFramesInTime},
      {"who is alone is live however slow it is", WhoIsAloneIsLiveHoweverSlowItIs},
      {"without listeners everybody is live", WithoutListenersEverybodyIsLive},
      {"who is in no hurry counts as the rounds that it is in", WhoIsInNoHurryCountsAsTheRoundsThatItIsIn},
  });
}
