#include "media/receive/rtp_view.h"

#include "media/big_endian.h"
#include "media/rtp.h"

namespace parley {

bool ParseRtp(const uint8_t* packet, size_t len, RtpView* out) {
  const size_t header = RtpHeaderLength(packet, len);
  if (header == 0) return false;
  size_t padding = 0;
  if (packet[0] & 0x20) {
    padding = packet[len - 1];
    if (padding == 0 || padding > len - header) return false;
  }
  out->marker = (packet[1] & 0x80) != 0;
  out->payload_type = packet[1] & 0x7f;
  out->sequence = GetBig16(packet + 2);
  out->timestamp = GetBig32(packet + 4);
  out->ssrc = GetBig32(packet + 8);
  out->payload = packet + header;
  out->payload_bytes = len - header - padding;
  return true;
}

DatagramKind KindOf(const uint8_t* packet, size_t len) {
  if (len < 2) return DatagramKind::kOther;
  if (packet[0] <= 3) return DatagramKind::kStun;
  if (packet[0] >= 20 && packet[0] <= 63) return DatagramKind::kDtls;
  if (packet[0] >> 6 != 2) return DatagramKind::kOther;
  return packet[1] >= 192 && packet[1] <= 223 ? DatagramKind::kRtcp : DatagramKind::kRtp;
}

}  // namespace parley
