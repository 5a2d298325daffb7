// Reads and writes the STUN messages of ICE (RFC 8489 sections 5 and 14). Pure; nothing is allocated.
//
// Any input is accepted: the result is a well-formed message or false, and every offset is checked. Nothing
// in a message may be trusted before its integrity is verified.
#ifndef PARLEY_MEDIA_ICE_STUN_MESSAGE_H_
#define PARLEY_MEDIA_ICE_STUN_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "media/hmac_sha1.h"
#include "media/receive/address.h"

namespace parley {

enum class StunClass : uint8_t { kRequest, kIndication, kSuccess, kError };

constexpr uint16_t kStunBinding = 0x001;
constexpr size_t kStunHeaderBytes = 20;
constexpr size_t kStunTransactionBytes = 12;
constexpr size_t kMaxStunAttributes = 32;

// Attribute types. A type below kFirstOptional must be understood by the receiver.
namespace stun {
constexpr uint16_t kUsername = 0x0006;
constexpr uint16_t kIntegrity = 0x0008;
constexpr uint16_t kErrorCode = 0x0009;
constexpr uint16_t kUnknownAttributes = 0x000a;
constexpr uint16_t kRealm = 0x0014;
constexpr uint16_t kNonce = 0x0015;
constexpr uint16_t kIntegritySha256 = 0x001c;
constexpr uint16_t kXorMappedAddress = 0x0020;
constexpr uint16_t kPriority = 0x0024;
constexpr uint16_t kUseCandidate = 0x0025;
constexpr uint16_t kFirstOptional = 0x8000;
constexpr uint16_t kFingerprint = 0x8028;
constexpr uint16_t kIceControlled = 0x8029;
constexpr uint16_t kIceControlling = 0x802a;
}  // namespace stun

struct StunAttribute {
  uint16_t type;
  const uint8_t* value;  // in the datagram
  size_t bytes;
};

struct StunMessage {
  StunClass kind = StunClass::kRequest;
  uint16_t method = 0;                   // 12 bits; kStunBinding is the only one of ICE
  const uint8_t* transaction = nullptr;  // kStunTransactionBytes in the datagram
  // In order. Attributes after MESSAGE-INTEGRITY are omitted, because it does not protect them.
  std::array<StunAttribute, kMaxStunAttributes> attributes;
  size_t count = 0;
  const uint8_t* datagram = nullptr;
  size_t sealed_bytes = 0;        // of the datagram, under the integrity
  const uint8_t* seal = nullptr;  // its tag; null if the message has none

  // The first attribute of a type; null if there is none.
  const StunAttribute* Find(uint16_t type) const;
};

// False if the bytes are no STUN message, are truncated, have more than kMaxStunAttributes, or have a wrong
// FINGERPRINT. The message points into `data`.
bool ReadStun(const uint8_t* data, size_t len, StunMessage* out);

// True if the message's integrity was computed with this key.
bool IsSealedWith(const StunMessage& message, const HmacSha1& key);

// The part of USERNAME before its first colon: the receiver's fragment (RFC 8445 section 7.2.2). False if the
// message has no USERNAME or that no colon.
bool LocalFragment(const StunMessage& message, std::string_view* out);

// Writes one message: attributes, then integrity, then fingerprint.
class StunWriter {
 public:
  static constexpr size_t kMaxBytes = 512;

  StunWriter(StunClass kind, uint16_t method, const uint8_t* transaction);

  // An attribute without room is left out, and Finish then refuses the message.
  void Add(uint16_t type, const uint8_t* value, size_t bytes);
  // XOR-MAPPED-ADDRESS (RFC 8489 section 14.2): the sender's address as the receiver sees it, masked from
  // NATs that rewrite anything that looks like an address.
  void AddMappedAddress(const Address& address);
  void AddError(int code, std::string_view reason);
  // `key` null omits the integrity. False: too long, or the crypto library refused.
  bool Finish(const HmacSha1* key);

  const uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return size_; }

 private:
  void SetLength(size_t more);

  std::array<uint8_t, kMaxBytes> bytes_{};
  size_t size_ = kStunHeaderBytes;
  bool overflow_ = false;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_ICE_STUN_MESSAGE_H_
