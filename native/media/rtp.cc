#include "media/rtp.h"

#include <algorithm>
#include <cstring>

#include "media/time.h"

namespace parley {
namespace {

constexpr uint8_t kVersion2 = 0x80;
constexpr uint8_t kSenderReport = 200, kReceiverReport = 201, kSourceDescription = 202, kGoodbye = 203;
constexpr uint8_t kCnameItem = 1;
constexpr uint64_t kUnixToNtpSeconds = 2'208'988'800;  // 1900 to 1970 (RFC 868)

// `bytes` is the whole packet's length, a multiple of four.
void PutRtcpHeader(uint8_t* out, uint8_t count, uint8_t type, size_t bytes) {
  out[0] = kVersion2 | count;
  out[1] = type;
  PutBig16(out + 2, static_cast<uint16_t>(bytes / 4 - 1));
}

constexpr int32_t kMostLost = 0x7fffff;  // 24 bits with sign

size_t PutBlock(uint8_t* out, const ReceptionBlock& block) {
  const int32_t lost = std::clamp(block.lost, -kMostLost - 1, kMostLost);
  PutBig32(out, block.ssrc);
  PutBig32(out + 4, uint32_t{block.fraction_lost} << 24 | (static_cast<uint32_t>(lost) & 0xffffff));
  PutBig32(out + 8, block.highest);
  PutBig32(out + 12, block.jitter);
  PutBig32(out + 16, block.last_sr);
  PutBig32(out + 20, block.delay);
  return 24;
}

size_t PutReport(uint8_t* out, const SenderReport& report, const ReceptionBlock* block) {
  const uint8_t blocks = block ? 1 : 0;
  const size_t block_bytes = block ? 24 : 0;
  if (report.packets == 0) {
    PutRtcpHeader(out, blocks, kReceiverReport, 8 + block_bytes);
    PutBig32(out + 4, report.ssrc);
    return 8 + (block ? PutBlock(out + 8, *block) : 0);
  }
  const uint64_t seconds = static_cast<uint64_t>(report.unix_ns / kNsPerSecond);
  const uint64_t fraction = (static_cast<uint64_t>(report.unix_ns % kNsPerSecond) << 32) / kNsPerSecond;
  PutRtcpHeader(out, blocks, kSenderReport, 28 + block_bytes);
  PutBig32(out + 4, report.ssrc);
  PutBig32(out + 8, static_cast<uint32_t>(seconds + kUnixToNtpSeconds));
  PutBig32(out + 12, static_cast<uint32_t>(fraction));
  PutBig32(out + 16, report.rtp_timestamp);
  PutBig32(out + 20, report.packets);
  PutBig32(out + 24, report.octets);
  return 28 + (block ? PutBlock(out + 28, *block) : 0);
}

// One chunk with one item, ended and padded with zeros to four bytes (RFC 3550, 6.5).
size_t PutDescription(uint8_t* out, uint32_t ssrc, const std::string& cname) {
  const size_t bytes = (8 + 2 + cname.size() + 1 + 3) / 4 * 4;
  std::memset(out, 0, bytes);
  PutRtcpHeader(out, 1, kSourceDescription, bytes);
  PutBig32(out + 4, ssrc);
  out[8] = kCnameItem;
  out[9] = static_cast<uint8_t>(cname.size());
  std::memcpy(out + 10, cname.data(), cname.size());
  return bytes;
}

}  // namespace

void WriteRtpHeader(uint8_t* out, const RtpHeader& header) {
  out[0] = kVersion2;
  out[1] = static_cast<uint8_t>((header.marker ? 0x80 : 0) | header.payload_type);
  PutBig16(out + 2, header.sequence);
  PutBig32(out + 4, header.timestamp);
  PutBig32(out + 8, header.ssrc);
}

size_t RtpHeaderLength(const uint8_t* packet, size_t len) {
  if (len < kRtpHeaderBytes || packet[0] >> 6 != 2) return 0;
  size_t header = kRtpHeaderBytes + 4 * (packet[0] & 0x0f);
  if (packet[0] & 0x10) {
    if (len < header + 4) return 0;
    header += 4 + 4 * size_t{GetBig16(packet + header + 2)};
  }
  return header <= len ? header : 0;
}

uint32_t RtcpSource(const uint8_t* compound) { return GetBig32(compound + 4); }

size_t WriteReport(uint8_t* out, const SenderReport& report, const ReceptionBlock* block,
                   const std::string& cname, bool bye) {
  size_t bytes = PutReport(out, report, block);
  bytes += PutDescription(out + bytes, report.ssrc, cname);
  if (bye) {
    PutRtcpHeader(out + bytes, 1, kGoodbye, 8);
    PutBig32(out + bytes + 4, report.ssrc);
    bytes += 8;
  }
  return bytes;
}

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

namespace {

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
    out->block = {static_cast<uint8_t>(loss >> 24),
                  SignedLoss(loss),
                  GetBig32(at + 8),
                  GetBig32(at + 12),
                  GetBig32(at + 16),
                  GetBig32(at + 20)};
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
