// Underruns when a clear falls into the middle of a tick: a queue that the clock finds empty because of the
// clear counts as none.
#include <atomic>
#include <thread>

#include "media/plane.h"
#include "media/random.h"
#include "test/check.h"

namespace parley::test {
namespace {

constexpr int64_t kPeriod = 20 * kNsPerMs;
constexpr int kRounds = 20'000;
constexpr int kTicks = 6;    // clock ticks in each round
constexpr int kFrames = 12;  // pushed before them: more than they can send
constexpr int kTurnsWithoutYield = 100'000;
constexpr uint64_t kMostTurns = 100;  // turns of an idle loop: about as long as a tick takes

std::shared_ptr<Stream> Open(MediaPlane& plane) {
  StreamConfig config;
  config.silence.assign(160, 0xff);
  auto stream = plane.MakeStream(config, nullptr);
  stream->set_handle(1);
  CHECK(plane.Begin(stream.get()));
  CHECK(stream->SetTarget(plane.CaptureTarget()));
  return stream;
}

// The rounds that may begin, and the ticks that the clock has done in all of them.
struct Progress {
  std::atomic<int> rounds{0}, ticks{0};
};

void RunClock(MediaPlane& plane, Progress& progress) {
  int64_t now_ns = 0;
  for (int round = 1; round <= kRounds; round++) {
    while (progress.rounds.load() < round) std::this_thread::yield();
    for (int tick = 0; tick < kTicks; tick++) {
      plane.Advance(now_ns += kPeriod);
      progress.ticks++;
    }
  }
}

// Returns about when the clock is in the middle of that tick, or later. Turns
// without yielding, to be in time, unless the clock itself waits for a core.
void AwaitTick(const Progress& progress, int tick, Random& random) {
  for (int turns = 0; progress.ticks.load() < tick; turns++) {
    if (turns > kTurnsWithoutYield) std::this_thread::yield();
  }
  for (std::atomic<uint64_t> turns{random.Next() % kMostTurns}; turns > 0; turns--) {
  }
}

void AClearIsNoUnderrun() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto stream = Open(*plane);
  Progress progress;
  std::thread clock([&] { RunClock(*plane, progress); });
  Random random(1);
  const uint8_t payload[160] = {};
  uint64_t sent = 0;
  for (int round = 1; round <= kRounds; round++) {
    const uint32_t generation = stream->queue().generation();
    for (int i = 0; i < kFrames; i++) {
      CHECK(stream->queue().Push(generation, generation, payload, sizeof(payload)) == PushResult::kTaken);
    }
    progress.rounds.store(round);
    const int before = (round - 1) * kTicks;
    AwaitTick(progress, before + static_cast<int>(random.Next() % kTicks), random);
    for (const TrackCount& track : stream->Clear().tracks) sent += track.sent_frames;
    while (progress.ticks.load() < before + kTicks) std::this_thread::yield();
    plane->TakePackets();
  }
  clock.join();
  CHECK(sent > 0 && sent < uint64_t{kRounds} * kTicks);  // clears fell between the ticks
  CHECK_EQ(stream->Stats().underruns, uint64_t{0});
}

void AQueueThatRanDryIsOne() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto stream = Open(*plane);
  const uint8_t payload[160] = {};
  CHECK(stream->queue().Push(stream->queue().generation(), 1, payload, sizeof(payload)) ==
        PushResult::kTaken);
  plane->Advance(3 * kPeriod);
  const uint64_t underruns = stream->Stats().underruns;
  CHECK(underruns > 0);
  stream->Clear();
  plane->Advance(5 * kPeriod);
  CHECK_EQ(stream->Stats().underruns, underruns);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(underrun) {
  using namespace parley::test;
  return Run({
      {"a clear in the middle of a tick is no underrun", AClearIsNoUnderrun},
      {"a queue that ran dry is one, until it is cleared", AQueueThatRanDryIsOne},
  });
}
