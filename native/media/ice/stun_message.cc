#include "media/ice/stun_message.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstring>

#include "media/rtp.h"

namespace parley {
namespace {

constexpr uint32_t kCookie = 0x2112a442;
constexpr uint32_t kFingerprintXor = 0x5354554e;
constexpr size_t kAttributeHead = 4;
constexpr size_t kFingerprintBytes = 4;
constexpr size_t kErrorHead = 4;

constexpr std::array<uint32_t, 256> CrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t n = 0; n < 256; n++) {
    uint32_t value = n;
    for (int bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ value >> 1 : value >> 1;
    table[n] = value;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrcTable = CrcTable();

// ISO 3309, as in ZIP.
uint32_t Crc32(const uint8_t* data, size_t len) {
  uint32_t crc = 0xffffffff;
  for (size_t n = 0; n < len; n++) crc = kCrcTable[(crc ^ data[n]) & 0xff] ^ crc >> 8;
  return ~crc;
}

size_t Padded(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

// The two bits of the class lie between those of the method (RFC 8489 section 5).
StunClass ClassOf(uint16_t type) { return static_cast<StunClass>((type >> 7 & 2) | (type >> 4 & 1)); }

uint16_t MethodOf(uint16_t type) {
  return static_cast<uint16_t>((type & 0xf) | (type >> 1 & 0x70) | (type >> 2 & 0xf80));
}

uint16_t TypeOf(StunClass kind, uint16_t method) {
  const auto bits = static_cast<uint16_t>(kind);
  return static_cast<uint16_t>((method & 0xf) | (method & 0x70) << 1 | (method & 0xf80) << 2 |
                               (bits & 1) << 4 | (bits & 2) << 7);
}

// The fingerprint is the last attribute, or there is none.
bool IsFingerprint(const uint8_t* data, size_t at, size_t next, size_t len, const StunAttribute& attribute) {
  return next == len && attribute.bytes == kFingerprintBytes &&
         GetBig32(attribute.value) == (Crc32(data, at) ^ kFingerprintXor);
}

bool ReadAttributes(const uint8_t* data, size_t len, StunMessage* out) {
  size_t seen = 0;
  for (size_t at = kStunHeaderBytes; at < len;) {
    if (++seen > kMaxStunAttributes) return false;
    // The message is a multiple of four bytes long, so there is always a whole head.
    const StunAttribute attribute{GetBig16(data + at), data + at + kAttributeHead, GetBig16(data + at + 2)};
    const size_t next = at + kAttributeHead + Padded(attribute.bytes);
    if (next > len) return false;
    if (attribute.type == stun::kFingerprint) return IsFingerprint(data, at, next, len, attribute);
    if (attribute.type == stun::kIntegrity && !out->seal) {
      if (attribute.bytes != HmacSha1::kBytes) return false;
      out->sealed_bytes = at;
      out->seal = attribute.value;
    } else if (!out->seal) {
      out->attributes[out->count++] = attribute;
    }
    at = next;
  }
  return true;
}

}  // namespace

const StunAttribute* StunMessage::Find(uint16_t type) const {
  for (size_t n = 0; n < count; n++) {
    if (attributes[n].type == type) return &attributes[n];
  }
  return nullptr;
}

bool ReadStun(const uint8_t* data, size_t len, StunMessage* out) {
  if (len < kStunHeaderBytes) return false;
  const uint16_t type = GetBig16(data);
  const size_t length = GetBig16(data + 2);
  if (type > 0x3fff || GetBig32(data + 4) != kCookie) return false;
  if (length % 4 != 0 || kStunHeaderBytes + length != len) return false;
  out->kind = ClassOf(type);
  out->method = MethodOf(type);
  out->transaction = data + 8;
  out->count = 0;
  out->datagram = data;
  out->sealed_bytes = 0;
  out->seal = nullptr;
  return ReadAttributes(data, len, out);
}

// The length in the header counts up to the end of the integrity (RFC 8489 section 14.5).
bool IsSealedWith(const StunMessage& message, const HmacSha1& key) {
  if (!message.seal) return false;
  uint8_t length[2];
  PutBig16(length, static_cast<uint16_t>(message.sealed_bytes - kStunHeaderBytes + kAttributeHead +
                                         HmacSha1::kBytes));
  const HmacSha1::Part parts[] = {
      {message.datagram, 2}, {length, 2}, {message.datagram + 4, message.sealed_bytes - 4}};
  uint8_t tag[HmacSha1::kBytes];
  return key.Sum(parts, 3, tag) && CRYPTO_memcmp(tag, message.seal, sizeof(tag)) == 0;
}

bool LocalFragment(const StunMessage& message, std::string_view* out) {
  const StunAttribute* const name = message.Find(stun::kUsername);
  if (!name) return false;
  const std::string_view text(reinterpret_cast<const char*>(name->value), name->bytes);
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  *out = text.substr(0, colon);
  return true;
}

StunWriter::StunWriter(StunClass kind, uint16_t method, const uint8_t* transaction) {
  PutBig16(bytes_.data(), TypeOf(kind, method));
  PutBig32(bytes_.data() + 4, kCookie);
  std::copy_n(transaction, kStunTransactionBytes, bytes_.begin() + 8);
}

void StunWriter::Add(uint16_t type, const uint8_t* value, size_t bytes) {
  const size_t next = size_ + kAttributeHead + Padded(bytes);
  if (next > kMaxBytes) {
    overflow_ = true;
    return;
  }
  PutBig16(bytes_.data() + size_, type);
  PutBig16(bytes_.data() + size_ + 2, static_cast<uint16_t>(bytes));
  if (bytes > 0) std::memcpy(bytes_.data() + size_ + kAttributeHead, value, bytes);
  size_ = next;
}

void StunWriter::AddMappedAddress(const Address& address) {
  uint8_t value[4 + 16];
  const size_t bytes = address.CopyTo(value + 4);
  value[0] = 0;
  value[1] = bytes == 4 ? 1 : 2;  // family: IPv4 or IPv6
  PutBig16(value + 2, static_cast<uint16_t>(address.port() ^ kCookie >> 16));
  // The cookie and the transaction are neighbours in the header.
  for (size_t n = 0; n < bytes; n++) value[4 + n] ^= bytes_[4 + n];
  Add(stun::kXorMappedAddress, value, 4 + bytes);
}

void StunWriter::AddError(int code, std::string_view reason) {
  uint8_t value[kErrorHead + 64] = {0, 0, static_cast<uint8_t>(code / 100), static_cast<uint8_t>(code % 100)};
  const size_t bytes = std::min(reason.size(), sizeof(value) - kErrorHead);
  std::copy_n(reason.begin(), bytes, value + kErrorHead);
  Add(stun::kErrorCode, value, kErrorHead + bytes);
}

bool StunWriter::Finish(const HmacSha1* key) {
  if (key) {
    SetLength(kAttributeHead + HmacSha1::kBytes);
    uint8_t tag[HmacSha1::kBytes];
    const HmacSha1::Part all{bytes_.data(), size_};
    if (!key->Sum(&all, 1, tag)) return false;
    Add(stun::kIntegrity, tag, sizeof(tag));
  }
  SetLength(kAttributeHead + kFingerprintBytes);
  uint8_t fingerprint[kFingerprintBytes];
  PutBig32(fingerprint, Crc32(bytes_.data(), size_) ^ kFingerprintXor);
  Add(stun::kFingerprint, fingerprint, sizeof(fingerprint));
  return !overflow_;
}

void StunWriter::SetLength(size_t more) {
  PutBig16(bytes_.data() + 2, static_cast<uint16_t>(size_ - kStunHeaderBytes + more));
}

}  // namespace parley
