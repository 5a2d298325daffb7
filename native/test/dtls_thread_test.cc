// Associations whose work another thread does: what they report, how much may wait, and how they end.
#include "media/dtls/dtls_thread.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "media/plane.h"
#include "media/random.h"
#include "media/receive/udp_mux.h"
#include "test/check.h"
#include "test/stun_samples.h"

namespace parley::test {
namespace {

using State = DtlsEndpoint::State;
using Bytes = std::vector<uint8_t>;

constexpr auto kLimit = std::chrono::seconds(20);

std::shared_ptr<DtlsIdentity> Identity() {
  static const std::shared_ptr<DtlsIdentity> identity = [] {
    std::string problem;
    auto made = DtlsIdentity::Make(&problem);
    CHECK_EQ(problem, "");
    return made;
  }();
  return identity;
}

constexpr uint32_t kSoonUs = 20'000, kLateUs = 2'000'000;  // until the first retransmission

DtlsConfig ConfigOf(bool active, uint32_t retransmit_us = kLateUs) {
  return {active, {{"sha-256", Identity()->fingerprint()}}, retransmit_us, true};
}

template <class Condition>
bool Within(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + kLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

// Carries what one association sends to another one.
class Link : public DtlsTransport {
 public:
  void SendDtls(const uint8_t* data, size_t len) override {
    sent++;
    if (lose > 0) {
      lose--;
      return;
    }
    if (before) before();
    if (const auto to = peer.lock()) to->Receive(data, len);
  }

  std::weak_ptr<DtlsAssociation> peer;
  std::function<void()> before;
  std::atomic<int> sent{0}, lose{0};
};

struct Stage {
  explicit Stage(bool manual) : thread(std::make_shared<DtlsThread>(manual)) {}
  ~Stage() { thread->Close(); }

  std::shared_ptr<DtlsAssociation> Open(bool active, uint64_t handle, uint32_t retransmit_us = kLateUs) {
    auto association = DtlsAssociation::Create(thread, events, Identity(), ConfigOf(active, retransmit_us));
    association->set_handle(handle);
    CHECK(thread->Add(association));
    return association;
  }
  void Close(const std::shared_ptr<DtlsAssociation>& association) {
    association->Close();
    thread->Remove(association.get());
  }

  const std::shared_ptr<ReadyWatch> watch = std::make_shared<ReadyWatch>();
  const std::shared_ptr<InboundQueue> events = std::make_shared<InboundQueue>(watch);
  const std::shared_ptr<DtlsThread> thread;
};

// A client and a server that send to each other.
struct Pair {
  explicit Pair(Stage& stage, uint64_t handle = 1, uint32_t retransmit_us = kLateUs)
      : client(stage.Open(true, handle, retransmit_us)),
        server(stage.Open(false, handle + 1, retransmit_us)) {
    to_server->peer = server;
    to_client->peer = client;
    client->Use(to_server);
    server->Use(to_client);
  }
  void Start() const {
    server->Start();
    client->Start();
  }

  const std::shared_ptr<Link> to_server = std::make_shared<Link>(), to_client = std::make_shared<Link>();
  std::shared_ptr<DtlsAssociation> client, server;
};

// Takes the news until the association is open. Returns its keys.
DtlsSrtpKeys KeysOf(DtlsAssociation& association) {
  std::optional<DtlsSrtpKeys> keys;
  CHECK(Within([&] {
    DtlsNews news = association.Take();
    if (news.keys) keys = news.keys;
    return keys.has_value();
  }));
  return keys.value_or(DtlsSrtpKeys());
}

void AHandshakeIsOneEventForEachEnd() {
  Stage stage(true);
  const Pair pair(stage);
  pair.Start();
  stage.thread->Run();
  const std::vector<InboundEvent> events = stage.events->Take();
  CHECK_EQ(events.size(), size_t{2});
  for (const InboundEvent& event : events) CHECK(event.kind == InboundEvent::kDtls);
  CHECK(events.size() == 2 && events[0].socket + events[1].socket == 3);
  const DtlsNews client = pair.client->Take(), server = pair.server->Take();
  CHECK(client.state == State::kOpen && server.state == State::kOpen);
  CHECK(client.keys && server.keys && client.keys->send.key == server.keys->receive.key);
  CHECK(client.output.empty() && server.output.empty());
  CHECK(!pair.client->Take().keys);
  CHECK_EQ(stage.thread->waiting(), size_t{0});
}

void TheThreadWorksByItself() {
  Stage stage(false);
  const Pair pair(stage);
  CHECK_EQ(stage.thread->size(), size_t{2});
  pair.Start();
  CHECK(KeysOf(*pair.client).send.key == KeysOf(*pair.server).receive.key);
  const Bytes message = {1, 2, 3};
  CHECK(pair.client->Send(message.data(), message.size()));
  CHECK(Within([&] {
    const DtlsNews news = pair.server->Take();
    return news.received == std::vector<Bytes>{message};
  }));
}

void ALostFlightIsSentAgain() {
  Stage stage(false);
  const Pair pair(stage, 1, kSoonUs);
  pair.to_server->lose = 2;
  pair.to_client->lose = 1;
  pair.Start();
  KeysOf(*pair.client);
  KeysOf(*pair.server);
  CHECK(pair.to_server->sent > 2);
  CHECK(Within([&] { return stage.thread->waiting() == 0; }));
}

void DatagramsBeyondTheQueueAreDropped() {
  Stage stage(true);
  const auto association = stage.Open(false, 1);
  const Bytes noise = {22, 0};
  for (uint64_t n = 1; n <= DtlsAssociation::kMaxDatagrams; n++)
    CHECK_EQ(association->ReceiveNumbered(noise.data(), noise.size()), n);
  CHECK_EQ(association->ReceiveNumbered(noise.data(), noise.size()), uint64_t{0});
  stage.thread->Run();
  CHECK_EQ(association->Take().taken, uint64_t{DtlsAssociation::kMaxDatagrams});
  CHECK_EQ(association->ReceiveNumbered(noise.data(), noise.size()),
           uint64_t{DtlsAssociation::kMaxDatagrams + 1});
  const Bytes longest(DtlsEndpoint::kMaxDatagram + 1, 22);
  CHECK_EQ(association->ReceiveNumbered(longest.data(), longest.size()), uint64_t{0});
  CHECK_EQ(association->ReceiveNumbered(longest.data(), 0), uint64_t{0});
}

void AFloodOfOneDelaysAnotherByOneStep() {
  Stage stage(true);
  const auto flooded = stage.Open(false, 1);
  const Bytes noise = {22, 0};
  for (size_t n = 0; n < DtlsAssociation::kMaxDatagrams; n++)
    flooded->ReceiveNumbered(noise.data(), noise.size());
  const Pair pair(stage, 2);
  uint64_t taken = 0;
  pair.to_server->before = [&] {
    if (taken == 0) taken = flooded->Take().taken;
  };
  pair.client->Start();
  stage.thread->Run();
  CHECK_EQ(taken, uint64_t{1});
}

void DatagramsFromBeforeTheStartAreKept() {
  Stage stage(true);
  const Pair pair(stage);
  const Bytes alert = {21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40};
  pair.client->Start();
  stage.thread->Run();
  for (size_t n = 0; n < 2 * DtlsAssociation::kMaxEarly; n++)
    pair.server->Receive(alert.data(), alert.size());
  stage.thread->Run();
  CHECK_EQ(pair.server->Take().alert, 40);
  CHECK_EQ(pair.to_client->sent.load(), 0);
  pair.server->Start();
  stage.thread->Run();
  CHECK(pair.server->Take().state == State::kOpen && pair.client->Take().state == State::kOpen);
}

void WithoutATransportTheCallerCarries() {
  Stage stage(true);
  const auto client = stage.Open(true, 1), server = stage.Open(false, 2);
  client->Start();
  server->Start();
  uint64_t causes = 0;
  for (int turn = 0; turn < 10; turn++) {
    stage.thread->Run();
    for (const auto& [from, to] : {std::pair(client, server), std::pair(server, client)}) {
      const DtlsNews news = from->Take();
      for (const DtlsNews::Output& output : news.output) {
        // The client begins by itself; everything else answers a datagram.
        CHECK_EQ(output.cause == 0, turn == 0 && from == client);
        causes += output.cause;
        CHECK(to->ReceiveNumbered(output.data.data(), output.data.size()) > 0);
      }
      CHECK(turn < 2 || news.taken > 0);
    }
  }
  CHECK(causes > 0);
  const Bytes message = {1};
  CHECK(client->Send(message.data(), message.size()));
  const std::vector<Bytes> last = client->Close();
  CHECK_EQ(last.size(), size_t{2});  // the message, and close_notify
  for (const Bytes& datagram : last) server->Receive(datagram.data(), datagram.size());
  stage.thread->Run();
  const DtlsNews news = server->Take();
  CHECK(news.state == State::kClosed && news.received == std::vector<Bytes>{message});
  CHECK(!client->Send(message.data(), message.size()));
  CHECK(client->Close().empty());
}

void ATransportThatIsGoneCarriesNothing() {
  Stage stage(true);
  const auto client = stage.Open(true, 1);
  auto link = std::make_shared<Link>();
  client->Use(link);
  link.reset();
  client->Start();
  stage.thread->Run();
  CHECK(client->Take().output.empty());
  CHECK(client->Close().empty());
}

void AClosedThreadEndsItsAssociations() {
  Stage stage(false);
  const Pair pair(stage);
  pair.Start();
  KeysOf(*pair.client);
  KeysOf(*pair.server);
  const int sent = pair.to_server->sent + pair.to_client->sent;
  std::vector<uint64_t> left = stage.thread->Close();
  std::sort(left.begin(), left.end());
  CHECK((left == std::vector<uint64_t>{1, 2}));
  CHECK(pair.client->closed() && pair.server->closed());
  CHECK_EQ(pair.to_server->sent + pair.to_client->sent, sent + 2);  // close_notify
  CHECK(stage.thread->Close().empty());
  const auto late = DtlsAssociation::Create(stage.thread, stage.events, Identity(), ConfigOf(true));
  CHECK(!stage.thread->Add(late));
  late->Start();
}

// Callers close, send and receive at any moment of the thread's work.
void AssociationsEndWhileTheThreadWorks() {
  Stage stage(false);
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::vector<std::shared_ptr<DtlsAssociation>> targets;
  std::thread flood([&] {
    Random random(1);
    while (!over.load()) {
      Bytes noise(random.Next() % 60 + 1);
      for (uint8_t& octet : noise) octet = static_cast<uint8_t>(random.Next());
      noise[0] = static_cast<uint8_t>(20 + random.Next() % 4);
      std::lock_guard<std::mutex> lock(mutex);
      for (const auto& target : targets) target->Receive(noise.data(), noise.size());
    }
  });
  const Bytes message(100, 1);
  for (uint64_t round = 0; round < 60; round++) {
    const Pair pair(stage, 2 * round + 1);
    {
      std::lock_guard<std::mutex> lock(mutex);
      // Not where a handshake is to succeed: the flood could fill its queue.
      if (round % 3 != 0) targets = {pair.client, pair.server};
    }
    pair.Start();
    if (round % 3 == 0) {
      CHECK(Within([&] { return pair.client->Send(message.data(), message.size()); }));
      pair.client->Take();
    } else if (round % 3 == 1) {
      CHECK(Within([&] { return pair.to_server->sent > 0; }));
    }
    if (round % 2 == 0) pair.client->Use(nullptr);
    stage.Close(pair.client);
    stage.Close(pair.server);
    {
      std::lock_guard<std::mutex> lock(mutex);
      targets.clear();
    }
    const int sent = pair.to_server->sent + pair.to_client->sent;
    CHECK(!pair.client->Send(message.data(), message.size()));
    CHECK_EQ(pair.to_server->sent + pair.to_client->sent, sent);
  }
  over.store(true);
  flood.join();
  CHECK_EQ(stage.thread->size(), size_t{0});
}

// A browser: its checks and its DTLS come from one socket.
class Browser {
 public:
  explicit Browser(uint16_t port) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  }
  ~Browser() { close(fd_); }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void Send(const Bytes& data) const { CHECK(send(fd_, data.data(), data.size(), 0) > 0); }
  // Empty: nothing came within `wait_ms`.
  Bytes Receive(int wait_ms) const {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, wait_ms) != 1) return {};
    Bytes data(2048);
    const ssize_t got = recv(fd_, data.data(), data.size(), 0);
    data.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return data;
  }
  // Until the client is open, or nothing more comes.
  void Talk(DtlsEndpoint& client, int wait_ms) const {
    for (Bytes data;;) {
      for (const Bytes& output : client.TakeOutput()) Send(output);
      if (client.state() == State::kOpen) return;
      data = Receive(wait_ms);
      if (data.empty()) return;
      client.Receive(data.data(), data.size());
    }
  }

 private:
  const int fd_;
};

void WithIceTheSocketAndTheAssociationExchangeDatagrams() {
  const auto plane = MediaPlane::OpenReal(1);
  std::string problem;
  const auto mux = UdpMux::Open({{"127.0.0.1"}, 0, 46, 1 << 20}, &problem);
  CHECK_EQ(problem, "");
  const auto call = plane->MakeSocket({nullptr, mux}, true);
  call->set_handle(1);
  CHECK(plane->BeginSocket(call));
  CHECK(call->UseIce(kIce, true) == MediaSocket::IceResult::kDone);
  const auto association = plane->MakeDtls(Identity(), ConfigOf(false));
  association->set_handle(2);
  CHECK(plane->BeginDtls(association));
  call->UseDtls(association, Address());
  const Browser browser(mux->port());
  const auto client = DtlsEndpoint::Create(Identity(), ConfigOf(true, kSoonUs));
  client->Start();
  browser.Talk(*client, 50);  // before a check nothing is answered
  CHECK(client->state() == State::kHandshaking);
  browser.Send(Write(Check()));
  CHECK(!browser.Receive(2000).empty());
  CHECK(Within([&] {
    if (client->TimeoutMs() == 0) client->HandleTimeout();
    browser.Talk(*client, 20);
    return client->state() == State::kOpen;
  }));
  CHECK(KeysOf(*association).send.key == client->keys().receive.key);
  bool told = false;
  for (const InboundEvent& event : plane->TakeInbound()) {
    CHECK(event.kind == InboundEvent::kIce || event.kind == InboundEvent::kDtls);
    told = told || (event.kind == InboundEvent::kDtls && event.socket == 2);
  }
  CHECK(told && call->TakeForeign().empty());
  // The association ends with the plane, and the browser hears of it.
  const MediaPlane::Left left = plane->Close();
  CHECK((left.associations == std::vector<uint64_t>{2} && left.sockets == std::vector<uint64_t>{1}));
  // Flights may come before it that were sent twice.
  CHECK(Within([&] {
    const Bytes data = browser.Receive(2000);
    client->Receive(data.data(), data.size());
    return client->state() == State::kClosed;
  }));
}

}  // namespace

TEST_GROUP(dtls_thread) {
  return Run({
      {"a handshake is one event for each end", AHandshakeIsOneEventForEachEnd},
      {"the thread works by itself", TheThreadWorksByItself},
      {"a lost flight is sent again", ALostFlightIsSentAgain},
      {"datagrams beyond the queue are dropped", DatagramsBeyondTheQueueAreDropped},
      {"a flood of one association delays another by one step", AFloodOfOneDelaysAnotherByOneStep},
      {"datagrams from before the start are kept", DatagramsFromBeforeTheStartAreKept},
      {"without a transport the caller carries datagrams", WithoutATransportTheCallerCarries},
      {"a transport that is gone carries nothing", ATransportThatIsGoneCarriesNothing},
      {"a closed thread ends its associations", AClosedThreadEndsItsAssociations},
      {"associations end while the thread works", AssociationsEndWhileTheThreadWorks},
      {"with ICE the socket and the association exchange datagrams by themselves",
       WithIceTheSocketAndTheAssociationExchangeDatagrams},
  });
}

}  // namespace parley::test
