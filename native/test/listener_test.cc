// Checks listeners of a running stream: that each gets every frame, that threads may open, move and close all
// of them at once, and that nothing is left of any.

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "media/plane.h"
#include "media/random.h"
#include "test/check.h"
#include "test/loopback.h"

namespace parley::test {
namespace {

constexpr int64_t kPeriod = 10 * kNsPerMs;

StreamConfig Config(uint32_t ssrc) {
  StreamConfig config;
  config.ssrc = ssrc;
  config.ticks_per_frame = 80;
  config.period_ns = kPeriod;
  config.silence.assign(80, 0xff);
  config.cname = "listener-test";
  config.report_interval_ns = 20 * kNsPerMs;
  return config;
}

std::unique_ptr<SrtpSender> Keys(uint32_t ssrc) {
  const uint8_t key[16] = {1, 2, 3}, salt[14] = {4, 5, 6};
  return SrtpSender::Create(SrtpProfile::kAesCm128HmacSha1_80, key, 16, salt, 14, ssrc);
}

std::atomic<uint64_t> next_handle{1};

std::shared_ptr<Stream> OpenSource(MediaPlane& plane) {
  const auto handle = next_handle++;
  auto stream = plane.MakeStream(Config(static_cast<uint32_t>(handle)), Keys(static_cast<uint32_t>(handle)));
  stream->set_handle(handle);
  CHECK(plane.Begin(stream.get()));
  return stream;
}

std::shared_ptr<Listener> OpenListener(MediaPlane& plane) {
  const auto handle = next_handle++;
  auto listener =
      plane.MakeListener(Config(static_cast<uint32_t>(handle)), Keys(static_cast<uint32_t>(handle)));
  listener->set_handle(handle);
  return listener;
}

using Follow = MediaPlane::Follow;

void EachListenerGetsEachFrame() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto source = OpenSource(*plane);
  source->SetTarget(plane->CaptureTarget());
  std::vector<std::shared_ptr<Listener>> listeners;
  for (size_t n = 0; n < Audience::kMost; n++) {
    listeners.push_back(OpenListener(*plane));
    CHECK(plane->FollowSource(listeners.back().get(), source) == Follow::kFollows);
    CHECK(listeners.back()->SetTarget(plane->CaptureTarget()));
  }
  const auto last = OpenListener(*plane);
  CHECK(plane->FollowSource(last.get(), source) == Follow::kFull);
  plane->Advance(99 * kNsPerMs);  // ticks at 0 to 90 ms
  for (const auto& listener : listeners) CHECK_EQ(listener->Stats().packets, uint64_t{10});
  CHECK_EQ(last->Stats().packets, uint64_t{0});
  std::map<uint64_t, int> rtp;
  for (const CapturedPacket& packet : plane->TakePackets()) rtp[packet.stream] += packet.rtcp ? 0 : 1;
  CHECK_EQ(rtp.size(), Audience::kMost + 1);
  for (const auto& [handle, packets] : rtp) CHECK_EQ(packets, 10);
}

// The payloads of a listener's next `ticks` packets, a letter each; silence is '_'.
std::string Heard(MediaPlane& plane, const Listener& listener, int64_t to_ns) {
  plane.Advance(to_ns);
  std::string text;
  for (const CapturedPacket& packet : plane.TakePackets()) {
    if (packet.stream != listener.handle() || packet.rtcp) continue;
    const auto first = static_cast<char>(packet.data[12]);
    text += first == static_cast<char>(0xff) ? '_' : first;
  }
  return text;
}

void AListenerHearsSilenceWhileItsSourceHasNoPath() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  auto source = plane->MakeStream(Config(1), nullptr);
  source->set_handle(next_handle++);
  CHECK(plane->Begin(source.get()));
  source->SetTarget(plane->CaptureTarget());
  auto listener = plane->MakeListener(Config(2), nullptr);
  listener->set_handle(next_handle++);
  CHECK(plane->FollowSource(listener.get(), source) == Follow::kFollows);
  CHECK(listener->SetTarget(plane->CaptureTarget()));
  for (const char letter : std::string("abcdef")) {
    const auto byte = static_cast<uint8_t>(letter);
    CHECK(source->queue().Push(source->queue().generation(), 1, &byte, 1) == PushResult::kTaken);
  }
  CHECK_EQ(Heard(*plane, *listener, 35 * kNsPerMs), "abcd");  // ticks at 0 to 30 ms
  source->SetTarget(nullptr);
  CHECK_EQ(source->Rewind(source->Stats().timestamp - 3 * 80), size_t{2});
  CHECK_EQ(Heard(*plane, *listener, 65 * kNsPerMs), "___");
  source->SetTarget(plane->CaptureTarget());
  CHECK_EQ(Heard(*plane, *listener, 105 * kNsPerMs), "__ef");  // it has heard "cd"
}

// After each of them nothing leaves, and the object goes.
void NothingLeavesAfterItsEnd() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto source = OpenSource(*plane);
  const auto other = OpenSource(*plane);
  const LoopbackSocket way, listener_way;
  source->SetTarget(way.TargetAt(way));
  other->SetTarget(way.TargetAt(way));
  for (int round = 0; round < 20; round++) {
    auto listener = OpenListener(*plane);
    CHECK(plane->FollowSource(listener.get(), round % 2 ? source : other) == Follow::kFollows);
    CHECK(listener->SetTarget(listener_way.TargetAt(listener_way)));
    while (listener_way.Receive(0).empty()) std::this_thread::yield();
    if (round % 3 == 0) CHECK(plane->FollowSource(listener.get(), source) == Follow::kFollows);
    plane->CloseListener(listener.get());
    const std::weak_ptr<Listener> left = listener;
    listener.reset();
    CHECK(left.expired());
    listener_way.Drain();
    const uint64_t packets = source->Stats().packets;
    while (source->Stats().packets < packets + 2) std::this_thread::yield();
    CHECK(listener_way.Receive(0).empty());
    way.Drain();
  }
  CHECK_EQ(plane->ListenerCount(), size_t{0});
}

void AClosedSourceLeavesNothing() {
  std::weak_ptr<Stream> source_left;
  std::weak_ptr<Listener> listener_left;
  {
    const auto plane = MediaPlane::OpenManual(1, 0, 0);
    auto source = OpenSource(*plane);
    auto listener = OpenListener(*plane);
    source->SetTarget(plane->CaptureTarget());
    listener->SetTarget(plane->CaptureTarget());
    CHECK(plane->FollowSource(listener.get(), source) == Follow::kFollows);
    plane->Advance(50 * kNsPerMs);
    source_left = source;
    plane->CloseStream(source.get());
    CHECK(plane->FollowSource(listener.get(), source) == Follow::kClosed);
    source.reset();
    plane->Advance(100 * kNsPerMs);
    CHECK(source_left.expired());
    CHECK_EQ(listener->Stats().packets, uint64_t{6});
    listener_left = listener;
    // A successor that took the place of its source keeps it for the listener until that follows.
    source = OpenSource(*plane);
    CHECK(plane->FollowSource(listener.get(), source) == Follow::kFollows);
    StreamRemains remains;
    CHECK(source->Leave(&remains));
    source_left = source;
    source.reset();
    plane->Advance(200 * kNsPerMs);
    CHECK(!source_left.expired());
    const auto next = OpenSource(*plane);
    CHECK(plane->FollowSource(listener.get(), next) == Follow::kFollows);
    CHECK(source_left.expired());
    listener.reset();
    CHECK(!listener_left.expired());  // the plane holds it
  }
  CHECK(listener_left.expired());
}

struct Open {
  std::vector<std::shared_ptr<Stream>> sources;
  std::vector<std::shared_ptr<Listener>> listeners;
};

void Act(MediaPlane& plane, const LoopbackSocket& way, Open& open, Random& random) {
  const uint64_t dice = random.Next() % 100;
  if (open.sources.size() < 2) {
    open.sources.push_back(OpenSource(plane));
    open.sources.back()->SetTarget(dice % 2 ? way.TargetAt(way) : plane.CaptureTarget());
  }
  if (open.listeners.size() < 4) open.listeners.push_back(OpenListener(plane));
  const auto& source = open.sources[random.Next() % open.sources.size()];
  // At the end, where it may be taken away.
  std::swap(open.listeners[random.Next() % open.listeners.size()], open.listeners.back());
  const auto& listener = open.listeners.back();
  const uint8_t payload[80] = {};
  if (dice < 40) source->queue().Push(source->queue().generation(), 1, payload, sizeof(payload));
  else if (dice < 60) plane.FollowSource(listener.get(), source);
  else if (dice < 75)
    listener->SetTarget(dice % 3 == 0 ? nullptr : dice % 2 ? way.TargetAt(way) : plane.CaptureTarget());
  else if (dice < 80) listener->Stats();
  else if (dice < 85) plane.TakePackets();
  else if (dice < 88) source->SetRedundancy(static_cast<uint32_t>(dice % 3));
  else if (dice < 94) plane.CloseListener(listener.get()), open.listeners.pop_back();
  else if (dice < 97) plane.CloseStream(open.sources.front().get()), open.sources.erase(open.sources.begin());
  else if (dice == 97) {
    StreamRemains remains;
    open.sources.front()->Leave(&remains);
    open.sources.erase(open.sources.begin());
  }
  if (dice % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

// Two threads share sources and listeners, in groups of their own and across them.
void EverythingMayHappenAtOnce() {
  std::vector<std::weak_ptr<Listener>> left;
  const LoopbackSocket way;
  {
    const auto plane = MediaPlane::OpenReal(1);
    const auto shared_source = OpenSource(*plane);
    const auto shared_listener = OpenListener(*plane);
    shared_source->SetTarget(way.TargetAt(way));
    shared_listener->SetTarget(way.TargetAt(way));
    left.push_back(shared_listener);
    std::atomic<bool> running{true};
    std::vector<std::thread> threads;
    for (uint64_t seed = 1; seed <= 3; seed++) {
      threads.emplace_back([&, seed] {
        Random random(seed);
        Open open;
        while (running.load()) {
          Act(*plane, way, open, random);
          plane->FollowSource(shared_listener.get(),
                              random.Next() % 2 ? shared_source : open.sources.front());
          if (!open.listeners.empty()) plane->FollowSource(open.listeners.front().get(), shared_source);
        }
      });
    }
    for (int i = 0; i < 40; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      way.Drain();
    }
    running.store(false);
    for (std::thread& thread : threads) thread.join();
    CHECK(shared_source->Stats().packets > 50);
    CHECK(shared_listener->Stats().packets > 10);
    CHECK(!plane->Close().streams.empty());
    CHECK_EQ(plane->StreamCount(), size_t{0});
    CHECK_EQ(plane->ListenerCount(), size_t{0});
    CHECK(plane->MakeListener(Config(1), nullptr) == nullptr);
    CHECK(plane->FollowSource(shared_listener.get(), shared_source) == Follow::kClosed);
  }
  for (const auto& listener : left) CHECK(listener.expired());
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(listener) {
  using namespace parley::test;
  return Run({
      {"each listener of 64 gets each frame", EachListenerGetsEachFrame},
      {"a listener hears silence while its source has no path", AListenerHearsSilenceWhileItsSourceHasNoPath},
      {"nothing leaves after the end of a listener", NothingLeavesAfterItsEnd},
      {"a closed source leaves nothing", AClosedSourceLeavesNothing},
      {"everything may happen to listeners at once", EverythingMayHappenAtOnce},
  });
}
