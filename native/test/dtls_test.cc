// Two endpoints of DTLS that talk in memory, over a path that loses, repeats and
// turns around what it carries.
#include "media/dtls/dtls_endpoint.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

#include "media/random.h"
#include "test/check.h"

using namespace parley;

namespace {

using State = DtlsEndpoint::State;
using Failure = DtlsEndpoint::Failure;
using Datagram = std::vector<uint8_t>;

// OpenSSL's clock is the real one, and what is due within 15 ms is due at once.
constexpr uint32_t kRetransmitUs = 20'000;
constexpr auto kLimit = std::chrono::seconds(20);

std::shared_ptr<DtlsIdentity> Identity() {
  std::string problem;
  auto identity = DtlsIdentity::Make(&problem);
  CHECK_EQ(problem, "");
  return identity;
}

std::vector<DtlsFingerprint> Of(const DtlsIdentity& identity) {
  return {{"sha-256", identity.fingerprint()}};
}

struct Pair {
  std::shared_ptr<DtlsIdentity> our_identity = Identity(), their_identity = Identity();
  std::unique_ptr<DtlsEndpoint> active, passive;

  void Make(std::vector<DtlsFingerprint> of_active, std::vector<DtlsFingerprint> of_passive) {
    active = DtlsEndpoint::Create(our_identity, {true, std::move(of_passive), kRetransmitUs});
    passive = DtlsEndpoint::Create(their_identity, {false, std::move(of_active), kRetransmitUs});
  }
  Pair() { Make(Of(*our_identity), Of(*their_identity)); }

  bool settled() const {
    const auto over = [](State state) { return state == State::kOpen || state == State::kFailed; };
    return over(active->state()) && over(passive->state());
  }
};

// Transforms one datagram in transit, in either direction. The returned datagrams arrive in that order.
using Path = std::function<std::vector<Datagram>(Datagram, bool there)>;

std::vector<Datagram> Faithful(Datagram datagram, bool) { return {std::move(datagram)}; }

// Carries everything between the two until both are settled and nothing is under
// way; waits for retransmissions where nothing moves.
void Talk(Pair* pair, const Path& path = Faithful) {
  const auto until = std::chrono::steady_clock::now() + kLimit;
  pair->active->Start();
  pair->passive->Start();
  const auto carry = [&path](DtlsEndpoint* from, DtlsEndpoint* to, bool direction) {
    bool moved = false;
    for (Datagram& sent : from->TakeOutput()) {
      CHECK(sent.size() <= DtlsEndpoint::kMtu);
      moved = true;
      for (const Datagram& arrived : path(std::move(sent), direction))
        to->Receive(arrived.data(), arrived.size());
    }
    return moved;
  };
  for (;;) {
    const bool there = carry(pair->active.get(), pair->passive.get(), true);
    const bool back = carry(pair->passive.get(), pair->active.get(), false);
    if (there || back) continue;
    if (pair->settled()) return;
    if (std::chrono::steady_clock::now() > until) return;
    // The flight before the last is repeated by whoever still shakes hands.
    for (DtlsEndpoint* one : {pair->active.get(), pair->passive.get()}) {
      if (one->TimeoutMs() == 0) one->HandleTimeout();
    }
    std::this_thread::yield();
  }
}

template <size_t N>
std::vector<uint8_t> Part(const std::array<uint8_t, N>& bytes, size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

void CheckKeys(const Pair& pair) {
  CHECK(pair.active->state() == State::kOpen);
  CHECK(pair.passive->state() == State::kOpen);
  const DtlsSrtpKeys& a = pair.active->keys();
  const DtlsSrtpKeys& p = pair.passive->keys();
  CHECK(a.profile == p.profile);
  const SrtpShape& shape = ShapeOf(a.profile);
  CHECK(Part(a.send.key, shape.key_bytes) == Part(p.receive.key, shape.key_bytes));
  CHECK(Part(a.receive.key, shape.key_bytes) == Part(p.send.key, shape.key_bytes));
  CHECK(Part(a.send.salt, shape.salt_bytes) == Part(p.receive.salt, shape.salt_bytes));
  CHECK(Part(a.receive.salt, shape.salt_bytes) == Part(p.send.salt, shape.salt_bytes));
  CHECK(a.send.key != a.receive.key);
  CHECK(a.send.key != DtlsSrtpKeys::Way().key);
}

void TwoTalk() {
  Pair pair;
  Talk(&pair);
  CheckKeys(pair);
  CHECK(pair.active->keys().profile == SrtpProfile::kAeadAes128Gcm);
  CHECK_EQ(pair.active->TimeoutMs(), -1);
  CHECK_EQ(pair.passive->TimeoutMs(), -1);
}

void EveryLossIsMadeUpFor() {
  for (size_t lost = 0; lost < 12; lost++) {
    Pair pair;
    size_t count = 0;
    Talk(&pair, [&](Datagram datagram, bool there) {
      return count++ == lost ? std::vector<Datagram>{} : Faithful(std::move(datagram), there);
    });
    CheckKeys(pair);
  }
}

// Not three flights in a row are lost: more is not sent to a far end that was never heard.
void BadPathsAreSurvived() {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Pair pair;
    Random random(seed);
    std::deque<Datagram> late[2];
    int missed[2] = {0, 0};
    Talk(&pair, [&](Datagram datagram, bool there) {
      auto& held = late[there];
      std::vector<Datagram> arrive;
      const double luck = missed[there] == 2 ? 1 : random.Unit();
      missed[there] = luck < 0.4 ? missed[there] + 1 : 0;
      if (luck < 0.2) return arrive;             // lost
      if (luck < 0.4) held.push_back(datagram);  // late
      if (luck >= 0.4) arrive.push_back(datagram);
      if (luck > 0.9) arrive.push_back(datagram);  // twice
      if (!held.empty() && random.Unit() < 0.5) {
        arrive.push_back(held.front());
        held.pop_front();
      }
      return arrive;
    });
    CheckKeys(pair);
  }
}

void AStrangerIsNamed() {
  for (const bool active_is_wrong : {true, false}) {
    Pair pair;
    const auto other = Identity();
    if (active_is_wrong) {
      pair.Make(Of(*other), Of(*pair.their_identity));
    } else {
      pair.Make(Of(*pair.our_identity), Of(*other));
    }
    Talk(&pair);
    DtlsEndpoint& judge = active_is_wrong ? *pair.passive : *pair.active;
    DtlsEndpoint& stranger = active_is_wrong ? *pair.active : *pair.passive;
    CHECK(judge.state() == State::kFailed);
    CHECK(judge.failure() == Failure::kFingerprint);
    // The other one hears of it by an alert.
    CHECK(stranger.state() == State::kFailed);
    CHECK(stranger.failure() == Failure::kProtocol);
    CHECK(stranger.reason().find("bad certificate") != std::string::npos);
  }
}

std::vector<DtlsFingerprint> By(const DtlsIdentity& identity, const char* hash) {
  return {{hash, FingerprintOf(SSL_CTX_get0_certificate(identity.context()), hash)}};
}

void TheBestHashDecides() {
  for (const char* hash : {"sha-256", "sha-384", "sha-512"}) {
    Pair pair;
    auto of_active = By(*pair.our_identity, hash);
    of_active.insert(of_active.begin(), {hash, "00:11"});  // one of several of the same hash
    pair.Make(of_active, Of(*pair.their_identity));
    Talk(&pair);
    CheckKeys(pair);
  }
  Pair pair;
  auto of_active = Of(*pair.our_identity);  // right, but a better one is wrong
  of_active.push_back(By(*pair.their_identity, "sha-512")[0]);
  pair.Make(of_active, Of(*pair.their_identity));
  Talk(&pair);
  CHECK(pair.passive->failure() == Failure::kFingerprint);
  for (const char* unknown : {"sha-1", ""}) {
    Pair weak;
    weak.Make({{unknown, ""}}, Of(*weak.their_identity));
    Talk(&weak);
    CHECK(weak.passive->failure() == Failure::kFingerprint);
  }
}

void NobodyWithoutCertificateComesIn() {
  Pair pair;
  SSL_CTX* const bare = SSL_CTX_new(DTLS_method());
  SSL_CTX_set_tlsext_use_srtp(bare, "SRTP_AES128_CM_SHA1_80");
  DatagramQueue queue;
  SSL* const client = SSL_new(bare);
  BIO* const bio = NewDatagramBio(&queue);
  SSL_set_bio(client, bio, bio);
  SSL_set_connect_state(client);
  SSL_set_options(client, SSL_OP_NO_QUERY_MTU);
  SSL_set_mtu(client, 1200);
  pair.passive->Start();
  for (int turn = 0; turn < 20; turn++) {
    SSL_do_handshake(client);
    for (const Datagram& sent : std::exchange(queue.out, {})) pair.passive->Receive(sent.data(), sent.size());
    for (const Datagram& sent : pair.passive->TakeOutput()) {
      queue.in = sent.data();
      queue.in_bytes = sent.size();
      SSL_do_handshake(client);
    }
  }
  CHECK(pair.passive->state() == State::kFailed);
  CHECK(pair.passive->reason().find("peer did not return a certificate") != std::string::npos);
  SSL_free(client);
  SSL_CTX_free(bare);
}

// Noise, and real datagrams with a byte changed, between those of the handshake.
void GarbageChangesNothing() {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Pair pair;
    Random random(seed);
    Talk(&pair, [&](Datagram datagram, bool) {
      Datagram noise(random.Next() % 200 + 1);
      std::generate(noise.begin(), noise.end(), [&] { return static_cast<uint8_t>(random.Next()); });
      if (seed % 2 == 0) noise[0] = static_cast<uint8_t>(20 + random.Next() % 4);
      Datagram cut(datagram.begin(),
                   datagram.begin() + static_cast<std::ptrdiff_t>(random.Next() % datagram.size()));
      return std::vector<Datagram>{noise, cut, datagram, noise};
    });
    CheckKeys(pair);
    const Datagram longest(DtlsEndpoint::kMaxDatagram + 1, 22);
    pair.passive->Receive(longest.data(), longest.size());
    pair.passive->Receive(longest.data(), 0);
    CHECK(pair.passive->state() == State::kOpen);
  }
}

struct Forgery {
  uint8_t type = 23, major = 0xfe, minor = 0xfd;
  uint16_t epoch = 0;
  size_t stated = 0;  // bytes behind the head
};

void Append(Datagram* datagram, const Forgery& record) {
  const auto byte = [](size_t value) { return static_cast<uint8_t>(value); };
  const Datagram head = {record.type,
                         record.major,
                         record.minor,
                         byte(record.epoch >> 8),
                         byte(record.epoch),
                         0,
                         0,
                         0,
                         0,
                         0,
                         9,
                         byte(record.stated >> 8),
                         byte(record.stated)};
  datagram->insert(datagram->end(), head.begin(), head.end());
}

// OpenSSL 3.0 ends the association for a protected record without room for its tag. It looks for records in
// the rest of one that it refuses by its head.
void NoRecordHidesAShortOne() {
  const Forgery hiding[] = {{23, 0x03, 0x03, 1, 15},     {22, 0xfe, 0xff, 1, 15},     {23, 0xfe, 0xfc, 0, 15},
                            {23, 0xfe, 0xfd, 0, 60'000}, {21, 0xfe, 0xfd, 1, 40'000}, {22, 0, 0, 0, 15},
                            {23, 0xfe, 0xfd, 0, 15}};
  Pair pair;
  Talk(&pair);
  for (const Forgery& head : hiding) {
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{2}, size_t{24}}) {
      Datagram forged;
      Append(&forged, head);
      Append(&forged, {21, 0xfe, 0xfd, 1, bytes});
      forged.resize(forged.size() + bytes);
      pair.active->Receive(forged.data(), forged.size());
      pair.passive->Receive(forged.data(), forged.size());
    }
  }
  CheckKeys(pair);
}

void NoForgedRecordsEndAnAssociation() {
  Random random(11);
  Pair pair;
  Talk(&pair);
  const auto pick = [&](std::initializer_list<size_t> values) {
    return values.begin()[random.Next() % values.size()];
  };
  for (int n = 0; n < 200'000; n++) {
    Datagram forged;
    for (uint64_t records = random.Next() % 4 + 1; records > 0; records--) {
      Append(&forged,
             {static_cast<uint8_t>(20 + random.Next() % 5), static_cast<uint8_t>(pick({0xfe, 0xfe, 3})),
              static_cast<uint8_t>(pick({0xfd, 0xfd, 0xff, 0xfc})), static_cast<uint16_t>(pick({0, 1, 1, 2})),
              pick({0, 1, 2, 13, 25, 40, 300, 17'000, 65'535})});
      for (size_t bytes = pick({0, 1, 2, 13, 25, 40}); bytes > 0; bytes--) {
        forged.push_back(static_cast<uint8_t>(random.Next()));
      }
    }
    pair.active->Receive(forged.data(), forged.size());
    pair.passive->Receive(forged.data(), forged.size());
  }
  CheckKeys(pair);
  const Datagram message = {1, 2, 3};
  CHECK(pair.active->Send(message.data(), message.size()));
}

// A handshake may begin with records that state the version of DTLS 1.0.
void TheFirstRecordsMayStateTheOlderVersion() {
  Pair pair;
  Talk(&pair, [](Datagram datagram, bool) {
    const bool is_protected = datagram[4] != 0;
    if (datagram[0] == 22 && !is_protected) datagram[2] = 0xff;
    return std::vector<Datagram>{datagram};
  });
  CheckKeys(pair);
}

// Changed bytes of the handshake itself may end it, but nothing worse.
void ForgeriesOpenNothing() {
  for (uint64_t seed = 1; seed <= 100; seed++) {
    Pair pair;
    Random random(seed);
    pair.active->Start();
    pair.passive->Start();
    for (int turn = 0; turn < 6; turn++) {
      for (auto [from, to] : {std::pair{pair.active.get(), pair.passive.get()},
                              std::pair{pair.passive.get(), pair.active.get()}}) {
        for (Datagram& sent : from->TakeOutput()) {
          sent[random.Next() % sent.size()] ^= static_cast<uint8_t>(1 + random.Next() % 255);
          to->Receive(sent.data(), sent.size());
        }
      }
    }
    CHECK(!(pair.active->state() == State::kOpen && pair.passive->state() == State::kOpen &&
            pair.active->keys().send.key != pair.passive->keys().receive.key));
  }
}

void ALateFlightIsAnsweredAgain() {
  Pair pair;
  // The passive side is open with its last flight; all of it is lost at first.
  bool lose = true;
  pair.active->Start();
  pair.passive->Start();
  for (int turn = 0; turn < 8; turn++) {
    for (const Datagram& sent : pair.active->TakeOutput()) pair.passive->Receive(sent.data(), sent.size());
    for (const Datagram& sent : pair.passive->TakeOutput()) {
      lose = pair.passive->state() == State::kOpen;
      if (!lose) pair.active->Receive(sent.data(), sent.size());
    }
  }
  CHECK(pair.passive->state() == State::kOpen);
  CHECK(pair.active->state() == State::kHandshaking);
  Talk(&pair);
  CheckKeys(pair);
}

void GoodbyeIsHeard() {
  Pair pair;
  Talk(&pair);
  pair.active->Close();
  CHECK(pair.active->state() == State::kClosed);
  const auto sent = pair.active->TakeOutput();
  CHECK_EQ(sent.size(), size_t{1});
  pair.passive->Receive(sent.at(0).data(), sent.at(0).size());
  CHECK(pair.passive->state() == State::kClosed);
  pair.passive->Close();
  pair.passive->Close();
  pair.active->Receive(sent.at(0).data(), sent.at(0).size());
  CHECK(pair.active->TakeOutput().empty());
}

void WithoutStartNothingHappens() {
  Pair pair;
  pair.active->Start();
  const auto hello = pair.active->TakeOutput();
  CHECK_EQ(hello.size(), size_t{1});
  pair.passive->Receive(hello.at(0).data(), hello.at(0).size());
  CHECK(pair.passive->TakeOutput().empty());
  CHECK_EQ(pair.passive->TimeoutMs(), -1);
  pair.passive->Close();
  CHECK(pair.passive->TakeOutput().empty());
}

}  // namespace

size_t BytesOf(const std::vector<Datagram>& datagrams) {
  size_t bytes = 0;
  for (const Datagram& datagram : datagrams) bytes += datagram.size();
  return bytes;
}

// The bytes of what the endpoint sends during so many further timeouts.
size_t SentAtTimeouts(DtlsEndpoint* endpoint, int timeouts) {
  const auto until = std::chrono::steady_clock::now() + kLimit;
  size_t sent = BytesOf(endpoint->TakeOutput());
  while (timeouts > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
    if (endpoint->TimeoutMs() != 0) continue;
    endpoint->HandleTimeout();
    sent += BytesOf(endpoint->TakeOutput());
    timeouts--;
  }
  CHECK_EQ(timeouts, 0);
  return sent;
}

// A client sends to an address that a description names.
void ASilentServerGetsThreeFlights() {
  Pair pair;
  pair.active->Start();
  const size_t flight = BytesOf(pair.active->TakeOutput());
  CHECK(flight > 0);
  CHECK_EQ(SentAtTimeouts(pair.active.get(), 3), 2 * flight);
  pair.active->Credit(flight);
  CHECK_EQ(SentAtTimeouts(pair.active.get(), 1), flight);
}

// A server sends to an address that a datagram names. Repeating it, or the next one, proves nothing.
void AForgedClientGetsThreeFlights() {
  Pair pair;
  pair.active->Start();
  pair.passive->Start();
  const std::vector<Datagram> hello = pair.active->TakeOutput();
  const auto receive = [&](const std::vector<Datagram>& datagrams) {
    for (const Datagram& one : datagrams) pair.passive->Receive(one.data(), one.size());
  };
  receive(hello);
  const std::vector<Datagram> flight = pair.passive->TakeOutput();
  CHECK(BytesOf(flight) > BytesOf(hello));
  for (int n = 0; n < 5; n++) receive(hello);
  size_t sent = SentAtTimeouts(pair.passive.get(), 1);
  // The client's certificate, which anybody may know, without what follows.
  for (const Datagram& one : flight) pair.active->Receive(one.data(), one.size());
  const std::vector<Datagram> rest = pair.active->TakeOutput();
  CHECK(!rest.empty());
  const size_t bytes = DtlsEndpoint::kMtu < rest[0].size() ? 0 : 13 + (rest[0][11] << 8 | rest[0][12]);
  pair.passive->Receive(rest[0].data(), bytes);
  sent += SentAtTimeouts(pair.passive.get(), 2);
  CHECK_EQ(sent, 2 * BytesOf(flight));
  receive(rest);
  CHECK(pair.passive->state() == State::kOpen);
}

// A server may ask for a cookie (RFC 6347, 4.2.1), and so may a forger, again and again.
void ACookieRenewsTheFlightsOnce() {
  Pair pair;
  pair.active->Start();
  pair.active->TakeOutput();
  SentAtTimeouts(pair.active.get(), 2);
  size_t sent = 0;
  for (uint8_t n = 0; n < 10; n++) {
    const Datagram request = {22, 254, 253, 0, 0, 0, 0, 0, 0, 0, n,   0,   16, 3, 0,
                              0,  4,   0,   n, 0, 0, 0, 0, 0, 4, 254, 253, 1,  n};
    pair.active->Receive(request.data(), request.size());
    sent += BytesOf(pair.active->TakeOutput());
    if (n == 0) CHECK(sent > 0);
  }
  const size_t later = SentAtTimeouts(pair.active.get(), 2);
  CHECK(sent + later <= 3 * 300);
}

TEST_GROUP(dtls) {
  return test::Run({
      {"two endpoints agree on keys", TwoTalk},
      {"each datagram of a handshake may be lost", EveryLossIsMadeUpFor},
      {"loss, delay and repetition are survived", BadPathsAreSurvived},
      {"a certificate that was not announced is named, and told", AStrangerIsNamed},
      {"of several fingerprints those of the best hash decide", TheBestHashDecides},
      {"a client without a certificate is refused", NobodyWithoutCertificateComesIn},
      {"a server that says nothing gets three flights", ASilentServerGetsThreeFlights},
      {"a client that proves nothing gets three flights", AForgedClientGetsThreeFlights},
      {"a cookie renews the flights once", ACookieRenewsTheFlightsOnce},
      {"garbage changes nothing", GarbageChangesNothing},
      {"no record hides a short one", NoRecordHidesAShortOne},
      {"no forged records end an association", NoForgedRecordsEndAnAssociation},
      {"the first records may state the older version", TheFirstRecordsMayStateTheOlderVersion},
      {"forgeries never open an association with other keys", ForgeriesOpenNothing},
      {"the last flight is sent again for a peer that missed it", ALateFlightIsAnsweredAgain},
      {"goodbye is heard", GoodbyeIsHeard},
      {"nothing happens before the start", WithoutStartNothingHappens},
  });
}
