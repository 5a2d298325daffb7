// Millions of broken packets at everything that reads a stranger's bytes: built
// whole, then flipped, cut, lengthened and mixed, from a seed. The sanitizers
// say whether anything was read or written that is not there; here it is held
// that counts add up, that SRTP opens what was sealed and nothing else, and
// that whole packets are still understood after.
#include <cstring>
#include <memory>

#include "media/receive/intake.h"
#include "media/srtp.h"
#include "test/check.h"
#include "test/fuzz_packets.h"
#include "test/fuzz_run.h"

namespace parley {
namespace {

using namespace fuzz;

constexpr size_t kPackets = 20'000;       // per episode
constexpr size_t kPerMinute = 1'000'000;  // at least; under the sanitizer a core has done four millions then
constexpr size_t kParts = 4;

// An exact allocation for each packet, so that a read past its end is seen.
std::unique_ptr<uint8_t[]> Exact(const Bytes& packet) {
  std::unique_ptr<uint8_t[]> exact(new uint8_t[packet.size()]);
  if (!packet.empty()) std::memcpy(exact.get(), packet.data(), packet.size());
  return exact;
}

struct Listener : IntakeListener {
  size_t digits = 0, targets = 0, byes = 0, foreign = 0, receptions = 0;
  void OnDigit(const Digit& digit) override {
    digits++;
    CHECK(digit.duration_ns >= 0);
  }
  void OnSoundReady() override {}
  void OnTarget(const Address&, const Address&) override { targets++; }
  void OnBye() override { byes++; }
  void OnReception(const ReceptionState& state) override {
    receptions++;
    CHECK(state.expected > 0);
  }
  void OnForeign(const uint8_t* data, size_t len, const Address&, bool) override {
    foreign += len > 0 ? data[len - 1] : 0;
  }
};

struct Keys {
  uint8_t key[kMaxSrtpKeyBytes];
  uint8_t salt[kMaxSrtpSaltBytes];
  explicit Keys(Random& random) {
    for (uint8_t& byte : key) byte = static_cast<uint8_t>(random.Next());
    for (uint8_t& byte : salt) byte = static_cast<uint8_t>(random.Next());
  }
  std::unique_ptr<SrtpSender> Sender(const SrtpShape& shape) const {
    return SrtpSender::Create(shape.profile, key, shape.key_bytes, salt, shape.salt_bytes, kSsrc);
  }
  std::unique_ptr<SrtpReceiver> Receiver(const SrtpShape& shape) const {
    return SrtpReceiver::Create(shape.profile, key, shape.key_bytes, salt, shape.salt_bytes);
  }
};

// As it was where the sender will not have it: a broken header, an index gone by.
Bytes Seal(SrtpSender& sender, Bytes packet) {
  const bool rtcp = KindOf(packet.data(), packet.size()) == DatagramKind::kRtcp;
  const size_t len = packet.size();
  packet.resize(len + SrtpSender::kMaxRtcpTrailer);
  const size_t sealed = rtcp ? sender.ProtectRtcp(packet.data(), len, packet.size())
                             : sender.ProtectRtp(packet.data(), len, packet.size());
  packet.resize(sealed > 0 ? sealed : len);
  return packet;
}

struct Rig {
  TimeSource time{0, 1'700'000'000 * kNsPerSecond};
  Listener listener;
  Intake intake{&time, &listener, true};
  std::unique_ptr<SrtpSender> sender;
  size_t fed = 0;

  Rig(const SrtpShape* shape, Random& random) {
    PayloadTypes types{};
    types[kSound] = {PayloadKind::kSound, 8000};
    types[kWideSound] = {PayloadKind::kSound, 8000};
    types[kNoise] = {PayloadKind::kComfortNoise, 8000};
    types[kEvent] = {PayloadKind::kDigit, 8000};
    intake.SetPayloadTypes(types);
    intake.SetOurs(kOurs, 8000);
    intake.Learn(Address::Of("192.0.2.1", 4000), Address(), true);
    intake.Listen(true);
    if (!shape) return;
    const Keys keys(random);
    sender = keys.Sender(*shape);
    intake.SetProtection(Protection::kSrtp, keys.Receiver(*shape));
  }
};

void Feed(Rig& rig, const Bytes& packet, Random& random, int64_t now_ns) {
  const auto exact = Exact(packet);
  const bool elsewhere = random.Next() % 50 == 0;
  const Address from = Address::Of(elsewhere ? "198.51.100.1" : "192.0.2.1", 4000);
  rig.intake.Take(exact.get(), packet.size(), from, random.Next() % 100 == 0, now_ns);
  rig.fed++;
}

uint64_t Refused(const IntakeStats& stats) {
  return stats.malformed + stats.strangers + stats.unknown_payloads + stats.forged + stats.replayed +
         stats.rtcp_packets + stats.foreign;
}

// It still works: whole packets are believed. After six seconds, because a far
// end that lies of its numbers is heard again only then (see SrtpReceiver).
void CheckAlive(Rig& rig, uint64_t number, int64_t now_ns) {
  now_ns += 6 * kNsPerSecond;
  for (int n = 0; n < 2; n++) {
    RtpShape shape{++number, number * 160};
    shape.payload.resize(160);
    Bytes packet = Rtp(shape);
    // The sender may be far ahead: what was mutated inside moved it.
    while (rig.sender && packet.size() == 172) {
      shape.number = number += 0x1000;
      packet = Seal(*rig.sender, Rtp(shape));
    }
    rig.intake.Take(packet.data(), packet.size(), rig.intake.latch().target(), false,
                    now_ns += 20 * kNsPerMs);
  }
  CHECK_EQ(rig.intake.Stats().last_rtp_ns, now_ns);
}

size_t FuzzIntake(const SrtpShape* shape, uint64_t seed) {
  Random random(seed);
  Rig rig(shape, random);
  size_t heard = 0;
  uint64_t number = random.Next() % 0x20000;
  int64_t now_ns = 0;
  for (size_t n = 0; n < kPackets; n++) {
    number += random.Next() % 20 == 0 ? Below(random, 5000) : 1;
    now_ns += 20 * kNsPerMs;
    Bytes packet = Whole(random, number);
    const bool sealed_first = rig.sender && random.Next() % 2 == 0;
    if (sealed_first) packet = Seal(*rig.sender, std::move(packet));
    Mutate(random, packet);
    // A far end that has the keys and lies inside.
    if (rig.sender && !sealed_first) packet = Seal(*rig.sender, std::move(packet));
    Feed(rig, packet, random, now_ns);
    if (random.Next() % 32 == 0) Feed(rig, packet, random, now_ns);
    if (random.Next() % 64 == 0) heard += rig.intake.TakeSound().size();
    if (random.Next() % 256 == 0) rig.intake.Expire(now_ns);
    if (random.Next() % 8192 == 0) rig.intake.Learn(Address::Of("192.0.2.1", 4000), Address(), true);
  }
  const IntakeStats stats = rig.intake.Stats();
  CHECK(stats.packets + Refused(stats) <= rig.fed);
  CHECK(stats.packets > 0 && stats.malformed > 0 && stats.strangers + stats.forged > 0 &&
        stats.rtcp_packets > 0);
  CHECK(heard > 0 && rig.listener.digits > 0 && rig.listener.foreign > 0);
  CHECK(!shape || stats.replayed > 0);
  CheckAlive(rig, number, now_ns);
  return rig.fed;
}

const SrtpShape& AnyShape(uint64_t seed) { return kSrtpShapes[seed % kSrtpShapes.size()]; }

struct Opened {
  SrtpResult result;
  Bytes plain;
};

Opened Open(SrtpReceiver& receiver, const Bytes& packet, bool rtcp, int64_t now_ns) {
  const auto exact = Exact(packet);
  std::unique_ptr<uint8_t[]> out(new uint8_t[packet.size()]);
  size_t len = 0;
  const SrtpResult result = rtcp ? receiver.OpenRtcp(exact.get(), packet.size(), now_ns, out.get(), &len)
                                 : receiver.OpenRtp(exact.get(), packet.size(), now_ns, out.get(), &len);
  if (result != SrtpResult::kOpened) return {result, {}};
  CHECK(len <= packet.size());
  return {result, Bytes(out.get(), out.get() + len)};
}

// SRTP packets from an honest sender through an attacker. Packets may be lost, but never half of the sequence
// number space at once. Each is tampered with before it arrives and replayed afterwards. Sequence numbers
// wrap many times.
size_t FuzzSrtp(uint64_t seed) {
  Random random(seed);
  const SrtpShape& shape = AnyShape(seed);
  const Keys keys(random);
  const auto sender = keys.Sender(shape);
  const auto receiver = keys.Receiver(shape);
  uint64_t number = 0xffff - Below(random, 64);  // the first wrap comes soon, but the first packet before it
  int64_t now_ns = 0;
  Bytes before;
  size_t fed = 0;
  for (size_t n = 0; n < kPackets / 4; n++) {
    const bool rtcp = random.Next() % 8 == 0;
    const Bytes plain = rtcp ? RtcpCompound(random, number) : SoundPacket(random, number);
    Bytes sealed = Seal(*sender, plain);
    if (rtcp && sealed.size() == plain.size()) continue;  // it begins with a packet that is nobody's
    CHECK(sealed.size() > plain.size());
    if (!rtcp) number += random.Next() % 50 == 0 ? 1 + Below(random, 30'000) : 1;
    Bytes tampered = sealed;
    tampered[Below(random, tampered.size())] ^= static_cast<uint8_t>(1 << random.Next() % 8);
    CHECK(Open(*receiver, tampered, rtcp, now_ns).result != SrtpResult::kOpened);
    const Opened opened = Open(*receiver, sealed, rtcp, now_ns += 20 * kNsPerMs);
    CHECK(opened.result == SrtpResult::kOpened && opened.plain == plain);
    CHECK(Open(*receiver, sealed, rtcp, now_ns).result == SrtpResult::kReplayed);
    fed += 3;
    if (!rtcp && before.size() > 0) {
      CHECK(Open(*receiver, before, false, now_ns).result != SrtpResult::kOpened);
      fed++;
    }
    if (!rtcp) before = std::move(sealed);
  }
  CHECK(sender->rollover_counter() > 10);
  return fed;
}

// The readers alone, with room of the very size.
size_t FuzzReaders(uint64_t seed) {
  Random random(seed);
  const auto receiver = Keys(random).Receiver(AnyShape(seed));
  size_t understood = 0;
  for (size_t fed = 0; fed < kPackets; fed++) {
    Bytes packet = Whole(random, random.Next());
    if (random.Next() % 16 == 0) {
      packet.clear();
      AppendNoise(packet, random, Below(random, 100));
    }
    Mutate(random, packet);
    const auto exact = Exact(packet);
    RtpView rtp;
    if (ParseRtp(exact.get(), packet.size(), &rtp)) {
      understood++;
      const auto begins = static_cast<size_t>(rtp.payload - exact.get());
      CHECK(begins <= packet.size() && rtp.payload_bytes <= packet.size() - begins);
    }
    RtcpView rtcp;
    understood += ParseRtcp(exact.get(), packet.size(), kOurs, &rtcp);
    const int64_t now_ns = static_cast<int64_t>(fed) * kNsPerSecond;  // long enough apart for later counters
    CHECK(Open(*receiver, packet, false, now_ns).result != SrtpResult::kOpened);
    CHECK(Open(*receiver, packet, true, now_ns).result != SrtpResult::kOpened);
  }
  CHECK(understood > kPackets / 4);
  return kPackets;
}

size_t g_fed = 0;

size_t Least() { return static_cast<size_t>(static_cast<double>(kPerMinute) * Seconds() / 60); }

void Run(const char* name, const Episode& episode) { g_fed += RunPart(name, kParts, episode, Least()); }

void PlainPackets() {
  Run("plain", [](uint64_t seed) { return FuzzIntake(nullptr, seed); });
}

void EncryptedPackets() {
  Run("encrypted", [](uint64_t seed) { return FuzzIntake(&AnyShape(seed), seed); });
}

void SealedPackets() { Run("sealed", FuzzSrtp); }

void Readers() { Run("readers", FuzzReaders); }

// A million in a run of a minute, and its share in a shorter one: what they took is for the limit of a test
// to say.
void TheyWereMany() {
  std::printf("       %zu packets\n", g_fed);
  if (!IsOneEpisode()) CHECK(g_fed >= Least() && g_fed > 0);
}

}  // namespace
}  // namespace parley

TEST_GROUP(intake_fuzz) {
  return parley::test::Run({
      {"broken plain packets break nothing", parley::PlainPackets},
      {"broken encrypted packets break nothing", parley::EncryptedPackets},
      {"what was sealed opens once, and nothing else opens", parley::SealedPackets},
      {"what is read lies in the packet", parley::Readers},
      {"there were many of them", parley::TheyWereMany},
  });
}
