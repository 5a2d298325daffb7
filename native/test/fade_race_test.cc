// Checks a fade while the clock runs and other threads use the stream.
#include <atomic>
#include <thread>
#include <vector>

#include "media/plane.h"
#include "media/random.h"
#include "test/check.h"
#include "test/hammered_stream.h"
#include "test/letters.h"

namespace parley::test {
namespace {

// One thread is the clock, and others fade, resume, clear and count.
class Race {
 public:
  static constexpr size_t kFades = 100, kMostTries = 100'000;

  Race() {
    stream_->set_handle(1);
    CHECK(plane_->Begin(stream_.get()));
    stream_->SetTarget(plane_->CaptureTarget());
  }

  void Run() {
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      Random random(2);
      for (int64_t now_ns = 0; running_.load(); now_ns += kFrame) {
        // Often the fade is ready in time, and sometimes not.
        for (uint64_t n = random.Next() % 2000; n > 0 && !stream_->faded(); n--) std::this_thread::yield();
        while (running_.load() && !stream_->faded() && stream_->queue().QueuedFrames() < 5) {
          std::this_thread::yield();
        }
        plane_->Advance(now_ns);
        Look();
      }
    });
    threads.emplace_back([&] {
      for (uint32_t n = 0; running_.load(); n++) {
        const std::vector<uint8_t> frame = FrameOf(static_cast<char>('a' + n % 26));
        PlayoutQueue& queue = stream_->queue();
        if (queue.Push(queue.generation(), 1, frame.data(), frame.size()) != PushResult::kTaken) n--;
      }
    });
    threads.emplace_back([&] {
      while (running_.load()) stream_->Sent(1);
    });
    Random random(3);
    for (size_t n = 0; n < kMostTries && faded_ < kFades; n++) FadeOnce(random.Next() % 4);
    running_.store(false);
    for (std::thread& thread : threads) thread.join();
    CHECK_EQ(faded_, kFades);
    CHECK_EQ(late_.load(), size_t{0});
    CHECK_EQ(torn_.load(), size_t{0});
    std::printf("       %zu fades, %zu frames\n", faded_, static_cast<size_t>(frames_.load()));
  }

 private:
  // While a fade lasts, no frame leaves that does not fade.
  void FadeOnce(uint64_t dice) {
    while (stream_->queue().QueuedFrames() < 5) std::this_thread::yield();
    const FadeResult result = stream_->Fade(1);
    // The clock took the frame three times while it was encoded.
    if (result == FadeResult::kCut) CHECK(stream_->ResumeFade(1, 1).has_value());
    if (!Faded(result)) return;
    faded_++;
    // This tick may have been under way.
    const size_t begun = ticks_.load();
    while (ticks_.load() < begun + 2) std::this_thread::yield();
    paused_.store(true);
    while (ticks_.load() < begun + 5) std::this_thread::yield();
    paused_.store(false);
    const size_t ends = ticks_.load();
    while (ticks_.load() < ends + 2) std::this_thread::yield();
    if (dice == 0) {
      stream_->Clear();
    } else {
      stream_->ResumeFade(1, static_cast<uint32_t>(dice) + 1);
    }
  }

  void Look() {
    for (const CapturedPacket& packet : plane_->TakePackets()) {
      frames_++;
      if (paused_.load()) late_++;
      if (LetterOf(packet) == '?') torn_++;
    }
    ticks_++;
  }

  const std::shared_ptr<MediaPlane> plane_ = MediaPlane::OpenManual(1, 0, 0);
  const std::shared_ptr<Stream> stream_ = plane_->MakeStream(Config(VoiceCodec::kPcmu), nullptr);
  std::atomic<bool> running_{true}, paused_{false};
  std::atomic<size_t> ticks_{0}, frames_{0}, late_{0}, torn_{0};
  size_t faded_ = 0;
};

void AFadeRacesTheClock() { Race().Run(); }

void ThreadsMayDoEverythingAtOnce() {
  HammerStream(Config(VoiceCodec::kPcmu), {3, kTicks, 40}, [](Stream& stream, Random& random) {
    switch (random.Next() % 8) {
      case 0:
        stream.Clear();
        break;
      case 1:
        stream.Take(8);
        break;
      case 2:
        stream.Rewind(stream.Stats().timestamp - 10 * kTicks);
        break;
      case 3:
        stream.SetPaused(random.Next() % 2 == 0);
        break;
      case 4:
        stream.ResumeFade(1, static_cast<uint32_t>(random.Next() % 6));
        break;
      case 5:
        stream.Sent(1);
        stream.FadedTrack();
        break;
      default:
        stream.Fade(1);
    }
  });
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(fade_race) {
  using namespace parley::test;
  return Run({
      {"a fade races the clock", AFadeRacesTheClock},
      {"threads may do everything at once", ThreadsMayDoEverythingAtOnce},
  });
}
