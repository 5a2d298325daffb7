// A compound of RTCP as it came: what of it concerns this call (RFC 3550, 6.4
// to 6.6). Everything else (SDES, APP, XR, feedback) is stepped over. Pure.
#ifndef PARLEY_MEDIA_RECEIVE_RTCP_VIEW_H_
#define PARLEY_MEDIA_RECEIVE_RTCP_VIEW_H_

#include <cstddef>
#include <cstdint>

namespace parley {

// What the far end says of the stream that we send to it.
struct ReportBlock {
  uint8_t fraction_lost;    // of 256, since its last report
  int32_t cumulative_lost;  // negative where more came than was expected: repeats
  uint32_t highest_sequence;
  uint32_t jitter;     // in units of our timestamp
  uint32_t last_sr;    // middle 32 bits of the NTP time of our report; 0: none yet
  uint32_t delay;      // since then, in 1/65536 s
};

struct RtcpView {
  uint32_t sender = 0;  // of the compound's first packet
  bool has_sender_report = false;
  uint32_t ntp_middle = 0;  // of the sender report
  bool has_block = false;
  ReportBlock block{};  // the last one about `ours`
  bool bye = false;     // of `sender`
};

// `ours`: the SSRC whose report blocks count. False when a packet of the
// compound is malformed or the first one is no report where it must be one;
// a reduced-size packet (RFC 5506) is one that begins with feedback.
bool ParseRtcp(const uint8_t* compound, size_t len, uint32_t ours, RtcpView* out);

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_RTCP_VIEW_H_
