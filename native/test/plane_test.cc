// Checks the media plane on a real clock and a real socket: a released stream is gone when the plane says
// so, threads may call it at once, and underruns are counted and reported.
#include <netinet/ip.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "media/plane.h"
#include "media/random.h"
#include "test/check.h"
#include "test/loopback.h"

namespace parley::test {
namespace {

constexpr int64_t kPeriod = 10 * kNsPerMs;

StreamConfig Config() {
  StreamConfig config;
  config.ssrc = 0x01020304;
  config.ticks_per_frame = 80;
  config.period_ns = kPeriod;
  config.silence.assign(80, 0xff);
  config.cname = "plane-test";
  config.report_interval_ns = 5 * kNsPerSecond;
  return config;
}

std::unique_ptr<SrtpSender> Srtp() {
  const uint8_t key[16] = {1, 2, 3}, salt[14] = {4, 5, 6};
  return SrtpSender::Create(SrtpProfile::kAesCm128HmacSha1_80, key, 16, salt, 14, Config().ssrc);
}

std::shared_ptr<Stream> Open(MediaPlane& plane, uint64_t handle) {
  auto stream = plane.MakeStream(Config(), Srtp());
  stream->set_handle(handle);
  CHECK(plane.Begin(stream.get()));
  return stream;
}

void PacketsAreMarkedExpedited() {
  LoopbackSocket from, to;
  const auto target = from.TargetAt(to);
  int tos = 0;
  socklen_t bytes = sizeof(tos);
  CHECK_EQ(getsockopt(from.fd(), IPPROTO_IP, IP_TOS, &tos, &bytes), 0);
  CHECK_EQ(tos, 0xb8);
}

void WrongTargetsAreRefused() {
  LoopbackSocket from;
  std::string problem;
  CHECK(Target::Socket(-1, "127.0.0.1", 9, &problem) == nullptr);
  CHECK(Target::Socket(STDIN_FILENO, "127.0.0.1", 9, &problem) == nullptr);
  CHECK_EQ(problem, "fd must be an open datagram socket");
  CHECK(Target::Socket(from.fd(), "localhost", 9, &problem) == nullptr);
  CHECK(Target::Socket(from.fd(), "::1", 9, &problem) == nullptr);
  CHECK_EQ(problem, "address must be an IP address of the socket's family");
}

void NothingLeavesAfterLettingGo() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto stream = Open(*plane, 1);
  const size_t descriptors = OpenDescriptors();
  LoopbackSocket from, to;
  for (int round = 0; round < 20; round++) {
    CHECK(stream->SetTarget(from.TargetAt(to)));
    CHECK(!to.Receive(1000).empty());
    CHECK(stream->SetTarget(nullptr));
    to.Drain();
    CHECK(to.Receive(15).empty());
  }
  CHECK_EQ(OpenDescriptors(), descriptors + 2);  // the two sockets
  CHECK_EQ(plane->counters().send_errors.value(), uint64_t{0});
}

void AClosedStreamSaysByeAndNothingMore() {
  const auto plane = MediaPlane::OpenReal(1);
  LoopbackSocket from, to;
  const size_t descriptors = OpenDescriptors();
  const auto stream = Open(*plane, 1);
  CHECK(stream->SetTarget(from.TargetAt(to)));
  CHECK(!to.Receive(1000).empty());
  plane->CloseStream(stream.get());
  CHECK_EQ(OpenDescriptors(), descriptors);
  std::string last, packet;
  while (!(packet = to.Receive(25)).empty()) last = packet;
  CHECK_EQ(static_cast<uint8_t>(last[1]), 200);  // the compound begins with a sender report
  CHECK(!stream->SetTarget(from.TargetAt(to)));
  CHECK(!stream->SendRtcp(reinterpret_cast<const uint8_t*>("12345678"), 8));
  CHECK_EQ(plane->StreamCount(), size_t{0});
}

void AnUnreachablePeerStopsNobody() {
  const auto plane = MediaPlane::OpenReal(1);
  LoopbackSocket from, to;
  uint16_t closed_port = 0;
  {
    LoopbackSocket gone;
    closed_port = gone.port();
  }
  std::string problem;
  const auto deaf = Open(*plane, 1);
  const auto good = Open(*plane, 2);
  CHECK(deaf->SetTarget(Target::Socket(from.fd(), "127.0.0.1", closed_port, &problem)));
  CHECK(good->SetTarget(from.TargetAt(to)));
  for (int i = 0; i < 20; i++) CHECK(!to.Receive(1000).empty());
  CHECK(good->Stats().packets + good->Stats().send_errors >= 20);
}

// Every function from several threads at once, streams opened and closed all
// the while: a thread sanitizer's food.
void Hammer(MediaPlane& plane, LoopbackSocket& from, LoopbackSocket& to, uint64_t seed,
            const std::atomic<bool>& running) {
  Random random(seed);
  std::vector<std::shared_ptr<Stream>> streams;
  const uint8_t payload[80] = {};
  while (running.load()) {
    const uint64_t dice = random.Next() % 100;
    if (streams.size() < 4) {
      streams.push_back(Open(plane, seed * 1000 + dice));
      streams.back()->SetTarget(dice % 2 ? from.TargetAt(to) : plane.CaptureTarget());
    }
    const auto stream = streams[random.Next() % streams.size()];
    PlayoutQueue& queue = stream->queue();
    if (dice < 50) queue.Push(queue.generation(), 1, payload, sizeof(payload));
    else if (dice < 60) queue.Mark(queue.generation(), 1, 5, dice == 55);
    else if (dice < 65) stream->Clear();
    else if (dice < 70) stream->SetPaused(dice % 2);
    else if (dice < 75) stream->SendRtcp(payload, 20);
    else if (dice < 80) stream->SetTarget(dice % 2 ? nullptr : from.TargetAt(to));
    else if (dice < 85) stream->Stats();
    else if (dice < 90) plane.TakeMarks();
    else if (dice < 95) plane.TakePackets();
    else if (dice < 97) queue.Sent(1);
    else if (dice == 99) {
      plane.CloseStream(streams.front().get());
      streams.erase(streams.begin());
    }
    if (dice % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void EverythingMayHappenAtOnce() {
  LoopbackSocket from, to;
  const size_t descriptors = OpenDescriptors();
  {
    const auto plane = MediaPlane::OpenReal(1);
    std::atomic<bool> running{true};
    std::vector<std::thread> threads;
    for (uint64_t seed = 1; seed <= 3; seed++) {
      threads.emplace_back([&, seed] { Hammer(*plane, from, to, seed, running); });
    }
    for (int i = 0; i < 40; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      to.Drain();
    }
    running.store(false);
    for (std::thread& thread : threads) thread.join();
    CHECK(plane->counters().packets.value() > 100);
    CHECK_EQ(plane->counters().marks_lost.value(), uint64_t{0});
    CHECK(!plane->Close().streams.empty());
    CHECK(plane->Close().streams.empty());
    CHECK_EQ(plane->StreamCount(), size_t{0});
  }
  CHECK_EQ(OpenDescriptors(), descriptors);
}

void WhatIsGivenUpMakesRoom() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  StreamConfig config = Config();
  config.low_frames = config.high_frames = 1;
  std::vector<std::shared_ptr<Stream>> streams;
  while (auto stream = plane->MakeStream(config, nullptr)) streams.push_back(std::move(stream));
  CHECK_EQ(streams.size(), Clock::kMaxStreams);
  plane->Abandon(streams.back().get());
  const auto last = plane->MakeStream(config, nullptr);
  CHECK(last != nullptr);
  CHECK(plane->MakeStream(config, nullptr) == nullptr);
  CHECK(plane->Begin(last.get()));
  plane->Close();
  CHECK(!plane->Begin(streams.front().get()));
}

// --- underruns: a queue that the clock finds empty because of a clear is none

constexpr int64_t kFramePeriod = 20 * kNsPerMs;
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
      plane.Advance(now_ns += kFramePeriod);
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
  plane->Advance(3 * kFramePeriod);
  const uint64_t underruns = stream->Stats().underruns;
  CHECK(underruns > 0);
  stream->Clear();
  plane->Advance(5 * kFramePeriod);
  CHECK_EQ(stream->Stats().underruns, underruns);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(plane) {
  using namespace parley::test;
  return Run({
      {"packets are marked Expedited Forwarding", PacketsAreMarkedExpedited},
      {"wrong targets are refused by name", WrongTargetsAreRefused},
      {"nothing leaves after letting go", NothingLeavesAfterLettingGo},
      {"a closed stream says BYE and nothing more", AClosedStreamSaysByeAndNothingMore},
      {"an unreachable peer stops nobody", AnUnreachablePeerStopsNobody},
      {"what is given up makes room", WhatIsGivenUpMakesRoom},
      {"everything may happen at once", EverythingMayHappenAtOnce},
      {"a clear in the middle of a tick is no underrun", AClearIsNoUnderrun},
      {"a queue that ran dry is one, until it is cleared", AQueueThatRanDryIsOne},
  });
}
