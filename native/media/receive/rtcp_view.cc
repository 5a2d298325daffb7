#include "media/receive/rtcp_view.h"

#include "media/big_endian.h"

namespace parley {
namespace {

constexpr uint8_t kSenderReport = 200, kReceiverReport = 201, kGoodbye = 203;
constexpr size_t kBlockBytes = 24;
constexpr size_t kSenderInfoBytes = 20;

// 24 bits with sign.
int32_t SignedLoss(uint32_t word) {
  const uint32_t lost = word & 0xffffff;
  return lost & 0x800000 ? static_cast<int32_t>(lost | 0xff000000) : static_cast<int32_t>(lost);
}

void TakeBlocks(const uint8_t* at, size_t count, uint32_t ours, RtcpView* out) {
  for (size_t n = 0; n < count; n++, at += kBlockBytes) {
    if (GetBig32(at) != ours) continue;
    const uint32_t loss = GetBig32(at + 4);
    out->block = {static_cast<uint8_t>(loss >> 24), SignedLoss(loss),   GetBig32(at + 8),
                  GetBig32(at + 12),                GetBig32(at + 16), GetBig32(at + 20)};
    out->has_block = true;
  }
}

// `bytes` of one packet, its header included. False when it is shorter than it says.
bool TakePacket(const uint8_t* packet, size_t bytes, uint32_t ours, RtcpView* out) {
  const size_t count = packet[0] & 0x1f;
  const uint8_t type = packet[1];
  if (type == kSenderReport) {
    if (bytes < 8 + kSenderInfoBytes + count * kBlockBytes) return false;
    out->has_sender_report = true;
    out->ntp_middle = GetBig32(packet + 8) << 16 | GetBig32(packet + 12) >> 16;
    TakeBlocks(packet + 8 + kSenderInfoBytes, count, ours, out);
  } else if (type == kReceiverReport) {
    if (bytes < 8 + count * kBlockBytes) return false;
    TakeBlocks(packet + 8, count, ours, out);
  } else if (type == kGoodbye) {
    if (bytes < 4 + count * 4) return false;
    for (size_t n = 0; n < count; n++) out->bye = out->bye || GetBig32(packet + 4 + 4 * n) == out->sender;
  }
  return true;
}

}  // namespace

bool ParseRtcp(const uint8_t* compound, size_t len, uint32_t ours, RtcpView* out) {
  *out = RtcpView{};
  if (len < 8) return false;
  out->sender = GetBig32(compound + 4);
  for (size_t at = 0; at < len;) {
    if (len - at < 4 || compound[at] >> 6 != 2) return false;
    size_t bytes = 4 * (size_t{GetBig16(compound + at + 2)} + 1);
    if (bytes > len - at) return false;
    const bool padded = (compound[at] & 0x20) != 0;
    const size_t next = at + bytes;
    if (padded) {  // the last one only (RFC 3550, 6.4.1)
      const size_t padding = compound[next - 1];
      if (next != len || padding == 0 || padding > bytes - 4) return false;
      bytes -= padding;
    }
    if (!TakePacket(compound + at, bytes, ours, out)) return false;
    at = next;
  }
  return true;
}

}  // namespace parley
