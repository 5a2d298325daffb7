// Opus frames joined in one packet, which libopus takes apart again.
#include <opus.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "media/opus_bundle.h"
#include "media/plane.h"
#include "media/random.h"
#include "test/check.h"
#include "test/loopback.h"

namespace parley::test {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kToc = 0x78;  // one frame of CELT, 20 ms
constexpr uint32_t kTicks = 960;

Bytes Packet(uint8_t toc, size_t bytes, Random& random) {
  Bytes packet{toc};
  while (packet.size() < bytes) packet.push_back(static_cast<uint8_t>(random.Next()));
  return packet;
}

// The packets of one frame that the payload holds, by libopus; empty if it refuses the payload.
std::vector<Bytes> FramesOf(const uint8_t* payload, size_t bytes) {
  unsigned char toc = 0;
  const unsigned char* frames[48];
  opus_int16 lengths[48];
  const int count =
      opus_packet_parse(payload, static_cast<opus_int32>(bytes), &toc, frames, lengths, nullptr);
  std::vector<Bytes> packets;
  for (int n = 0; n < count; n++) {
    packets.push_back({static_cast<uint8_t>(toc & 0xfc)});
    packets.back().insert(packets.back().end(), frames[n], frames[n] + lengths[n]);
  }
  return packets;
}

// An exact allocation, so that the sanitizer sees a write past its end.
Bytes Taken(OpusBundle& bundle) {
  const std::unique_ptr<uint8_t[]> out(new uint8_t[OpusBundle::kMaxBytes]);
  const size_t bytes = bundle.Take(out.get());
  CHECK(bytes <= OpusBundle::kMaxBytes);
  return Bytes(out.get(), out.get() + bytes);
}

void Join(OpusBundle& bundle, const std::vector<Bytes>& packets) {
  uint32_t timestamp = 5;
  for (const Bytes& packet : packets) {
    CHECK(OpusBundle::Joins(packet.data(), packet.size()));
    CHECK(bundle.empty() || bundle.Continues(packet.data(), packet.size(), timestamp, true));
    bundle.Add(packet.data(), packet.size(), {timestamp, false, true}, kTicks);
    timestamp += kTicks;
  }
}

// 252 is the first length of two bytes. A payload may have 1023 bytes, with 12 for the lengths.
void EachLengthIsReadAsItWasWritten() {
  Random random(1);
  OpusBundle bundle;
  bundle.SetFrames(2);
  for (size_t bytes = 1; bytes < 1012; bytes++) {
    const std::vector<Bytes> packets{Packet(kToc, bytes, random), Packet(kToc, 1, random)};
    Join(bundle, packets);
    CHECK(bundle.full());
    const Bytes payload = Taken(bundle);
    CHECK(FramesOf(payload.data(), payload.size()) == packets);
    CHECK(bundle.empty());
  }
}

void AFrameOnItsOwnStaysAsItWas() {
  Random random(2);
  OpusBundle bundle;
  bundle.SetFrames(6);
  for (const size_t bytes : {size_t{1}, size_t{2}, size_t{1012}}) {
    const Bytes packet = Packet(kToc, bytes, random);
    Join(bundle, {packet});
    CHECK(Taken(bundle) == packet);
  }
}

void WhatCannotBeJoinedIsRefused() {
  Random random(3);
  CHECK(!OpusBundle::Joins(nullptr, 0));
  for (const uint8_t code : {uint8_t{1}, uint8_t{2}, uint8_t{3}}) {
    const Bytes several{static_cast<uint8_t>(kToc | code), 1, 2};
    CHECK(!OpusBundle::Joins(several.data(), several.size()));
  }
  const Bytes longest = Packet(kToc, 1012, random), longer = Packet(kToc, 1013, random);
  CHECK(OpusBundle::Joins(longest.data(), longest.size()));
  CHECK(!OpusBundle::Joins(longer.data(), longer.size()));
  OpusBundle bundle;
  bundle.SetFrames(6);
  const Bytes frame = Packet(kToc, 500, random), other = Packet(0x0c, 500, random);
  Join(bundle, {frame});
  const uint32_t next = 5 + kTicks;
  CHECK(bundle.Continues(frame.data(), frame.size(), next, true));
  CHECK(!bundle.Continues(frame.data(), frame.size(), next + 1, true));
  CHECK(!bundle.Continues(frame.data(), frame.size(), next, false));
  CHECK(!bundle.Continues(other.data(), other.size(), next, true));
  const Bytes fitting = Packet(kToc, 513, random), too_long = Packet(kToc, 514, random);
  CHECK(bundle.Continues(fitting.data(), fitting.size(), next, true));
  CHECK(!bundle.Continues(too_long.data(), too_long.size(), next, true));
}

// Sends a packet as a stream does; joined payloads are compared with what went in.
class RandomSender {
 public:
  explicit RandomSender(uint64_t seed) : random_(seed) {}

  void Send() {
    if (random_.Next() % 50 == 0) bundle_.SetFrames(static_cast<uint32_t>(1 + random_.Next() % 6));
    const auto toc = static_cast<uint8_t>(random_.Next() % 8 ? kToc : random_.Next());
    const Bytes packet = Packet(toc, 1 + random_.Next() % (random_.Next() % 8 ? 120 : 1100), random_);
    if (random_.Next() % 40 == 0) timestamp_ += 7;
    const bool voice = random_.Next() % 20 != 0;
    const bool joins = OpusBundle::Joins(packet.data(), packet.size());
    if (!bundle_.empty() && !(joins && bundle_.Continues(packet.data(), packet.size(), timestamp_, voice)))
      Leave();
    if (joins) {
      bundle_.Add(packet.data(), packet.size(), {timestamp_, false, voice}, kTicks);
      waiting_.push_back(packet);
    }
    if (bundle_.full() || random_.Next() % 30 == 0) Leave();
    timestamp_ += kTicks;
  }

  size_t joined() const { return joined_; }

 private:
  void Leave() {
    if (bundle_.empty()) return;
    CHECK(waiting_.size() <= OpusBundle::kMaxFrames);
    const Bytes payload = Taken(bundle_);
    CHECK(FramesOf(payload.data(), payload.size()) == waiting_);
    joined_ += waiting_.size();
    waiting_.clear();
  }

  Random random_;
  OpusBundle bundle_;
  std::vector<Bytes> waiting_;
  uint32_t timestamp_ = 0;
  size_t joined_ = 0;
};

void AnyPacketsComeOutAsTheyWentIn() {
  RandomSender sender(4);
  for (int n = 0; n < 50'000; n++) sender.Send();
  CHECK(sender.joined() > 40'000);
}

StreamConfig OpusConfig(uint32_t ssrc) {
  StreamConfig config;
  config.ssrc = ssrc;
  config.clock_rate = 48'000;
  config.ticks_per_frame = 240;
  config.period_ns = 5 * kNsPerMs;
  config.silence = {0xf8, 0xff, 0xfe};
  config.codec = VoiceCodec::kOpus;
  config.red = {63, 2};
  return config;
}

// Pushes voice until the queue is full.
void Fill(Stream& source, Random& random) {
  for (;;) {
    const Bytes packet = Packet(kToc, 1 + random.Next() % 300, random);
    const auto pushed = source.queue().Push(source.queue().generation(), 1, packet.data(), packet.size());
    if (pushed != PushResult::kTaken) return;
  }
}

// Counts packets and reads their payloads, which are without redundancy.
struct Received {
  size_t packets = 0, joined = 0;

  void Read(const LoopbackSocket& socket) {
    for (std::string packet; !(packet = socket.Receive(0)).empty();) {
      const auto* const data = reinterpret_cast<const uint8_t*>(packet.data());
      if ((data[1] & 0x7f) != 111) continue;  // RED
      const size_t frames = FramesOf(data + kRtpHeaderBytes, packet.size() - kRtpHeaderBytes).size();
      CHECK(frames >= 1 && frames <= OpusBundle::kMaxFrames);
      packets++;
      if (frames > 1) joined++;
    }
  }
};

// The clock sends a call and its listener, while other threads change how many frames a packet has.
void FramesMayBeJoinedAndPartedWhileTheClockSends() {
  const LoopbackSocket way, listener_way;
  Received heard, listened;
  {
    const auto plane = MediaPlane::OpenReal(1);
    StreamConfig config = OpusConfig(1);
    config.payload_type = 111;
    const auto source = plane->MakeStream(config, nullptr);
    source->set_handle(1);
    CHECK(plane->Begin(source.get()));
    const auto listener = plane->MakeListener(config, nullptr);
    listener->set_handle(2);
    CHECK(plane->FollowSource(listener.get(), source) == MediaPlane::Follow::kFollows);
    source->SetTarget(way.TargetAt(way));
    listener->SetTarget(listener_way.TargetAt(listener_way));
    HammerForASecond([&](uint64_t seed, const std::atomic<bool>& running) {
      Random random(seed);
      while (running.load()) {
        source->SetFramesPerPacket(static_cast<uint32_t>(1 + random.Next() % 6));
        listener->SetFramesPerPacket(static_cast<uint32_t>(1 + random.Next() % 6));
        if (random.Next() % 16 == 0) source->SetRedundancy(static_cast<uint32_t>(random.Next() % 3));
        if (seed == 1) {
          Fill(*source, random);
          heard.Read(way);
          listened.Read(listener_way);
        }
        if (random.Next() % 64 == 0) source->Clear();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    plane->Close();
  }
  heard.Read(way);
  listened.Read(listener_way);
  CHECK(heard.packets > 20 && heard.joined > 5);
  CHECK(listened.packets > 20 && listened.joined > 5);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(opus_bundle) {
  using namespace parley::test;
  return Run({
      {"each length is read as it was written", EachLengthIsReadAsItWasWritten},
      {"a frame on its own stays as it was", AFrameOnItsOwnStaysAsItWas},
      {"what cannot be joined is refused", WhatCannotBeJoinedIsRefused},
      {"any packets come out as they went in", AnyPacketsComeOutAsTheyWentIn},
      {"frames may be joined and parted while the clock sends", FramesMayBeJoinedAndPartedWhileTheClockSends},
  });
}
