// The receiver against the sender, over networks that lose, repeat, reorder and
// forge, and against packets published by libsrtp's own self-test.
#include "media/srtp.h"

#include <algorithm>
#include <random>
#include <set>

#include "media/time.h"
#include "test/check.h"
#include "test/srtp_reference.h"

namespace parley {
namespace {

using reference::Bytes;
using reference::FromHex;
using reference::ToHex;

constexpr uint32_t kSsrc = 0xcafebabe;

Bytes KeyOf(const SrtpShape& shape) {
  Bytes key(shape.key_bytes);
  for (size_t i = 0; i < key.size(); i++) key[i] = static_cast<uint8_t>(i * 11 + 1);
  return key;
}

Bytes SaltOf(const SrtpShape& shape) { return Bytes(shape.salt_bytes, 0x5c); }

std::unique_ptr<SrtpSender> SenderOf(const SrtpShape& shape, uint32_t ssrc = kSsrc) {
  const Bytes key = KeyOf(shape), salt = SaltOf(shape);
  return SrtpSender::Create(shape.profile, key.data(), key.size(), salt.data(), salt.size(), ssrc);
}

std::unique_ptr<SrtpReceiver> ReceiverOf(const SrtpShape& shape) {
  const Bytes key = KeyOf(shape), salt = SaltOf(shape);
  return SrtpReceiver::Create(shape.profile, key.data(), key.size(), salt.data(), salt.size());
}

Bytes Plain(uint64_t number, uint32_t ssrc = kSsrc, size_t payload = 20) {
  Bytes packet = FromHex("80000000000000000000000000");
  packet.resize(12);
  reference::XorAt(packet, 2, number & 0xffff, 2);
  reference::XorAt(packet, 4, number * 160, 4);
  reference::XorAt(packet, 8, ssrc, 4);
  for (size_t i = 0; i < payload; i++) packet.push_back(static_cast<uint8_t>(i * 7 + number));
  return packet;
}

Bytes Sealed(SrtpSender& sender, const Bytes& plain) {
  Bytes packet = plain;
  packet.resize(plain.size() + SrtpSender::kMaxRtpTrailer);
  packet.resize(sender.ProtectRtp(packet.data(), plain.size(), packet.size()));
  return packet;
}

Bytes SealedRtcp(SrtpSender& sender, const Bytes& plain) {
  Bytes packet = plain;
  packet.resize(plain.size() + SrtpSender::kMaxRtcpTrailer);
  packet.resize(sender.ProtectRtcp(packet.data(), plain.size(), packet.size()));
  return packet;
}

struct Opened {
  SrtpResult result;
  Bytes plain;
};

Opened Open(SrtpReceiver& receiver, const Bytes& packet, int64_t now_ns = 0, bool rtcp = false) {
  Opened opened{SrtpResult::kOpened, Bytes(packet.size())};
  size_t len = 0;
  opened.result = rtcp ? receiver.OpenRtcp(packet.data(), packet.size(), now_ns, opened.plain.data(), &len)
                       : receiver.OpenRtp(packet.data(), packet.size(), now_ns, opened.plain.data(), &len);
  opened.plain.resize(len);
  return opened;
}

SrtpResult ResultOf(SrtpReceiver& receiver, const Bytes& packet, int64_t now_ns = 0) {
  return Open(receiver, packet, now_ns).result;
}

void PublishedPacketsAreOpened() {
  const struct {
    SrtpProfile profile;
    const char *key, *salt, *sealed, *sealed_rtcp;
  } kCases[] = {
      {SrtpProfile::kAesCm128HmacSha1_80, "e1f97a0d3e018be0d64fa32c06de4139", "0ec675ad498afeebb6960b3aabe6",
       "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb",
       "81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798"},
      {SrtpProfile::kAeadAes128Gcm, "000102030405060708090a0b0c0d0e0f", "a0a1a2a3a4a5a6a7a8a9aaab",
       "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392",
       "81c8000bcafebabec98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446ea31123ba88ce61e80000001"},
      {SrtpProfile::kAesCm256HmacSha1_80, "f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6",
       "3b04803de51ee7c96423ab5b78d2",
       "800f1234decafbadcafebabef1d9de17ff251ff1aa007774b0b4b40da08d9d9a5b3a55d8873b", nullptr},
  };
  for (const auto& one : kCases) {
    const Bytes key = FromHex(one.key), salt = FromHex(one.salt);
    const auto receiver = SrtpReceiver::Create(one.profile, key.data(), key.size(), salt.data(), salt.size());
    CHECK_EQ(ToHex(Open(*receiver, FromHex(one.sealed)).plain),
             "800f1234decafbadcafebabeabababababababababababababababab");
    if (!one.sealed_rtcp) continue;
    CHECK_EQ(ToHex(Open(*receiver, FromHex(one.sealed_rtcp), 0, true).plain),
             "81c8000bcafebabeabababababababababababababababab");
  }
}

// The packet with an index before what follows it: its tag, or nothing.
Bytes Indexed(const Bytes& packet, size_t mki_bytes, size_t behind) {
  Bytes indexed = packet;
  indexed.insert(indexed.end() - static_cast<std::ptrdiff_t>(behind), mki_bytes, 0x01);
  return indexed;
}

void PacketsWithAMasterKeyIndexAreOpened() {
  for (const SrtpShape& shape : kSrtpShapes) {
    for (const size_t mki_bytes : {size_t{1}, size_t{4}, SrtpReceiver::kMaxMkiBytes}) {
      const Bytes key = KeyOf(shape), salt = SaltOf(shape);
      const auto receiver =
          SrtpReceiver::Create(shape.profile, key.data(), key.size(), salt.data(), salt.size(), mki_bytes);
      const auto sender = SenderOf(shape);
      const Bytes plain = Plain(1);
      const Bytes sealed = Sealed(*sender, plain);
      const size_t behind = shape.gcm ? 0 : shape.rtp_tag_bytes;
      CHECK(ResultOf(*receiver, sealed) != SrtpResult::kOpened);
      CHECK(ResultOf(*receiver, Bytes(sealed.begin(), sealed.begin() + 3)) == SrtpResult::kMalformed);
      CHECK(ResultOf(*receiver, Bytes(SrtpReceiver::kMaxPacket + 1, 0x80)) == SrtpResult::kMalformed);
      CHECK_EQ(ToHex(Open(*receiver, Indexed(sealed, mki_bytes, behind)).plain), ToHex(plain));
      const Bytes report = FromHex("81c8000bcafebabeabababababababababababababababab");
      const size_t rtcp_behind = shape.gcm ? 0 : shape.rtcp_tag_bytes;
      const Bytes indexed = Indexed(SealedRtcp(*sender, report), mki_bytes, rtcp_behind);
      CHECK_EQ(ToHex(Open(*receiver, indexed, 0, true).plain), ToHex(report));
    }
    const Bytes key = KeyOf(shape), salt = SaltOf(shape);
    CHECK(!SrtpReceiver::Create(shape.profile, key.data(), key.size(), salt.data(), salt.size(), 129));
  }
}

// Five roll-overs with 3 % loss, repeats, and reordering over 60 numbers.
void EveryPacketThatArrivesIsOpenedOnce() {
  for (const SrtpShape& shape : kSrtpShapes) {
    const auto sender = SenderOf(shape);
    const auto receiver = ReceiverOf(shape);
    std::mt19937 random(3);
    std::vector<Bytes> road;
    size_t wrong = 0, arrived = 0;
    for (uint64_t number = 13'000; number < 13'000 + 5 * 13'200; number++) {
      const Bytes packet = Sealed(*sender, Plain(number * 5, kSsrc, 4));  // gaps of five: more roll-overs
      if (random() % 100 < 3) continue;
      road.push_back(packet);
      if (random() % 50 == 0) road.push_back(packet);
      if (road.size() < 12) continue;
      std::shuffle(road.begin(), road.end(), random);
      std::set<Bytes> seen;
      for (const Bytes& one : road) {
        const bool first = seen.insert(one).second;
        arrived += first;
        wrong += (ResultOf(*receiver, one) == SrtpResult::kOpened) != first;
      }
      road.clear();
    }
    CHECK_EQ(wrong, size_t{0});
    CHECK(arrived > 60'000);
    CHECK(sender->rollover_counter() >= 5);
  }
}

void WhatIsNotGenuineChangesNothing() {
  for (const SrtpShape& shape : kSrtpShapes) {
    const auto sender = SenderOf(shape);
    const auto receiver = ReceiverOf(shape);
    CHECK(ResultOf(*receiver, Sealed(*sender, Plain(100))) == SrtpResult::kOpened);
    const Bytes good = Sealed(*sender, Plain(101));
    for (size_t at = 0; at < good.size(); at++) {
      for (int bit = 0; bit < 8; bit++) {
        Bytes forged = good;
        forged[at] ^= static_cast<uint8_t>(1 << bit);
        CHECK(ResultOf(*receiver, forged) != SrtpResult::kOpened);
      }
    }
    for (size_t len = 0; len < good.size(); len++) {
      CHECK(ResultOf(*receiver, reference::Slice(good, 0, len)) != SrtpResult::kOpened);
    }
    // A sequence number far ahead moves nothing when its tag is wrong.
    Bytes ahead = good;
    ahead[2] ^= 0x40;
    CHECK(ResultOf(*receiver, ahead) == SrtpResult::kForged);
    CHECK(ResultOf(*receiver, good) == SrtpResult::kOpened);
    CHECK(ResultOf(*receiver, good) == SrtpResult::kReplayed);
  }
}

void TheWindowIsExact() {
  const SrtpShape& shape = ShapeOf(SrtpProfile::kAeadAes128Gcm);
  const auto sender = SenderOf(shape);
  const auto receiver = ReceiverOf(shape);
  std::vector<Bytes> packets;
  for (uint64_t number = 1000; number < 1300; number++) packets.push_back(Sealed(*sender, Plain(number)));
  CHECK(ResultOf(*receiver, packets[299]) == SrtpResult::kOpened);
  CHECK(receiver->was_newest());
  CHECK(ResultOf(*receiver, packets[299 - 127]) == SrtpResult::kOpened);
  CHECK(!receiver->was_newest());
  CHECK(ResultOf(*receiver, packets[299 - 128]) == SrtpResult::kReplayed);
  CHECK(ResultOf(*receiver, packets[299 - 127]) == SrtpResult::kReplayed);
  CHECK(ResultOf(*receiver, packets[299 - 64]) == SrtpResult::kOpened);
  CHECK(ResultOf(*receiver, packets[299 - 63]) == SrtpResult::kOpened);
  CHECK(ResultOf(*receiver, packets[299 - 64]) == SrtpResult::kReplayed);
}

// Twelve minutes without a packet received, while the far end went on counting.
void ALongHoleIsSurvived() {
  for (const SrtpShape& shape : kSrtpShapes) {
    const auto sender = SenderOf(shape);
    const auto receiver = ReceiverOf(shape);
    CHECK(ResultOf(*receiver, Sealed(*sender, Plain(40'000)), 0) == SrtpResult::kOpened);
    uint64_t number = 40'000;
    Bytes packet;
    for (int step = 0; step < 12; step++) packet = Sealed(*sender, Plain(number += 30'000));
    CHECK_EQ(sender->rollover_counter(), 6u);
    CHECK(ResultOf(*receiver, packet, kNsPerSecond) ==
          SrtpResult::kForged);  // too soon to have missed so many
    CHECK(ResultOf(*receiver, packet, 720 * kNsPerSecond) == SrtpResult::kOpened);
    CHECK(ResultOf(*receiver, packet, 730 * kNsPerSecond) == SrtpResult::kReplayed);
    CHECK(ResultOf(*receiver, Sealed(*sender, Plain(number + 1)), 720 * kNsPerSecond) == SrtpResult::kOpened);
  }
}

// Fifteen minutes on hold: nothing is sent, and the counters go on where they stood.
void AHoldKeepsTheCounters() {
  const SrtpShape& shape = kSrtpShapes[0];
  const auto sender = SenderOf(shape);
  const auto receiver = ReceiverOf(shape);
  for (uint64_t number = 65'500; number < 65'600; number++) {
    CHECK(ResultOf(*receiver, Sealed(*sender, Plain(number)), 0) == SrtpResult::kOpened);
  }
  const Bytes old = Sealed(*sender, Plain(65'600));
  CHECK(ResultOf(*receiver, Sealed(*sender, Plain(65'601)), 900 * kNsPerSecond) == SrtpResult::kOpened);
  CHECK(ResultOf(*receiver, old, 901 * kNsPerSecond) == SrtpResult::kOpened);
}

void TheFirstPacketsMayBeLostOverARollOver() {
  const SrtpShape& shape = kSrtpShapes[0];
  const auto sender = SenderOf(shape);
  const auto receiver = ReceiverOf(shape);
  CHECK(!Sealed(*sender, Plain(65'535)).empty());
  CHECK(ResultOf(*receiver, Sealed(*sender, Plain(65'537)), kNsPerSecond) == SrtpResult::kOpened);
}

void SourcesAreCountedApart() {
  const SrtpShape& shape = kSrtpShapes[0];
  const auto receiver = ReceiverOf(shape);
  for (uint32_t ssrc = 1; ssrc <= 3 * SrtpReceiver::kSources; ssrc++) {
    const auto sender = SenderOf(shape, ssrc);
    const Bytes packet = Sealed(*sender, Plain(7, ssrc));
    CHECK(ResultOf(*receiver, packet, ssrc) == SrtpResult::kOpened);
    CHECK(ResultOf(*receiver, packet, ssrc) == SrtpResult::kReplayed);
  }
}

void ReportsAreOpenedOnce() {
  for (const SrtpShape& shape : kSrtpShapes) {
    const auto sender = SenderOf(shape);
    const auto receiver = ReceiverOf(shape);
    for (uint32_t n = 1; n <= 300; n++) {
      Bytes report = FromHex("80c80006cafebabe");
      report.resize(8 + n % 40 * 4, static_cast<uint8_t>(n));
      const Bytes sealed = SealedRtcp(*sender, report);
      Bytes forged = sealed;
      forged[n % forged.size()] ^= 0x10;
      CHECK(Open(*receiver, forged, 0, true).result != SrtpResult::kOpened);
      CHECK_EQ(ToHex(Open(*receiver, sealed, 0, true).plain), ToHex(report));
      CHECK(Open(*receiver, sealed, 0, true).result == SrtpResult::kReplayed);
    }
  }
}

void TheSameKeysAreKnownAgain() {
  const SrtpShape& shape = kSrtpShapes[0];
  const auto receiver = ReceiverOf(shape);
  Bytes key = KeyOf(shape), salt = SaltOf(shape);
  CHECK(receiver->cipher().HasKeys(shape.profile, key.data(), key.size(), salt.data(), salt.size()));
  CHECK(
      !receiver->cipher().HasKeys(kSrtpShapes[1].profile, key.data(), key.size(), salt.data(), salt.size()));
  salt[3] ^= 1;
  CHECK(!receiver->cipher().HasKeys(shape.profile, key.data(), key.size(), salt.data(), salt.size()));
}

}  // namespace
}  // namespace parley

TEST_GROUP(srtp_receiver) {
  return parley::test::Run({
      {"published packets are opened", parley::PublishedPacketsAreOpened},
      {"packets with a master key index are opened", parley::PacketsWithAMasterKeyIndexAreOpened},
      {"every packet that arrives is opened once", parley::EveryPacketThatArrivesIsOpenedOnce},
      {"what is not genuine changes nothing", parley::WhatIsNotGenuineChangesNothing},
      {"the window is exact", parley::TheWindowIsExact},
      {"a long hole is survived", parley::ALongHoleIsSurvived},
      {"a hold keeps the counters", parley::AHoldKeepsTheCounters},
      {"the first packets may be lost over a roll-over", parley::TheFirstPacketsMayBeLostOverARollOver},
      {"sources are counted apart", parley::SourcesAreCountedApart},
      {"reports are opened once", parley::ReportsAreOpenedOnce},
      {"the same keys are known again", parley::TheSameKeysAreKnownAgain},
  });
}
