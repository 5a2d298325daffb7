// One UDP port for all calls: who is found, who is not, and what a flood disturbs.
#include "media/receive/udp_mux.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "media/plane.h"
#include "media/random.h"
#include "test/check.h"
#include "test/loopback.h"
#include "test/stun_samples.h"

namespace parley::test {
namespace {

std::shared_ptr<UdpMux> OpenMux(std::vector<std::string> addresses = {"127.0.0.1"}) {
  std::string problem;
  auto mux = UdpMux::Open({std::move(addresses), 0, 46, 1 << 20}, &problem);
  CHECK_EQ(problem, "");
  return mux;
}

IceCredentials Named(const std::string& fragment) {
  IceCredentials credentials = kIce;
  credentials.local_fragment = fragment;
  return credentials;
}

Check CheckOf(const std::string& fragment, bool nominate = false) {
  Check check;
  check.username = fragment + ":them";
  check.nominate = nominate;
  return check;
}

std::shared_ptr<MediaSocket> OpenCall(MediaPlane& plane, const std::shared_ptr<UdpMux>& mux, uint64_t handle,
                                      const std::string& fragment) {
  const auto call = plane.MakeSocket({nullptr, mux}, true);
  call->set_handle(handle);
  PayloadTypes types{};
  types[0] = {PayloadKind::kSound, 8000};
  call->SetPayloadTypes(types);
  CHECK(plane.BeginSocket(call));
  CHECK(call->UseIce(Named(fragment), true) == MediaSocket::IceResult::kDone);
  return call;
}

std::shared_ptr<Stream> OpenStream(MediaPlane& plane, uint64_t handle) {
  StreamConfig config;
  config.ssrc = static_cast<uint32_t>(handle);
  config.silence.assign(160, 0xff);
  config.cname = "udp-mux-test";
  auto stream = plane.MakeStream(config, nullptr);
  stream->set_handle(handle);
  CHECK(plane.Begin(stream.get()));
  return stream;
}

// A far end on a socket of its own.
class FarEnd {
 public:
  explicit FarEnd(const char* address = "127.0.0.1")
      : family_(std::strchr(address, ':') ? AF_INET6 : AF_INET) {
    fd_ = socket(family_, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_storage local;
    socklen_t bytes = 0;
    Address::Of(address, 0).Fill(family_, &local, &bytes);
    open_ = bind(fd_, reinterpret_cast<const sockaddr*>(&local), bytes) == 0;
    bytes = sizeof(local);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&local), &bytes);
    place_ = Address::Of(local);
  }
  ~FarEnd() { close(fd_); }
  FarEnd(const FarEnd&) = delete;
  FarEnd& operator=(const FarEnd&) = delete;

  bool open() const { return open_; }
  const Address& place() const { return place_; }

  void Send(const StunBytes& data, const Address& to) const {
    sockaddr_storage where;
    socklen_t bytes = 0;
    CHECK(to.Fill(family_, &where, &bytes));
    const auto* const name = reinterpret_cast<const sockaddr*>(&where);
    CHECK_EQ(sendto(fd_, data.data(), data.size(), 0, name, bytes), static_cast<ssize_t>(data.size()));
  }
  void Send(const StunBytes& data, uint16_t port) const {
    Send(data, Address::Of(family_ == AF_INET ? "127.0.0.1" : "::1", port));
  }
  // Empty: nothing came within `wait_ms`.
  StunBytes Receive(int wait_ms, Address* from = nullptr) const {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, wait_ms) != 1) return {};
    StunBytes data(2048);
    sockaddr_storage source{};
    socklen_t bytes = sizeof(source);
    const ssize_t got =
        recvfrom(fd_, data.data(), data.size(), 0, reinterpret_cast<sockaddr*>(&source), &bytes);
    data.resize(got > 0 ? static_cast<size_t>(got) : 0);
    if (from) *from = Address::Of(source);
    return data;
  }
  // The code of the next answer: 0 success, -1 nothing came.
  int Answer(int wait_ms = 2000, Address* from = nullptr) const {
    const StunBytes data = Receive(wait_ms, from);
    StunMessage message;
    return ReadStun(data.data(), data.size(), &message) ? CodeOf(message) : -1;
  }

 private:
  const int family_;
  int fd_ = -1;
  bool open_ = false;
  Address place_;
};

StunBytes Rtp(uint16_t sequence) {
  StunBytes packet(12 + 160, 0xff);
  packet[0] = 0x80;
  packet[1] = 0;
  PutBig16(packet.data() + 2, sequence);
  PutBig32(packet.data() + 4, sequence * 160U);
  PutBig32(packet.data() + 8, 7);
  return packet;
}

const StunBytes kDtls = {22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1};

void AFarEndIsFoundByItsCheckAndThenByItsAddress() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto one = OpenCall(*plane, mux, 1, "one1"), two = OpenCall(*plane, mux, 2, "two2");
  const auto stream = OpenStream(*plane, 12);
  two->Bind(stream);
  CHECK(one->port() == mux->port() && two->port() == mux->port());
  const FarEnd far;
  far.Send(Write(CheckOf("two2")), mux->port());
  plane->Advance(1);
  CHECK_EQ(far.Answer(), 0);
  CHECK(two->Ice().checked == far.place() && !two->Ice().nominated[0].known());
  far.Send(kDtls, mux->port());
  plane->Advance(2);
  const auto foreign = two->TakeForeign();
  CHECK(foreign.size() == 1 && foreign[0].from == far.place() && one->TakeForeign().empty());
  // Media waits for a nomination, and needs nothing of JavaScript then.
  plane->Advance(100 * kNsPerMs);
  CHECK_EQ(stream->Stats().packets, uint64_t{0});
  far.Send(Write(CheckOf("two2", true)), mux->port());
  plane->Advance(101 * kNsPerMs);
  CHECK_EQ(far.Answer(), 0);
  CHECK(two->Ice().nominated[0] == far.place() && two->Ice().has_path);
  plane->Advance(300 * kNsPerMs);
  CHECK(stream->Stats().packets >= 9);
  CHECK_EQ(far.Receive(2000).size(), size_t{172});
  for (uint16_t n = 1; n <= 3; n++) far.Send(Rtp(n), mux->port());
  plane->Advance(301 * kNsPerMs);
  CHECK(two->Stats().received == 3 && one->Stats().received == 0);
  bool told = false;
  for (const InboundEvent& event : plane->TakeInbound()) {
    told = told || (event.kind == InboundEvent::kIce && event.socket == 2);
    CHECK(event.socket == 2);
  }
  CHECK(told);
}

void WhatBelongsToNoCallIsDroppedWithoutAnAnswer() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  const FarEnd far;
  Check response = CheckOf("call");
  response.kind = StunClass::kSuccess;
  Check nameless;
  nameless.username = "";
  const StunBytes noise[] = {Write(CheckOf("none")), Write(nameless), Rtp(1), kDtls,
                             Write(response),        {0, 1, 2},       {},     StunBytes(2049, 0x80)};
  for (const StunBytes& one : noise) far.Send(one, mux->port());
  plane->Advance(1);
  CHECK_EQ(far.Answer(50), -1);
  const UdpMux::Stats stats = mux->Count();
  CHECK_EQ(stats.datagrams, std::size(noise));
  CHECK_EQ(stats.unknown + stats.malformed, std::size(noise));
  CHECK(stats.malformed == 3 && stats.calls.addresses == 0);
  const IntakeStats intake = call->Stats();
  CHECK_EQ(intake.foreign + intake.malformed + intake.strangers + intake.received, uint64_t{0});
}

void AllCallsTogetherRefuseTwentyChecksASecond() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto one = OpenCall(*plane, mux, 1, "one1"), two = OpenCall(*plane, mux, 2, "two2");
  const FarEnd stranger, far;
  for (int n = 0; n < 50; n++) {
    Check wrong = CheckOf(n % 2 ? "one1" : "two2", true);
    wrong.password = "a password of strangers";
    stranger.Send(Write(wrong), mux->port());
  }
  far.Send(Write(CheckOf("one1")), mux->port());
  plane->Advance(1);
  CHECK_EQ(far.Answer(), 0);
  int refused = 0;
  while (stranger.Answer(20) == 401) refused++;
  CHECK_EQ(refused, RefusalLimit::kMost);
  CHECK(!two->Ice().has_path && two->Ice().last_check_ns == -1);
  CHECK_EQ(mux->Count().calls.addresses, size_t{1});
  stranger.Send(kDtls, mux->port());
  plane->Advance(2);
  CHECK(one->TakeForeign().empty() && two->TakeForeign().empty());
}

// Somebody with a call of his own who forges another far end's address does not get its packets.
void AnAddressBelongsToOneCall() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto one = OpenCall(*plane, mux, 1, "one1"), two = OpenCall(*plane, mux, 2, "two2");
  const FarEnd far;
  const auto check = [&](const char* fragment, int64_t at_ms) {
    far.Send(Write(CheckOf(fragment, true)), mux->port());
    plane->Advance(at_ms * kNsPerMs);
    return far.Answer(at_ms < 15'000 && fragment[0] == 't' ? 50 : 2000);
  };
  CHECK_EQ(check("one1", 1), 0);
  CHECK_EQ(check("two2", 14'999), -1);
  CHECK_EQ(mux->Count().contested, uint64_t{1});
  for (uint16_t n = 1; n <= 2; n++) far.Send(Rtp(n), mux->port());
  plane->Advance(14'999 * kNsPerMs);
  CHECK(one->Stats().received == 2 && !two->Ice().has_path);
  // The owner has gone silent.
  plane->Advance(15'001 * kNsPerMs);
  CHECK_EQ(check("two2", 15'001), 0);
  CHECK(two->Ice().has_path);
  plane->CloseSocket(two.get());
  CHECK_EQ(check("one1", 15'002), 0);
}

void AFragmentBelongsToOneCall() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto one = OpenCall(*plane, mux, 1, "one1"), two = OpenCall(*plane, mux, 2, "two2");
  CHECK(two->UseIce(Named("one1"), true) == MediaSocket::IceResult::kFragmentTaken);
  CHECK(one->UseIce(Named("one1"), true) == MediaSocket::IceResult::kDone);
  plane->CloseSocket(one.get());
  CHECK(two->UseIce(Named("one1"), true) == MediaSocket::IceResult::kDone);
  CHECK_EQ(mux->Count().calls.fragments, size_t{2});
}

void BothFragmentsOfARestartFindTheCall() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "one1");
  const FarEnd far, moved;
  far.Send(Write(CheckOf("one1", true)), mux->port());
  plane->Advance(1);
  CHECK_EQ(far.Answer(), 0);
  CHECK(call->UseIce(Named("two2"), true) == MediaSocket::IceResult::kDone);
  CHECK(call->Ice().has_path && !call->Ice().nominated[0].known());
  far.Send(Write(CheckOf("one1", true)), mux->port());
  moved.Send(Write(CheckOf("two2")), mux->port());
  plane->Advance(2);
  CHECK(far.Answer() == 0 && moved.Answer() == 0);
  CHECK(call->Where().rtp == far.place() && call->Ice().checked == moved.place());
  moved.Send(Write(CheckOf("two2", true)), mux->port());
  plane->Advance(3 + MediaSocket::kFollowNs);
  CHECK_EQ(moved.Answer(), 0);
  CHECK(call->Where().rtp == moved.place() && call->Where().rtcp == moved.place());
  CHECK(call->UseIce(Named("new3"), true) == MediaSocket::IceResult::kDone);
  CHECK_EQ(mux->Count().calls.fragments, size_t{2});
  far.Send(Write(CheckOf("one1", true)), mux->port());
  plane->Advance(4 + MediaSocket::kFollowNs);
  CHECK_EQ(far.Answer(50), -1);
}

// A check that nominates its path and comes from this port of the far end's host. A higher port has a higher
// priority, so that its nomination counts.
void FeedCheck(MediaPlane& plane, const std::shared_ptr<MediaSocket>& call, const std::string& fragment,
               uint16_t port) {
  Check check = CheckOf(fragment, true);
  check.priority = port;
  const StunBytes data = Write(check);
  plane.Feed(call, data.data(), data.size(), Address::Of("127.0.0.1", port), false);
}

// A far end may check from as many ports as it likes. One event waits until JavaScript looks.
void ChecksFromEverNewPortsMakeOneEvent() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "one1"), other = OpenCall(*plane, mux, 2, "two2");
  const auto events = [&](uint64_t socket, InboundEvent::Kind kind) {
    const std::vector<InboundEvent> taken = plane->TakeInbound();
    return std::count_if(taken.begin(), taken.end(), [&](const InboundEvent& event) {
      return event.kind == kind && event.socket == socket;
    });
  };
  for (uint16_t port = 10'000; port < 30'000; port++) FeedCheck(*plane, call, "one1", port);
  CHECK_EQ(plane->TakeInbound().size(), size_t{2});  // and one of the target
  FeedCheck(*plane, call, "one1", 30'000);
  FeedCheck(*plane, other, "two2", 9'999);
  CHECK_EQ(events(1, InboundEvent::kIce), 0);  // the event was taken, but not yet the state
  CHECK_EQ(call->Ice().nominated[0].port(), 30'000);
  FeedCheck(*plane, call, "one1", 30'001);
  CHECK_EQ(events(1, InboundEvent::kIce), 1);
}

void ANewPathIsFollowedAtMostEachFiftyMilliseconds() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "one1");
  const auto targets = [&] {
    const std::vector<InboundEvent> taken = plane->TakeInbound();
    return std::count_if(taken.begin(), taken.end(),
                         [](const InboundEvent& event) { return event.kind == InboundEvent::kTarget; });
  };
  FeedCheck(*plane, call, "one1", 10'000);
  CHECK_EQ(call->Where().rtp.port(), 10'000);
  CHECK_EQ(targets(), 1);
  for (uint16_t ms = 1; ms < 50; ms++) {
    plane->Advance(ms * kNsPerMs);
    FeedCheck(*plane, call, "one1", static_cast<uint16_t>(10'000 + ms));
  }
  CHECK(call->Where().rtp.port() == 10'000 && call->Ice().nominated[0].port() == 10'049);
  // Without another datagram.
  plane->Advance(50 * kNsPerMs);
  CHECK_EQ(call->Where().rtp.port(), 10'049);
  CHECK_EQ(targets(), 1);
  CHECK_EQ(call->deadline_ns(), INT64_MAX);
  plane->Advance(100 * kNsPerMs);
  FeedCheck(*plane, call, "one1", 10'100);
  CHECK_EQ(call->Where().rtp.port(), 10'100);
  // The end of ICE ends what was due.
  FeedCheck(*plane, call, "one1", 10'101);
  CHECK(call->UseIce(std::nullopt, true) == MediaSocket::IceResult::kDone);
  plane->Advance(200 * kNsPerMs);
  CHECK_EQ(call->Where().rtp.port(), 10'100);
}

// The digit's end and the change of the path are two deadlines of one call.
void ACallWithAChangeOfPathDueEndsItsDigit() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "one1");
  PayloadTypes types{};
  types[101] = {PayloadKind::kDigit, 8000};
  call->SetPayloadTypes(types);
  FeedCheck(*plane, call, "one1", 10'000);
  StunBytes digit = Rtp(1);
  digit.resize(16);
  digit[1] = 101;
  digit[12] = 5;
  digit[13] = 10;
  PutBig16(digit.data() + 14, 160);
  plane->Feed(call, digit.data(), digit.size(), Address::Of("127.0.0.1", 10'000), false);
  FeedCheck(*plane, call, "one1", 10'001);
  plane->TakeInbound();
  plane->Advance(50 * kNsPerMs);
  CHECK_EQ(call->Where().rtp.port(), 10'001);
  CHECK(call->deadline_ns() != INT64_MAX);
  plane->Advance(2 * kNsPerSecond);
  const std::vector<InboundEvent> events = plane->TakeInbound();
  CHECK(std::any_of(events.begin(), events.end(),
                    [](const InboundEvent& event) { return event.kind == InboundEvent::kDigit; }));
}

void ACallOnTheSharedPortHasNoDescriptorOfItsOwn() {
  const size_t before = OpenDescriptors();
  {
    const auto plane = MediaPlane::OpenManual(1, 0, 0);
    const auto mux = OpenMux();
    const auto warm = OpenCall(*plane, mux, 1, "warm");
    const size_t descriptors = OpenDescriptors();
    const FarEnd far;
    const auto call = OpenCall(*plane, mux, 2, "call");
    const auto stream = OpenStream(*plane, 12);
    call->Bind(stream);
    far.Send(Write(CheckOf("call", true)), mux->port());
    plane->Advance(100 * kNsPerMs);
    CHECK(stream->Stats().packets > 0);
    CHECK_EQ(OpenDescriptors(), descriptors + 1);  // the far end's
    plane->CloseSocket(call.get());
    CHECK(mux->Count().calls.fragments == 1 && mux->Count().calls.addresses == 0);
  }
  CHECK_EQ(OpenDescriptors(), before);
}

// The call's stream and its answers leave from the address that the check came to.
void OnAWildcardAnswersLeaveFromTheAddressThatWasAsked() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  for (const std::string any : {"0.0.0.0", "::"}) {
    const auto mux = OpenMux({any});
    const auto call = OpenCall(*plane, mux, 1, "call");
    const auto stream = OpenStream(*plane, 12);
    call->Bind(stream);
    const FarEnd far("0.0.0.0");
    const Address asked = Address::Of("127.0.0.2", mux->port());
    far.Send(Write(CheckOf("call", true)), asked);
    plane->Advance(plane->time().Now() + 50 * kNsPerMs);
    Address from;
    CHECK_EQ(far.Answer(2000, &from), 0);
    CHECK_EQ(from.text(), "127.0.0.2");
    CHECK_EQ(far.Receive(2000, &from).size(), size_t{172});
    CHECK(from == asked);
    // It comes to another of our addresses: the path is another one, although the far address is the same.
    far.Send(Write(CheckOf("call", true)), Address::Of("127.0.0.3", mux->port()));
    plane->Advance(plane->time().Now() + 2 * kNsPerSecond);
    far.Send(Write(CheckOf("call", true)), Address::Of("127.0.0.3", mux->port()));
    plane->Advance(plane->time().Now() + 50 * kNsPerMs);
    bool moved = false;
    for (StunBytes data = far.Receive(50, &from); !data.empty(); data = far.Receive(50, &from)) {
      moved = data.size() == 172 && from.text() == "127.0.0.3";
    }
    CHECK(moved);
    plane->CloseStream(stream.get());
    plane->CloseSocket(call.get());
  }
}

void OnePortServesBothFamilies() {
  const FarEnd far4, far6("::1");
  if (!far6.open()) return;
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  for (const std::vector<std::string>& addresses :
       {std::vector<std::string>{"0.0.0.0", "::"}, {"::"}, {"127.0.0.1", "::1"}}) {
    const auto mux = OpenMux(addresses);
    const auto call = OpenCall(*plane, mux, 1, "call");
    int64_t at_ns = plane->time().Now();
    for (const FarEnd* const far : {&far4, &far6}) {
      far->Send(Write(CheckOf("call", true)), mux->port());
      plane->Advance(at_ns += 3 * kNsPerSecond);
      CHECK_EQ(far->Answer(), 0);
      CHECK_EQ(call->Ice().nominated[0].text(), far->place().text());
      CHECK(call->SendForeign(kDtls.data(), kDtls.size(), far->place(), false));
      CHECK_EQ(far->Receive(2000).size(), kDtls.size());
    }
    plane->CloseSocket(call.get());
  }
}

void NothingIsSentToAnAddressWithoutACheck() {
  const auto plane = MediaPlane::OpenManual(1, 0, 0);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  const auto stream = OpenStream(*plane, 12);
  call->Bind(stream);
  const FarEnd far;
  call->Learn(far.place(), far.place(), true, {});
  plane->Advance(100 * kNsPerMs);
  CHECK(!call->SendForeign(kDtls.data(), kDtls.size(), far.place(), false));
  CHECK_EQ(stream->Stats().packets, uint64_t{0});
  // After a nomination no description turns the media away either.
  const FarEnd other;
  far.Send(Write(CheckOf("call", true)), mux->port());
  plane->Advance(101 * kNsPerMs);
  call->Learn(other.place(), other.place(), true, {});
  CHECK(call->Where().rtp == far.place());
}

void WrongAddressesAreRefusedByName() {
  const auto refusal = [](std::vector<std::string> addresses, uint16_t port) {
    std::string problem;
    CHECK(UdpMux::Open({std::move(addresses), port, 46, 1 << 16}, &problem) == nullptr);
    return problem;
  };
  CHECK_EQ(refusal({}, 0), "addresses must be 1 to 7 IP addresses");
  CHECK_EQ(refusal(std::vector<std::string>(8, "::1"), 0), "addresses must be 1 to 7 IP addresses");
  CHECK_EQ(refusal({"localhost"}, 0), "addresses must be IP addresses, not localhost");
  const auto mux = OpenMux();
  const std::string port = std::to_string(mux->port());
  CHECK_EQ(refusal({"127.0.0.1"}, mux->port()),
           "the UDP port " + port + " of 127.0.0.1 cannot be opened: Address already in use");
  const auto one = MediaPlane::OpenManual(1, 0, 0), other = MediaPlane::OpenManual(1, 0, 0);
  const auto call = OpenCall(*one, mux, 1, "call");
  CHECK(!other->BeginSocket(other->MakeSocket({nullptr, mux}, true)));
}

// 5,000 datagrams of every kind in a second: the packets of a call all arrive, and another call is set up.
void AFloodDisturbsNoCall() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto mux = OpenMux();
  const auto call = OpenCall(*plane, mux, 1, "call");
  const FarEnd far, stranger;
  far.Send(Write(CheckOf("call", true)), mux->port());
  CHECK_EQ(far.Answer(), 0);
  std::atomic<bool> running{true};
  std::thread flood([&] {
    Random random(5);
    Check wrong = CheckOf("call", true);
    wrong.password = "a password of strangers";
    const StunBytes kinds[] = {Write(CheckOf("none")), Write(wrong), kDtls, Rtp(9), StunBytes(90, 0x7f)};
    StunBytes report = Rtp(1);
    report[1] = 200;
    while (running.load()) {
      for (int n = 0; n < 5; n++) {
        stranger.Send(random.Next() % 6 ? kinds[random.Next() % 5] : report, mux->port());
      }
      std::this_thread::sleep_for(std::chrono::microseconds(900));
    }
  });
  for (uint16_t n = 0; n < 50; n++) {
    far.Send(Rtp(n), mux->port());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto late = OpenCall(*plane, mux, 2, "late");
  const FarEnd caller;
  caller.Send(Write(CheckOf("late", true)), mux->port());
  CHECK_EQ(caller.Answer(), 0);
  for (int wait = 0; wait < 200 && call->Stats().received < 50; wait++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  running.store(false);
  flood.join();
  CHECK_EQ(call->Stats().received, uint64_t{50});
  CHECK(call->Ice().nominated[0] == far.place() && late->Ice().nominated[0] == caller.place());
  CHECK(mux->Count().unknown > 100);
}

void Hammer(MediaPlane& plane, const std::shared_ptr<UdpMux>& mux, uint64_t seed,
            const std::atomic<bool>& running) {
  Random random(seed);
  const FarEnd far;
  std::shared_ptr<MediaSocket> call;
  std::shared_ptr<Stream> stream;
  const std::string names[] = {"one" + std::to_string(seed), "two" + std::to_string(seed)};
  while (running.load()) {
    if (!call) call = OpenCall(plane, mux, seed, names[0]);
    if (!stream) stream = OpenStream(plane, seed + 100);
    const std::string& name = names[random.Next() % 2];
    switch (random.Next() % 12) {
      case 0:
        call->Bind(random.Next() % 2 ? stream : nullptr);
        break;
      case 1:
        call->UseIce(Named(name), true);
        break;
      case 2:
        call->Ice();
        break;
      case 3:
        call->SendForeign(kDtls.data(), kDtls.size(), far.place(), false);
        break;
      case 4:
        call->TakeForeign();
        break;
      case 5:
        if (random.Next() % 8 == 0) plane.CloseSocket(call.get()), call.reset();
        break;
      case 6:
        if (random.Next() % 8 == 0) plane.CloseStream(stream.get()), stream.reset();
        break;
      case 7:
        mux->Count();
        break;
      case 8:
        call->Tap(random.Next() % 2);
        plane.TakeInbound();
        break;
      case 9:
        if (random.Next() % 16 == 0) call->UseIce(std::nullopt, true);
        break;
      default:
        far.Send(random.Next() % 2 ? Write(CheckOf(name, random.Next() % 2)) : Rtp(1), mux->port());
    }
    while (!far.Receive(0).empty()) {
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
    CHECK(mux->Count().calls.fragments == 0 && mux->Count().calls.addresses == 0);
  }
  CHECK_EQ(OpenDescriptors(), descriptors);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(udp_mux) {
  using namespace parley::test;
  return Run({
      {"a far end is found by its check and then by its address",
       AFarEndIsFoundByItsCheckAndThenByItsAddress},
      {"what belongs to no call is dropped without an answer", WhatBelongsToNoCallIsDroppedWithoutAnAnswer},
      {"all calls together refuse twenty checks a second", AllCallsTogetherRefuseTwentyChecksASecond},
      {"an address belongs to one call", AnAddressBelongsToOneCall},
      {"a fragment belongs to one call", AFragmentBelongsToOneCall},
      {"both fragments of a restart find the call", BothFragmentsOfARestartFindTheCall},
      {"checks from ever new ports make one event", ChecksFromEverNewPortsMakeOneEvent},
      {"a new path is followed at most each fifty milliseconds",
       ANewPathIsFollowedAtMostEachFiftyMilliseconds},
      {"a call with a change of path due ends its digit", ACallWithAChangeOfPathDueEndsItsDigit},
      {"a call on the shared port has no descriptor of its own", ACallOnTheSharedPortHasNoDescriptorOfItsOwn},
      {"on a wildcard answers leave from the address that was asked",
       OnAWildcardAnswersLeaveFromTheAddressThatWasAsked},
      {"one port serves both families", OnePortServesBothFamilies},
      {"nothing is sent to an address without a check", NothingIsSentToAnAddressWithoutACheck},
      {"wrong addresses are refused by name", WrongAddressesAreRefusedByName},
      {"a flood disturbs no call", AFloodDisturbsNoCall},
      {"everything may happen at once", EverythingMayHappenAtOnce},
  });
}
