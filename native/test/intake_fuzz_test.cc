// Millions of broken packets at everything that reads a stranger's bytes: built
// whole, then flipped, cut, lengthened and mixed, from a seed. The sanitizers
// say whether anything was read or written that is not there; here it is held
// that counts add up, that SRTP opens what was sealed and nothing else, and
// that whole packets are still understood after.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "media/random.h"
#include "media/receive/intake.h"
#include "media/srtp.h"
#include "test/check.h"
#include "test/fuzz_run.h"

// Builds packets from a seed, of every kind that a media port reads, and damages them.
namespace parley::fuzz {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kSsrc = 0x11223344, kOurs = 0x55667788;
constexpr uint8_t kSound = 0, kWideSound = 9, kNoise = 13, kRed = 63, kEvent = 101;  // payload types

inline size_t Below(Random& random, size_t most) { return static_cast<size_t>(random.Next() % most); }

inline void Put(Bytes& bytes, size_t at, uint64_t value, size_t len) {
  for (size_t i = 0; i < len; i++) bytes[at + i] = static_cast<uint8_t>(value >> (8 * (len - 1 - i)));
}

inline void Append(Bytes& bytes, uint64_t value, size_t len) {
  bytes.resize(bytes.size() + len);
  Put(bytes, bytes.size() - len, value, len);
}

inline void AppendNoise(Bytes& bytes, Random& random, size_t len) {
  for (size_t i = 0; i < len; i++) bytes.push_back(static_cast<uint8_t>(random.Next()));
}

struct RtpShape {
  uint64_t number;  // the sequence number and more
  uint64_t timestamp;
  uint8_t type = kSound;
  size_t csrcs = 0;
  int extension_words = -1;  // -1: none
  Bytes payload{};
  uint8_t padding = 0;
};

inline Bytes Rtp(const RtpShape& shape) {
  Bytes packet;
  const bool extended = shape.extension_words >= 0;
  Append(packet, 0x80 | (shape.padding ? 0x20 : 0) | (extended ? 0x10 : 0) | shape.csrcs, 1);
  Append(packet, shape.type, 1);
  Append(packet, shape.number, 2);
  Append(packet, shape.timestamp, 4);
  Append(packet, kSsrc, 4);
  for (size_t n = 0; n < shape.csrcs; n++) Append(packet, 0xcafe0000 + n, 4);
  if (extended) {
    Append(packet, 0xbede0000 | static_cast<uint32_t>(shape.extension_words), 4);  // RFC 8285
    for (int n = 0; n < shape.extension_words; n++) Append(packet, 0x10ff0000, 4);
  }
  packet.insert(packet.end(), shape.payload.begin(), shape.payload.end());
  if (shape.padding) {
    packet.resize(packet.size() + shape.padding);
    packet.back() = shape.padding;
  }
  return packet;
}

// An event packet of one of the keys: eight packets each, the last three with the end flag (RFC 4733).
inline Bytes EventPacket(uint64_t number) {
  const uint64_t step = number % 8;
  const uint8_t key = static_cast<uint8_t>(number / 8 % 17);
  const auto duration = static_cast<uint16_t>((step + 1) * 160);
  const Bytes payload = {key, static_cast<uint8_t>(step > 4 ? 0x8a : 0x0a),
                         static_cast<uint8_t>(duration >> 8), static_cast<uint8_t>(duration)};
  RtpShape shape{number, number / 8 * 1600};
  shape.type = kEvent;
  shape.payload = payload;
  return Rtp(shape);
}

// Up to seven redundant blocks and a primary one (RFC 2198).
inline Bytes RedPayload(Random& random, uint64_t number) {
  Bytes payload, blocks;
  for (size_t n = Below(random, 8); n > 0; n--) {
    const size_t bytes = Below(random, 200);
    const bool other = random.Next() % 8 == 0;
    Append(payload, uint32_t{0x80} << 24 | uint32_t{other ? kEvent : kSound} << 24 | n * 160 << 10 | bytes,
           4);
    AppendNoise(blocks, random, bytes);
  }
  Append(payload, kSound, 1);
  AppendNoise(blocks, random, 1 + number % 160);
  payload.insert(payload.end(), blocks.begin(), blocks.end());
  return payload;
}

inline Bytes SoundPacket(Random& random, uint64_t number) {
  RtpShape shape{number, number * 160};
  if (random.Next() % 4 == 0) shape.type = kWideSound;
  if (random.Next() % 8 == 0) shape.type = kNoise;
  AppendNoise(shape.payload, random,
              shape.type == kNoise ? 1 + Below(random, 11)
              : Below(random, 2)   ? 160
                                   : Below(random, 1200));
  if (random.Next() % 8 == 0) {
    shape.type = kRed;
    shape.payload = RedPayload(random, number);
  }
  if (random.Next() % 4 == 0) shape.csrcs = Below(random, 16);
  if (random.Next() % 4 == 0) shape.extension_words = static_cast<int>(Below(random, 9));
  if (random.Next() % 4 == 0) shape.padding = static_cast<uint8_t>(random.Next());
  return Rtp(shape);
}

// One packet of a compound: its header counts what follows.
inline void AppendRtcp(Bytes& compound, uint8_t type, size_t count, const Bytes& content) {
  Append(compound, 0x80 | count, 1);
  Append(compound, type, 1);
  Append(compound, content.size() / 4, 2);
  compound.insert(compound.end(), content.begin(), content.end());
}

inline void AppendBlocks(Bytes& content, Random& random, size_t count) {
  for (size_t n = 0; n < count; n++) {
    Append(content, n == 0 ? kOurs : static_cast<uint32_t>(random.Next()), 4);
    AppendNoise(content, random, 20);
  }
}

inline void AppendReport(Bytes& compound, Random& random, uint64_t number) {
  const bool sends = random.Next() % 2 == 0;
  const size_t blocks = random.Next() % 8 == 0 ? Below(random, 32) : Below(random, 3);
  Bytes content;
  Append(content, kSsrc, 4);
  if (sends) {
    Append(content, number << 20, 8);  // NTP time
    Append(content, number * 160, 4);
    Append(content, number, 4);
    Append(content, number * 160, 4);
  }
  AppendBlocks(content, random, blocks);
  AppendRtcp(compound, sends ? 200 : 201, blocks, content);
}

inline void AppendDescription(Bytes& compound, Random& random) {
  Bytes content;
  Append(content, kSsrc, 4);
  const size_t name = Below(random, 40);
  Append(content, 0x0100 | name, 2);  // CNAME
  AppendNoise(content, random, name);
  content.resize((content.size() + 4) / 4 * 4);
  AppendRtcp(compound, 202, 1, content);
}

inline void AppendGoodbye(Bytes& compound, Random& random) {
  Bytes content;
  const size_t sources = Below(random, 4);
  for (size_t n = 0; n < sources; n++)
    Append(content, n == 0 ? kSsrc : static_cast<uint32_t>(random.Next()), 4);
  if (random.Next() % 2 == 0) Append(content, 0x03627965, 4);
  AppendRtcp(compound, 203, sources, content);
}

// Reference time, delays and statistics (RFC 3611), or feedback of any kind (RFC 4585).
inline void AppendExtended(Bytes& compound, Random& random) {
  Bytes content;
  Append(content, kSsrc, 4);
  const bool extended = random.Next() % 2 == 0;
  if (extended) {
    Append(content, 0x04000002, 4);
    AppendNoise(content, random, 8);
    Append(content, 0x05000003, 4);
    AppendNoise(content, random, 12);
  } else {
    AppendNoise(content, random, 4 * Below(random, 8));
  }
  AppendRtcp(compound, extended ? 207 : static_cast<uint8_t>(204 + Below(random, 3)), Below(random, 32),
             content);
}

inline Bytes RtcpCompound(Random& random, uint64_t number) {
  Bytes compound;
  if (random.Next() % 16 != 0) AppendReport(compound, random, number);
  for (size_t more = Below(random, 4); more > 0; more--) {
    switch (random.Next() % 4) {
      case 0:
        AppendReport(compound, random, number);
        break;
      case 1:
        AppendDescription(compound, random);
        break;
      case 2:
        AppendGoodbye(compound, random);
        break;
      default:
        AppendExtended(compound, random);
    }
  }
  if (compound.empty()) AppendDescription(compound, random);
  return compound;
}

inline Bytes Whole(Random& random, uint64_t number) {
  switch (random.Next() % 8) {
    case 0:
    case 1:
      return RtcpCompound(random, number);
    case 2:
      return EventPacket(number);
    default:
      return SoundPacket(random, number);
  }
}

inline void Mutate(Random& random, Bytes& packet) {
  for (size_t rounds = Below(random, 4); rounds > 0 && !packet.empty(); rounds--) {
    const size_t at = Below(random, packet.size());
    switch (random.Next() % 8) {
      case 0:
        packet[at] ^= static_cast<uint8_t>(1 << random.Next() % 8);
        break;
      case 1:
        packet[at] = static_cast<uint8_t>(random.Next());
        break;
      case 2:
        packet.resize(at);
        break;
      case 3:
        packet.resize(packet.size() + Below(random, 64), static_cast<uint8_t>(random.Next()));
        break;
      case 4:
        packet[at % 4] = static_cast<uint8_t>(random.Next());
        break;  // version, counts, type, length
      case 5:
        packet.insert(packet.end(), packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 6:
        packet.back() = static_cast<uint8_t>(random.Next());
        break;  // the count of padding
      default:
        packet[at] = random.Next() % 2 ? 0xff : 0;
    }
  }
  if (random.Next() % 1000 == 0) packet.resize(Below(random, 4000));
}

}  // namespace parley::fuzz

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
  size_t digits = 0, downs = 0, targets = 0, byes = 0, foreign = 0, receptions = 0;
  void OnKeyDown(uint8_t, int64_t) override { downs++; }
  void OnDigit(const Digit& digit) override {
    digits++;
    CHECK(digit.duration_ns >= 0);
  }
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

// Returns the packet unchanged where the sender refuses it: a broken header, an index gone by.
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
  Inbox inbox;
  Intake intake{&time, &listener, true};
  std::unique_ptr<SrtpSender> sender;
  size_t fed = 0;

  Rig(const SrtpShape* shape, Random& random) {
    PayloadTypes types{};
    types[kSound] = {PayloadKind::kSound, 8000};
    types[kWideSound] = {PayloadKind::kSound, 8000};
    types[kNoise] = {PayloadKind::kComfortNoise, 8000};
    types[kEvent] = {PayloadKind::kDigit, 8000};
    types[kRed] = {PayloadKind::kRedundant, 8000};
    intake.SetPayloadTypes(types);
    intake.SetOurs(kOurs, 8000);
    intake.Learn(Address::Of("192.0.2.1", 4000), Address(), true);
    intake.Listen(&inbox);
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

// The packets that wait. Each byte of their payloads is read.
size_t TakeHeard(Inbox& inbox) {
  size_t count = 0, sum = 0;
  HeardPacket packet;
  uint32_t source = 0;
  for (; inbox.Front(&packet, &source); inbox.Pop(), count++) {
    for (size_t n = 0; n < packet.bytes; n++) sum += packet.payload[n];
  }
  return sum > 0 ? count : 0;
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
    if (random.Next() % 64 == 0) heard += TakeHeard(rig.inbox);
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
