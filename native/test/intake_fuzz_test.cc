// Millions of broken packets at everything that reads a stranger's bytes: built
// from whole ones by flipping, cutting, lengthening and mixing, from a seed. The
// sanitizers say whether anything was read or written that is not there; here it
// is held that counts add up and that whole packets are still understood after.
#include <chrono>
#include <cstring>
#include <vector>

#include "media/random.h"
#include "media/receive/intake.h"
#include "media/srtp.h"
#include "test/check.h"

namespace parley {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kSsrc = 0x11223344, kOurs = 0x55667788;
constexpr auto kTimeLimit = std::chrono::seconds(7);  // for each way of protection, at the most
constexpr size_t kPackets = 1'000'000;

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
  void OnForeign(const uint8_t* data, size_t len, const Address&, bool) override { foreign += len > 0 ? data[len - 1] : 0; }
};

void Put(Bytes& bytes, size_t at, uint64_t value, size_t len) {
  for (size_t i = 0; i < len; i++) bytes[at + i] = static_cast<uint8_t>(value >> (8 * (len - 1 - i)));
}

Bytes Rtp(uint64_t number, uint8_t type, size_t payload) {
  Bytes packet(12 + payload, static_cast<uint8_t>(number));
  packet[0] = 0x80;
  packet[1] = type;
  Put(packet, 2, number, 2);
  Put(packet, 4, number * 160, 4);
  Put(packet, 8, kSsrc, 4);
  return packet;
}

// With two CSRCs, an extension of one word, and four bytes of padding.
Bytes Adorned(uint64_t number) {
  Bytes packet = Rtp(number, 0, 8 + 8 + 40 + 4);
  packet[0] = 0x80 | 0x20 | 0x10 | 2;
  Put(packet, 20, 0xbede0001, 4);
  packet.back() = 4;
  return packet;
}

Bytes Event(uint64_t number) {
  Bytes packet = Rtp(number, 101, 4);
  packet[12] = static_cast<uint8_t>(number / 8 % 16);
  packet[13] = number % 8 > 4 ? 0x8a : 0x0a;
  Put(packet, 4, number / 8 * 1600, 4);
  Put(packet, 14, number % 8 * 160, 2);
  return packet;
}

// SR with a block about us, SDES, BYE or XR.
Bytes Rtcp(uint64_t number) {
  Bytes compound(28 + 24 + 12 + 8);
  Put(compound, 0, 0x81c8000c, 4);
  Put(compound, 4, kSsrc, 4);
  Put(compound, 8, number << 20, 8);
  Put(compound, 28, kOurs, 4);
  Put(compound, 32, number * 0x01010101, 4);
  Put(compound, 44, number << 8, 4);
  Put(compound, 52, 0x81ca0002, 4);
  Put(compound, 56, kSsrc, 4);
  Put(compound, 60, 0x01020000, 4);
  Put(compound, 64, number % 5 == 0 ? 0x81cb0001 : 0x80cf0001, 4);
  Put(compound, 68, kSsrc, 4);
  return compound;
}

Bytes Whole(Random& random, uint64_t number) {
  switch (random.Next() % 6) {
    case 0: return Rtcp(number);
    case 1: return Event(number);
    case 2: return Adorned(number);
    case 3: return Rtp(number, 13, 1);
    case 4: return Rtp(number, 0, random.Next() % 400);
    default: return Rtp(number, 0, 160);
  }
}

void Mutate(Random& random, Bytes& packet) {
  for (uint64_t rounds = random.Next() % 4; rounds > 0 && !packet.empty(); rounds--) {
    const size_t at = random.Next() % packet.size();
    switch (random.Next() % 7) {
      case 0: packet[at] ^= static_cast<uint8_t>(1 << random.Next() % 8); break;
      case 1: packet[at] = static_cast<uint8_t>(random.Next()); break;
      case 2: packet.resize(at); break;
      case 3: packet.resize(packet.size() + random.Next() % 64, static_cast<uint8_t>(random.Next())); break;
      case 4: packet[at % 4] = static_cast<uint8_t>(random.Next()); break;  // version, counts, type, length
      case 5: packet.insert(packet.end(), packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(at)); break;
      default: packet[at] = random.Next() % 2 ? 0xff : 0;
    }
  }
  if (random.Next() % 1000 == 0) packet.resize(random.Next() % 4000);
}

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

  explicit Rig(const SrtpShape* shape) {
    PayloadTypes types{};
    types[0] = {PayloadKind::kSound, 8000};
    types[13] = {PayloadKind::kComfortNoise, 8000};
    types[101] = {PayloadKind::kDigit, 8000};
    intake.SetPayloadTypes(types);
    intake.SetOurs(kOurs, 8000);
    intake.Learn(Address::Of("192.0.2.1", 4000), Address(), true);
    intake.Listen(true);
    if (!shape) return;
    const uint8_t key[kMaxSrtpKeyBytes] = {1, 2, 3}, salt[kMaxSrtpSaltBytes] = {4, 5, 6};
    sender = SrtpSender::Create(shape->profile, key, shape->key_bytes, salt, shape->salt_bytes, kSsrc);
    intake.SetProtection(Protection::kSrtp,
                         SrtpReceiver::Create(shape->profile, key, shape->key_bytes, salt, shape->salt_bytes));
  }
};

// An exact allocation for each packet, so that a read past its end is seen.
void Feed(Rig& rig, const Bytes& packet, Random& random, int64_t now_ns) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[packet.size()]);
  if (!packet.empty()) std::memcpy(exact.get(), packet.data(), packet.size());
  const bool elsewhere = random.Next() % 50 == 0;
  const Address from = Address::Of(elsewhere ? "198.51.100.1" : "192.0.2.1", 4000);
  rig.intake.Take(exact.get(), packet.size(), from, random.Next() % 100 == 0, now_ns);
}

uint64_t Accounted(const IntakeStats& stats) {
  return stats.malformed + stats.strangers + stats.unknown_payloads + stats.forged + stats.replayed +
         stats.rtcp_packets + stats.foreign;
}

size_t Fuzz(const SrtpShape* shape, uint64_t seed) {
  Rig rig(shape);
  Random random(seed);
  const auto until = std::chrono::steady_clock::now() + kTimeLimit;
  size_t fed = 0, heard = 0;
  uint64_t number = 1;
  int64_t now_ns = 0;
  while (fed < kPackets && (fed % 1024 != 0 || std::chrono::steady_clock::now() < until)) {
    number += random.Next() % 20 == 0 ? random.Next() % 5000 : 1;
    now_ns += 20 * kNsPerMs;
    Bytes packet = Whole(random, number);
    const bool sealed_first = rig.sender && random.Next() % 2 == 0;
    if (sealed_first) packet = Seal(*rig.sender, std::move(packet));
    Mutate(random, packet);
    // A far end that has the keys and lies inside.
    if (rig.sender && !sealed_first) packet = Seal(*rig.sender, std::move(packet));
    Feed(rig, packet, random, now_ns);
    fed++;
    if (random.Next() % 64 == 0) heard += rig.intake.TakeSound().size();
    if (random.Next() % 256 == 0) rig.intake.Expire(now_ns);
    if (random.Next() % 65'536 == 0) rig.intake.Learn(Address::Of("192.0.2.1", 4000), Address(), true);
  }
  const IntakeStats stats = rig.intake.Stats();
  CHECK(stats.packets + Accounted(stats) <= fed);
  CHECK(stats.packets > 0 && stats.malformed > 0 && stats.strangers + stats.forged > 0 && stats.rtcp_packets > 0);
  CHECK(heard > 0 && rig.listener.digits > 0 && rig.listener.foreign > 0);
  // It still works: whole packets are believed.
  for (int n = 0; n < 2; n++) {
    Bytes packet = Rtp(++number, 0, 160);
    // The sender may be far ahead: what was mutated inside moved it.
    while (rig.sender && packet.size() == 172) packet = Seal(*rig.sender, Rtp(number += 0x1000, 0, 160));
    rig.intake.Take(packet.data(), packet.size(), rig.intake.latch().target(), false, now_ns += 20 * kNsPerMs);
  }
  CHECK_EQ(rig.intake.Stats().last_rtp_ns, now_ns);
  return fed;
}

size_t g_fed = 0;

void PlainPackets() { g_fed += Fuzz(nullptr, 1); }

void EncryptedPackets() {
  g_fed += Fuzz(&ShapeOf(SrtpProfile::kAesCm128HmacSha1_32), 2);
  g_fed += Fuzz(&ShapeOf(SrtpProfile::kAeadAes256Gcm), 3);
}

void TheyWereMany() {
  std::printf("       %zu packets\n", g_fed);
  CHECK(g_fed > 300'000);
}

}  // namespace
}  // namespace parley

int main() {
  return parley::test::Run({
      {"broken plain packets break nothing", parley::PlainPackets},
      {"broken encrypted packets break nothing", parley::EncryptedPackets},
      {"there were many of them", parley::TheyWereMany},
  });
}
