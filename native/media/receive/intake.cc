#include "media/receive/intake.h"

#include <algorithm>

#include "media/rtp.h"
#include "media/time.h"

namespace parley {
namespace {

constexpr uint64_t kUnixToNtpSeconds = 2'208'988'800;    // 1900 to 1970 (RFC 868)
constexpr uint64_t kFirstTimestamp = uint64_t{1} << 32;  // so that none before it is negative

// The middle 32 bits of NTP time: units of 1/65536 s, wrapping after 18 hours.
uint32_t NtpMiddle(int64_t unix_ns) {
  const uint64_t seconds = static_cast<uint64_t>(unix_ns / kNsPerSecond) + kUnixToNtpSeconds;
  const uint64_t fraction = (static_cast<uint64_t>(unix_ns % kNsPerSecond) << 16) / kNsPerSecond;
  return static_cast<uint32_t>(seconds << 16 | fraction);
}

}  // namespace

void Intake::Learn(const Address& rtp, const Address& rtcp, bool mux) {
  const Address rtp_before = latch_.target(), rtcp_before = rtcp_target();
  latch_.Learn(rtp);
  if (rtcp != rtcp_announced_) rtcp_found_ = Address();
  rtcp_announced_ = rtcp;
  mux_ = mux;
  Retarget(rtp_before, rtcp_before);
}

Address Intake::rtcp_target() const {
  const Address& rtp = latch_.target();
  if (mux_) return rtp;
  if (rtcp_found_.known() && rtcp_found_.SameHost(rtp)) return rtcp_found_;
  if (rtcp_announced_.known() && rtp == latch_.announced()) return rtcp_announced_;
  return rtp.port() == UINT16_MAX ? rtp : rtp.WithPort(static_cast<uint16_t>(rtp.port() + 1));
}

void Intake::SetProtection(Protection protection, std::unique_ptr<SrtpReceiver> srtp) {
  protection_ = protection;
  srtp_ = std::move(srtp);
}

void Intake::Listen(Inbox* inbox) {
  BeginHearing();
  inbox_ = inbox;
}

void Intake::Join(Inbox* inbox) {
  BeginHearing();
  joined_ = inbox;
}

// The numbers of what is heard go on while one of the two hears.
void Intake::BeginHearing() {
  if (inbox_ || joined_) return;
  has_timestamp_ = false;
  heard_source_++;
}

void Intake::Take(const uint8_t* data, size_t len, const Address& from, bool rtcp_port, int64_t now_ns) {
  // Port 0 cannot be answered; only a raw socket can send from it.
  if (len > kMaxDatagram || from.port() == 0) {
    stats_.malformed++;
    return;
  }
  const DatagramKind kind = KindOf(data, len);
  if (kind == DatagramKind::kRtcp) return TakeRtcp(data, len, from, rtcp_port, now_ns);
  if (kind == DatagramKind::kRtp && !rtcp_port) return TakeRtp(data, len, from, now_ns);
  if (kind == DatagramKind::kStun || kind == DatagramKind::kDtls) {
    stats_.foreign++;
    return listener_->OnForeign(data, len, from, rtcp_port);
  }
  stats_.malformed++;
}

// SRTP first: nothing else of the packet is looked at before it is genuine.
bool Intake::Unprotect(bool rtcp, int64_t now_ns, const uint8_t** data, size_t* len) {
  if (protection_ == Protection::kPlain) return true;
  if (!srtp_) {
    stats_.closed++;
    return false;
  }
  const SrtpResult result = rtcp ? srtp_->OpenRtcp(*data, *len, now_ns, plain_.data(), len)
                                 : srtp_->OpenRtp(*data, *len, now_ns, plain_.data(), len);
  *data = plain_.data();
  switch (result) {
    case SrtpResult::kOpened:
      return true;
    case SrtpResult::kMalformed:
      stats_.malformed++;
      return false;
    case SrtpResult::kReplayed:
      stats_.replayed++;
      return false;
    case SrtpResult::kForged:
      stats_.forged++;
      return false;
  }
  return false;
}

void Intake::TakeRtp(const uint8_t* data, size_t len, const Address& from, int64_t now_ns) {
  if (!Unprotect(false, now_ns, &data, &len)) return;
  RtpView packet;
  if (!ParseRtp(data, len, &packet)) {
    stats_.malformed++;
    return;
  }
  red_.count = 0;
  if (types_[packet.payload_type].kind == PayloadKind::kRedundant && !TakePrimary(&packet)) return;
  const PayloadKind kind = types_[packet.payload_type].kind;
  if (kind == PayloadKind::kUnknown || kind == PayloadKind::kRedundant) {
    stats_.unknown_payloads++;
    return;
  }
  if (!Latches(packet, from, now_ns)) {
    stats_.strangers++;
    return;
  }
  stats_.last_rtp_ns = now_ns;
  if (kind == PayloadKind::kDigit) TakeDigit(packet, now_ns);
  TakeSource(packet, kind, now_ns);
}

// A packet with redundancy is one of its primary payload. Its other blocks are of packets before it.
bool Intake::TakePrimary(RtpView* packet) {
  if (!ReadRed(packet->payload, packet->payload_bytes, &red_)) {
    stats_.malformed++;
    return false;
  }
  packet->payload = red_.primary.payload;
  packet->payload_bytes = red_.primary.bytes;
  packet->payload_type = red_.primary.payload_type;
  return true;
}

// False when the packet is not the call's.
bool Intake::Latches(const RtpView& packet, const Address& from, int64_t now_ns) {
  const Address before = latch_.latched(), rtp_before = latch_.target(), rtcp_before = rtcp_target();
  const bool is_proven = srtp_ && srtp_->was_newest();
  if (!latch_.Accept({from, packet.ssrc, packet.sequence, is_proven}, now_ns)) return false;
  if (latch_.latched() == before) return true;
  stats_.departures += latch_.is_away();
  if (!before.known()) {
    listener_->OnTarget(latch_.target(), rtcp_target());
  } else {
    Retarget(rtp_before, rtcp_before);
  }
  return true;
}

// Events count whatever their SSRC: some gateways give them one of their own.
void Intake::TakeDigit(const RtpView& packet, int64_t now_ns) {
  Digit digits[2];
  const int count = digits_.Take({packet.ssrc, packet.timestamp, types_[packet.payload_type].clock_rate,
                                  packet.payload, packet.payload_bytes},
                                 now_ns, digits);
  for (int n = 0; n < count; n++) {
    stats_.digits++;
    listener_->OnDigit(digits[n]);
  }
  if (digits_.is_pressed()) listener_->OnKeyDown(digits_.event(), now_ns);
}

void Intake::TakeSource(const RtpView& packet, PayloadKind kind, int64_t now_ns) {
  if (!source_) source_.emplace(packet.ssrc);
  if (packet.ssrc != source_->ssrc()) {
    if (kind == PayloadKind::kDigit) return;
    if (!candidate_ || candidate_->ssrc() != packet.ssrc) candidate_.emplace(packet.ssrc);
    if (candidate_->Take(packet.sequence) == Reception::Verdict::kProbation) return;
    ChangeSource();
    Hear(packet, kind, Reception::Verdict::kNext, now_ns);
    return PublishReception();
  }
  candidate_.reset();
  const Reception::Verdict verdict = source_->Take(packet.sequence);
  if (verdict == Reception::Verdict::kRestarted) {
    BeginSource();
  }
  if (verdict == Reception::Verdict::kNext || verdict == Reception::Verdict::kLate ||
      verdict == Reception::Verdict::kRestarted) {
    Hear(packet, kind, verdict, now_ns);
  }
  PublishReception();
}

// The candidate takes over; what was counted of the one before stays counted.
void Intake::ChangeSource() {
  stats_.expected += source_->expected();
  stats_.received += source_->received();
  stats_.repeated += source_->repeated();
  stats_.late += source_->late();
  stats_.lost += source_->lost();
  stats_.max_jitter_ms = std::max(stats_.max_jitter_ms, source_->max_jitter_ms());
  stats_.source_changes++;
  source_.emplace(*candidate_);
  candidate_.reset();
  BeginSource();
  last_sr_ = 0;
}

void Intake::BeginSource() {
  sources_++;
  heard_source_++;
  has_timestamp_ = false;
}

void Intake::Hear(const RtpView& packet, PayloadKind kind, Reception::Verdict verdict, int64_t now_ns) {
  stats_.packets++;
  stats_.octets += packet.payload_bytes;
  if (kind == PayloadKind::kComfortNoise) stats_.comfort_noise++;
  if (kind == PayloadKind::kSound && verdict != Reception::Verdict::kLate) {
    source_->NoteTransit(packet.timestamp, types_[packet.payload_type].clock_rate, now_ns);
  }
  if (inbox_ || joined_) PutHeard(packet, kind, now_ns);
  if (relay_) PutRelayed(packet, kind, now_ns);
}

void Intake::PutHeard(const RtpView& packet, PayloadKind kind, int64_t now_ns) {
  if (!has_timestamp_) timestamp_ = kFirstTimestamp + packet.timestamp;
  has_timestamp_ = true;
  const auto step = static_cast<int32_t>(packet.timestamp - static_cast<uint32_t>(timestamp_));
  const uint64_t timestamp = timestamp_ + static_cast<uint64_t>(static_cast<int64_t>(step));
  timestamp_ = std::max(timestamp_, timestamp);
  if (kind == PayloadKind::kSound) PutRepeated(timestamp, now_ns);
  const PayloadType& type = types_[packet.payload_type];
  HeardPacket heard{HeardPacket::kSound, type.codec, type.clock_rate, source_->taken(),
                    timestamp,           now_ns,     packet.payload,  packet.payload_bytes};
  if (kind == PayloadKind::kComfortNoise) heard.kind = HeardPacket::kComfortNoise;
  if (kind == PayloadKind::kDigit) heard.kind = HeardPacket::kEvent, heard.bytes = 0;
  PutIntoInboxes(heard);
}

void Intake::PutIntoInboxes(const HeardPacket& heard) {
  if (inbox_) inbox_->Put(heard, heard_source_);
  if (joined_) joined_->Put(heard, heard_source_);
}

// Blocks carry no sequence number: the block before the primary one is taken for the packet before it. A
// block whose packet came is left out.
void Intake::PutRepeated(uint64_t timestamp, int64_t now_ns) {
  for (size_t n = red_.count; n > 0; n--) {
    const ReceivedRed::Block& block = red_.blocks[n - 1];
    const PayloadType& type = types_[block.payload_type];
    if (block.bytes == 0 || type.kind != PayloadKind::kSound || !source_->Misses(n)) continue;
    PutIntoInboxes({HeardPacket::kSound, type.codec, type.clock_rate, source_->taken() - n,
                    timestamp - block.offset, now_ns, block.payload, block.bytes, true});
  }
}

// Before a packet go those that were lost and that it repeats, so that the other far end misses nothing.
void Intake::PutRelayed(const RtpView& packet, PayloadKind kind, int64_t now_ns) {
  for (size_t n = kind == PayloadKind::kSound ? red_.count : 0; n > 0; n--) {
    const ReceivedRed::Block& block = red_.blocks[n - 1];
    const PayloadType& type = types_[block.payload_type];
    if (block.bytes == 0 || RelayedKind(type.kind, type) != RelayedPacket::kSound || !source_->Misses(n))
      continue;
    relay_->Put({RelayedPacket::kSound, false, sources_, static_cast<uint32_t>(block.bytes),
                 packet.timestamp - block.offset, source_->taken() - n, now_ns},
                block.payload);
  }
  RelayedPacket relayed{RelayedKind(kind, types_[packet.payload_type]),
                        packet.marker,
                        sources_,
                        static_cast<uint32_t>(packet.payload_bytes),
                        packet.timestamp,
                        source_->taken(),
                        now_ns};
  if (relayed.bytes == 0) relayed.kind = RelayedPacket::kLeftOut;
  if (relayed.kind == RelayedPacket::kLeftOut) relayed.bytes = 0;
  if (relayed.kind == RelayedPacket::kLeftOut && kind != PayloadKind::kDigit) relay_->NoteRefused();
  relay_->Put(relayed, packet.payload);
}

RelayedPacket::Kind Intake::RelayedKind(PayloadKind kind, const PayloadType& type) const {
  const Relay::Format& format = relay_->format();
  if (kind == PayloadKind::kComfortNoise && format.comfort_noise) return RelayedPacket::kComfortNoise;
  const bool same = type.codec == format.codec && type.clock_rate == format.clock_rate;
  return kind == PayloadKind::kSound && same ? RelayedPacket::kSound : RelayedPacket::kLeftOut;
}

void Intake::TakeRtcp(const uint8_t* data, size_t len, const Address& from, bool rtcp_port, int64_t now_ns) {
  if (!Unprotect(true, now_ns, &data, &len)) return;
  RtcpView view;
  if (!ParseRtcp(data, len, our_ssrc_, &view)) {
    stats_.malformed++;
    return;
  }
  // Reports decide no address of the media, only the port of their own.
  if (!srtp_ && !from.SameHost(latch_.target())) {
    stats_.strangers++;
    return;
  }
  if (rtcp_port) NoteReporter(view, from);
  stats_.rtcp_packets++;
  stats_.last_rtcp_ns = now_ns;
  if (view.has_sender_report && source_ && view.sender == source_->ssrc()) {
    last_sr_ = view.ntp_middle;
    last_sr_ns_ = now_ns;
    PublishReception();
  }
  if (view.has_block) TakeBlock(view.block, now_ns);
  if (view.bye && source_ && view.sender == source_->ssrc() && !stats_.bye) {
    stats_.bye = true;
    listener_->OnBye();
  }
}

// Reports go to where they come from only if the sender is the source of the
// call's RTP, or SRTP proves it, or RTP or RTCP is sent to that address already.
void Intake::NoteReporter(const RtcpView& view, const Address& from) {
  if (from == rtcp_found_ || from.port() < Latch::kLowestPort) return;
  const bool is_source = source_ && source_->valid() && view.sender == source_->ssrc();
  if (!is_source && !srtp_ && from != rtcp_announced_ && from != latch_.target()) return;
  const Address before = rtcp_target();
  rtcp_found_ = from;
  Retarget(latch_.target(), before);
}

void Intake::TakeBlock(const ReportBlock& block, int64_t now_ns) {
  stats_.remote_reports++;
  stats_.remote_lost = block.cumulative_lost;
  stats_.remote_fraction_lost = block.fraction_lost / 256.0;
  if (our_clock_rate_ != 0) stats_.remote_jitter_ms = block.jitter * 1000.0 / our_clock_rate_;
  if (block.last_sr == 0) return;
  // RFC 3550, 6.4.1. A clock that was set meanwhile makes it negative or absurd.
  const auto trip = static_cast<int32_t>(NtpMiddle(time_->UnixNs(now_ns)) - block.last_sr - block.delay);
  constexpr int32_t kLongest = 30 << 16;
  if (trip >= 0 && trip < kLongest) stats_.rtt_ms = trip * 1000.0 / 65536;
}

void Intake::Expire(int64_t now_ns) {
  Digit digit;
  if (!digits_.Expire(now_ns, &digit)) return;
  stats_.digits++;
  listener_->OnDigit(digit);
}

void Intake::Retarget(const Address& rtp_before, const Address& rtcp_before) {
  if (latch_.target() == rtp_before && rtcp_target() == rtcp_before) return;
  listener_->OnTarget(latch_.target(), rtcp_target());
}

void Intake::PublishReception() {
  if (!source_ || !source_->valid()) return;
  listener_->OnReception({source_->ssrc(), source_->highest(), source_->expected(), source_->received(),
                          source_->jitter(), last_sr_, last_sr_ns_});
}

IntakeStats Intake::Stats() const {
  IntakeStats stats = stats_;
  if (!source_) return stats;
  stats.ssrc = source_->ssrc();
  stats.highest = source_->highest();
  stats.expected += source_->expected();
  stats.received += source_->received();
  stats.repeated += source_->repeated();
  stats.late += source_->late();
  stats.lost += source_->lost();
  stats.jitter_ms = source_->jitter_ms();
  stats.max_jitter_ms = std::max(stats.max_jitter_ms, source_->max_jitter_ms());
  return stats;
}

namespace {

constexpr uint32_t kLongestSegment = 0xffff;  // ticks

}  // namespace

int DigitReader::Take(const Packet& packet, int64_t now_ns, Digit out[2]) {
  pressed_ = false;
  if (packet.payload_bytes < 4 || packet.clock_rate == 0) return 0;
  const uint8_t event = packet.payload[0];
  const bool end = (packet.payload[1] & 0x80) != 0;
  const uint32_t duration = GetBig16(packet.payload + 2);
  int digits = 0;

  const bool same_source = known_ && packet.ssrc == ssrc_;
  const bool same_event = same_source && packet.timestamp == timestamp_ && event == event_;
  if (same_event && !down_) return 0;  // its end comes three times
  if (!same_event && same_source) {
    // The packet was overtaken by a later one.
    if (static_cast<int32_t>(packet.timestamp - timestamp_) < 0) return 0;
  }
  if (!same_event) {
    if (IsContinuation(packet, event)) {
      before_ticks_ += kLongestSegment;
    } else {
      if (down_) out[digits++] = Up();
      before_ticks_ = 0;
      started_ns_ = now_ns;
      pressed_ = !end;
    }
    known_ = down_ = true;
    ssrc_ = packet.ssrc;
    timestamp_ = packet.timestamp;
    clock_rate_ = packet.clock_rate;
    event_ = event;
    duration_ = 0;
  }
  duration_ = std::max(duration_, duration);
  last_ns_ = now_ns;
  if (end) out[digits++] = Up();
  return digits;
}

// A key held longer than the duration field can say goes on as a new segment,
// whose timestamp is where the one before ended.
bool DigitReader::IsContinuation(const Packet& packet, uint8_t event) const {
  return down_ && packet.ssrc == ssrc_ && event == event_ && packet.timestamp == timestamp_ + kLongestSegment;
}

Digit DigitReader::Up() {
  down_ = false;
  const uint64_t ticks = before_ticks_ + duration_;
  return {event_, started_ns_, static_cast<int64_t>(ticks) * kNsPerSecond / clock_rate_};
}

bool DigitReader::Expire(int64_t now_ns, Digit* out) { return now_ns >= deadline_ns() && Release(out); }

bool DigitReader::Release(Digit* out) {
  if (!down_) return false;
  *out = Up();
  return true;
}

}  // namespace parley
