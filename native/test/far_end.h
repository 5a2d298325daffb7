// Simulates a far end that sends a tone, a network and a clock, for tests of CallerSound. A seed decides all
// of it.
#ifndef PARLEY_TEST_FAR_END_H_
#define PARLEY_TEST_FAR_END_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "media/hear/caller_sound.h"
#include "media/random.h"

namespace parley::test {

constexpr int64_t kMs = 1'000'000;
constexpr double kToneStep = 6.283185307179586 * 440 / CallerSound::kRate;  // radians a sample
constexpr double kToneLevel = 0.5;

// The far end's sound.
inline float ToneAt(int64_t index) {
  return static_cast<float>(kToneLevel * std::cos(kToneStep * static_cast<double>(index)));
}

// The payload of a codec for tests: it names the samples of the tone that it stands for.
struct TonePayload {
  uint32_t index;
  uint16_t samples;
  uint8_t corrects;  // it also holds the samples before these
  uint8_t mark = 0x5a;
};

// Decodes TonePayload. It conceals by a constant that no tone contains.
class ToneDecoder : public VoiceDecoder {
 public:
  static constexpr float kConcealed = 0.75F;

  size_t SamplesIn(const uint8_t* payload, size_t bytes) const override {
    TonePayload tone;
    if (bytes != sizeof(tone)) return 0;
    std::memcpy(&tone, payload, sizeof(tone));
    return tone.mark == 0x5a && tone.samples <= kMostMs * 16 ? tone.samples : 0;
  }
  size_t Decode(const uint8_t* payload, size_t bytes, float* out) override {
    const size_t samples = SamplesIn(payload, bytes);
    TonePayload tone{};
    if (samples > 0) std::memcpy(&tone, payload, sizeof(tone));
    for (size_t n = 0; n < samples; n++) out[n] = ToneAt(static_cast<int64_t>(tone.index + n));
    return samples;
  }
  bool Recover(const uint8_t* next, size_t bytes, size_t samples, float* out) override {
    TonePayload tone;
    if (SamplesIn(next, bytes) == 0) return false;
    std::memcpy(&tone, next, sizeof(tone));
    if (!tone.corrects) return false;
    for (size_t n = 0; n < samples; n++)
      out[n] = ToneAt(static_cast<int64_t>(tone.index) - static_cast<int64_t>(samples - n));
    return true;
  }
  void Conceal(size_t samples, float* out) override { std::fill_n(out, samples, kConcealed); }
  void Reset() override {}
};

inline CallerSound::MakeDecoder MakeToneDecoders() {
  return [](VoiceCodec) { return std::make_unique<ToneDecoder>(); };
}

// A packet with the time at which it comes.
struct Sent {
  HeardPacket packet;
  TonePayload payload{};
};

struct FarEnd {
  int packet_ms = 20;
  double seconds = 60;
  double drift_ppm = 0;  // positive: its clock is faster than ours
  VoiceCodec codec = VoiceCodec::kPcmu;
  uint32_t clock_rate = 8000;
  bool corrects = false;   // by in-band FEC
  bool redundant = false;  // by RED with one older block
  uint64_t first_sequence = 65'000, first_timestamp = 4'294'000'000;
  std::function<bool(int)> sends = nullptr;  // true if the packet of this number is sent; all by default
};

struct Network {
  double loss = 0;       // of all packets
  double jitter_ms = 0;  // evenly distributed above the least delay
  double duplicates = 0;
  double delay_ms = 50;
  uint64_t seed = 1;
  std::function<double(double)> extra_ms = nullptr;  // delay at a time in ms
  double until_ms = 1e12;                            // no loss and no jitter from then on
};

struct Journey {
  std::vector<Sent> arrivals;  // in their order
  size_t sent = 0, lost = 0;
};

inline Sent PacketOf(const FarEnd& far, int number, uint64_t sequence) {
  Sent sent;
  const int64_t index = static_cast<int64_t>(number) * far.packet_ms * 16;
  sent.payload = {static_cast<uint32_t>(index), static_cast<uint16_t>(far.packet_ms * 16),
                  static_cast<uint8_t>(far.corrects)};
  sent.packet.codec = far.codec;
  sent.packet.clock_rate = far.clock_rate;
  sent.packet.sequence = sequence;
  sent.packet.timestamp =
      far.first_timestamp + static_cast<uint64_t>(number) * far.packet_ms * far.clock_rate / 1000;
  return sent;
}

inline Journey Travel(const FarEnd& far, const Network& net) {
  Journey journey;
  Random random(net.seed);
  uint64_t sequence = far.first_sequence;
  int before = -1;
  for (int number = 0; number * far.packet_ms < far.seconds * 1000; number++) {
    if (far.sends && !far.sends(number)) continue;
    const double left_ms = (number + 1) * far.packet_ms / (1 + far.drift_ppm * 1e-6);
    Sent sent = PacketOf(far, number, sequence++);
    journey.sent++;
    const bool troubled = left_ms < net.until_ms;
    const bool lost = random.Unit() < net.loss && troubled && number > 0;
    const bool twice = random.Unit() < net.duplicates;
    for (int copy = 0; copy < (twice ? 2 : 1); copy++) {
      const double extra = net.extra_ms ? net.extra_ms(left_ms) : 0;
      const double way = net.delay_ms + (troubled ? net.jitter_ms * random.Unit() : 0) + extra;
      sent.packet.arrival_ns = static_cast<int64_t>((left_ms + way) * kMs);
      if (lost) continue;
      if (far.redundant && before >= 0) {
        Sent older = PacketOf(far, before, sent.packet.sequence - 1);
        older.packet.arrival_ns = sent.packet.arrival_ns;
        older.packet.redundant = true;
        journey.arrivals.push_back(older);
      }
      journey.arrivals.push_back(sent);
    }
    journey.lost += lost ? 1 : 0;
    before = number;
  }
  std::stable_sort(journey.arrivals.begin(), journey.arrivals.end(),
                   [](const Sent& a, const Sent& b) { return a.packet.arrival_ns < b.packet.arrival_ns; });
  return journey;
}

struct Heard {
  std::vector<float> sound;  // of all pulls, the first at 5 ms
  HearingFigures figures;
  size_t pulls = 0, pauses = 0;
  double least_delay = 1e9, most_delay = 0, last_delay = 0, most_target = 0;  // after `settle_ms`
};

// Puts the packets as they come and pulls each 16 ms.
class Listener {
 public:
  explicit Listener(CallerSound::Limits limits = {}) : sound(limits, MakeToneDecoders()) {}

  // Goes on where it stopped if it is called again with the same arrivals.
  void Hear(const std::vector<Sent>& arrivals, double until_ms, double settle_ms = 5000) {
    for (; static_cast<double>(now_ns) < until_ms * kMs; now_ns += 16 * kMs) {
      for (; next < arrivals.size() && arrivals[next].packet.arrival_ns <= now_ns; next++)
        Put(arrivals[next]);
      Pull(settle_ms);
    }
  }
  void Put(const Sent& sent) {
    HeardPacket packet = sent.packet;
    if (packet.kind == HeardPacket::kSound) {
      packet.payload = reinterpret_cast<const uint8_t*>(&sent.payload);
      packet.bytes = sizeof(sent.payload);
    }
    sound.Put(packet);
  }
  bool Pull(double settle_ms = 0) {
    float out[CallerSound::kQuantum];
    const bool any = sound.Pull(now_ns, out);
    heard.sound.insert(heard.sound.end(), out, out + CallerSound::kQuantum);
    heard.figures = sound.figures();
    heard.pulls++;
    if (!any) heard.pauses++;
    heard.last_delay = heard.figures.delay_ms;
    if (static_cast<double>(now_ns) < settle_ms * kMs) return any;
    heard.least_delay = std::min(heard.least_delay, heard.last_delay);
    heard.most_delay = std::max(heard.most_delay, heard.last_delay);
    heard.most_target = std::max(heard.most_target, heard.figures.target_ms);
    return any;
  }

  CallerSound sound;
  int64_t now_ns = 5 * kMs;
  size_t next = 0;  // arrival
  Heard heard;
};

// Hears the far end until it has sent everything.
inline Heard Hear(const FarEnd& far, const Network& net, double settle_ms = 5000) {
  Listener listener;
  listener.Hear(Travel(far, net).arrivals, far.seconds * 1000 + net.delay_ms, settle_ms);
  return listener.heard;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_FAR_END_H_
