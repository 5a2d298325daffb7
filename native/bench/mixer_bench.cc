// Measures what mixing costs on one thread, and how long sound is under way in it. Calls are members of
// mixers on a plane with simulated time: packets come in, are decoded, mixed, encoded and sent into memory.
// Sockets and SRTP are not part of it, and nothing waits for a processor.
//
//   mixer_bench [seconds of call: 10]
//
// The delay is from the packet whose sound begins to the place where it begins in a packet that leaves, with
// the delays of the codecs in between (voice_codec.h).
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "media/plane.h"
#include "media/random.h"
#include "media/rtp.h"
#include "test/coded_voice.h"

namespace parley::bench {
namespace {

using test::CodedVoice;

constexpr int64_t kFrame = 20 * kNsPerMs;
constexpr int kBurstEach = 25;  // frames; each of them is a tone, and the others are silent

struct Kind {
  VoiceCodec codec;
  uint8_t type;
  uint32_t clock_rate;
};
constexpr Kind kPcmu{VoiceCodec::kPcmu, 0, 8000}, kPcma{VoiceCodec::kPcma, 8, 8000},
    kG722{VoiceCodec::kG722, 9, 8000}, kOpus{VoiceCodec::kOpus, 111, 48'000};

// One frame of each burst and of the silence around it, as the far end's encoder makes them.
CodedVoice Bursts(const Kind& kind) {
  CodedVoice voice;
  voice.clock_rate = kind.clock_rate;
  const auto encoder = VoiceEncoder::Make(kind.codec, 16'000);
  for (int number = 0; number < 20 * kBurstEach; number++) {
    std::vector<float> frame(320);
    if (number % kBurstEach == kBurstEach - 1) {
      for (size_t n = 0; n < frame.size(); n++)
        frame[n] = 0.5F * static_cast<float>(std::cos(0.4 * static_cast<double>(n)));
    }
    std::vector<uint8_t> payload(400);
    payload.resize(encoder->Encode(frame.data(), frame.size(), payload.data(), payload.size()));
    voice.packets.push_back(std::move(payload));
  }
  return voice;
}

struct Call {
  Kind kind;
  const CodedVoice* voice;  // null: it is silent and sends nothing
  std::shared_ptr<MediaSocket> socket;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<JoinedLeg> leg;
  int64_t phase_ns;  // of its packets
  uint32_t number = 0;
};

class Bench {
 public:
  explicit Bench(double seconds) : end_ns_(static_cast<int64_t>(seconds * kNsPerSecond)) {}
  ~Bench() { plane_->Close(); }

  std::shared_ptr<Mixer> AddMixer() {
    mixers_.push_back(std::make_shared<Mixer>(6));
    plane_->BeginMixer(mixers_.back());
    return mixers_.back();
  }

  void Add(Mixer& mixer, const Kind& kind, const CodedVoice* voice) {
    const uint64_t handle = calls_.size() + 1;
    Call call{kind,
              voice,
              plane_->MakeSocket({}, true),
              nullptr,
              std::make_shared<JoinedLeg>(),
              static_cast<int64_t>(random_.Unit() * kFrame)};
    call.socket->set_handle(handle);
    PayloadTypes types{};
    for (const Kind& one : {kPcmu, kPcma, kG722, kOpus})
      types[one.type] = {PayloadKind::kSound, one.clock_rate, one.codec};
    call.socket->SetPayloadTypes(types);
    call.socket->Learn(Address::Of("192.0.2.7", 4000), Address(), true, {});
    plane_->BeginSocket(call.socket);
    StreamConfig config;
    config.ssrc = static_cast<uint32_t>(handle);
    config.payload_type = kind.type;
    config.clock_rate = kind.clock_rate;
    config.ticks_per_frame = kind.clock_rate / 50;
    config.codec = kind.codec;
    call.stream = plane_->MakeStream(config, nullptr);
    call.stream->set_handle(handle);
    plane_->Begin(call.stream.get());
    call.stream->SetTarget(plane_->CaptureTarget());
    call.socket->Bind(call.stream);
    mixer.AddMember(call.leg, {});
    call.socket->JoinMixer(call.leg);
    calls_.push_back(std::move(call));
  }

  // Returns the share of a core that it took. `packets`: what left; null: it is dropped.
  double Run(std::vector<CapturedPacket>* packets) {
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t n = 0; n < calls_.size(); n++) order.emplace_back(calls_[n].phase_ns, n);
    std::sort(order.begin(), order.end());
    double used = 0;
    for (int64_t at_ns = 0; at_ns < end_ns_; at_ns += kFrame) {
      const double before = ThreadSeconds();
      for (const auto& [phase_ns, index] : order) {
        Call& call = calls_[index];
        if (!call.voice) continue;
        plane_->Advance(at_ns + phase_ns);
        Feed(call);
      }
      plane_->Advance(at_ns + kFrame);
      used += ThreadSeconds() - before;
      for (CapturedPacket& packet : plane_->TakePackets())
        if (packets) packets->push_back(std::move(packet));
    }
    return used / (static_cast<double>(end_ns_) / kNsPerSecond);
  }

  const std::vector<Call>& calls() const { return calls_; }

 private:
  static double ThreadSeconds() {
    return static_cast<double>(ReadClock(CLOCK_THREAD_CPUTIME_ID)) / kNsPerSecond;
  }

  void Feed(Call& call) {
    const std::vector<uint8_t>& payload = call.voice->packets[call.number % call.voice->packets.size()];
    uint8_t packet[1500];
    WriteRtpHeader(packet, {false, call.kind.type, static_cast<uint16_t>(call.number),
                            call.number * (call.kind.clock_rate / 50), 7});
    std::copy(payload.begin(), payload.end(), packet + kRtpHeaderBytes);
    plane_->Feed(call.socket, packet, kRtpHeaderBytes + payload.size(), Address::Of("192.0.2.7", 4000),
                 false);
    call.number++;
  }

  const int64_t end_ns_;
  const std::shared_ptr<MediaPlane> plane_ = MediaPlane::OpenManual(1, 0, 0);
  Random random_{5};
  std::vector<std::shared_ptr<Mixer>> mixers_;
  std::vector<Call> calls_;
};

// Delays of the bursts of one call's mix, in ms.
void AddDelays(const Call& from, const Call& to, const std::vector<CapturedPacket>& packets,
               std::vector<double>* delays) {
  const auto decoder = VoiceDecoder::Make(to.kind.codec, 16'000);
  double next_ms = NsToMs(from.phase_ns) + (kBurstEach - 1) * 20;
  for (const CapturedPacket& packet : packets) {
    if (packet.stream != to.stream->handle()) continue;
    float frame[1920];
    const uint8_t* const payload = packet.data.data() + kRtpHeaderBytes;
    const size_t count = decoder->Decode(payload, packet.data.size() - kRtpHeaderBytes, frame);
    for (size_t n = 0; n < count; n++) {
      const double at_ms = NsToMs(packet.at_ns) + static_cast<double>(n) / 16;
      if (std::abs(frame[n]) < 0.2F || at_ms < next_ms) continue;
      if (next_ms > 2000) delays->push_back(at_ms - next_ms);
      next_ms += kBurstEach * 20;
    }
  }
}

double At(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

void MeasureBridges(size_t bridges, const Kind& one, const Kind& other, double seconds) {
  const CodedVoice voices[] = {test::Coded(one.codec, 500), test::Coded(other.codec, 500)};
  Bench bench(seconds);
  for (size_t n = 0; n < bridges; n++) {
    const auto mixer = bench.AddMixer();
    bench.Add(*mixer, one, &voices[0]);
    bench.Add(*mixer, other, &voices[1]);
  }
  const double share = bench.Run(nullptr);
  const CodedVoice bursts[] = {Bursts(one), Bursts(other)};
  Bench slow(8);
  for (size_t n = 0; n < bridges; n++) {
    const auto mixer = slow.AddMixer();
    slow.Add(*mixer, one, &bursts[0]);
    slow.Add(*mixer, other, &bursts[1]);
  }
  std::vector<CapturedPacket> packets;
  slow.Run(&packets);
  std::vector<double> there, back;
  for (size_t n = 0; n < slow.calls().size(); n += 2) {
    AddDelays(slow.calls()[n], slow.calls()[n + 1], packets, &there);
    AddDelays(slow.calls()[n + 1], slow.calls()[n], packets, &back);
  }
  std::printf("%4zu bridges: %6.3f %% of a core each, there %.1f/%.1f ms, back %.1f/%.1f ms (p50/p99)\n",
              bridges, share * 100 / static_cast<double>(bridges), At(there, 0.5), At(there, 0.99),
              At(back, 0.5), At(back, 0.99));
}

void MeasureRoom(size_t members, size_t talkers, double seconds) {
  const Kind kinds[] = {kPcmu, kOpus, kG722};
  const CodedVoice voices[] = {test::Coded(kPcmu.codec, 500), test::Coded(kOpus.codec, 500),
                               test::Coded(kG722.codec, 500)};
  Bench bench(seconds);
  const auto mixer = bench.AddMixer();
  for (size_t n = 0; n < members; n++)
    bench.Add(*mixer, kinds[n % 3], n < talkers ? &voices[n % 3] : nullptr);
  const double share = bench.Run(nullptr);
  std::printf("room of %3zu, %zu talk: %6.2f %% of a core, %.3f %% a member\n", members, talkers, share * 100,
              share * 100 / static_cast<double>(members));
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  using namespace parley::bench;
  const double seconds = count > 1 ? std::strtod(arguments[1], nullptr) : 10;
  std::printf("G.711 and Opus\n");
  for (const size_t bridges : {25, 50, 100}) MeasureBridges(bridges, kPcmu, kOpus, seconds);
  std::printf("G.711, both laws\n");
  MeasureBridges(100, kPcmu, kPcma, seconds);
  std::printf("G.711 and G.722\n");
  MeasureBridges(100, kPcmu, kG722, seconds);
  for (const size_t members : {3, 20, 100}) {
    for (const size_t talkers : {2, 3, 4})
      if (talkers <= members) MeasureRoom(members, talkers, seconds);
  }
}
