// Measures the media plane's sender: processor per packet, lateness, and memory per stream.
//
//   cmake --build native/build --target stream_bench && native/build/stream_bench [seconds: 10]
//
// Processor: a manual plane runs in the measuring thread, so that its processor time is that of the clock
// alone. Lateness: a plane with a clock thread, beside a thread that fills the queues. Every packet is
// encrypted and sent to a UDP socket of the loopback interface that nobody reads.
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "media/plane.h"
#include "media/time.h"
#include "test/loopback.h"

namespace parley::bench {
namespace {

constexpr int64_t kPeriod = 20 * kNsPerMs;
constexpr size_t kFrameBytes = 80;  // Opus at 32 kbit/s
constexpr uint32_t kFrames = 75;

std::unique_ptr<SrtpSender> Keys(uint32_t ssrc) {
  const uint8_t key[16] = {1, 2, 3}, salt[14] = {4, 5, 6};
  return SrtpSender::Create(SrtpProfile::kAesCm128HmacSha1_80, key, 16, salt, 14, ssrc);
}

StreamConfig Config(uint32_t ssrc) {
  StreamConfig config;
  config.ssrc = ssrc;
  config.payload_type = 111;
  config.clock_rate = 48'000;
  config.ticks_per_frame = 960;
  config.period_ns = kPeriod;
  config.silence.assign(3, 0xf8);
  config.low_frames = 20;
  config.high_frames = kFrames;
  config.cname = "bench";
  config.report_interval_ns = 5 * kNsPerSecond;
  return config;
}

using Streams = std::vector<std::shared_ptr<Stream>>;

std::shared_ptr<Stream> Open(MediaPlane& plane, uint32_t ssrc) {
  const auto stream = plane.MakeStream(Config(ssrc), Keys(ssrc));
  stream->set_handle(ssrc);
  if (!plane.Begin(stream.get())) std::abort();
  return stream;
}

void Fill(const Streams& streams) {
  const uint8_t frame[kFrameBytes] = {1};
  for (const auto& stream : streams) {
    PlayoutQueue& queue = stream->queue();
    while (queue.Push(queue.generation(), 1, frame, sizeof(frame)) == PushResult::kTaken) {
    }
  }
}

double HeapBytes() { return static_cast<double>(mallinfo2().uordblks); }

void Memory() {
  constexpr int kStreams = 500;
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const double before = HeapBytes();
  Streams streams;
  for (int n = 0; n < kStreams; n++) streams.push_back(Open(*plane, static_cast<uint32_t>(n + 1)));
  const double bytes = (HeapBytes() - before) / kStreams;
  const double keys_before = HeapBytes();
  std::vector<std::unique_ptr<SrtpSender>> keys;
  for (int n = 0; n < kStreams; n++) keys.push_back(Keys(1));
  const double key_bytes = (HeapBytes() - keys_before) / kStreams;
  const double queue_before = HeapBytes();
  std::vector<std::unique_ptr<PlayoutQueue>> queues;
  for (int n = 0; n < kStreams; n++) queues.push_back(std::make_unique<PlayoutQueue>(20, kFrames));
  const double queue_bytes = (HeapBytes() - queue_before) / kStreams;
  std::printf("memory per stream: %.0f bytes, of these SRTP %.0f, queue %.0f; sizeof Stream %zu\n", bytes,
              key_bytes, queue_bytes, sizeof(Stream));
}

int64_t ThreadNs() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

// Nanoseconds of processor per packet, over `seconds` of `streams` voices.
double Cost(MediaPlane& plane, const Streams& streams, int seconds) {
  int64_t now_ns = plane.time().Now(), cost_ns = 0;
  uint64_t packets = 0;
  for (int step = 0; step < seconds * 50; step++) {
    if (step % 25 == 0) Fill(streams);
    const int64_t before = ThreadNs();
    packets += plane.Advance(now_ns += kPeriod);
    cost_ns += ThreadNs() - before;
  }
  return static_cast<double>(cost_ns) / static_cast<double>(packets);
}

void Processor(int count, int seconds) {
  test::LoopbackSocket from, to;
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  Streams streams;
  for (int n = 0; n < count; n++) {
    streams.push_back(Open(*plane, static_cast<uint32_t>(n + 1)));
    streams.back()->SetTarget(from.TargetAt(to));
  }
  Cost(*plane, streams, 1);
  std::printf("%d streams: %.0f ns of processor per packet\n", count, Cost(*plane, streams, seconds));
}

// One source with listeners: what a listener's packet costs beside the source's.
void Listeners(int count, int seconds) {
  test::LoopbackSocket from, to;
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const Streams source = {Open(*plane, 1)};
  source[0]->SetTarget(from.TargetAt(to));
  const double alone_ns = Cost(*plane, source, seconds);
  const double before = HeapBytes();
  for (int n = 0; n < count; n++) {
    const auto ssrc = static_cast<uint32_t>(n + 2);
    const auto listener = plane->MakeListener(Config(ssrc), Keys(ssrc));
    listener->set_handle(ssrc);
    if (plane->FollowSource(listener.get(), source[0]) != MediaPlane::Follow::kFollows) std::abort();
    listener->SetTarget(from.TargetAt(to));
  }
  const double bytes = (HeapBytes() - before) / count;
  Cost(*plane, source, 1);
  const double with_ns = Cost(*plane, source, seconds);
  const double listener_ns = (with_ns * (count + 1) - alone_ns) / count;
  std::printf(
      "1 source: %.0f ns of processor per packet; with %d listeners: %.0f ns per listener packet, %.0f bytes "
      "per listener; sizeof Listener %zu\n",
      alone_ns, count, listener_ns, bytes, sizeof(Listener));
}

// The upper bound of the bucket below which that share of packets left.
double LatenessMs(const PlaneCounters& counters, double share) {
  uint64_t all = 0, seen = 0;
  for (size_t n = 0; n < LatenessHistogram::size(); n++) all += counters.lateness.count(n);
  for (size_t n = 0; n + 1 < LatenessHistogram::size(); n++) {
    seen += counters.lateness.count(n);
    if (static_cast<double>(seen) >= share * static_cast<double>(all))
      return static_cast<double>(LatenessHistogram::kUpperUs[n]) / 1000;
  }
  return -1;
}

void Lateness(int count, int seconds) {
  test::LoopbackSocket from, to;
  const auto plane = MediaPlane::OpenReal(1);
  Streams streams;
  for (int n = 0; n < count; n++) {
    streams.push_back(Open(*plane, static_cast<uint32_t>(n + 1)));
    streams.back()->SetTarget(from.TargetAt(to));
  }
  const int64_t end_ns = plane->time().Now() + seconds * kNsPerSecond;
  while (plane->time().Now() < end_ns) {
    Fill(streams);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  const PlaneCounters& counters = plane->counters();
  std::printf("%d streams, %s priority: lateness p50 <= %.2f ms, p99 <= %.2f ms, p99.9 <= %.2f ms\n", count,
              NameOf(plane->priority()), LatenessMs(counters, 0.5), LatenessMs(counters, 0.99),
              LatenessMs(counters, 0.999));
  plane->Close();
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** words) {
  using namespace parley::bench;
  const int seconds = count > 1 ? std::atoi(words[1]) : 10;
  Memory();
  Processor(400, seconds);
  Listeners(50, seconds);
  Lateness(400, seconds);
  return 0;
}
