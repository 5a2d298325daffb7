// ICE-TCP beside the shared UDP port: frames both ways, and every bound.
#include "media/receive/ice_tcp.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "media/plane.h"
#include "media/random.h"
#include "media/receive/udp_mux.h"
#include "test/check.h"
#include "test/loopback.h"
#include "test/stun_samples.h"

namespace parley::test {
namespace {

std::shared_ptr<UdpMux> OpenMux() {
  std::string problem;
  UdpMuxConfig config;
  config.addresses = {"127.0.0.1"};
  config.tcp_port = 0;
  auto mux = UdpMux::Open(config, &problem);
  CHECK_EQ(problem, "");
  return mux;
}

std::shared_ptr<MediaSocket> OpenCall(MediaPlane& plane, const std::shared_ptr<UdpMux>& mux, uint64_t handle,
                                      const std::string& fragment) {
  const auto call = plane.MakeSocket({nullptr, mux}, true);
  call->set_handle(handle);
  PayloadTypes types{};
  types[0] = {PayloadKind::kSound, 8000};
  call->SetPayloadTypes(types);
  CHECK(plane.BeginSocket(call));
  IceCredentials credentials = kIce;
  credentials.local_fragment = fragment;
  CHECK(call->UseIce(credentials, true) == MediaSocket::IceResult::kDone);
  return call;
}

std::shared_ptr<Stream> OpenStream(MediaPlane& plane, uint64_t handle, size_t bytes = 160) {
  StreamConfig config;
  config.ssrc = static_cast<uint32_t>(handle);
  config.silence.assign(bytes, 0xff);
  config.cname = "ice-tcp-test";
  auto stream = plane.MakeStream(config, nullptr);
  stream->set_handle(handle);
  CHECK(plane.Begin(stream.get()));
  return stream;
}

Check CheckOf(const std::string& fragment, bool nominate = true) {
  Check check;
  check.username = fragment + ":them";
  check.nominate = nominate;
  return check;
}

StunBytes Framed(const StunBytes& data) {
  StunBytes frame(2);
  PutBig16(frame.data(), static_cast<uint16_t>(data.size()));
  frame.insert(frame.end(), data.begin(), data.end());
  return frame;
}

class Connection {
 public:
  explicit Connection(uint16_t port, int receive_buffer = 0)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    sockaddr_storage to;
    socklen_t bytes = 0;
    Address::Of("127.0.0.1", port).Fill(AF_INET, &to, &bytes);
    CHECK_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), bytes), 0);
    bytes = sizeof(to);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&to), &bytes);
    place_ = Address::Of(to);
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const Address& place() const { return place_; }
  void Send(const StunBytes& data) const { send(fd_, data.data(), data.size(), MSG_NOSIGNAL); }
  void SendFrame(const StunBytes& data) const { Send(Framed(data)); }

  // The next frame; empty when none comes within `wait_ms` or the stream is over.
  StunBytes Frame(int wait_ms = 2000) {
    while (held_.size() < 2 || held_.size() < 2U + GetBig16(held_.data())) {
      if (!Read(wait_ms)) return {};
    }
    const size_t end = 2U + GetBig16(held_.data());
    StunBytes frame(held_.begin() + 2, held_.begin() + static_cast<long>(end));
    held_.erase(held_.begin(), held_.begin() + static_cast<long>(end));
    return frame;
  }
  int Answer(int wait_ms = 2000) {
    const StunBytes data = Frame(wait_ms);
    StunMessage message;
    return ReadStun(data.data(), data.size(), &message) ? CodeOf(message) : -1;
  }
  bool IsOver(int wait_ms = 2000) {
    while (Read(wait_ms)) {
    }
    return over_;
  }

 private:
  bool Read(int wait_ms) {
    pollfd waiting{fd_, POLLIN, 0};
    if (over_ || poll(&waiting, 1, wait_ms) != 1) return false;
    uint8_t data[4096];
    const ssize_t got = recv(fd_, data, sizeof(data), 0);
    over_ = got <= 0;
    if (!over_) held_.insert(held_.end(), data, data + got);
    return !over_;
  }

  const int fd_;
  Address place_;
  StunBytes held_;
  bool over_ = false;
};

// Reads what waits, for a while: the kernel delivers even on loopback a little later.
void Run(MediaPlane& plane, const std::function<bool()>& until) {
  for (int n = 0; n < 400 && !until(); n++) {
    plane.Advance(plane.time().Now());
    std::this_thread::sleep_for(std::chrono::milliseconds(n < 20 ? 0 : 5));
  }
  CHECK(until());
}

bool Nominates(MediaPlane& plane, MediaSocket& call, Connection& far, const std::string& fragment) {
  far.SendFrame(Write(CheckOf(fragment)));
  Run(plane, [&] { return call.Ice().nominated[0] == far.place(); });
  return far.Answer() == 0;
}

StunBytes Rtp(uint16_t sequence) {
  StunBytes packet(172, 0xff);
  packet[0] = 0x80;
  packet[1] = 0;
  PutBig16(packet.data() + 2, sequence);
  return packet;
}

const StunBytes kDtls = {22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1};

void MediaGoesByANominatedConnectionUntilItCloses() {
  const size_t descriptors = OpenDescriptors();
  {
    const auto plane = MediaPlane::OpenManual(1, 0, 0);
    const auto mux = OpenMux();
    const auto call = OpenCall(*plane, mux, 1, "call");
    const auto stream = OpenStream(*plane, 12);
    call->Bind(stream);
    {
      Connection far(mux->tcp_port());
      CHECK(!call->Where().over_tcp);
      CHECK(Nominates(*plane, *call, far, "call"));
      CHECK(call->Where().over_tcp && call->Where().rtp == far.place());
      plane->Advance(plane->time().Now() + 100 * kNsPerMs);
      for (int n = 0; n < 5; n++) CHECK_EQ(far.Frame().size(), size_t{172});
      for (uint16_t n = 1; n <= 3; n++) far.SendFrame(Rtp(n));
      far.SendFrame(kDtls);
      Run(*plane, [&] { return call->Stats().foreign == 2; });
      CHECK_EQ(call->Stats().received, uint64_t{3});
      const auto foreign = call->TakeForeign();
      CHECK(foreign.size() == 1 && foreign[0].from == far.place() && foreign[0].data == kDtls);
      CHECK(call->SendForeign(kDtls.data(), kDtls.size(), far.place(), false));
      CHECK(far.Frame() == kDtls);
    }
    plane->TakeInbound();
    Run(*plane, [&] { return !call->Ice().has_path; });
    const std::vector<InboundEvent> events = plane->TakeInbound();
    CHECK(events.size() == 1 && events[0].kind == InboundEvent::kIce);
    const uint64_t packets = stream->Stats().packets;
    plane->Advance(plane->time().Now() + 100 * kNsPerMs);
    CHECK_EQ(stream->Stats().packets, packets);
    CHECK_EQ(stream->Stats().send_errors, uint64_t{0});
    Connection again(mux->tcp_port());
    CHECK(Nominates(*plane, *call, again, "call"));
    plane->Advance(plane->time().Now() + 100 * kNsPerMs);
    CHECK_EQ(again.Frame().size(), size_t{172});
    plane->CloseStream(stream.get());
    plane->CloseSocket(call.get());
    Run(*plane, [&] { return mux->Count().tcp.connections == 0; });
    CHECK(again.IsOver());
  }
  CHECK_EQ(OpenDescriptors(), descriptors);
}

void FramesMayComeInAnyPieces() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  Connection far(mux->tcp_port());
  StunBytes all = Framed(Write(CheckOf("call")));
  for (uint16_t n = 1; n <= 20; n++) {
    const StunBytes frame = Framed(n % 5 ? Rtp(n) : StunBytes());
    all.insert(all.end(), frame.begin(), frame.end());
  }
  Random random(7);
  for (size_t at = 0; at < all.size();) {
    const size_t piece = std::min(all.size() - at, size_t{1} + random.Next() % 60);
    far.Send({all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + piece)});
    at += piece;
    plane->Advance(plane->time().Now() + 1);
  }
  Run(*plane, [&] { return call->Stats().packets >= 15; });
  CHECK_EQ(far.Answer(), 0);
  CHECK_EQ(call->Stats().malformed, uint64_t{0});
}

void AConnectionWithoutAValidCheckIsClosedAfterTenSeconds() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  Connection silent(mux->tcp_port()), wrong(mux->tcp_port()), half(mux->tcp_port()), checked(mux->tcp_port());
  Check stranger = CheckOf("call");
  stranger.password = "a password of strangers";
  wrong.SendFrame(Write(stranger));
  half.Send({0, 100, 0, 1});
  checked.SendFrame(Write(CheckOf("call")));
  Run(*plane, [&] { return mux->Count().tcp.accepted == 4 && call->Ice().has_path; });
  CHECK(wrong.Answer() == 401 && checked.Answer() == 0);
  plane->Advance(9'999 * kNsPerMs);
  CHECK_EQ(mux->Count().tcp.connections, uint64_t{4});
  plane->Advance(10'000 * kNsPerMs);
  CHECK(mux->Count().tcp.connections == 1 && mux->Count().tcp.expired == 3);
  CHECK(silent.IsOver() && wrong.IsOver() && half.IsOver());
  checked.Send({0, 100, 1});
  plane->Advance(10'001 * kNsPerMs);
  plane->Advance(19'999 * kNsPerMs);
  CHECK_EQ(mux->Count().tcp.connections, uint64_t{1});
  plane->Advance(20'000 * kNsPerMs);
  CHECK(mux->Count().tcp.connections == 0 && !call->Ice().has_path);
}

void WhatIsNoCheckClosesANewConnection() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  Check response = CheckOf("call");
  response.kind = StunClass::kSuccess;
  const StunBytes wrong[] = {Framed(kDtls),
                             Framed(Rtp(1)),
                             Framed(Write(response)),
                             Framed(Write(CheckOf("none"))),
                             {0x08, 0x01},  // longer than a frame may be
                             {'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P'}};
  for (const StunBytes& one : wrong) {
    Connection far(mux->tcp_port());
    far.Send(one);
    const uint64_t before = mux->Count().tcp.accepted;
    Run(*plane, [&] { return mux->Count().tcp.accepted > before; });
    Run(*plane, [&] { return mux->Count().tcp.connections == 0; });
    CHECK(far.IsOver());
  }
  // Wrong passwords are tried a bounded number of times on one connection.
  Connection far(mux->tcp_port());
  Check stranger = CheckOf("call");
  stranger.password = "a password of strangers";
  for (int n = 0; n <= IceTcp::kMaxFramesUnchecked; n++) far.SendFrame(Write(stranger));
  Run(*plane, [&] { return mux->Count().tcp.accepted == 7; });
  Run(*plane, [&] { return mux->Count().tcp.connections == 0; });
  CHECK(!call->Ice().has_path);
}

void AHostHasSixteenConnectionsWithoutACheck() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  Connection far(mux->tcp_port());
  CHECK(Nominates(*plane, *call, far, "call"));
  std::vector<std::unique_ptr<Connection>> idle;
  for (int n = 0; n < 20; n++) idle.push_back(std::make_unique<Connection>(mux->tcp_port()));
  Run(*plane, [&] { return mux->Count().tcp.accepted + mux->Count().tcp.refused == 21; });
  CHECK_EQ(mux->Count().tcp.refused, uint64_t{4});
  CHECK(idle.back()->IsOver());
  idle.clear();
  Run(*plane, [&] { return mux->Count().tcp.connections == 1; });
  plane->Advance(plane->time().Now() + 2 * kNsPerSecond);  // the far end may have moved since
  Connection next(mux->tcp_port());
  CHECK(Nominates(*plane, *call, next, "call"));
}

// An IPv6 host may use each address of its /64, and may have several of them.
void AnIpv6HostIsItsNetworkOfSixtyFourBits() {
  std::string problem;
  CallTable calls;
  const auto tcp = IceTcp::Open({"127.0.0.1"}, 0, 46, &calls, &problem);
  std::vector<std::shared_ptr<const Descriptor>> far;
  const auto admit = [&](const std::string& address) {
    int ends[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    far.push_back(Descriptor::Adopt(ends[0]));
    const uint64_t before = tcp->Count().accepted;
    tcp->Admit(Descriptor::Adopt(ends[1]), Address::Of(address, 5000), 0);
    return tcp->Count().accepted > before;
  };
  for (size_t n = 0; n < IceTcp::kMaxUncheckedOfHost; n++) {
    CHECK(admit("2001:db8:1:2:" + std::to_string(n) + "::" + std::to_string(n)));
    CHECK(admit("192.0.2.1"));
  }
  CHECK(!admit("2001:db8:1:2:ffff::1") && !admit("2001:db8:1:2::"));
  CHECK(!admit("192.0.2.1"));
  CHECK(admit("2001:db8:1:3::1") && admit("2001:db8:1:1:ffff::1"));
  CHECK(admit("192.0.2.2"));
  CHECK_EQ(tcp->Count().refused, uint64_t{3});
  tcp->Expire(IceTcp::kCheckNs);
  CHECK(admit("2001:db8:1:2::"));
}

void NoOldSoundWaitsForAFarEndThatReadsNothing() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  const auto stream = OpenStream(*plane, 12, 80);
  call->Bind(stream);
  Connection far(mux->tcp_port(), 4096);
  CHECK(Nominates(*plane, *call, far, "call"));
  // The clock goes on, whatever the connection does.
  for (int n = 0; n < 10; n++) plane->Advance(plane->time().Now() + 2 * kNsPerSecond);
  const uint64_t dropped = mux->Count().tcp.dropped;
  CHECK(dropped > 500 && stream->Stats().send_errors == dropped);
  // Only whole frames arrive then, as many as were taken.
  uint64_t frames = 0;
  for (int wait = 0; wait < 200 && frames < stream->Stats().packets; wait++) {
    while (!far.Frame(5).empty()) frames++;
    plane->Advance(plane->time().Now());
  }
  CHECK_EQ(frames, stream->Stats().packets);
  // The far end's own buffer holds most of these; a thousand were sent.
  CHECK(frames < 200);
}

void Hammer(MediaPlane& plane, const std::shared_ptr<UdpMux>& mux, uint64_t seed,
            const std::atomic<bool>& running) {
  Random random(seed);
  const std::string name = "name" + std::to_string(seed);
  std::shared_ptr<MediaSocket> call;
  std::unique_ptr<Connection> far;
  const auto stream = OpenStream(plane, seed + 100);
  while (running.load()) {
    if (!call) call = OpenCall(plane, mux, seed, name), call->Bind(stream);
    if (!far) far = std::make_unique<Connection>(mux->tcp_port());
    switch (random.Next() % 8) {
      case 0:
        if (random.Next() % 8 == 0) far.reset();
        break;
      case 1:
        if (random.Next() % 16 == 0) plane.CloseSocket(call.get()), call.reset();
        break;
      case 2:
        call->SendForeign(kDtls.data(), kDtls.size(), far->place(), false);
        break;
      case 3:
        far->SendFrame(Rtp(1));
        break;
      case 4:
        while (!far->Frame(0).empty()) {
        }
        break;
      case 5:
        mux->Count();
        plane.TakeInbound();
        break;
      default:
        far->SendFrame(Write(CheckOf(name, random.Next() % 2)));
        if (far->IsOver(0)) far.reset();
    }
  }
}

void EverythingMayHappenAtOnce() {
  const size_t descriptors = OpenDescriptors();
  {
    const auto plane = MediaPlane::OpenReal(1);
    const auto mux = OpenMux();
    HammerForASecond([&](uint64_t seed, std::atomic<bool>& running) { Hammer(*plane, mux, seed, running); });
    plane->Close();
  }
  CHECK_EQ(OpenDescriptors(), descriptors);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(ice_tcp) {
  using namespace parley::test;
  return parley::test::Run({
      {"media goes by a nominated connection until it closes", MediaGoesByANominatedConnectionUntilItCloses},
      {"frames may come in any pieces", FramesMayComeInAnyPieces},
      {"a connection without a valid check is closed after ten seconds",
       AConnectionWithoutAValidCheckIsClosedAfterTenSeconds},
      {"what is no check closes a new connection", WhatIsNoCheckClosesANewConnection},
      {"a host has sixteen connections without a check", AHostHasSixteenConnectionsWithoutACheck},
      {"an IPv6 host is its network of sixty-four bits", AnIpv6HostIsItsNetworkOfSixtyFourBits},
      {"no old sound waits for a far end that reads nothing", NoOldSoundWaitsForAFarEndThatReadsNothing},
      {"everything may happen at once", EverythingMayHappenAtOnce},
  });
}
