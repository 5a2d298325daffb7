// The sender against the RFCs' vectors, against whole packets published by
// libsrtp's own self-test, and against a second reading of the RFCs.
#include "media/srtp.h"

#include <openssl/crypto.h>

#include <cstdlib>
#include <random>
#include <set>

#include "test/check.h"
#include "test/srtp_reference.h"

namespace parley {
namespace {

using reference::Bytes;
using reference::FromHex;
using reference::ToHex;

constexpr SrtpProfile kCm = SrtpProfile::kAesCm128HmacSha1_80;
constexpr SrtpProfile kGcm = SrtpProfile::kAeadAes128Gcm;
constexpr SrtpProfile kProfiles[] = {kCm,
                                     SrtpProfile::kAesCm128HmacSha1_32,
                                     SrtpProfile::kAesCm256HmacSha1_80,
                                     SrtpProfile::kAesCm256HmacSha1_32,
                                     kGcm,
                                     SrtpProfile::kAeadAes256Gcm};
constexpr uint32_t kSsrc = 0xcafebabe;

const Bytes kKey = FromHex("e1f97a0d3e018be0d64fa32c06de4139");
const Bytes kSalt = FromHex("0ec675ad498afeebb6960b3aabe6");

size_t g_allocations = 0;
void* CountedMalloc(size_t size, const char*, int) {
  g_allocations++;
  return std::malloc(size);
}
void* CountedRealloc(void* old, size_t size, const char*, int) {
  g_allocations++;
  return std::realloc(old, size);
}
void PlainFree(void* memory, const char*, int) { std::free(memory); }

Bytes SaltFor(SrtpProfile profile) {
  Bytes salt = kSalt;
  salt.resize(ShapeOf(profile).salt_bytes);
  return salt;
}

// The first bytes are those of kKey.
Bytes KeyFor(SrtpProfile profile) {
  Bytes key = kKey;
  while (key.size() < ShapeOf(profile).key_bytes) key.push_back(static_cast<uint8_t>(key.size() * 5));
  return key;
}

std::unique_ptr<SrtpSender> MakeSender(SrtpProfile profile, const Bytes& key, const Bytes& salt,
                                       uint32_t ssrc = kSsrc) {
  return SrtpSender::Create(profile, key.data(), key.size(), salt.data(), salt.size(), ssrc);
}

std::unique_ptr<SrtpSender> MakeSender(SrtpProfile profile) {
  return MakeSender(profile, KeyFor(profile), SaltFor(profile));
}

reference::Receiver ReceiverFor(SrtpProfile profile) {
  const SrtpShape& shape = ShapeOf(profile);
  return {shape.gcm, KeyFor(profile), SaltFor(profile), shape.rtp_tag_bytes};
}

Bytes RtpPacket(uint16_t sequence, size_t payload) {
  Bytes packet = FromHex("800f0000decafbadcafebabe");
  packet[2] = static_cast<uint8_t>(sequence >> 8);
  packet[3] = static_cast<uint8_t>(sequence);
  for (size_t i = 0; i < payload; i++) packet.push_back(static_cast<uint8_t>(i * 7 + sequence));
  return packet;
}

Bytes ProtectRtp(SrtpSender& sender, const Bytes& packet, size_t room = SrtpSender::kMaxRtpTrailer) {
  Bytes buffer = packet;
  buffer.resize(packet.size() + room);
  buffer.resize(sender.ProtectRtp(buffer.data(), packet.size(), buffer.size()));
  return buffer;
}

Bytes ProtectRtcp(SrtpSender& sender, const Bytes& packet, size_t room = SrtpSender::kMaxRtcpTrailer) {
  Bytes buffer = packet;
  buffer.resize(packet.size() + room);
  buffer.resize(sender.ProtectRtcp(buffer.data(), packet.size(), buffer.size()));
  return buffer;
}

void ReferenceMatchesRfc3711() {
  // B.2: AES-CM key stream
  CHECK_EQ(
      ToHex(reference::CmKeyStream(FromHex("2b7e151628aed2a6abf7158809cf4f3c"),
                                   FromHex("f0f1f2f3f4f5f6f7f8f9fafbfcfd0000"), 48)),
      "e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab41e95b3bb0a2e8dd477901e4fca894c0");
  // B.3: session keys
  CHECK_EQ(ToHex(reference::DeriveKey(kKey, kSalt, 0, 16)), "c61e7a93744f39ee10734afe3ff7a087");
  CHECK_EQ(ToHex(reference::DeriveKey(kKey, kSalt, 2, 14)), "30cbbc08863d8c85d49db34a9ae1");
  CHECK_EQ(ToHex(reference::DeriveKey(kKey, kSalt, 1, 94)),
           "cebe321f6ff7716b6fd4ab49af256a156d38baa48f0a0acf3c34e2359e6cdbcee049646c43d9327ad175578ef7227098"
           "6371c10c9a369ac2f94a8c5fbcdddc256d6e919a48b610ef17c2041e474035766b68642c59bbfc2f34db60dbdfb2");
}

void ReferenceMatchesRfc7714() {
  const Bytes key = FromHex("000102030405060708090a0b0c0d0e0f");
  // 16.1: RTP, IV from ROC 0, sequence f17b, SSRC 5501a0b2
  CHECK_EQ(
      ToHex(reference::GcmOpen(key, FromHex("51753c6580c2726f20718414"), FromHex("8040f17b8041f8d35501a0b2"),
                               FromHex("f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b"
                                       "36de3adf8833899d7f27beb16a9152cf765ee4390cce"))),
      "47616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573");
  // 16.2: the same with 256 bits of key
  CHECK_EQ(
      ToHex(reference::GcmOpen(
          FromHex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"),
          FromHex("51753c6580c2726f20718414"), FromHex("8040f17b8041f8d35501a0b2"),
          FromHex("32b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f1ba63799b87b7aa3db36dfff"
                  "d6b0f9bb7878d7a76c13"))),
      "47616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573");
  // 17.1: RTCP, index 5d4
  CHECK_EQ(
      ToHex(reference::GcmOpen(key, FromHex("517524055203726f207170bb"), FromHex("81c8000d4d617273800005d4"),
                               FromHex("63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda"
                                       "4ce09b4686303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade"))),
      "4e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef");
}

void ReferenceMatchesRfc6188() {
  // 7.1: AES-256-CM key stream
  CHECK_EQ(ToHex(reference::CmKeyStream(
               FromHex("57f82fe3613fd170a85ec93c40b1f0922ec4cb0dc025b58272147cc438944a98"),
               FromHex("f0f1f2f3f4f5f6f7f8f9fafbfcfd0000"), 32)),
           "92bdd28a93c3f52511c677d08b5515a49da71b2378a854f67050756ded165bac");
  // 7.2: session keys
  const Bytes key = FromHex("f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6");
  const Bytes salt = FromHex("3b04803de51ee7c96423ab5b78d2");
  CHECK_EQ(ToHex(reference::DeriveKey(key, salt, 0, 32)),
           "5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4");
  CHECK_EQ(ToHex(reference::DeriveKey(key, salt, 2, 14)), "fa31791685ca444a9e07c6c64e93");
  CHECK_EQ(ToHex(reference::DeriveKey(key, salt, 1, 20)), "fd9c32d39ed5fbb5a9dc96b30818454d1313dc05");
}

void WholePacketsMatchLibsrtp() {
  const Bytes rtp = FromHex("800f1234decafbadcafebabeabababababababababababababababab");
  const Bytes rtcp = FromHex("81c8000bcafebabeabababababababababababababababab");
  const auto cm = MakeSender(kCm, kKey, kSalt);
  CHECK_EQ(ToHex(ProtectRtp(*cm, rtp)),
           "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb");
  CHECK_EQ(ToHex(ProtectRtcp(*cm, rtcp)),
           "81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798");
  const auto cm256 = MakeSender(SrtpProfile::kAesCm256HmacSha1_80,
                                FromHex("f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6"),
                                FromHex("3b04803de51ee7c96423ab5b78d2"));
  CHECK_EQ(ToHex(ProtectRtp(*cm256, rtp)),
           "800f1234decafbadcafebabef1d9de17ff251ff1aa007774b0b4b40da08d9d9a5b3a55d8873b");
  const auto gcm =
      MakeSender(kGcm, FromHex("000102030405060708090a0b0c0d0e0f"), FromHex("a0a1a2a3a4a5a6a7a8a9aaab"));
  CHECK_EQ(ToHex(ProtectRtp(*gcm, rtp)),
           "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392");
  CHECK_EQ(ToHex(ProtectRtcp(*gcm, rtcp)),
           "81c8000bcafebabec98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446ea31123ba88ce61e80000001");
}

void EveryPacketShapeIsOpenedByTheReference() {
  for (SrtpProfile profile : kProfiles) {
    const auto sender = MakeSender(profile);
    const reference::Receiver receiver = ReceiverFor(profile);
    for (uint16_t n = 0; n < 400; n++) {
      const Bytes packet = RtpPacket(static_cast<uint16_t>(100 + n), n);  // payloads of 0 to 399 bytes
      CHECK_EQ(ToHex(receiver.OpenRtp(ProtectRtp(*sender, packet), 12, kSsrc, 0)), ToHex(packet));
    }
    // Two CSRCs and an extension of one word stay readable.
    Bytes packet = FromHex(
        "920f1000decafbadcafebabe"
        "0000000100000002"
        "bede0001"
        "10ff0000");
    const size_t header = packet.size();
    packet.resize(header + 33, 0x5a);
    CHECK_EQ(ToHex(receiver.OpenRtp(ProtectRtp(*sender, packet), header, kSsrc, 0)), ToHex(packet));
    for (uint32_t n = 1; n <= 40; n++) {
      Bytes report = FromHex("80c80006cafebabe");
      report.resize(8 + n * 4, static_cast<uint8_t>(n));
      uint32_t index = 0;
      CHECK_EQ(ToHex(receiver.OpenRtcp(ProtectRtcp(*sender, report), kSsrc, &index)), ToHex(report));
      CHECK_EQ(index, n);
    }
  }
}

void TheRollOverCounterFollowsTheSequence() {
  for (SrtpProfile profile : kProfiles) {
    const auto sender = MakeSender(profile);
    const reference::Receiver receiver = ReceiverFor(profile);
    uint32_t roc = 0;
    uint16_t sequence = 0xfff0;
    for (uint16_t n = 0; n < 40; n++) {  // with gaps, over the wrap
      const auto next = static_cast<uint16_t>(sequence + 1 + n % 3);
      if (next < sequence) roc++;
      sequence = next;
      const Bytes packet = RtpPacket(sequence, 20);
      CHECK_EQ(ToHex(receiver.OpenRtp(ProtectRtp(*sender, packet), 12, kSsrc, roc)), ToHex(packet));
      CHECK_EQ(sender->rollover_counter(), roc);
    }
    CHECK_EQ(roc, 1u);
    for (uint32_t wrap = 0; wrap < 10; wrap++) {  // big steps forward
      sequence = static_cast<uint16_t>(sequence + 0x7fff);
      CHECK(!ProtectRtp(*sender, RtpPacket(sequence, 1)).empty());
    }
    CHECK_EQ(sender->rollover_counter(), 6u);
  }
}

void NoIndexIsUsedTwice() {
  for (SrtpProfile profile : kProfiles) {
    const auto sender = MakeSender(profile);
    const reference::Receiver receiver = ReceiverFor(profile);
    std::mt19937 random(7);
    std::set<uint64_t> used;
    uint64_t last = 0;
    for (int n = 0; n < 20000; n++) {
      // Mostly forward, sometimes repeated, backward or wild.
      const auto dice = static_cast<uint32_t>(random() % 10);
      const auto step = static_cast<uint32_t>(dice < 7   ? 1 + random() % 3
                                              : dice < 9 ? 0u - random() % 50
                                                         : random());
      const auto sequence = static_cast<uint16_t>(last + step);
      const Bytes sealed = ProtectRtp(*sender, RtpPacket(sequence, 4));
      if (sealed.empty()) continue;
      last = uint64_t{sender->rollover_counter()} << 16 | sequence;
      CHECK(used.empty() || last > *used.rbegin());
      CHECK(used.insert(last).second);
      CHECK(!receiver.OpenRtp(sealed, 12, kSsrc, sender->rollover_counter()).empty());
    }
    CHECK(used.size() > 10000);
    const Bytes packet = RtpPacket(static_cast<uint16_t>(last), 4);
    CHECK(ProtectRtp(*sender, packet).empty());
    CHECK(ProtectRtp(*sender, RtpPacket(static_cast<uint16_t>(last - 1), 4)).empty());
    CHECK(ProtectRtp(*sender, RtpPacket(static_cast<uint16_t>(last + 0x8000), 4)).empty());
  }
}

void WhatIsNotOursIsLeftAsItWas() {
  for (SrtpProfile profile : kProfiles) {
    const auto sender = MakeSender(profile);
    const size_t tag = ShapeOf(profile).rtp_tag_bytes;
    const size_t rtcp_tag = ShapeOf(profile).rtcp_tag_bytes;
    const Bytes good = RtpPacket(1, 20);
    Bytes buffer = good;
    buffer.resize(64);
    CHECK_EQ(sender->ProtectRtp(buffer.data(), 11, 64), 0u);  // shorter than a header
    CHECK_EQ(sender->ProtectRtp(buffer.data(), good.size(), good.size() + tag - 1), 0u);  // no room
    CHECK_EQ(sender->ProtectRtcp(buffer.data(), 7, 64), 0u);
    CHECK_EQ(sender->ProtectRtcp(buffer.data(), 8, 8 + rtcp_tag + 3), 0u);
    CHECK_EQ(ToHex(reference::Slice(buffer, 0, good.size())), ToHex(good));
    for (const char* hex :
         {"000f0001decafbadcafebabe00", "800f0001decafbadcafebabf00", "8f0f0001decafbadcafebabe00",
          "900f0001decafbadcafebabe00", "900f0001decafbadcafebabebede000100"}) {
      const Bytes bad = FromHex(hex);  // version, SSRC, too few CSRCs, no extension, half an extension
      CHECK_EQ(ProtectRtp(*sender, bad).size(), 0u);
    }
    CHECK_EQ(ProtectRtcp(*sender, FromHex("80c80001cafebabf")).size(), 0u);
    // Refused packets use up no index.
    CHECK_EQ(ProtectRtp(*sender, good, tag).size(), good.size() + tag);
    CHECK_EQ(ProtectRtcp(*sender, FromHex("80c80001cafebabe"), rtcp_tag + 4).size(), 8 + rtcp_tag + 4);
    CHECK_EQ(sender->rtcp_index(), 1u);
  }
  CHECK(!MakeSender(kCm, kKey, SaltFor(kGcm)));
  CHECK(!MakeSender(kGcm, kKey, SaltFor(kCm)));
  CHECK(!MakeSender(kCm, FromHex("00"), SaltFor(kCm)));
  CHECK(!MakeSender(SrtpProfile::kAeadAes256Gcm, kKey, SaltFor(kGcm)));
}

void NothingIsAllocatedPerPacket() {
  for (SrtpProfile profile : kProfiles) {
    const auto sender = MakeSender(profile);
    uint8_t buffer[256];
    const Bytes report = FromHex("80c80006cafebabe0000000000000000");
    const size_t before = g_allocations;
    for (uint16_t n = 0; n < 1000; n++) {
      std::memcpy(buffer, "\x80\x0f\0\0\0\0\0\0\xca\xfe\xba\xbe", 12);
      buffer[2] = static_cast<uint8_t>(n >> 8);
      buffer[3] = static_cast<uint8_t>(n);
      CHECK(sender->ProtectRtp(buffer, 172, sizeof buffer) != 0);
      std::memcpy(buffer, report.data(), report.size());
      CHECK(sender->ProtectRtcp(buffer, report.size(), sizeof buffer) != 0);
    }
    CHECK_EQ(g_allocations, before);
  }
}

}  // namespace
}  // namespace parley

TEST_GROUP(srtp) {
  CRYPTO_set_mem_functions(parley::CountedMalloc, parley::CountedRealloc, parley::PlainFree);
  return parley::test::Run({
      {"the reference matches RFC 3711, B.2 and B.3", parley::ReferenceMatchesRfc3711},
      {"the reference matches RFC 6188, 7.1 and 7.2", parley::ReferenceMatchesRfc6188},
      {"the reference matches RFC 7714, 16.1 and 17.1", parley::ReferenceMatchesRfc7714},
      {"whole packets match libsrtp's", parley::WholePacketsMatchLibsrtp},
      {"every packet shape is opened by the reference", parley::EveryPacketShapeIsOpenedByTheReference},
      {"the roll-over counter follows the sequence", parley::TheRollOverCounterFollowsTheSequence},
      {"no index is used twice", parley::NoIndexIsUsedTwice},
      {"what is not ours is left as it was", parley::WhatIsNotOursIsLeftAsItWas},
      {"nothing is allocated per packet", parley::NothingIsAllocatedPerPacket},
  });
}
