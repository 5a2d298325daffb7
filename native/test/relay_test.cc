// A bridge of two calls whose packets are relayed, on a clock that the test holds: what the far end of the
// one call sends, and what leaves to the other. At last everything at once on a real clock.
#include "media/join/relay.h"

#include <string>
#include <thread>

#include "media/random.h"
#include "test/heard_call.h"
#include "test/loopback.h"

namespace parley::test {
namespace {

constexpr uint32_t kOurSsrc = 0x01020304;
constexpr uint8_t kOurNoiseType = 19, kOurRedType = 63;
constexpr SrtpProfile kProfile = SrtpProfile::kAesCm128HmacSha1_80;
constexpr uint8_t kKey[16] = {1, 2, 3}, kSalt[14] = {4, 5, 6};

StreamConfig Config() {
  StreamConfig config;
  config.ssrc = kOurSsrc;
  config.sequence = 65'530;  // wraps soon
  config.timestamp = 0xffff'fc00;
  config.silence.assign(kFrameBytes, 0xff);
  config.codec = VoiceCodec::kPcmu;
  return config;
}

Payload Frame(char letter) { return Payload(kFrameBytes, static_cast<uint8_t>(letter)); }

struct Keys {
  bool in = false, out = false;
};

// Packets of the far end of a call, relayed to a stream that is captured. The time is 10 ms at the beginning,
// and the ticks of the stream are due each 20 ms; that of 0 ms has sent silence.
struct Bridge {
  std::shared_ptr<MediaPlane> plane = Manual();
  Call from{plane, 1};
  std::shared_ptr<Stream> to;
  std::shared_ptr<Relay> relay;
  std::unique_ptr<SrtpSender> far_keys;
  std::unique_ptr<SrtpReceiver> opener;
  int64_t now_ns = 0;

  explicit Bridge(const StreamConfig& config = Config(), Keys keys = {}) {
    if (keys.in) far_keys = SrtpSender::Create(kProfile, kKey, 16, kSalt, 14, kFarSsrc);
    if (keys.in) CHECK(from.socket->SetSrtp(kProfile, kKey, 16, kSalt, 14));
    if (keys.out) opener = SrtpReceiver::Create(kProfile, kKey, 16, kSalt, 14);
    to = plane->MakeStream(config,
                           keys.out ? SrtpSender::Create(kProfile, kKey, 16, kSalt, 14, kOurSsrc) : nullptr);
    to->set_handle(2);
    CHECK(plane->Begin(to.get()));
    to->SetTarget(plane->CaptureTarget());
    for (int n = 0; n < 2; n++) Put(SilentFrame());  // a source counts from its second packet on
    relay = to->OpenRelay();
    CHECK(relay != nullptr && from.socket->RelayTo(relay));
    Wait(10);
    plane->TakePackets();
  }

  void Feed(uint16_t number, uint32_t at, uint8_t type, const Payload& payload, bool marker = false) {
    std::vector<uint8_t> packet(kRtpHeaderBytes + payload.size() + SrtpSender::kMaxRtpTrailer);
    WriteRtpHeader(packet.data(), {marker, type, number, at, from.ssrc});
    std::copy(payload.begin(), payload.end(), packet.begin() + kRtpHeaderBytes);
    size_t bytes = kRtpHeaderBytes + payload.size();
    if (far_keys) bytes = far_keys->ProtectLateRtp(packet.data(), bytes, packet.size());
    plane->Feed(from.socket, packet.data(), bytes, Far(), false);
  }
  // The next packet of the far end, at once.
  void Put(const Payload& payload, uint8_t type = kPcmuType, bool marker = false) {
    Feed(from.sequence++, from.timestamp, type, payload, marker);
    from.timestamp += kFrameBytes;
  }
  void Wait(int64_t ms) { plane->Advance(now_ns += ms * kNsPerMs); }
  // Frames of the far end, one each 20 ms; '-' is lost before us.
  void Say(const std::string& letters) {
    for (const char letter : letters) {
      if (letter == '-') from.Lose();
      else Put(Frame(letter));
      Wait(20);
    }
  }

  // The packets that left since the last call, a word each: "M" for the marker, the first letter of the
  // payload ('_' silence, 'n' comfort noise, 'R' RED), and its number and its timestamp (in frames) after
  // those that the stream had at the beginning.
  std::string Left() {
    std::string text;
    for (const CapturedPacket& packet : plane->TakePackets()) {
      if (packet.rtcp || packet.stream != to->handle()) continue;
      text += (text.empty() ? "" : " ") + Word(packet.data);
    }
    return text;
  }

 private:
  std::string Word(std::vector<uint8_t> data) {
    size_t bytes = data.size();
    if (opener) {
      std::vector<uint8_t> plain(data.size());
      CHECK(opener->OpenRtp(data.data(), data.size(), now_ns, plain.data(), &bytes) == SrtpResult::kOpened);
      data = plain;
    }
    RtpView view;
    CHECK(ParseRtp(data.data(), bytes, &view));
    CHECK_EQ(view.ssrc, kOurSsrc);
    std::string letter(1, static_cast<char>(view.payload[0]));
    if (view.payload[0] == 0xff) letter = "_";
    if (view.payload_type == kOurNoiseType) letter = "n";
    if (view.payload_type == kOurRedType) letter = "R";
    const auto number = static_cast<uint16_t>(view.sequence - Config().sequence - 1);
    const auto ticks = static_cast<int32_t>(view.timestamp - Config().timestamp - kFrameBytes);
    CHECK_EQ(ticks % static_cast<int32_t>(kFrameBytes), 0);
    return (view.marker ? "M" : "") + letter + std::to_string(number) + "@" +
           std::to_string(ticks / static_cast<int32_t>(kFrameBytes));
  }
};

// The ticks at 20, 40 and 60 ms send the silence of the stream itself.
void PacketsGoOnFromWhatTheStreamSentBefore() {
  Bridge bridge;
  bridge.Wait(50);
  CHECK_EQ(bridge.Left(), "_0@0 _1@1 _2@2");
  bridge.Say("abcdefgh");
  CHECK_EQ(bridge.Left(), "Ma3@3 b4@4 c5@5 d6@6 e7@7 f8@8 g9@9 h10@10");
  CHECK_EQ(bridge.relay->figures().packets, uint64_t{8});
  CHECK_EQ(bridge.relay->figures().octets, 8 * kFrameBytes);
  CHECK_EQ(bridge.to->Stats().packets, uint64_t{12});
}

void SrtpOnEitherSideChangesNothing() {
  for (const Keys keys : {Keys{false, false}, {true, false}, {false, true}, {true, true}}) {
    Bridge bridge(Config(), keys);
    bridge.Wait(50);
    bridge.Say("ab-cd");
    CHECK_EQ(bridge.Left(), "_0@0 _1@1 _2@2 Ma3@3 b4@4 c6@6 d7@7");
    bridge.from.sequence += 2, bridge.from.timestamp += 2 * kFrameBytes;
    const uint16_t number = bridge.from.sequence;
    const uint32_t at = bridge.from.timestamp;
    bridge.Feed(number, at, kPcmuType, Frame('g'));
    bridge.Feed(static_cast<uint16_t>(number - 1), at - kFrameBytes, kPcmuType, Frame('f'));
    bridge.Feed(static_cast<uint16_t>(number - 1), at - kFrameBytes, kPcmuType, Frame('f'));
    bridge.Feed(static_cast<uint16_t>(number - 2), at - 2 * kFrameBytes, kPcmuType, Frame('e'));
    bridge.Wait(1);
    CHECK_EQ(bridge.Left(), "g10@10 f9@9 e8@8");
    CHECK_EQ(bridge.to->Stats().send_errors, uint64_t{0});
  }
}

void ALossStaysAGap() {
  Bridge bridge;
  bridge.Say("ab--c-d");
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1 c4@4 d6@6");
}

void AnotherSourceGoesOnWithoutAGap() {
  Bridge bridge;
  bridge.Say("ab");
  bridge.from.ssrc = 77;
  bridge.from.sequence = 9, bridge.from.timestamp = 1234;
  bridge.Say("cdef");  // its second packet is the first that counts
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1 Md2@3 e3@4 f4@5");
}

void ARestartedSourceGoesOnWithoutAGap() {
  Bridge bridge;
  bridge.Say("ab");
  bridge.from.sequence = static_cast<uint16_t>(bridge.from.sequence + 20'000);
  bridge.from.timestamp = 5;
  bridge.Say("cdef");
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1 Md2@3 e3@4 f4@5");
}

void TheMarkerOfTheFarEndIsKept() {
  Bridge bridge;
  bridge.Say("a");
  bridge.from.timestamp += 10 * kFrameBytes;
  bridge.Put(Frame('b'), kPcmuType, true);
  bridge.Say("c");
  CHECK_EQ(bridge.Left(), "Ma0@0 Mb1@11 c2@12");
}

void ComfortNoiseGoesToWhoUnderstandsIt() {
  StreamConfig config = Config();
  config.noise = {true, kOurNoiseType, 60, 200 * kNsPerMs};
  Bridge bridge(config);
  bridge.Say("a");
  bridge.Put({50}, kNoiseType);
  bridge.Wait(5000);  // the far end is silent, and so is the stream
  bridge.from.timestamp += 300 * kFrameBytes;
  bridge.Put({51}, kNoiseType);
  bridge.Say("b");
  CHECK_EQ(bridge.Left(), "Ma0@0 n1@1 n2@302 b3@303");
  CHECK_EQ(bridge.relay->figures().refused, uint64_t{0});
}

void APayloadThatIsNotUnderstoodLeavesNoGap() {
  Bridge bridge;
  bridge.Say("a");
  bridge.Put({50}, kNoiseType);
  bridge.Put(Frame('x'), kPcmaType);
  bridge.Put({}, kPcmuType);
  bridge.Wait(60);
  bridge.Say("b-c");
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@4 c3@6");
  CHECK_EQ(bridge.relay->figures().refused, uint64_t{3});
}

void KeysAreReportedAndLeaveNoGap() {
  Bridge bridge;
  bridge.Say("ab");
  for (int n = 0; n < 3; n++) {
    bridge.Feed(bridge.from.sequence++, bridge.from.timestamp, kEventType, {5, 0x8a, 1, 0x40});
    bridge.Wait(20);
  }
  bridge.from.timestamp += 3 * kFrameBytes;
  bridge.Say("cd");
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1 c2@5 d3@6");
  CHECK_EQ(bridge.from.socket->Stats().digits, uint64_t{1});
  CHECK_EQ(bridge.relay->figures().refused, uint64_t{0});
}

// The second stream of a clock has its ticks at 12.25 ms. While it is relayed it shares those at whole
// milliseconds, and a voice of ours that begins goes on at its own.
void RelayedStreamsTickTogether() {
  Bridge bridge;
  bridge.from.socket->LeaveRelay(bridge.relay.get());
  const auto to = bridge.plane->MakeStream(Config(), nullptr);
  to->set_handle(3);
  CHECK(bridge.plane->Begin(to.get()));
  to->SetTarget(bridge.plane->CaptureTarget());
  CHECK(bridge.from.socket->RelayTo(to->OpenRelay()));
  bridge.Say("abcd");
  PlayoutQueue& queue = to->queue();
  const Payload voice = Frame('v');
  for (int n = 0; n < 3; n++) queue.Push(queue.generation(), 1, voice.data(), voice.size());
  bridge.Wait(80);
  std::vector<int64_t> at_us;
  for (const CapturedPacket& packet : bridge.plane->TakePackets()) {
    if (packet.stream == 3 && packet.data[kRtpHeaderBytes] == 'v') at_us.push_back(packet.at_ns / kNsPerUs);
  }
  CHECK_EQ(at_us.size(), size_t{3});
  CHECK_EQ(at_us[0] % 20'000, 13'000);
  CHECK_EQ(at_us[1] - at_us[0], 19'250);
  CHECK_EQ(at_us[2] - at_us[1], 20'000);
}

uint32_t Big32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// For a minute packets of a clock that is 300 ppm faster or slower come 0 to 8 ms late. A report has the
// timestamp that the far end's clock has at its moment.
void ReportsFollowTheFarClock() {
  for (const double ppm : {-300.0, 300.0}) {
    StreamConfig config = Config();
    config.report_interval_ns = 500 * kNsPerMs;
    Bridge bridge(config);
    const int64_t begin_ns = bridge.now_ns;
    const double period_ns = 20 * kNsPerMs * (1 - ppm * 1e-6);
    uint32_t first = 0;
    size_t reports = 0;
    for (int n = 0; n < 3000; n++) {
      bridge.now_ns = begin_ns + static_cast<int64_t>(n * period_ns) + n % 5 * 2 * kNsPerMs;
      bridge.plane->Advance(bridge.now_ns);
      bridge.Put(Frame('a'));
      for (const CapturedPacket& packet : bridge.plane->TakePackets()) {
        RtpView view;
        if (!packet.rtcp && n == 1 && ParseRtp(packet.data.data(), packet.data.size(), &view))
          first = view.timestamp;
        if (!packet.rtcp || packet.data[1] != 200) continue;
        const double since = static_cast<double>(packet.at_ns - begin_ns) * kFrameBytes / period_ns;
        const auto after = static_cast<int32_t>(Big32(packet.data.data() + 16) - first);
        if (n > 100) CHECK(std::abs(after - since) < 12);
        reports++;
      }
    }
    CHECK(reports > 80);
  }
}

void OpusMayBeSilentForLong() {
  StreamConfig config = Config();
  config.codec = VoiceCodec::kOpus;
  config.clock_rate = 48'000;
  config.ticks_per_frame = 960;
  config.timestamp = 0;
  Bridge bridge(config);
  const auto say = [&](const Payload& payload) {
    bridge.Feed(bridge.from.sequence++, bridge.from.timestamp, kOpusType, payload);
  };
  const Payload voice = {0x78, 1, 2, 3}, nothing = {0x78};
  say(voice);
  bridge.Wait(20);
  bridge.from.timestamp += 960;
  say(nothing);
  bridge.Wait(9000);
  bridge.from.timestamp += 9000 * 48;
  say(voice);
  bridge.Wait(400);
  CHECK_EQ(bridge.relay->figures().packets, uint64_t{3});
  CHECK_EQ(bridge.to->Stats().packets, uint64_t{4});
  bridge.Wait(200);  // without a word of silence it sends no more, so the stream does
  CHECK(bridge.to->Stats().packets > 5);
}

void AFarEndThatStopsLeavesThePauseToTheStream() {
  Bridge bridge;
  bridge.Say("ab");
  bridge.Wait(479);
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1");
  bridge.Wait(45);
  CHECK_EQ(bridge.Left(), "_2@26 _3@27");
  bridge.from.timestamp += 26 * kFrameBytes;
  bridge.Say("c");
  CHECK_EQ(bridge.Left(), "Mc4@28");
}

void RedIsTakenApartAndRepairsLosses() {
  Bridge bridge;
  bridge.Say("a");
  bridge.Put(Redundant(Frame('a'), Frame('b')), kRedType);
  bridge.Wait(20);
  bridge.from.Lose();
  bridge.Wait(20);
  bridge.Put(Redundant(Frame('c'), Frame('d')), kRedType);
  bridge.Wait(20);
  bridge.Feed(static_cast<uint16_t>(bridge.from.sequence - 2), bridge.from.timestamp - 2 * kFrameBytes,
              kPcmuType, Frame('c'));
  bridge.Say("e");
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1 c2@2 d3@3 e4@4");
  CHECK_EQ(bridge.relay->figures().repeated, uint64_t{1});
}

void TheStreamRepeatsByItsOwnRed() {
  StreamConfig config = Config();
  config.red = {kOurRedType, 2};
  Bridge bridge(config);
  bridge.to->SetRedundancy(1);
  bridge.Say("abc");
  CHECK_EQ(bridge.Left(), "Ma0@0 R1@1 R2@2");
}

void AVoiceOfOursGoesFirst() {
  Bridge bridge;
  bridge.Say("ab");
  PlayoutQueue& queue = bridge.to->queue();
  for (const char letter : std::string("VW")) {
    const Payload frame = Frame(letter);
    CHECK(queue.Push(queue.generation(), 1, frame.data(), frame.size()) == PushResult::kTaken);
  }
  CHECK(queue.Mark(queue.generation(), 1, 9, true) == PushResult::kTaken);
  bridge.Say("cdefg");
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1 MV2@2 W3@3 Me4@4 f5@5 g6@6");
  CHECK_EQ(bridge.relay->figures().paused, uint64_t{2});
  CHECK_EQ(bridge.plane->TakeMarks().size(), size_t{1});
}

void AKeyOfOursGoesFirst() {
  Bridge bridge;
  bridge.Say("ab");
  CHECK(bridge.to->PressDigit({5, 101, 10, 8000, 40 * kNsPerMs, 0}));
  bridge.Say("cdefg");
  CHECK_EQ(bridge.relay->figures().paused, uint64_t{4});
  CHECK_EQ(bridge.relay->figures().packets, uint64_t{3});
  CHECK_EQ(bridge.to->Stats().digits_waiting, uint32_t{0});
}

void ACutVoiceDoesNotHoldTheRelay() {
  Bridge bridge;
  bridge.Say("a");
  PlayoutQueue& queue = bridge.to->queue();
  for (int n = 0; n < 5; n++) queue.Push(queue.generation(), 1, Frame('V').data(), kFrameBytes);
  bridge.Say("b");
  bridge.to->Clear();
  bridge.Say("cd");
  CHECK_EQ(bridge.Left(), "Ma0@0 MV1@1 Mc2@2 d3@3");
}

// Its timestamps are ahead of the stream's by then, which must not go back.
void AVoiceAfterAFastFarEndIsLater() {
  Bridge bridge;
  for (int n = 0; n < 10; n++) bridge.Put(Frame('a'));
  bridge.Wait(1);
  CHECK(bridge.to->queue().Push(1, 1, Frame('V').data(), kFrameBytes) == PushResult::kTaken);
  bridge.Wait(20);
  const std::string left = bridge.Left();
  CHECK_EQ(left.substr(left.rfind(' ') + 1), "MV10@10");
}

void AClosedFlowIsAPauseOfTheStream() {
  Bridge bridge;
  bridge.Say("ab");
  bridge.relay->SetOpen(false);
  bridge.Say("cd");
  bridge.relay->SetOpen(true);
  bridge.Say("ef");
  CHECK_EQ(bridge.Left(), "Ma0@0 b1@1 _2@2 _3@3 Me4@4 f5@5");
  CHECK_EQ(bridge.relay->figures().paused, uint64_t{0});
}

void AFloodIsThinned() {
  Bridge bridge;
  bridge.Say("a");
  for (int ms = 0; ms < 2000; ms++) {
    for (int n = 0; n < 10; n++) bridge.Put(Frame('x'));
    bridge.Wait(1);
    if (ms % 100 == 0) bridge.plane->TakePackets();
  }
  const Relay::Figures figures = bridge.relay->figures();
  CHECK_EQ(figures.packets + figures.dropped, uint64_t{20'001});
  CHECK(figures.packets >= 2 * Relay::kMostPerSecond);
  CHECK(figures.packets <= 2 * Relay::kMostPerSecond + Relay::kMostAtOnce + 1);
}

// Without a clock that reads, the ring is full at some time.
void ARingThatNobodyReadsDropsAndCounts() {
  Bridge bridge;
  for (int n = 0; n < Relay::kMostAtOnce; n++) bridge.Put(Payload(400, 'x'));
  CHECK(bridge.relay->figures().dropped > 20);
  bridge.Put(Payload(Relay::kMaxPayload + 1, 'x'));
  bridge.Wait(100);
  const Relay::Figures figures = bridge.relay->figures();
  CHECK(figures.packets > 10);
  CHECK_EQ(figures.packets + figures.dropped, uint64_t{Relay::kMostAtOnce + 1});
}

void EitherSideMayEndInTheMiddle() {
  for (const int first : {0, 1, 2, 3}) {
    Bridge bridge;
    bridge.Say("ab");
    bridge.Put(Frame('c'));
    const std::weak_ptr<Relay> left = bridge.relay;
    const std::weak_ptr<Stream> stream = bridge.to;
    if (first == 0) bridge.plane->CloseStream(bridge.to.get());
    if (first == 1) bridge.plane->CloseSocket(bridge.from.socket.get());
    if (first == 2) bridge.from.socket->LeaveRelay(bridge.relay.get());
    if (first == 3) bridge.to->CloseRelay(bridge.relay.get());
    bridge.Say("de");
    bridge.from.socket->LeaveRelay(bridge.relay.get());
    bridge.to->CloseRelay(bridge.relay.get());
    bridge.to->CloseRelay(bridge.relay.get());
    bridge.relay.reset();
    CHECK(left.expired());
    if (first == 0) continue;
    bridge.Wait(40);
    CHECK(bridge.to->Stats().silence_packets >= 2);  // the stream goes on
    bridge.plane->CloseStream(bridge.to.get());
    bridge.Wait(40);
    bridge.to.reset();
    CHECK(stream.expired());
  }
}

void ACallHasOneRelayEachWay() {
  Bridge bridge;
  CHECK(bridge.to->OpenRelay() == nullptr);
  CHECK(!bridge.from.socket->RelayTo(bridge.relay));
  bridge.to->CloseRelay(nullptr);
  bridge.from.socket->LeaveRelay(nullptr);
  bridge.Say("a");
  CHECK_EQ(bridge.Left(), "Ma0@0");
  StreamConfig opaque = Config();
  opaque.codec.reset();
  const auto other = bridge.plane->MakeStream(opaque, nullptr);
  CHECK(other->OpenRelay() == nullptr);
}

void ListenersOfTheStreamGetWhatIsRelayed() {
  Bridge bridge;
  StreamConfig config = Config();
  config.ssrc = 99;
  const auto listener = bridge.plane->MakeListener(config, nullptr);
  listener->set_handle(7);
  CHECK(bridge.plane->FollowSource(listener.get(), bridge.to) == MediaPlane::Follow::kFollows);
  CHECK(listener->SetTarget(bridge.plane->CaptureTarget()));
  bridge.Wait(10);
  bridge.Say("abc-d");
  std::string text;
  uint32_t first = 0;
  for (const CapturedPacket& packet : bridge.plane->TakePackets()) {
    RtpView view;
    if (packet.stream != 7 || !ParseRtp(packet.data.data(), packet.data.size(), &view)) continue;
    if (text.empty()) first = view.timestamp;
    text += view.payload[0] == 0xff ? '_' : static_cast<char>(view.payload[0]);
    text += std::to_string((view.timestamp - first) / kFrameBytes);
  }
  CHECK_EQ(text, "_0a1b2c3d5");
}

// Both sides of both calls, as a recording has them: the caller, and what was relayed to it.
void RecordingsHaveBothSides() {
  const auto plane = Manual();
  Call one(plane, 1), other(plane, 2);
  one.OpenStream(VoiceCodec::kPcmu);
  other.OpenStream(VoiceCodec::kPcmu);
  const auto relay = other.stream->OpenRelay();
  CHECK(one.socket->RelayTo(relay));
  const auto caller = OpenRing(one, 1), ours = OpenRing(other, 2);
  const Payload voice = Encoded(Voice(8000, 16'000));
  for (int64_t n = 0; n < 100; n++) {
    one.Say(FrameOf(voice, static_cast<size_t>(n)));
    plane->Advance((n + 1) * kFrameNs + (n % 4) * 3 * kNsPerMs);
  }
  const Sound heard = ReadAll(*caller), both = ReadAll(*ours);
  double energy = 0, silence = 0;
  for (size_t n = 0; n + 1 < both.size(); n += 2) {
    silence += both[n] * both[n];
    energy += both[n + 1] * both[n + 1];
  }
  double direct = 0;
  for (const float sample : heard) direct += sample * sample;
  CHECK_EQ(silence, 0.0);
  CHECK(direct > 1);
  CHECK(energy > 0.9 * direct && energy < 1.1 * direct);
}

// Bridges are opened, used and closed by three threads while the clock and the receiver run: a thread
// sanitizer's food.
void Hammer(const std::shared_ptr<MediaPlane>& shared, uint64_t seed, const std::atomic<bool>& running) {
  Random random(seed);
  MediaPlane& plane = *shared;
  Call from(shared, seed * 10);
  const LoopbackSocket way;
  std::shared_ptr<Stream> to;
  std::shared_ptr<Relay> relay;
  const auto part = [&] {
    if (!relay) return;
    from.socket->LeaveRelay(relay.get());
    to->CloseRelay(relay.get());
    relay.reset();
  };
  while (running.load()) {
    if (!to) {
      to = plane.MakeStream(Config(), SrtpSender::Create(kProfile, kKey, 16, kSalt, 14, kOurSsrc));
      to->set_handle(seed * 10 + 1);
      CHECK(plane.Begin(to.get()));
      to->SetTarget(way.TargetAt(way));
    }
    const uint64_t dice = random.Next() % 100;
    if (dice < 60) from.Say(Frame('a'));
    else if (dice < 70 && !relay) CHECK((relay = to->OpenRelay()) && from.socket->RelayTo(relay));
    else if (dice < 75) part();
    else if (dice < 80 && relay) relay->SetOpen(dice % 2);
    else if (dice < 85) to->queue().Push(to->queue().generation(), 1, Frame('V').data(), kFrameBytes);
    else if (dice < 90) to->Clear();
    else if (dice < 93) to->SetTarget(dice % 2 ? nullptr : way.TargetAt(way));
    else if (dice < 95 && relay) relay->figures();
    else if (dice == 99) {
      plane.CloseStream(to.get());
      if (seed % 2) part();
      else if (relay) from.socket->LeaveRelay(relay.get()), relay.reset();
      to.reset();
    }
    if (dice % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    way.Drain();
  }
  part();
  if (to) plane.CloseStream(to.get());
}

void EverythingMayHappenAtOnce() {
  const auto plane = MediaPlane::OpenReal(1);
  HammerForASecond([&](uint64_t seed, const std::atomic<bool>& running) { Hammer(plane, seed, running); });
  CHECK(plane->counters().packets.value() > 100);
  CHECK_EQ(plane->StreamCount(), size_t{0});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(relay) {
  using namespace parley::test;
  return Run({
      {"packets go on from what the stream sent before", PacketsGoOnFromWhatTheStreamSentBefore},
      {"SRTP on either side changes nothing", SrtpOnEitherSideChangesNothing},
      {"a loss stays a gap", ALossStaysAGap},
      {"another source goes on without a gap", AnotherSourceGoesOnWithoutAGap},
      {"a restarted source goes on without a gap", ARestartedSourceGoesOnWithoutAGap},
      {"the marker of the far end is kept", TheMarkerOfTheFarEndIsKept},
      {"comfort noise goes to who understands it", ComfortNoiseGoesToWhoUnderstandsIt},
      {"a payload that is not understood leaves no gap", APayloadThatIsNotUnderstoodLeavesNoGap},
      {"keys are reported and leave no gap", KeysAreReportedAndLeaveNoGap},
      {"relayed streams tick together", RelayedStreamsTickTogether},
      {"reports follow the far clock", ReportsFollowTheFarClock},
      {"Opus may be silent for long", OpusMayBeSilentForLong},
      {"a far end that stops leaves the pause to the stream", AFarEndThatStopsLeavesThePauseToTheStream},
      {"RED is taken apart and repairs losses", RedIsTakenApartAndRepairsLosses},
      {"the stream repeats by its own RED", TheStreamRepeatsByItsOwnRed},
      {"a voice of ours goes first", AVoiceOfOursGoesFirst},
      {"a key of ours goes first", AKeyOfOursGoesFirst},
      {"a cut voice does not hold the relay", ACutVoiceDoesNotHoldTheRelay},
      {"a voice after a fast far end is later", AVoiceAfterAFastFarEndIsLater},
      {"a closed flow is a pause of the stream", AClosedFlowIsAPauseOfTheStream},
      {"a flood is thinned", AFloodIsThinned},
      {"a ring that nobody reads drops and counts", ARingThatNobodyReadsDropsAndCounts},
      {"either side may end in the middle", EitherSideMayEndInTheMiddle},
      {"a call has one relay each way", ACallHasOneRelayEachWay},
      {"listeners of the stream get what is relayed", ListenersOfTheStreamGetWhatIsRelayed},
      {"recordings have both sides", RecordingsHaveBothSides},
      {"everything may happen to relays at once", EverythingMayHappenAtOnce},
  });
}
