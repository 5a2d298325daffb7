// Processes all datagrams that arrive for one call:
//
//   datagram ─▶ RTP or RTCP? ─▶ SRTP ─▶ well formed? ─▶ latched source? ─▶ counted ─▶ digit · inbox · relay
//
// It uses neither sockets nor threads. The caller passes one packet at a time, and results go to the listener
// within that call. All input is untrusted until SRTP or the latch accepts it.
#ifndef PARLEY_MEDIA_RECEIVE_INTAKE_H_
#define PARLEY_MEDIA_RECEIVE_INTAKE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "media/hear/inbox.h"
#include "media/join/relay.h"
#include "media/receive/address.h"
#include "media/receive/latch.h"
#include "media/receive/reception.h"
#include "media/reception_mailbox.h"
#include "media/red.h"
#include "media/rtp.h"
#include "media/srtp.h"
#include "media/time.h"

namespace parley {

// Receives telephone events (RFC 4733): one report for each key that goes down, and one when it is released.
//
// A new timestamp begins a new event; the marker bit is not required. Any packet of an event begins it, so
// its first packets may be lost. It ends with a packet with the end flag, a packet of the next event, or
// silence of kTimeoutNs. Later packets of an ended event are retransmissions and are ignored.

struct Digit {
  uint8_t event;        // 0-9, 10 = *, 11 = #, 12-15 = A-D, 16 = flash (RFC 4733, 3.2)
  int64_t started_ns;   // the first packet of it came
  int64_t duration_ns;  // as the far end says
};

class DigitReader {
 public:
  // Far ends repeat their packet every 10 to 60 ms; this outlives the loss of several.
  static constexpr int64_t kTimeoutNs = 250'000'000;

  struct Packet {
    uint32_t ssrc;
    uint32_t timestamp;
    uint32_t clock_rate;  // the telephone-event payload type's, in Hz
    const uint8_t* payload;
    size_t payload_bytes;
  };

  // Up to two digits end with one packet: the one before, and one that comes as its end only.
  // Returns how many were written to `out`. A payload shorter than four bytes is nothing.
  int Take(const Packet& packet, int64_t now_ns, Digit out[2]);

  // True: the packet that was taken last pressed this key, which is still down.
  bool is_pressed() const { return pressed_; }
  uint8_t event() const { return event_; }

  // INT64_MAX while no key is down.
  int64_t deadline_ns() const { return down_ ? last_ns_ + kTimeoutNs : INT64_MAX; }
  // True: the deadline has passed, the digit is over.
  bool Expire(int64_t now_ns, Digit* out);

  // The far end begins anew (its addresses or payload types change): a key that is down is over.
  bool Release(Digit* out);

 private:
  bool IsContinuation(const Packet& packet, uint8_t event) const;
  Digit Up();

  bool known_ = false;  // there was an event; it may be over
  bool down_ = false;
  bool pressed_ = false;
  uint32_t ssrc_ = 0;
  uint32_t timestamp_ = 0;  // the event's, or its last segment's
  uint32_t clock_rate_ = 0;
  uint8_t event_ = 0;
  uint32_t duration_ = 0;      // ticks of this segment
  uint64_t before_ticks_ = 0;  // duration of earlier segments (RFC 4733, 2.5.1.3)
  int64_t started_ns_ = 0;
  int64_t last_ns_ = 0;
};

enum class PayloadKind : uint8_t { kUnknown, kSound, kDigit, kComfortNoise, kRedundant };

struct PayloadType {
  PayloadKind kind = PayloadKind::kUnknown;
  uint32_t clock_rate = 0;
  VoiceCodec codec = VoiceCodec::kPcmu;  // kSound
};
using PayloadTypes = std::array<PayloadType, 128>;

enum class Protection : uint8_t {
  kPlain,
  kClosed,  // keys are still being agreed on: no media is believed
  kSrtp,
};

struct IntakeStats {
  uint64_t packets = 0, octets = 0;  // RTP of the call's own source, payload only
  uint64_t comfort_noise = 0, digits = 0, rtcp_packets = 0, source_changes = 0;
  // Refused, by reason.
  uint64_t malformed = 0, strangers = 0, unknown_payloads = 0, forged = 0, replayed = 0, closed = 0,
           foreign = 0;
  uint64_t departures = 0;  // times that the latch left the announced address for another
  // Reception totals over all sources.
  uint64_t expected = 0, received = 0, repeated = 0, late = 0, lost = 0;
  double jitter_ms = 0, max_jitter_ms = 0;
  uint32_t ssrc = 0, highest = 0;  // the present source's; its highest sequence number, extended by its wraps
  // Our stream's reception, as the far end reports it.
  uint64_t remote_reports = 0;
  int32_t remote_lost = 0;
  double remote_fraction_lost = 0, remote_jitter_ms = 0, rtt_ms = -1;  // -1: not known
  int64_t last_rtp_ns = -1, last_rtcp_ns = -1;                         // -1: none came
  bool bye = false;
};

class IntakeListener {
 public:
  // A key goes down; OnDigit follows when it is released.
  virtual void OnKeyDown(uint8_t event, int64_t now_ns) = 0;
  virtual void OnDigit(const Digit& digit) = 0;
  // RTP and RTCP are sent to these addresses from now on, or arrived from there for the first time.
  virtual void OnTarget(const Address& rtp, const Address& rtcp) = 0;
  virtual void OnBye() = 0;
  virtual void OnReception(const ReceptionState& state) = 0;
  // A STUN or DTLS packet, which another component handles.
  virtual void OnForeign(const uint8_t* data, size_t len, const Address& from, bool rtcp_port) = 0;

 protected:
  ~IntakeListener() = default;
};

class Intake {
 public:
  static constexpr size_t kMaxDatagram = 2048;

  // Both outlive the intake. `mux`: reports are sent to the port of RTP; they are understood on either.
  Intake(const TimeSource* time, IntakeListener* listener, bool mux)
      : time_(time), listener_(listener), mux_(mux) {}

  // Parameters from the call's session description; each may change while the call runs.
  void SetPayloadTypes(const PayloadTypes& types) { types_ = types; }
  void SetLatchRules(const Latch::Rules& rules) { latch_.SetRules(rules); }
  void Learn(const Address& rtp, const Address& rtcp, bool mux);
  // Null with kPlain or kClosed.
  void SetProtection(Protection protection, std::unique_ptr<SrtpReceiver> srtp);
  const SrtpReceiver* srtp() const { return srtp_.get(); }
  // Our own stream: its SSRC in the far end's reports, and its clock.
  void SetOurs(uint32_t ssrc, uint32_t clock_rate) { our_ssrc_ = ssrc, our_clock_rate_ = clock_rate; }
  // Accepted packets go there from now on, with those that redundancy (RFC 2198) repeats. Null: nobody
  // listens.
  void Listen(Inbox* inbox);
  // Accepted packets go there from now on, with lost ones that redundancy repeats. Null: to no other call.
  void RelayTo(Relay* relay) { relay_ = relay; }
  // The same for a mixer that the call is a member of.
  void Join(Inbox* inbox);

  void Take(const uint8_t* data, size_t len, const Address& from, bool rtcp_port, int64_t now_ns);

  int64_t deadline_ns() const { return digits_.deadline_ns(); }
  void Expire(int64_t now_ns);

  IntakeStats Stats() const;
  const Latch& latch() const { return latch_; }
  // Destination of RTCP reports. With rtcp-mux it is that of RTP. Otherwise it is the first of these: the
  // address from which reports came, if on RTP's host; the announced address, if RTP is at its announced
  // address; the port after that of RTP. After port 65535 there is none, so reports go with RTP.
  Address rtcp_target() const;

 private:
  void TakeRtp(const uint8_t* data, size_t len, const Address& from, int64_t now_ns);
  void TakeRtcp(const uint8_t* data, size_t len, const Address& from, bool rtcp_port, int64_t now_ns);
  bool Unprotect(bool rtcp, int64_t now_ns, const uint8_t** data, size_t* len);
  void TakeDigit(const RtpView& packet, int64_t now_ns);
  void TakeSource(const RtpView& packet, PayloadKind kind, int64_t now_ns);
  void ChangeSource();
  void BeginSource();
  void Hear(const RtpView& packet, PayloadKind kind, Reception::Verdict verdict, int64_t now_ns);
  void BeginHearing();
  void PutHeard(const RtpView& packet, PayloadKind kind, int64_t now_ns);
  void PutIntoInboxes(const HeardPacket& heard);
  void PutRepeated(uint64_t timestamp, int64_t now_ns);
  void PutRelayed(const RtpView& packet, PayloadKind kind, int64_t now_ns);
  RelayedPacket::Kind RelayedKind(PayloadKind kind, const PayloadType& type) const;
  void TakeBlock(const ReportBlock& block, int64_t now_ns);
  bool TakePrimary(RtpView* packet);
  bool Latches(const RtpView& packet, const Address& from, int64_t now_ns);
  void NoteReporter(const RtcpView& view, const Address& from);
  void Retarget(const Address& rtp_before, const Address& rtcp_before);
  void PublishReception();

  const TimeSource* const time_;
  IntakeListener* const listener_;
  bool mux_;
  PayloadTypes types_{};
  Latch latch_;
  Address rtcp_announced_, rtcp_found_;  // without mux
  Protection protection_ = Protection::kPlain;
  std::unique_ptr<SrtpReceiver> srtp_;
  uint32_t our_ssrc_ = 0, our_clock_rate_ = 0;
  Inbox* inbox_ = nullptr;   // of listeners
  Inbox* joined_ = nullptr;  // of a mixer
  Relay* relay_ = nullptr;
  uint32_t sources_ = 0;       // that numbers began anew of
  uint32_t heard_source_ = 0;  // changes where the numbers of what is heard begin anew

  std::optional<Reception> source_;
  std::optional<Reception> candidate_;  // another SSRC, until two packets in sequence came of it
  DigitReader digits_;
  ReceivedRed red_;         // of the packet that is being processed
  uint64_t timestamp_ = 0;  // the last one heard, extended
  bool has_timestamp_ = false;
  uint32_t last_sr_ = 0;
  int64_t last_sr_ns_ = 0;
  IntakeStats stats_;  // the part that does not come from source_
  std::array<uint8_t, kMaxDatagram> plain_{};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_INTAKE_H_
