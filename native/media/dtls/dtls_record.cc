#include "media/dtls/dtls_record.h"

#include <algorithm>

#include "media/rtp.h"

namespace parley {
namespace {

constexpr size_t kSequenceAt = 5, kSequenceBytes = 6;
constexpr size_t kMessageHeadBytes = 12;          // RFC 6347 section 4.2.2
constexpr uint32_t kLongestMessage = 100 * 1024;  // OpenSSL's limit for a certificate chain
constexpr uint8_t kFatalLevel = 2;                // RFC 5246 section 7.2
enum ContentType : uint8_t { kChangeCipherSpec = 20, kAlert = 21, kHandshake = 22, kApplicationData = 23 };

// Message types of RFC 5246 section 7.4, RFC 5077 and RFC 6066 that a full handshake sends unprotected.
constexpr uint8_t kOfClient[] = {1, 11, 15, 16};
constexpr uint8_t kOfServer[] = {2, 3, 4, 11, 12, 13, 14, 22};

struct Record {
  uint8_t type;
  uint16_t epoch;
  const uint8_t* fragment;
  size_t fragment_bytes;
};

uint32_t Big24(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 16 | static_cast<uint32_t>(bytes[1]) << 8 | bytes[2];
}

bool IsMessageOf(DtlsSender sender, uint8_t type) {
  const auto has = [type](const auto& types) {
    return std::find(std::begin(types), std::end(types), type) != std::end(types);
  };
  return sender == DtlsSender::kClient ? has(kOfClient) : has(kOfServer);
}

// True for one or more whole fragments of handshake messages.
bool IsHandshake(const Record& record, DtlsSender sender) {
  size_t at = 0;
  while (at + kMessageHeadBytes <= record.fragment_bytes) {
    const uint8_t* const message = record.fragment + at;
    const uint32_t length = Big24(message + 1), offset = Big24(message + 6), bytes = Big24(message + 9);
    if (!IsMessageOf(sender, message[0]) || length > kLongestMessage || offset + bytes > length) return false;
    if (bytes == 0 && length > 0) return false;
    at += kMessageHeadBytes + bytes;
  }
  return at == record.fragment_bytes && at > 0;
}

bool MayPass(const Record& record, DtlsSender sender) {
  if (record.epoch != 0) return record.type >= kChangeCipherSpec && record.type <= kApplicationData;
  if (record.type == kChangeCipherSpec) return record.fragment_bytes == 1 && record.fragment[0] == 1;
  return record.type == kHandshake && IsHandshake(record, sender);
}

}  // namespace

HandshakeFilter::Result HandshakeFilter::Read(const uint8_t* data, size_t len, uint8_t* out) {
  Result result;
  bool alerted = false;
  size_t end = 0;
  for (size_t at = 0; at + kDtlsRecordHeadBytes <= len; at = end) {
    const uint8_t* const head = data + at;
    const size_t fragment_bytes = GetBig16(head + 11);
    end = at + kDtlsRecordHeadBytes + fragment_bytes;
    if (end > len) break;
    if (head[1] != kDtlsMajorVersion) continue;
    const Record record{head[0], GetBig16(head + 3), head + kDtlsRecordHeadBytes, fragment_bytes};
    const bool is_alert = record.type == kAlert && record.epoch == 0 && fragment_bytes > 0;
    if (is_alert && !alerted && record.fragment[0] == kFatalLevel) {
      alerted = true;
      if (fragment_bytes > 1) result.alert = record.fragment[1];
    }
    if (!MayPass(record, sender_)) continue;
    uint8_t* const copy = std::copy(head, data + end, out + result.bytes) - (end - at);
    result.bytes += end - at;
    if (record.epoch != 0) continue;
    if (record.type == kHandshake) result.has_handshake = true;
    const uint64_t sequence = sequence_++;
    for (size_t n = 0; n < kSequenceBytes; n++) {
      copy[kSequenceAt + n] = static_cast<uint8_t>(sequence >> 8 * (kSequenceBytes - 1 - n));
    }
  }
  return result;
}

}  // namespace parley
