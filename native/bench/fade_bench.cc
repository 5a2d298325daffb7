// Cost and delay of a fade on a real clock. One stream speaks, a thread fades it out at random moments, and
// the packets that leave are compared with the frames that were queued. Times are from the decision, in ms:
//
//   call       until Stream::Fade returned
//   unfaded    until the last packet with sound that does not fade left; 0: it left before the decision
//   faded      until the packet that fades out left; nothing of the voice leaves after it
//
//   cmake --build native/build --target fade_bench && native/build/fade_bench [fades]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "media/plane.h"
#include "media/random.h"
#include "test/sounds.h"

namespace parley {
namespace {

struct Kind {
  const char* name;
  VoiceCodec codec;
  int rate;
  uint32_t clock_rate;
};

constexpr Kind kKinds[] = {
    {"PCMU", VoiceCodec::kPcmu, 8000, 8000},
    {"G722", VoiceCodec::kG722, 16'000, 8000},
    {"Opus", VoiceCodec::kOpus, 48'000, 48'000},
};
constexpr uint32_t kFrames = 15;  // queued for each fade

using Payload = std::vector<uint8_t>;

struct Delays {
  std::vector<double> call, unfaded, faded;
};

std::vector<Payload> Encoded(const Kind& kind, int ms) {
  const auto count = static_cast<size_t>(kind.rate * ms / 1000);
  const test::Sound voice = test::Voice(kind.rate, kFrames * count);
  const auto encoder = VoiceEncoder::Make(kind.codec, kind.rate);
  std::vector<Payload> frames;
  for (size_t n = 0; n < kFrames; n++) {
    Payload frame(PlayoutQueue::kMaxPayload);
    frame.resize(encoder->Encode(&voice[n * count], count, frame.data(), frame.size()));
    frames.push_back(std::move(frame));
  }
  return frames;
}

void FadeOnce(MediaPlane& plane, Stream& stream, const std::vector<Payload>& frames, int64_t after_ns,
              Delays* delays) {
  const uint32_t generation = stream.Clear().generation;
  plane.TakePackets();
  for (const Payload& frame : frames) stream.queue().Push(generation, 1, frame.data(), frame.size());
  SleepUntilNs(MonotonicNs() + after_ns);
  const int64_t begun_ns = MonotonicNs();
  const bool faded = stream.Fade(1) == FadeResult::kFaded;
  const int64_t done_ns = MonotonicNs();
  if (!faded) return;
  SleepUntilNs(done_ns + 3 * stream.config().period_ns);
  const std::set<Payload> queued(frames.begin(), frames.end());
  int64_t unfaded_ns = begun_ns, faded_ns = begun_ns;
  for (const CapturedPacket& packet : plane.TakePackets()) {
    const bool original = queued.count({packet.data.begin() + 12, packet.data.end()}) > 0;
    int64_t& last_ns = original ? unfaded_ns : faded_ns;
    last_ns = std::max(last_ns, packet.at_ns);
  }
  delays->call.push_back(NsToMs(done_ns - begun_ns));
  delays->unfaded.push_back(NsToMs(unfaded_ns - begun_ns));
  delays->faded.push_back(NsToMs(faded_ns - begun_ns));
}

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())))];
}

std::string Spread(const std::vector<double>& values) {
  char text[64];
  std::snprintf(text, sizeof(text), "%6.2f %6.2f %6.2f", Percentile(values, 0.5), Percentile(values, 0.99),
                Percentile(values, 1));
  return text;
}

void Measure(const Kind& kind, int ms, int fades) {
  const auto plane = MediaPlane::OpenReal(1);
  StreamConfig config;
  config.ssrc = 1;
  config.clock_rate = kind.clock_rate;
  config.ticks_per_frame = kind.clock_rate * static_cast<uint32_t>(ms) / 1000;
  config.period_ns = ms * kNsPerMs;
  config.cname = "fade-bench";
  config.codec = kind.codec;
  const auto stream = plane->MakeStream(std::move(config), nullptr);
  stream->set_handle(1);
  plane->Begin(stream.get());
  stream->SetTarget(plane->CaptureTarget());
  const std::vector<Payload> frames = Encoded(kind, ms);
  Random random(1);
  Delays delays;
  for (int n = 0; n < fades; n++) {
    const auto after_ns = static_cast<int64_t>((5 + 4 * random.Unit()) * ms * kNsPerMs);
    FadeOnce(*plane, *stream, frames, after_ns, &delays);
  }
  std::printf("%-5s %2d ms  %4zu fades  call %s   unfaded %s   faded %s\n", kind.name, ms, delays.call.size(),
              Spread(delays.call).c_str(), Spread(delays.unfaded).c_str(), Spread(delays.faded).c_str());
}

}  // namespace
}  // namespace parley

int main(int count, char** words) {
  const int fades = count > 1 ? std::atoi(words[1]) : 200;
  std::printf("p50, p99 and the most, in ms\n");
  for (const parley::Kind& kind : parley::kKinds) {
    for (const int ms : {20, 60}) parley::Measure(kind, ms, fades);
  }
}
