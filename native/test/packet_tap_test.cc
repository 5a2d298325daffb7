// Copies of a call's packets: the same bytes as on the wire, in order, bounded,
// and taken on and off while packets flow.
#include "media/packet_tap.h"

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "media/plane.h"
#include "media/rtp.h"
#include "test/check.h"

namespace parley::test {
namespace {

constexpr uint16_t kFirstPort = 42'400, kLastPort = 42'599;

std::string Text(const std::vector<uint8_t>& data) { return {data.begin(), data.end()}; }

void Put(PacketTap& tap, bool sent, int64_t at_ns, const std::string& text) {
  const Address there = Address::Of(sent ? "192.0.2.1" : "2001:db8::1", 5000);
  const auto* const data = reinterpret_cast<const uint8_t*>(text.data());
  if (sent) {
    tap.Sent(there, false, at_ns, data, text.size(), PacketTap::Wait::kForTurn);
  } else {
    tap.Received(there, true, at_ns, data, text.size());
  }
}

void BothWaysComeInTheOrderOfTime() {
  PacketTap tap;
  Put(tap, true, 10, "a");
  Put(tap, true, 30, "c");
  Put(tap, false, 20, "b");
  Put(tap, false, 30, "d");
  const auto packets = tap.Take();
  CHECK_EQ(packets.size(), size_t{4});
  std::string order;
  for (const TappedPacket& packet : packets) order += Text(packet.data);
  CHECK_EQ(order, "abcd");
  CHECK(packets[0].sent && !packets[1].sent && packets[1].rtcp_port && !packets[0].rtcp_port);
  CHECK_EQ(packets[1].remote.text(), "2001:db8::1");
  CHECK_EQ(packets[0].remote.text(), "192.0.2.1");
  CHECK_EQ(packets[2].at_ns, int64_t{30});
  CHECK(tap.Take().empty());
}

void WhatFindsNoRoomIsCounted() {
  PacketTap tap;
  const size_t packets = PacketTap::kBytes / 100;
  for (size_t n = 0; n < packets; n++) Put(tap, true, static_cast<int64_t>(n), std::string(100, 'x'));
  Put(tap, false, 0, "the other way has room");
  const size_t taken = tap.Take().size();
  CHECK(taken > packets / 2 && taken < packets);
  CHECK_EQ(taken - 1 + tap.missed(), packets);
  Put(tap, true, 1, "room again");
  CHECK_EQ(tap.Take().size(), size_t{1});
}

// One that waits for its turn and one that does not: no copy is torn, none is lost without being counted.
void TwoWritersAndOneReader() {
  PacketTap tap;
  constexpr uint32_t kEach = 20'000;
  std::atomic<int> running{2};
  const auto write = [&](uint8_t name, PacketTap::Wait wait) {
    for (uint32_t n = 0; n < kEach; n++) {
      uint8_t data[64];
      std::memset(data, name, sizeof(data));
      PutBig32(data, n);
      tap.Sent(Address::Of("192.0.2.1", name), false, n, data, 5 + n % 60, wait);
    }
    running--;
  };
  std::thread patient([&] { write(1, PacketTap::Wait::kForTurn); });
  std::thread clock([&] { write(2, PacketTap::Wait::kNo); });
  uint64_t taken = 0;
  int64_t last[3] = {-1, -1, -1};
  for (bool last_round = false; !last_round;) {
    last_round = running.load() == 0;
    for (const TappedPacket& packet : tap.Take()) {
      taken++;
      const uint16_t name = packet.remote.port();
      const uint32_t number = GetBig32(packet.data.data());
      CHECK(name == 1 || name == 2);
      CHECK_EQ(packet.data.size(), size_t{5 + number % 60});
      CHECK(number > last[name]);
      last[name] = number;
      for (size_t at = 4; at < packet.data.size(); at++) CHECK_EQ(int{packet.data[at]}, int{name});
    }
  }
  patient.join();
  clock.join();
  CHECK_EQ(taken + tap.missed(), uint64_t{2 * kEach});
}

struct End {
  std::shared_ptr<MediaSocket> socket;
  std::shared_ptr<Stream> stream;
};

End OpenEnd(MediaPlane& plane, PortPool& pool, bool mux, uint64_t handle) {
  std::string problem;
  const auto socket = plane.MakeSocket({pool.Take(mux, plane.time().Now(), &problem), nullptr}, mux);
  socket->set_handle(handle);
  PayloadTypes types{};
  types[0] = {PayloadKind::kSound, 8000};
  socket->SetPayloadTypes(types);
  CHECK(plane.BeginSocket(socket));
  StreamConfig config;
  config.ssrc = static_cast<uint32_t>(handle);
  config.period_ns = 10 * kNsPerMs;
  config.ticks_per_frame = 80;
  config.silence.assign(80, 0xff);
  config.cname = "packet-tap-test";
  config.report_interval_ns = 40 * kNsPerMs;
  const uint8_t key[16] = {1}, salt[14] = {2};
  CHECK(socket->SetSrtp(SrtpProfile::kAesCm128HmacSha1_80, key, 16, salt, 14));
  auto srtp = SrtpSender::Create(SrtpProfile::kAesCm128HmacSha1_80, key, 16, salt, 14, config.ssrc);
  const auto stream = plane.MakeStream(config, std::move(srtp));
  stream->set_handle(handle + 100);
  CHECK(plane.Begin(stream.get()));
  return {socket, stream};
}

std::shared_ptr<PortPool> Pool() {
  std::string problem;
  return PortPool::Open({"127.0.0.1", kFirstPort, kLastPort, 0, 46}, &problem);
}

// Rules of a socket that is told no address: it learns the one of whoever sends.
Latch::Rules FromAnywhere() {
  Latch::Rules rules;
  rules.anywhere = true;
  return rules;
}

void Until(const std::function<bool()>& condition) {
  for (int wait = 0; wait < 600 && !condition(); wait++)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(condition());
}

// Encrypted, with ports of RTCP: what one end has sent is what the other one has received, BYE and STUN
// included.
void TheCopiesOfBothEndsAreTheSame() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto pool = Pool();
  const End left = OpenEnd(*plane, *pool, false, 1), right = OpenEnd(*plane, *pool, false, 2);
  const Address there = Address::Of("127.0.0.1", right.socket->port());
  left.socket->Tap(true);
  right.socket->Tap(true);
  const auto sent_tap = left.socket->tap(), received_tap = right.socket->tap();
  right.socket->Learn(Address(), Address(), false, FromAnywhere());
  left.socket->Learn(there, there.WithPort(static_cast<uint16_t>(there.port() + 1)), false, {});
  const uint8_t stun[20] = {0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42};
  CHECK(left.socket->SendForeign(stun, sizeof(stun), there, false));
  left.socket->Bind(left.stream);  // last: two threads that send have no order
  Until([&] { return right.socket->Stats().rtcp_packets >= 2 && right.socket->Stats().received > 10; });
  plane->CloseStream(left.stream.get());
  Until([&] { return right.socket->Stats().bye; });
  std::vector<TappedPacket> sent, received;
  for (TappedPacket& packet : sent_tap->Take()) sent.push_back(std::move(packet));
  for (TappedPacket& packet : received_tap->Take()) received.push_back(std::move(packet));
  CHECK_EQ(sent.size(), received.size());
  for (const bool rtcp : {false, true}) {
    std::string of_sender, of_receiver;
    size_t count = 0;
    for (const TappedPacket& packet : sent) {
      CHECK(packet.sent);
      CHECK_EQ(packet.remote.port(), there.port() + (packet.rtcp_port ? 1 : 0));
      if (packet.rtcp_port == rtcp) of_sender += Text(packet.data), count++;
    }
    for (const TappedPacket& packet : received) {
      CHECK(!packet.sent);
      CHECK_EQ(packet.remote.port(), left.socket->port() + (packet.rtcp_port ? 1 : 0));
      if (packet.rtcp_port == rtcp) of_receiver += Text(packet.data);
    }
    CHECK(of_sender == of_receiver);
    CHECK(count >= (rtcp ? 3 : 10));
  }
  CHECK_EQ(sent_tap->missed() + received_tap->missed(), uint64_t{0});
  plane->CloseSocket(left.socket.get());
  CHECK(left.socket->tap() == nullptr);
}

// Nothing of the stream is disturbed, and what is copied while it is on is whole.
void OnAndOffWhilePacketsFlow() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto pool = Pool();
  const End left = OpenEnd(*plane, *pool, true, 1), right = OpenEnd(*plane, *pool, true, 2);
  left.socket->Learn(Address::Of("127.0.0.1", right.socket->port()), Address(), true, {});
  right.socket->Learn(Address(), Address(), true, FromAnywhere());
  left.socket->Bind(left.stream);
  right.socket->Bind(right.stream);
  Until([&] { return left.socket->Stats().received > 0; });
  std::atomic<bool> running{true};
  std::atomic<uint64_t> taken{0};
  std::thread reader([&] {
    while (running.load()) {
      const auto tap = left.socket->tap();
      for (const TappedPacket& packet : tap ? tap->Take() : std::vector<TappedPacket>()) {
        CHECK_EQ(int{packet.data[0]} >> 6, 2);
        taken++;
      }
      std::this_thread::yield();
    }
  });
  for (int turn = 0; turn < 400; turn++) {
    left.socket->Tap(turn % 2 == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  left.socket->Tap(false);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the reader may still hold a packet
  const uint64_t at_end = taken.load();
  Until([&, before = right.socket->Stats().received] { return right.socket->Stats().received > before + 5; });
  CHECK_EQ(taken.load(), at_end);
  CHECK(at_end > 10);
  running.store(false);
  reader.join();
  CHECK_EQ(right.socket->Stats().lost + left.socket->Stats().lost, uint64_t{0});
  CHECK_EQ(right.socket->Stats().forged, uint64_t{0});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(packet_tap) {
  using namespace parley::test;
  return Run({
      {"both ways come in the order of time", BothWaysComeInTheOrderOfTime},
      {"what finds no room is counted", WhatFindsNoRoomIsCounted},
      {"two writers and one reader", TwoWritersAndOneReader},
      {"the copies of both ends are the same", TheCopiesOfBothEndsAreTheSame},
      {"on and off while packets flow", OnAndOffWhilePacketsFlow},
  });
}
