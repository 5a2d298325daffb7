// RTP and RTCP as bytes (RFC 3550): written for the plane, read from the network. Pure.
#ifndef PARLEY_MEDIA_RTP_H_
#define PARLEY_MEDIA_RTP_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace parley {

// Integers in network byte order.
inline void PutBig16(uint8_t* out, uint16_t value) {
  out[0] = static_cast<uint8_t>(value >> 8);
  out[1] = static_cast<uint8_t>(value);
}

inline void PutBig32(uint8_t* out, uint32_t value) {
  PutBig16(out, static_cast<uint16_t>(value >> 16));
  PutBig16(out + 2, static_cast<uint16_t>(value));
}

inline uint16_t GetBig16(const uint8_t* in) { return static_cast<uint16_t>(in[0] << 8 | in[1]); }

inline uint32_t GetBig32(const uint8_t* in) { return uint32_t{GetBig16(in)} << 16 | GetBig16(in + 2); }

// A compound of RTCP as it came: what of it concerns this call (RFC 3550, 6.4
// to 6.6). Everything else (SDES, APP, XR, feedback) is stepped over. Pure.

// The far end's report block on the stream that we send (RFC 3550, 6.4.1).
struct ReportBlock {
  uint8_t fraction_lost;    // in units of 1/256, since its last report
  int32_t cumulative_lost;  // negative where more came than was expected: repeats
  uint32_t highest_sequence;
  uint32_t jitter;   // in units of our timestamp
  uint32_t last_sr;  // middle 32 bits of the NTP time of our report; 0: none yet
  uint32_t delay;    // since then, in 1/65536 s
};

struct RtcpView {
  uint32_t sender = 0;  // the compound's first packet's
  bool has_sender_report = false;
  uint32_t ntp_middle = 0;  // the sender report's
  bool has_block = false;
  ReportBlock block{};  // the last one about `ours`
  bool bye = false;     // from `sender`
};

// `ours`: the SSRC whose report blocks count. False when a packet of the
// compound is malformed or the first one is no report where it must be one;
// a reduced-size packet (RFC 5506) is one that begins with feedback.
bool ParseRtcp(const uint8_t* compound, size_t len, uint32_t ours, RtcpView* out);

// An RTP packet as it came, checked and taken apart (RFC 3550, 5.1 and A.1). Pure.
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

// Kind of a datagram on the media port, determined by its first bytes (RFC 5761, RFC 7983).
enum class DatagramKind : uint8_t { kRtp, kRtcp, kStun, kDtls, kOther };
DatagramKind KindOf(const uint8_t* packet, size_t len);

constexpr size_t kRtpHeaderBytes = 12;
constexpr size_t kMaxCname = 255;  // bytes: the length field of an SDES item has one byte

struct RtpHeader {
  bool marker;
  uint8_t payload_type;
  uint16_t sequence;
  uint32_t timestamp;
  uint32_t ssrc;
};

// Writes kRtpHeaderBytes.
void WriteRtpHeader(uint8_t* out, const RtpHeader& header);

// The bytes of a packet before its payload: header, CSRCs, extension. 0 when it
// is no RTP of version 2 or shorter than it says.
size_t RtpHeaderLength(const uint8_t* packet, size_t len);

constexpr size_t kRtcpHeaderBytes = 8;  // with the sender's SSRC

// The SSRC that sends a compound of at least kRtcpHeaderBytes.
uint32_t RtcpSource(const uint8_t* compound);

struct SenderReport {
  uint32_t ssrc;
  int64_t unix_ns;         // the moment of the report
  uint32_t rtp_timestamp;  // same moment, in the stream's own clock
  uint32_t packets;
  uint32_t octets;  // payload octets sent
};

// The report block on the source that is received (RFC 3550, 6.4.1).
struct ReceptionBlock {
  uint32_t ssrc;
  uint8_t fraction_lost;  // in units of 1/256, since the last report
  int32_t lost;           // since the beginning
  uint32_t highest;       // extended sequence number
  uint32_t jitter;
  uint32_t last_sr;  // 0: none came
  uint32_t delay;    // since then, in 1/65536 s
};

// Enough for a compound with the longest name.
constexpr size_t kMaxReportBytes = 28 + 24 + 4 + 4 + 2 + kMaxCname + 4 + 8;

// Writes the compound SR (RR when no packet was sent), SDES with CNAME, and BYE
// when `bye`; returns its length. `block` may be null.
size_t WriteReport(uint8_t* out, const SenderReport& report, const ReceptionBlock* block,
                   const std::string& cname, bool bye);

}  // namespace parley

#endif  // PARLEY_MEDIA_RTP_H_
