// A stream that threads use all at once while the real clock sends it. Tests of fades and replays share it.
#ifndef PARLEY_TEST_HAMMERED_STREAM_H_
#define PARLEY_TEST_HAMMERED_STREAM_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "media/plane.h"
#include "media/random.h"
#include "test/check.h"

namespace parley::test {

struct Hammering {
  uint64_t threads;
  size_t frame_bytes;
  uint64_t packets;  // it ends once so many have left
};

// One thread pushes frames of track 1, and `threads` others call `act(stream, random)`.
template <class Act>
void HammerStream(StreamConfig config, const Hammering& hammering, const Act& act) {
  const auto plane = MediaPlane::OpenReal(1);
  const auto stream = plane->MakeStream(std::move(config), nullptr);
  stream->set_handle(1);
  CHECK(plane->Begin(stream.get()));
  stream->SetTarget(plane->CaptureTarget());
  std::atomic<bool> running{true};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    const std::vector<uint8_t> frame(hammering.frame_bytes);
    PlayoutQueue& queue = stream->queue();
    while (running.load()) queue.Push(queue.generation(), 1, frame.data(), frame.size());
  });
  for (uint64_t seed = 1; seed <= hammering.threads; seed++) {
    threads.emplace_back([&, seed] {
      Random random(seed);
      while (running.load()) act(*stream, random);
    });
  }
  while (stream->Stats().packets < hammering.packets) plane->TakePackets();
  running.store(false);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace parley::test

#endif  // PARLEY_TEST_HAMMERED_STREAM_H_
