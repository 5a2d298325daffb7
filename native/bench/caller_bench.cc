// Measures what hearing a call costs on one thread: its packets of 20 ms are put, and 16 ms of sound are
// pulled. The clock is simulated: the calls pass as fast as they are computed.
//
//   caller_bench [calls: 50] [seconds of call: 60]
//
// The calls take turns, as they do in the product, so that each finds its memory cold.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "media/hear/caller_sound.h"
#include "media/random.h"
#include "test/coded_voice.h"

namespace parley::bench {
namespace {

using test::CodedVoice;

struct Line {
  const char* name;
  VoiceCodec codec;
  bool talks;
  double loss, jitter_ms;
};

struct Caller {
  explicit Caller(uint64_t seed) : random(seed) {}
  CallerSound sound{CallerSound::Limits{}};
  Random random;
  uint64_t next = 0;
  double next_ms = 0;
};

void PutUntil(Caller& caller, const Line& line, const CodedVoice& voice, double now_ms) {
  for (; caller.next_ms <= now_ms; caller.next++) {
    HeardPacket packet;
    packet.codec = line.codec;
    packet.clock_rate = voice.clock_rate;
    packet.sequence = caller.next;
    packet.timestamp = caller.next * voice.clock_rate / 50;
    packet.arrival_ns = static_cast<int64_t>(caller.next_ms * 1e6);
    const std::vector<uint8_t>& payload = voice.packets[caller.next % voice.packets.size()];
    packet.payload = payload.data();
    packet.bytes = payload.size();
    if (caller.random.Unit() >= line.loss) caller.sound.Put(packet);
    caller.next_ms = static_cast<double>(caller.next + 1) * 20 + line.jitter_ms * caller.random.Unit();
  }
}

void Measure(const Line& line, size_t calls, double seconds) {
  const CodedVoice voice = test::Coded(line.codec, 500);
  std::vector<std::unique_ptr<Caller>> callers;
  for (size_t n = 0; n < calls; n++) callers.push_back(std::make_unique<Caller>(n));
  float out[CallerSound::kQuantum];
  size_t pulls = 0;
  const auto began = std::chrono::steady_clock::now();
  for (double now_ms = 0; now_ms < seconds * 1000; now_ms += 16) {
    for (const std::unique_ptr<Caller>& caller : callers) {
      if (line.talks || now_ms == 0) PutUntil(*caller, line, voice, now_ms);
      caller->sound.Pull(static_cast<int64_t>(now_ms * 1e6), out);
      pulls++;
    }
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
  const double each = took.count() / static_cast<double>(pulls);
  std::printf("%-34s %8.2f us a pull %8.3f %% of a core\n", line.name, each, each / 16'000 * 100);
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  using namespace parley;
  const size_t calls = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 50;
  const double seconds = count > 2 ? std::strtod(arguments[2], nullptr) : 60;
  const bench::Line lines[] = {{"silent", VoiceCodec::kPcmu, false, 0, 0},
                               {"G.711", VoiceCodec::kPcmu, true, 0, 0},
                               {"G.711, 5 % loss, 40 ms jitter", VoiceCodec::kPcmu, true, 0.05, 40},
                               {"G.722", VoiceCodec::kG722, true, 0, 0},
                               {"Opus", VoiceCodec::kOpus, true, 0, 0},
                               {"Opus, 5 % loss, 40 ms jitter", VoiceCodec::kOpus, true, 0.05, 40}};
  for (const bench::Line& line : lines) bench::Measure(line, calls, seconds);
}
