// Sockets of calls on a real clock: the thread that reads them, streams that
// send from them, and everything opened, told and closed at once.
#include "media/receive/media_socket.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "media/plane.h"
#include "media/random.h"
#include "media/rtp.h"
#include "test/check.h"
#include "test/loopback.h"

namespace parley::test {
namespace {

constexpr uint16_t kFirstPort = 42'000, kLastPort = 42'399;

std::shared_ptr<PortPool> Pool(int64_t drain_ns = 0) {
  std::string problem;
  auto pool = PortPool::Open({"127.0.0.1", kFirstPort, kLastPort, drain_ns, 46}, &problem);
  CHECK(pool != nullptr);
  return pool;
}

// Rules of a socket that is told no address: it learns the one of whoever sends.
Latch::Rules FromAnywhere() {
  Latch::Rules rules;
  rules.anywhere = true;
  return rules;
}

std::shared_ptr<MediaSocket> Open(MediaPlane& plane, PortPool& pool, uint64_t handle) {
  std::string problem;
  auto ports = pool.Take(true, plane.time().Now(), &problem);
  if (!ports) return nullptr;
  const auto socket = plane.MakeSocket({std::move(ports), nullptr}, true);
  socket->set_handle(handle);
  PayloadTypes types{};
  types[0] = {PayloadKind::kSound, 8000};
  types[101] = {PayloadKind::kDigit, 8000};
  socket->SetPayloadTypes(types);
  CHECK(plane.BeginSocket(socket));
  return socket;
}

std::shared_ptr<Stream> OpenStream(MediaPlane& plane, uint64_t handle) {
  StreamConfig config;
  config.ssrc = static_cast<uint32_t>(handle);
  config.period_ns = 10 * kNsPerMs;
  config.ticks_per_frame = 80;
  config.silence.assign(80, 0xff);
  config.cname = "media-socket-test";
  config.report_interval_ns = 50 * kNsPerMs;
  auto stream = plane.MakeStream(config, nullptr);
  stream->set_handle(handle);
  CHECK(plane.Begin(stream.get()));
  return stream;
}

// Two calls that talk to each other, both ends ours: reports answer reports.
void TwoEndsHearEachOther() {
  const size_t descriptors = OpenDescriptors();
  {
    const auto plane = MediaPlane::OpenReal(1);
    const auto pool = Pool();
    const auto left = Open(*plane, *pool, 1), right = Open(*plane, *pool, 2);
    const auto one = OpenStream(*plane, 11), two = OpenStream(*plane, 12);
    left->Bind(one);
    right->Bind(two);
    left->Learn(Address::Of("127.0.0.1", right->port()), Address(), true, {});
    // The other end is told no address: it learns.
    right->Learn(Address(), Address(), true, FromAnywhere());
    two->PressDigit({5, 101, 10, 8000, 60 * kNsPerMs, 0});
    std::vector<InboundEvent> digits, downs;
    for (int wait = 0; wait < 300; wait++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      for (const InboundEvent& event : plane->TakeInbound()) {
        if (event.kind == InboundEvent::kDigit) digits.push_back(event);
        if (event.kind == InboundEvent::kKeyDown) downs.push_back(event);
      }
      const IntakeStats one_way = left->Stats(), other_way = right->Stats();
      const bool heard = one_way.received > 10 && other_way.received > 10;
      if (heard && !digits.empty() && one_way.rtt_ms >= 0 && other_way.rtt_ms >= 0) break;
    }
    CHECK_EQ(digits.size(), size_t{1});
    CHECK_EQ(downs.size(), size_t{1});
    if (!digits.empty() && !downs.empty()) {
      CHECK_EQ(int{downs[0].digit}, 5);
      CHECK_EQ(downs[0].at_ns, digits[0].at_ns);
      CHECK_EQ(digits[0].socket, uint64_t{1});
      CHECK_EQ(int{digits[0].digit}, 5);
      CHECK_EQ(digits[0].duration_ns, 60 * kNsPerMs);
    }
    CHECK(left->Stats().received > 10 && right->Stats().received > 10);
    CHECK(left->Stats().rtt_ms >= 0 && left->Stats().rtt_ms < 1000);
    CHECK_EQ(right->Stats().remote_lost, 0);
    CHECK(right->Where().latched && right->Where().rtp.port() == left->port());
    plane->CloseStream(one.get());
    for (int wait = 0; wait < 200 && !right->Stats().bye; wait++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(right->Stats().bye);
    plane->CloseSocket(left.get());
    plane->CloseSocket(left.get());
    CHECK_EQ(plane->SocketCount(), size_t{1});
    CHECK_EQ(plane->Close().sockets.size(), size_t{1});
  }
  CHECK_EQ(OpenDescriptors(), descriptors);
}

void TwoHundredCallsLeaveNothingBehind() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto pool = Pool();
  const auto warm = Open(*plane, *pool, 1);  // the thread is there from now on
  const size_t descriptors = OpenDescriptors();
  for (uint64_t call = 0; call < 200; call++) {
    const auto socket = Open(*plane, *pool, 100 + call);
    const auto stream = OpenStream(*plane, 1000 + call);
    socket->Bind(stream);
    socket->Learn(Address::Of("127.0.0.1", warm->port()), Address(), true, {});
    plane->CloseStream(stream.get());
    plane->CloseSocket(socket.get());
  }
  CHECK_EQ(OpenDescriptors(), descriptors);
  CHECK_EQ(pool->Count(plane->time().Now()).in_use, size_t{1});
}

// A stream sends through its socket's own descriptor, and through no copy of it.
void ACallOnAPortPairHasTheDescriptorsOfItsSockets() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto pool = Pool();
  const auto warm = Open(*plane, *pool, 1);
  const size_t descriptors = OpenDescriptors();
  const auto socket = Open(*plane, *pool, 2);
  const auto stream = OpenStream(*plane, 12);
  socket->Bind(stream);
  socket->Learn(Address::Of("127.0.0.1", warm->port()), Address(), true, {});
  CHECK_EQ(OpenDescriptors(), descriptors + 1);
  plane->CloseStream(stream.get());
  plane->CloseSocket(socket.get());
  CHECK_EQ(OpenDescriptors(), descriptors);
}

// A far end that sees how its packets are marked for routers.
struct MarkedEnd {
  const int family;
  const std::string address = family == AF_INET ? "127.0.0.1" : "::1";
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  explicit MarkedEnd(int of_family) : family(of_family) {
    const int on = 1;
    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
    if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof(on));
  }
  ~MarkedEnd() { close(fd); }

  // False where the machine has no such address.
  bool Open() const {
    sockaddr_storage local{};
    socklen_t bytes = 0;
    Address::Of(address, 0).Fill(family, &local, &bytes);
    return bind(fd, reinterpret_cast<const sockaddr*>(&local), bytes) == 0;
  }

  Address Place() const {
    sockaddr_storage local{};
    socklen_t bytes = sizeof(local);
    getsockname(fd, reinterpret_cast<sockaddr*>(&local), &bytes);
    const uint16_t port = family == AF_INET ? reinterpret_cast<sockaddr_in*>(&local)->sin_port
                                            : reinterpret_cast<sockaddr_in6*>(&local)->sin6_port;
    return Address::Of(address, ntohs(port));
  }

  // The mark of the next packet of this kind, or -1.
  int Mark(bool rtcp) const {
    for (;;) {
      pollfd waiting{fd, POLLIN, 0};
      if (poll(&waiting, 1, 2000) != 1) return -1;
      uint8_t data[1500], control[256];
      iovec part{data, sizeof(data)};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      if (recvmsg(fd, &message, 0) < 2) return -1;
      if ((data[1] >= 200 && data[1] <= 204) != rtcp) continue;
      for (cmsghdr* note = CMSG_FIRSTHDR(&message); note; note = CMSG_NXTHDR(&message, note)) {
        if (note->cmsg_level == IPPROTO_IP && note->cmsg_type == IP_TOS) return *CMSG_DATA(note) >> 2;
        if (note->cmsg_level == IPPROTO_IPV6 && note->cmsg_type == IPV6_TCLASS) {
          int value = 0;
          std::memcpy(&value, CMSG_DATA(note), sizeof(value));
          return value >> 2;
        }
      }
      return -1;
    }
  }
};

void PacketsCarryTheMarkOfTheirPool() {
  const auto plane = MediaPlane::OpenReal(1);
  uint64_t call = 0;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const int dscp : {46, 10, 0}) {
      const MarkedEnd far(family);
      if (!far.Open()) continue;
      std::string problem;
      const auto pool = PortPool::Open({far.address, kFirstPort, kLastPort, 0, dscp}, &problem);
      const auto socket = Open(*plane, *pool, ++call);
      CHECK(socket != nullptr);
      const auto stream = OpenStream(*plane, 1000 + call);
      socket->Bind(stream);
      socket->Learn(far.Place(), Address(), true, {});
      CHECK_EQ(far.Mark(false), dscp);
      CHECK_EQ(far.Mark(true), dscp);
      plane->CloseStream(stream.get());
      plane->CloseSocket(socket.get());
    }
  }
}

// A flood at one call: the others are read all the same.
void AFloodAtOneCallDelaysTheOthersLittle() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto pool = Pool();
  const auto flooded = Open(*plane, *pool, 1), quiet = Open(*plane, *pool, 2), far = Open(*plane, *pool, 3);
  std::atomic<bool> running{true};
  std::thread flood([&] {
    uint8_t noise[200] = {};
    const Address to = Address::Of("127.0.0.1", flooded->port());
    while (running.load()) far->SendForeign(noise, sizeof(noise), to, false);
  });
  uint8_t packet[12 + 160] = {0x80, 0};
  quiet->Learn(Address::Of("127.0.0.1", far->port()), Address(), true, {});
  const Address to = Address::Of("127.0.0.1", quiet->port());
  for (uint16_t n = 0; n < 50; n++) {
    PutBig16(packet + 2, n);
    PutBig32(packet + 4, n * 160U);
    CHECK(far->SendForeign(packet, sizeof(packet), to, false));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (int wait = 0; wait < 200 && quiet->Stats().received < 50; wait++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  running.store(false);
  flood.join();
  CHECK_EQ(quiet->Stats().received, uint64_t{50});
  CHECK(flooded->Stats().foreign + flooded->Stats().malformed > 100);
}

constexpr uint8_t kStun[20] = {0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42};

// Sends by a raw socket, without a port of its own; false where the system refuses raw sockets.
bool SendFromPortZero(const uint8_t* data, size_t bytes, uint16_t to_port) {
  const int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);
  if (raw < 0) return false;
  std::vector<uint8_t> packet(8 + bytes);
  PutBig16(packet.data() + 2, to_port);
  PutBig16(packet.data() + 4, static_cast<uint16_t>(packet.size()));
  std::copy_n(data, bytes, packet.begin() + 8);  // without a checksum, as IPv4 allows
  sockaddr_storage to;
  socklen_t to_bytes = 0;
  CHECK(Address::Of("127.0.0.1", 0).Fill(AF_INET, &to, &to_bytes));
  const ssize_t sent =
      sendto(raw, packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&to), to_bytes);
  close(raw);
  return sent == static_cast<ssize_t>(packet.size());
}

void NobodyIsHeardOrAnsweredAtPortZero() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto pool = Pool();
  const auto socket = Open(*plane, *pool, 1), far = Open(*plane, *pool, 2);
  const Address nowhere = Address::Of("127.0.0.1", 0);
  uint64_t malformed = 0;
  for (const uint8_t first : {uint8_t{0}, uint8_t{22}, uint8_t{0x80}}) {  // STUN, DTLS, RTP
    uint8_t packet[172] = {};
    std::copy_n(kStun, sizeof(kStun), packet);
    packet[0] = first;
    plane->Feed(socket, packet, sizeof(packet), nowhere, false);
    malformed++;
    if (SendFromPortZero(packet, sizeof(packet), socket->port())) malformed++;
  }
  // It is behind the others, and has a port.
  CHECK(far->SendForeign(kStun, sizeof(kStun), Address::Of("127.0.0.1", socket->port()), false));
  plane->Advance(1);
  CHECK_EQ(socket->Stats().malformed, malformed);
  const auto foreign = socket->TakeForeign();
  CHECK_EQ(foreign.size(), size_t{1});
  CHECK(!foreign.empty() && foreign[0].from.port() == far->port());
  CHECK(!socket->SendForeign(kStun, sizeof(kStun), nowhere, false));
}

void Hammer(MediaPlane& plane, PortPool& pool, uint64_t seed, const std::atomic<bool>& running) {
  Random random(seed);
  std::shared_ptr<MediaSocket> socket;
  std::shared_ptr<Stream> stream;
  uint8_t packet[172] = {0x80, 0};
  uint16_t sequence = 0;
  const uint8_t key[16] = {}, salt[14] = {};
  std::shared_ptr<ByteRing> ring;
  const auto ears = std::make_shared<Ears>();
  Ears::Row row;
  while (running.load()) {
    if (!socket) socket = Open(plane, pool, seed * 1000);
    if (!stream) stream = OpenStream(plane, seed * 1000 + 1);
    PutBig16(packet + 2, sequence++);
    const Address own = Address::Of("127.0.0.1", socket->port());
    switch (random.Next() % 18) {
      case 0:
        socket->Bind(random.Next() % 2 ? stream : nullptr);
        break;
      case 1:
        socket->Learn(own, own, random.Next() % 2, {});
        break;
      case 2:
        if (!ring) {
          ring = std::make_shared<ByteRing>(size_t{1} << 16);
          if (!socket->OpenEar(ring, static_cast<EarSound>(random.Next() % 3))) ring.reset();
        } else {
          socket->CloseEar(ring.get());
          ring.reset();
        }
        break;
      case 3:
        if (random.Next() % 2) socket->JoinEars(ears);
        else socket->LeaveEars(ears.get());
        while (ears->Take(&row)) CHECK_EQ(row.socket, socket->handle());
        break;
      case 4:
        socket->Stats();
        break;
      case 5:
        stream->PressDigit({1, 101, 10, 8000, 20 * kNsPerMs, 0});
        break;
      case 6:
        plane.TakeInbound();
        break;
      case 7:
        socket->SetSrtp(SrtpProfile::kAesCm128HmacSha1_80, key, 16, salt, 14);
        break;
      case 8:
        socket->SetProtection(Protection::kPlain);
        break;
      case 9:
        plane.Feed(socket, packet, sizeof(packet), own, false);
        break;
      case 10:
        if (random.Next() % 8 == 0) plane.CloseSocket(socket.get()), socket.reset(), ring.reset();
        break;
      case 11:
        if (random.Next() % 8 == 0) plane.CloseStream(stream.get()), stream.reset();
        break;
      case 12:
        socket->Tap(random.Next() % 2);
        break;
      case 13:
        if (const auto tap = socket->tap()) tap->Take();
        break;
      default:
        socket->SendForeign(packet, sizeof(packet), own, false);
    }
    if (random.Next() % 32 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

void EverythingMayHappenAtOnce() {
  const size_t descriptors = OpenDescriptors();
  {
    const auto plane = MediaPlane::OpenReal(1);
    const auto pool = Pool();
    HammerForASecond(
        [&](uint64_t seed, std::atomic<bool>& running) { Hammer(*plane, *pool, seed, running); });
    plane->Close();
    CHECK_EQ(plane->SocketCount(), size_t{0});
    CHECK_EQ(pool->Count(plane->time().Now()).in_use, size_t{0});
  }
  CHECK_EQ(OpenDescriptors(), descriptors);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(media_socket) {
  using namespace parley::test;
  return Run({
      {"two ends hear each other", TwoEndsHearEachOther},
      {"two hundred calls leave nothing behind", TwoHundredCallsLeaveNothingBehind},
      {"a call on a port pair has the descriptors of its sockets",
       ACallOnAPortPairHasTheDescriptorsOfItsSockets},
      {"packets carry the mark of their pool", PacketsCarryTheMarkOfTheirPool},
      {"a flood at one call delays the others little", AFloodAtOneCallDelaysTheOthersLittle},
      {"nobody is heard or answered at port zero", NobodyIsHeardOrAnsweredAtPortZero},
      {"everything may happen at once", EverythingMayHappenAtOnce},
  });
}
