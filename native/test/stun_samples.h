// The sample messages of RFC 5769, octet by octet, and the checks of a far end.
#ifndef PARLEY_TEST_STUN_SAMPLES_H_
#define PARLEY_TEST_STUN_SAMPLES_H_

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "media/ice/ice_lite.h"
#include "media/rtp.h"

namespace parley::test {

using StunBytes = std::vector<uint8_t>;

inline StunBytes FromHex(const std::string& text) {
  StunBytes bytes;
  std::string digits;
  for (const char one : text) {
    if (one != ' ') digits += one;
    if (digits.size() != 2) continue;
    bytes.push_back(static_cast<uint8_t>(std::strtoul(digits.c_str(), nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

inline const std::string kSamplePassword = "VOkJxbRl1RmTxUk/WvJxBt";

// Section 2.1: a check of ICE, of the user evtj:h6vY.
inline const StunBytes kSampleRequest = FromHex(
    "00010058 2112a442 b7e7a701bc34d686fa87dfae 80220010 5354554e207465737420636c69656e74 00240004 6e0001ff "
    "80290008 932ff9b151263b36 00060009 6576746a3a68367659202020 "
    "00080014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2 80280004 e57a3bcf");

// Section 2.2: 192.0.2.1 port 32853.
inline const StunBytes kSampleIpv4Response = FromHex(
    "0101003c 2112a442 b7e7a701bc34d686fa87dfae 8022000b 7465737420766563746f7220 00200008 0001a147e112a643 "
    "00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004 c07d4c96");

// Section 2.3: 2001:db8:1234:5678:11:2233:4455:6677 port 32853.
inline const StunBytes kSampleIpv6Response = FromHex(
    "01010048 2112a442 b7e7a701bc34d686fa87dfae 8022000b 7465737420766563746f7220 "
    "00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9 "
    "00080014 a382954e4be67bf11784c97c8292c275bfe3ed41 80280004 c8fb0b4c");

// Section 2.4: a long-term credential, without a fingerprint.
inline const StunBytes kSampleLongTermRequest = FromHex(
    "00010060 2112a442 78ad3433c6ad72c029da412e 00060012 e3839ee38388e383aae38383e382afe382b90000 "
    "0015001c 662f2f3439396b39353464364f4c33346f4c39465354767936347341 0014000b 6578616d706c652e6f726700 "
    "00080014 f67024656dd64a3e02b8e0712e85c9a28ca89666");

inline HmacSha1 KeyOf(const std::string& password) {
  HmacSha1 key;
  key.Init(reinterpret_cast<const uint8_t*>(password.data()), password.size());
  return key;
}

inline const IceCredentials kIce = {"ours", "a password of ours, long", "them", "a password of theirs, lo"};

// The contents of a far end's check.
struct Check {
  std::string username = "ours:them";
  std::string password = kIce.local_password;  // "": no integrity
  bool nominate = false;
  uint32_t priority = 1000;
  StunClass kind = StunClass::kRequest;
  uint16_t method = kStunBinding;
  uint16_t more = 0;  // another attribute; 0: none
};

inline constexpr uint8_t kTransaction[kStunTransactionBytes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

inline StunBytes Write(const Check& check) {
  StunWriter writer(check.kind, check.method, kTransaction);
  const auto* const name = reinterpret_cast<const uint8_t*>(check.username.data());
  if (!check.username.empty()) writer.Add(stun::kUsername, name, check.username.size());
  uint8_t priority[8] = {};
  PutBig32(priority, check.priority);
  writer.Add(stun::kPriority, priority, 4);
  if (check.more != stun::kIceControlled) writer.Add(stun::kIceControlling, kTransaction, 8);
  if (check.nominate) writer.Add(stun::kUseCandidate, nullptr, 0);
  if (check.more != 0) writer.Add(check.more, kTransaction, check.more == stun::kIceControlled ? 8 : 0);
  const HmacSha1 key = KeyOf(check.password);
  writer.Finish(check.password.empty() ? nullptr : &key);
  return {writer.data(), writer.data() + writer.size()};
}

// The code of an error answer; 0: it is none.
inline int CodeOf(const StunMessage& message) {
  const StunAttribute* const error = message.Find(stun::kErrorCode);
  return error && error->bytes >= 4 ? error->value[2] * 100 + error->value[3] : 0;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_STUN_SAMPLES_H_
