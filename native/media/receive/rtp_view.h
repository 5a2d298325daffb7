// An RTP packet as it came, checked and taken apart (RFC 3550, 5.1 and A.1). Pure.
#ifndef PARLEY_MEDIA_RECEIVE_RTP_VIEW_H_
#define PARLEY_MEDIA_RECEIVE_RTP_VIEW_H_

#include <cstddef>
#include <cstdint>

namespace parley {

struct RtpView {
  bool marker;
  uint8_t payload_type;
  uint16_t sequence;
  uint32_t timestamp;
  uint32_t ssrc;
  const uint8_t* payload;  // in the packet; without padding
  size_t payload_bytes;
};

// False when version, CSRCs, extension or padding say more than is there.
bool ParseRtp(const uint8_t* packet, size_t len, RtpView* out);

// What a datagram on the media port is, by its first bytes (RFC 5761, RFC 7983).
enum class DatagramKind : uint8_t { kRtp, kRtcp, kStun, kDtls, kOther };
DatagramKind KindOf(const uint8_t* packet, size_t len);

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_RTP_VIEW_H_
