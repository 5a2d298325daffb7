#include "media/stream.h"

#include <algorithm>
#include <cstring>

#include "media/clock.h"

namespace parley {

Stream::Stream(std::shared_ptr<Clock> clock, StreamConfig config, std::unique_ptr<SrtpSender> srtp,
               uint64_t seed)
    : clock_(std::move(clock)),
      config_(std::move(config)),
      srtp_(std::move(srtp)),
      queue_(config_.low_frames, config_.high_frames),
      random_(seed),
      sequence_(config_.sequence),
      timestamp_(config_.timestamp) {}

// Callers.

bool Stream::SetTarget(std::unique_ptr<Target> target) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (queue_.closed()) return false;
  target_.store(target.get());
  clock_->Quiesce();
  held_target_ = std::move(target);
  return true;
}

bool Stream::SendRtcp(const uint8_t* compound, size_t bytes) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (bytes > kMaxRtcp || queue_.closed()) return false;
  // The key is this source's: what another one signs cannot be encrypted with it.
  if (bytes < kRtcpHeaderBytes || RtcpSource(compound) != config_.ssrc) return false;
  RtcpPacket* place = rtcp_.Place();
  if (!place) return false;
  place->bytes = static_cast<uint32_t>(bytes);
  std::memcpy(place->data, compound, bytes);
  rtcp_.Publish();
  return true;
}

void Stream::GoOnFrom(StreamRemains remains) {
  sequence_.store(remains.sequence);
  timestamp_.store(remains.timestamp);
  if (remains.srtp) srtp_ = std::move(remains.srtp);
  packets_.Add(remains.packets);
  octets_.Add(remains.octets);
}

bool Stream::PressDigit(const DigitTone& tone) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  return !queue_.closed() && digits_.Put(tone);
}

bool Stream::WatchRoom(std::shared_ptr<ReadySink> sink) {
  room_.Arm(std::move(sink), handle_);
  const bool room = queue_.AwaitRoom();
  if (room) room_.Disarm();
  return room;
}

ClearedQueue Stream::Clear() {
  ClearedQueue cleared = queue_.Clear();
  if (queue_.ShouldNotify()) room_.Fire();
  return cleared;
}

TakenQueue Stream::Take(size_t most_sent) {
  TakenQueue taken = queue_.Take(most_sent);
  if (queue_.ShouldNotify()) room_.Fire();
  return taken;
}

StreamStats Stream::Stats() const {
  return {packets_.value(),     octets_.value(),     silence_packets_.value(),
          underruns_.value(),   late_ticks_.value(), skipped_ticks_.value(),
          send_errors_.value(), carried_.value(),    NsToMs(config_.period_ns) * queue_.QueuedFrames(),
          sequence_.load(),     timestamp_.load(),   digits_.waiting()};
}

void Stream::Close(std::vector<uint8_t>* carried_bye) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (queue_.closed()) return;
  queue_.Close();
  target_.store(nullptr);
  clock_->Quiesce();
  if (held_target_) SayBye(carried_bye);
  held_target_.reset();
  if (queue_.ShouldNotify()) room_.Fire();
}

bool Stream::Leave(StreamRemains* remains) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (queue_.closed()) return false;
  queue_.Close();
  target_.store(nullptr);
  clock_->Quiesce();
  held_target_.reset();
  *remains = {std::move(srtp_), sequence_.load(), timestamp_.load(), packets_.value(), octets_.value()};
  if (queue_.ShouldNotify()) room_.Fire();
  return true;
}

// The keys of a sender never change, and only Leave takes it away.
bool Stream::HasKeys(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt,
                     size_t salt_len) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  return srtp_ && srtp_->cipher().HasKeys(profile, key, key_len, salt, salt_len);
}

void Stream::SayBye(std::vector<uint8_t>* carried) {
  if (config_.report_interval_ns == 0 || packets_.value() == 0) return;
  uint8_t packet[kMaxReportBytes + SrtpSender::kMaxRtcpTrailer];
  const int64_t now_ns = clock_->time().Now();
  size_t bytes = BuildReport(packet, now_ns, true);
  if (srtp_) bytes = srtp_->ProtectRtcp(packet, bytes, sizeof(packet));
  if (bytes == 0) return;
  if (held_target_->captures()) {
    carried->assign(packet, packet + bytes);
  } else {
    SendNow(held_target_->rtcp(), packet, bytes, now_ns);
  }
}

void Stream::MarksDelivered(uint32_t count) {
  queue_.MarksDelivered(count);
  if (queue_.ShouldNotify()) room_.Fire();
}

// The clock.

void Stream::Begin(int64_t due, int64_t phase) {
  due_ns = due;
  phase_ns_ = phase;
}

bool Stream::Tick(Clock& clock, int64_t now_ns) {
  if (queue_.closed()) return false;
  SkipMissed(now_ns);
  if (next_report_ns_ == 0)
    next_report_ns_ = now_ns + ReportDelay() / 2;  // RFC 3550, 6.2: the first comes early
  if (const Target* target = target_.load()) {
    Transmit(*target, now_ns);
  } else {
    talking_ = false;
    digits_.Abandon();
  }
  timestamp_.store(timestamp_.load(std::memory_order_relaxed) + config_.ticks_per_frame,
                   std::memory_order_relaxed);
  due_ns += config_.period_ns;
  if (queue_.ShouldNotify() && !clock.PostEvent({this, now_ns, 0, 0, ClockEvent::kRoom}))
    queue_.RepeatNotice();
  return true;
}

// After a longer stall the stream goes on from now: a burst of old frames would
// only fill the far end's jitter buffer. The frames stay queued and come later.
void Stream::SkipMissed(int64_t now_ns) {
  const int64_t missed = (now_ns - due_ns) / config_.period_ns;
  if (missed <= kMaxCatchUp) return;
  due_ns += missed * config_.period_ns;
  timestamp_.store(timestamp_.load() + static_cast<uint32_t>(missed) * config_.ticks_per_frame);
  talking_ = false;
  skipped_ticks_.Add(static_cast<uint64_t>(missed));
  clock_->counters().skipped_ticks.Add(static_cast<uint64_t>(missed));
}

void Stream::Transmit(const Target& target, int64_t now_ns) {
  if (unsent_) clock_->wire().Flush();  // catching up: one frame after the other
  if (!paused_.load()) ReachMarks(now_ns);
  SendFrame(target);
  SendWaitingRtcp(target);
  if (config_.report_interval_ns != 0 && now_ns >= next_report_ns_) SendReport(target, now_ns);
}

// A key, a frame, or silence in their place. The first frame after anything else
// carries the marker bit (RFC 3551, 4.1).
void Stream::SendFrame(const Target& target) {
  if (SendDigit(target)) return;
  uint8_t* const packet = clock_->wire().Buffer();
  uint8_t* const payload = packet + kRtpHeaderBytes;
  const bool paused = paused_.load();
  const PlayoutQueue::Frame frame = paused ? PlayoutQueue::Frame{} : queue_.TakeFrame(payload);
  const bool voice = frame.bytes > 0;
  // Read after the queue was found empty: a clear, also one in the middle of this
  // tick, raises the generation before it empties the queue.
  if (!voice && !paused && in_track_ && queue_.generation() == generation_) {
    underruns_.Add();
    clock_->counters().underruns.Add();
  }
  const bool marker = voice && !talking_;
  talking_ = voice;
  const uint16_t sequence = sequence_.load(std::memory_order_relaxed);
  if (voice) {
    track_ = frame.track;
    generation_ = frame.generation;
    in_track_ = true;
    next_noise_ns_ = 0;
    const RtpHeader header{marker, config_.payload_type, sequence, timestamp_.load(), config_.ssrc};
    return CommitRtp(target, packet, header, frame.bytes, PacketKind::kVoice);
  }
  const size_t bytes = NoiseInto(payload);
  if (bytes == 0) return;
  const uint8_t type = config_.noise.on ? config_.noise.payload_type : config_.payload_type;
  const RtpHeader header{false, type, sequence, timestamp_.load(), config_.ssrc};
  CommitRtp(target, packet, header, bytes, PacketKind::kSilence);
}

// Writes this tick's payload for a pause; 0: nothing is sent.
size_t Stream::NoiseInto(uint8_t* payload) {
  if (!config_.noise.on) {
    std::memcpy(payload, config_.silence.data(), config_.silence.size());
    return config_.silence.size();
  }
  if (due_ns < next_noise_ns_) return 0;
  next_noise_ns_ = due_ns + config_.noise.interval_ns;
  payload[0] = config_.noise.level & 0x7f;  // RFC 3389, 3: the level alone is enough
  return 1;
}

// False: no key is down, and none waits.
bool Stream::SendDigit(const Target& target) {
  DigitSender::Packet digit;
  const DigitSender::Turn turn = digits_.Next(timestamp_.load(), config_.period_ns, &digit);
  if (turn == DigitSender::Turn::kNothing) return false;
  talking_ = false;
  uint8_t* const packet = clock_->wire().Buffer();
  uint8_t* const payload = packet + kRtpHeaderBytes;
  const uint16_t sequence = sequence_.load(std::memory_order_relaxed);
  if (turn == DigitSender::Turn::kEvent) {
    next_noise_ns_ = 0;
    std::memcpy(payload, digit.payload, sizeof(digit.payload));
    const RtpHeader header{digit.marker, digit.payload_type, sequence, digit.timestamp, config_.ssrc};
    CommitRtp(target, packet, header, sizeof(digit.payload), PacketKind::kDigit);
    return true;
  }
  std::memcpy(payload, config_.silence.data(), config_.silence.size());
  if (config_.silence.empty()) return true;
  const RtpHeader header{false, config_.payload_type, sequence, timestamp_.load(), config_.ssrc};
  CommitRtp(target, packet, header, config_.silence.size(), PacketKind::kSilence);
  return true;
}

void Stream::CommitRtp(const Target& target, uint8_t* packet, const RtpHeader& header, size_t payload_bytes,
                       PacketKind kind) {
  WriteRtpHeader(packet, header);
  sequence_.store(static_cast<uint16_t>(header.sequence + 1), std::memory_order_relaxed);
  size_t bytes = kRtpHeaderBytes + payload_bytes;
  if (srtp_) bytes = srtp_->ProtectRtp(packet, bytes, Wire::kBufferBytes);
  if (bytes == 0) return Count(SendResult::kRefused);
  unsent_ = true;
  clock_->wire().Commit({this, &target, handle_, due_ns, static_cast<uint32_t>(bytes),
                         static_cast<uint32_t>(payload_bytes), kind});
}

void Stream::SendWaitingRtcp(const Target& target) {
  while (const RtcpPacket* waiting = rtcp_.Front()) {
    uint8_t* const packet = clock_->wire().Buffer();
    std::memcpy(packet, waiting->data, waiting->bytes);
    CommitRtcp(target, packet, waiting->bytes);
    rtcp_.Pop();
  }
}

void Stream::SendReport(const Target& target, int64_t now_ns) {
  clock_->wire().Flush();  // so that the counts include this tick's packet
  next_report_ns_ = now_ns + ReportDelay();
  ReceptionState reception;
  if (packets_.value() == 0 && !reception_.Look(&reception)) return;
  uint8_t* const packet = clock_->wire().Buffer();
  CommitRtcp(target, packet, BuildReport(packet, clock_->time().Now(), false));
}

void Stream::CommitRtcp(const Target& target, uint8_t* packet, size_t bytes) {
  if (srtp_) bytes = srtp_->ProtectRtcp(packet, bytes, Wire::kBufferBytes);
  if (bytes == 0) return Count(SendResult::kRefused);
  clock_->wire().Commit(
      {this, &target.rtcp(), handle_, due_ns, static_cast<uint32_t>(bytes), 0, PacketKind::kRtcp});
}

// The report's two times are of one moment, `now_ns`: the timestamp runs on
// from the next tick's, which is due at due_ns.
size_t Stream::BuildReport(uint8_t* out, int64_t now_ns, bool bye) {
  const int64_t since_due = (now_ns - due_ns) * int64_t{config_.clock_rate} / kNsPerSecond;
  const SenderReport report{config_.ssrc, clock_->time().UnixNs(now_ns),
                            timestamp_.load() + static_cast<uint32_t>(since_due),
                            static_cast<uint32_t>(packets_.value()), static_cast<uint32_t>(octets_.value())};
  ReceptionBlock block;
  const bool received = LookAtReception(now_ns, &block);
  return WriteReport(out, report, received ? &block : nullptr, config_.cname, bye);
}

// RFC 3550, A.3.
bool Stream::LookAtReception(int64_t now_ns, ReceptionBlock* block) {
  ReceptionState state;
  if (!reception_.Look(&state)) return false;
  // A new source begins its counts anew.
  if (state.expected < reported_expected_ || state.received < reported_received_) {
    reported_expected_ = reported_received_ = 0;
  }
  const auto expected = static_cast<int64_t>(state.expected - reported_expected_);
  const int64_t lost = expected - static_cast<int64_t>(state.received - reported_received_);
  reported_expected_ = state.expected;
  reported_received_ = state.received;
  const int64_t fraction = expected > 0 && lost > 0 ? std::min<int64_t>(255, lost * 256 / expected) : 0;
  const int64_t all_lost = static_cast<int64_t>(state.expected) - static_cast<int64_t>(state.received);
  const int64_t delay = state.last_sr == 0 ? 0 : ((now_ns - state.last_sr_ns) / kNsPerUs << 16) / 1'000'000;
  *block = {state.ssrc,
            static_cast<uint8_t>(fraction),
            static_cast<int32_t>(all_lost),
            state.highest,
            state.jitter,
            state.last_sr,
            static_cast<uint32_t>(delay)};
  return true;
}

// Between half and one and a half of the mean (RFC 3550, 6.2), so that streams
// opened together do not report together for ever.
int64_t Stream::ReportDelay() {
  return static_cast<int64_t>(static_cast<double>(config_.report_interval_ns) * (0.5 + random_.Unit()));
}

// Everything before the queue's head has been sent, so marks at the head are reached.
void Stream::ReachMarks(int64_t at_ns) {
  PlayoutQueue::ReachedMark mark;
  while (queue_.TakeMark(&mark)) {
    if ((mark.end_of_track || mark.rest) && mark.track == track_) in_track_ = false;
    if (mark.rest) continue;
    if (!clock_->PostEvent({this, at_ns, mark.track, mark.mark, ClockEvent::kMark})) {
      queue_.MarksDelivered(1);
      clock_->counters().marks_lost.Add();
    }
  }
}

void Stream::OnSent(const Outgoing& packet, SendResult result, int64_t at_ns) {
  if (packet.target->captures()) clock_->NoteCapture();
  if (packet.kind == PacketKind::kRtcp) return result == SendResult::kSent ? void() : Count(result);
  unsent_ = false;
  if (result == SendResult::kSent) {
    PlaneCounters& counters = clock_->counters();
    packets_.Add();
    octets_.Add(packet.payload_bytes);
    counters.packets.Add();
    if (packet.target->captures()) carried_.Add();
    if (packet.kind == PacketKind::kSilence) {
      silence_packets_.Add();
      counters.silence_packets.Add();
    }
    const int64_t late_ns = at_ns - packet.due_ns;
    counters.lateness.Add(late_ns);
    if (late_ns > kLateNs) {
      late_ticks_.Add();
      counters.late_ticks.Add();
    }
    clock_->Trace(handle_, packet.due_ns, at_ns);
  } else {
    Count(result);
  }
  if (packet.kind == PacketKind::kVoice) ReachMarks(at_ns);
}

void Stream::Count(SendResult result) {
  if (result == SendResult::kCaptureFull) {
    clock_->counters().capture_overflow.Add();
  } else if (result == SendResult::kRefused) {
    send_errors_.Add();
    clock_->counters().send_errors.Add();
  }
}

}  // namespace parley
