#include "media/rtp_stream.h"

#include <algorithm>
#include <cstring>

#include "media/clock.h"

namespace parley {

RtpStream::RtpStream(std::shared_ptr<Clock> clock, StreamConfig config, std::unique_ptr<SrtpSender> srtp,
                     uint64_t seed)
    : clock_(std::move(clock)),
      config_(std::move(config)),
      srtp_(std::move(srtp)),
      sequence_(config_.sequence),
      timestamp_(config_.timestamp),
      red_(config_.red),
      random_(seed) {}

// Callers.

bool RtpStream::SetTarget(std::unique_ptr<Target> target) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (closed_.load()) return false;
  target_.store(target.get());
  clock_->Quiesce();
  held_target_ = std::move(target);
  return true;
}

void RtpStream::SetTap(std::shared_ptr<SentTap> tap) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (tap == held_tap_) return;
  tap_.store(tap.get());
  clock_->Quiesce();
  held_tap_ = std::move(tap);
}

void RtpStream::SetFramesPerPacket(uint32_t frames) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (!held_bundle_ && frames == 1) return;
  if (!held_bundle_) {
    held_bundle_ = std::make_unique<OpusBundle>();
    bundle_.store(held_bundle_.get());
  }
  held_bundle_->SetFrames(frames);
}

bool RtpStream::SendRtcp(const uint8_t* compound, size_t bytes) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (bytes > kMaxRtcp || closed_.load()) return false;
  // The key is this source's: what another one signs cannot be encrypted with it.
  if (bytes < kRtcpHeaderBytes || RtcpSource(compound) != config_.ssrc) return false;
  if (!held_rtcp_) {
    held_rtcp_ = std::make_unique<RtcpRing>(kRtcpWaiting);
    rtcp_.store(held_rtcp_.get());
  }
  RtcpPacket* place = held_rtcp_->Place();
  if (!place) return false;
  place->bytes = static_cast<uint32_t>(bytes);
  std::memcpy(place->data, compound, bytes);
  held_rtcp_->Publish();
  return true;
}

void RtpStream::GoOnFrom(StreamRemains remains) {
  sequence_.store(remains.sequence);
  timestamp_.store(remains.timestamp);
  if (remains.srtp) srtp_ = std::move(remains.srtp);
  packets_.Add(remains.packets);
  octets_.Add(remains.octets);
}

StreamStats RtpStream::Stats() const {
  StreamStats stats{};
  stats.packets = packets_.value();
  stats.octets = octets_.value();
  stats.silence_packets = silence_packets_.value();
  stats.late_ticks = late_ticks_.value();
  stats.skipped_ticks = skipped_ticks_.value();
  stats.send_errors = send_errors_.value();
  stats.carried = carried_.value();
  stats.sequence = sequence_.load();
  stats.timestamp = timestamp_.load();
  return stats;
}

void RtpStream::Close(std::vector<uint8_t>* carried_bye) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (!Detach()) return;
  SendLastBundle();
  if (held_target_) SayBye(carried_bye);
  held_target_.reset();
}

bool RtpStream::Leave(StreamRemains* remains) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (!Detach()) return false;
  SendLastBundle();
  held_target_.reset();
  *remains = {std::move(srtp_), sequence_.load(), timestamp_.load(), packets_.value(), octets_.value()};
  return true;
}

bool RtpStream::Detach() {
  if (closed_.exchange(true)) return false;
  OnClose();
  target_.store(nullptr);
  clock_->Quiesce();
  return true;
}

// The keys of a sender never change, and only Leave takes it away.
bool RtpStream::HasKeys(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt,
                        size_t salt_len) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  return srtp_ && srtp_->cipher().HasKeys(profile, key, key_len, salt, salt_len);
}

// Its frames count as sent. A captured target has no way to send at once.
void RtpStream::SendLastBundle() {
  if (!held_target_ || held_target_->captures() || !held_bundle_ || held_bundle_->empty()) return;
  uint8_t packet[Wire::kBufferBytes];
  RtpHeader header;
  const size_t payload_bytes = WriteBundle(packet + kRtpHeaderBytes, &header);
  WriteRtpHeader(packet, header);
  sequence_.store(static_cast<uint16_t>(header.sequence + 1));
  size_t bytes = kRtpHeaderBytes + payload_bytes;
  if (srtp_) bytes = srtp_->ProtectRtp(packet, bytes, sizeof(packet));
  if (bytes == 0 || !SendNow(*held_target_, packet, bytes, clock_->time().Now())) return;
  packets_.Add();
  octets_.Add(payload_bytes);
}

void RtpStream::SayBye(std::vector<uint8_t>* carried) {
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

// The clock.

void RtpStream::FlushUnsent() {
  if (unsent_) clock_->wire().Flush();
}

// The first frame after anything else carries the marker bit (RFC 3551, 4.1).
void RtpStream::SendSound(const Target& target, const TickSound& sound) {
  const bool voice = sound.voice != nullptr;
  const bool marker = voice && !talking_;
  talking_ = voice;
  if (voice) PutInTap(tick_ns_, sound.voice, sound.bytes);
  if (voice) next_silence_ns_ = 0;
  const bool due = voice || tick_ns_ >= next_silence_ns_;
  const Primary primary = voice ? Primary{sound.voice, sound.bytes, config_.payload_type, true}
                          : due ? NextSilence()
                                : Primary{};
  if (Bundles(target, sound, primary, marker)) return;
  if (!due) return;  // this tick of the pause sends nothing
  uint8_t* const packet = clock_->wire().Buffer();
  uint8_t* const payload = packet + kRtpHeaderBytes;
  uint8_t type = config_.payload_type;
  const size_t bytes = !voice && config_.noise.on ? WriteNoise(payload, &type)
                       : primary.bytes == 0       ? 0
                                                  : WritePrimary(sound, primary, payload, &type);
  if (bytes == 0) return;
  const RtpHeader header{marker, type, sequence_.load(std::memory_order_relaxed), timestamp_.load(),
                         config_.ssrc};
  CommitRtp(target, packet, header, bytes, voice ? PacketKind::kVoice : PacketKind::kSilence);
}

void RtpStream::PutInTap(int64_t due_ns, const uint8_t* voice, size_t bytes) {
  SentTap* const tap = tap_.load();
  if (tap && config_.codec) tap->Put(due_ns, *config_.codec, voice, bytes);
}

// The next sound of our own begins after a pause.
bool RtpStream::SendRelayed(const Target& target, const RelayedSound& relayed, RtpHeader header) {
  const TickSound& sound = relayed.sound;
  const bool voice = !relayed.comfort_noise && !relayed.late;
  if (voice) PutInTap(relayed.due_ns, sound.voice, sound.bytes);
  talking_ = false;
  next_silence_ns_ = 0;
  uint8_t* const packet = clock_->wire().Buffer();
  uint8_t* const payload = packet + kRtpHeaderBytes;
  const uint8_t type = relayed.comfort_noise ? config_.noise.payload_type : config_.payload_type;
  const Primary primary{sound.voice, sound.bytes, type, voice};
  header.payload_type = type;
  size_t payload_bytes = sound.bytes;
  if (voice) payload_bytes = WritePrimary(sound, primary, payload, &header.payload_type);
  else std::memcpy(payload, sound.voice, sound.bytes);
  WriteRtpHeader(packet, header);
  if (!relayed.late) sequence_.store(static_cast<uint16_t>(header.sequence + 1), std::memory_order_relaxed);
  size_t bytes = kRtpHeaderBytes + payload_bytes;
  if (srtp_) bytes = srtp_->ProtectLateRtp(packet, bytes, Wire::kBufferBytes);
  if (bytes == 0) {
    Count(SendResult::kRefused);
    return false;
  }
  unsent_ = true;
  clock_->wire().Commit({this, &target, handle_, relayed.arrival_ns, static_cast<uint32_t>(bytes),
                         static_cast<uint32_t>(payload_bytes), PacketKind::kRelayed});
  return true;
}

Primary RtpStream::NextSilence() {
  next_silence_ns_ = tick_ns_ + (config_.noise.on ? config_.noise.interval_ns : config_.silence_interval_ns);
  return {config_.silence.data(), config_.silence.size(), config_.payload_type, false};
}

// True: the frame waits for those behind it, or has left with those before it. False: it is sent on its own,
// behind what waited. Nothing follows silence that is sent in intervals, and a mark is reached with the frame
// before it.
bool RtpStream::Bundles(const Target& target, const TickSound& sound, const Primary& primary, bool marker) {
  OpusBundle* const bundle = bundle_.load();
  if (!bundle) return false;
  const uint32_t timestamp = timestamp_.load(std::memory_order_relaxed);
  const bool joins = bundle->on() && OpusBundle::Joins(primary.payload, primary.bytes) &&
                     (primary.voice || config_.silence_interval_ns == 0);
  if (!bundle->empty() &&
      !(joins && bundle->Continues(primary.payload, primary.bytes, timestamp, primary.voice)))
    SendBundle(target);
  if (!joins) return false;
  bundle->Add(primary.payload, primary.bytes, {timestamp, marker, primary.voice}, config_.ticks_per_frame);
  if (bundle->full() || sound.before_mark) SendBundle(target);
  return true;
}

void RtpStream::SendBundle(const Target& target) {
  const OpusBundle* const bundle = bundle_.load();
  if (!bundle || bundle->empty()) return;
  const PacketKind kind = bundle->head().voice ? PacketKind::kVoice : PacketKind::kSilence;
  uint8_t* const packet = clock_->wire().Buffer();
  RtpHeader header;
  const size_t bytes = WriteBundle(packet + kRtpHeaderBytes, &header);
  CommitRtp(target, packet, header, bytes, kind);
}

size_t RtpStream::WriteBundle(uint8_t* payload, RtpHeader* header) {
  OpusBundle& bundle = *bundle_.load();
  const OpusBundle::Head head = bundle.head();
  uint8_t joined[OpusBundle::kMaxBytes];
  const size_t bytes = bundle.Take(joined);
  *header = {head.marker, config_.payload_type, sequence_.load(), head.timestamp, config_.ssrc};
  TickSound sound;
  sound.timestamp = head.timestamp;
  sound.history = &bundle.history();
  const Primary primary{joined, bytes, config_.payload_type, head.voice};
  const size_t written = WritePrimary(sound, primary, payload, &header->payload_type);
  if (head.voice && config_.red.distance > 0) bundle.history().Add(joined, bytes, head.timestamp);
  return written;
}

void RtpStream::DropBundle() {
  if (OpusBundle* const bundle = bundle_.load()) bundle->Drop();
}

// RFC 3389, 3: the level alone is enough.
size_t RtpStream::WriteNoise(uint8_t* payload, uint8_t* payload_type) {
  *payload_type = config_.noise.payload_type;
  payload[0] = config_.noise.level & 0x7f;
  return 1;
}

size_t RtpStream::WritePrimary(const TickSound& sound, const Primary& primary, uint8_t* payload,
                               uint8_t* payload_type) {
  if (sound.history && config_.red.distance > 0) {
    return red_.Write(*sound.history, primary, sound.timestamp, payload, payload_type);
  }
  std::memcpy(payload, primary.payload, primary.bytes);
  return primary.bytes;
}

void RtpStream::CommitRtp(const Target& target, uint8_t* packet, const RtpHeader& header,
                          size_t payload_bytes, PacketKind kind) {
  WriteRtpHeader(packet, header);
  sequence_.store(static_cast<uint16_t>(header.sequence + 1), std::memory_order_relaxed);
  size_t bytes = kRtpHeaderBytes + payload_bytes;
  if (srtp_) bytes = srtp_->ProtectRtp(packet, bytes, Wire::kBufferBytes);
  if (bytes == 0) return Count(SendResult::kRefused);
  unsent_ = true;
  clock_->wire().Commit({this, &target, handle_, tick_ns_, static_cast<uint32_t>(bytes),
                         static_cast<uint32_t>(payload_bytes), kind});
}

void RtpStream::Skip(int64_t ns) {
  const int64_t frames = ns / config_.period_ns, rest_ns = ns % config_.period_ns;
  timestamp_.store(timestamp_.load() + static_cast<uint32_t>(frames) * config_.ticks_per_frame +
                   static_cast<uint32_t>(rest_ns * int64_t{config_.clock_rate} / kNsPerSecond));
  tick_ns_ += ns;
  talking_ = false;
}

void RtpStream::EndTick() {
  timestamp_.store(timestamp_.load(std::memory_order_relaxed) + config_.ticks_per_frame,
                   std::memory_order_relaxed);
  tick_ns_ += config_.period_ns;
}

void RtpStream::SendRtcpAndReports(const Target& target, int64_t now_ns) {
  SendWaitingRtcp(target);
  if (config_.report_interval_ns == 0) return;
  if (next_report_ns_ == 0)
    next_report_ns_ = now_ns + ReportDelay() / 2;  // RFC 3550, 6.2: the first comes early
  if (now_ns >= next_report_ns_) SendReport(target, now_ns);
}

void RtpStream::SendWaitingRtcp(const Target& target) {
  RtcpRing* const ring = rtcp_.load();
  while (const RtcpPacket* waiting = ring ? ring->Front() : nullptr) {
    uint8_t* const packet = clock_->wire().Buffer();
    std::memcpy(packet, waiting->data, waiting->bytes);
    CommitRtcp(target, packet, waiting->bytes);
    ring->Pop();
  }
}

void RtpStream::SendReport(const Target& target, int64_t now_ns) {
  clock_->wire().Flush();  // so that the counts include this tick's packet
  next_report_ns_ = now_ns + ReportDelay();
  ReceptionState reception;
  if (packets_.value() == 0 && !reception_.Look(&reception)) return;
  uint8_t* const packet = clock_->wire().Buffer();
  CommitRtcp(target, packet, BuildReport(packet, clock_->time().Now(), false));
}

void RtpStream::CommitRtcp(const Target& target, uint8_t* packet, size_t bytes) {
  if (srtp_) bytes = srtp_->ProtectRtcp(packet, bytes, Wire::kBufferBytes);
  if (bytes == 0) return Count(SendResult::kRefused);
  clock_->wire().Commit(
      {this, &target.rtcp(), handle_, tick_ns_, static_cast<uint32_t>(bytes), 0, PacketKind::kRtcp});
}

// The report's two times are of one moment, `now_ns`: the timestamp runs on
// from the next tick's, which is due at tick_ns_, or by the clock of a far end whose packets are relayed.
size_t RtpStream::BuildReport(uint8_t* out, int64_t now_ns, bool bye) {
  const MediaMoment from = relayed_moment_.value_or(MediaMoment{timestamp_.load(), tick_ns_});
  const int64_t since = (now_ns - from.at_ns) * int64_t{config_.clock_rate} / kNsPerSecond;
  const SenderReport report{config_.ssrc, clock_->time().UnixNs(now_ns),
                            from.timestamp + static_cast<uint32_t>(since),
                            static_cast<uint32_t>(packets_.value()), static_cast<uint32_t>(octets_.value())};
  ReceptionBlock block;
  const bool received = LookAtReception(now_ns, &block);
  return WriteReport(out, report, received ? &block : nullptr, config_.cname, bye);
}

// RFC 3550, A.3.
bool RtpStream::LookAtReception(int64_t now_ns, ReceptionBlock* block) {
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
int64_t RtpStream::ReportDelay() {
  return static_cast<int64_t>(static_cast<double>(config_.report_interval_ns) * (0.5 + random_.Unit()));
}

void RtpStream::OnSent(const Outgoing& packet, SendResult result, int64_t at_ns) {
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
    if (packet.kind != PacketKind::kRelayed) NoteLateness(at_ns - packet.due_ns);
    clock_->Trace(handle_, packet.due_ns, at_ns);
  } else {
    Count(result);
  }
}

void RtpStream::NoteLateness(int64_t late_ns) {
  clock_->counters().lateness.Add(late_ns);
  if (late_ns <= kLateNs) return;
  late_ticks_.Add();
  clock_->counters().late_ticks.Add();
}

void RtpStream::Count(SendResult result) {
  if (result == SendResult::kCaptureFull) {
    clock_->counters().capture_overflow.Add();
  } else if (result == SendResult::kRefused) {
    send_errors_.Add();
    clock_->counters().send_errors.Add();
  }
}

}  // namespace parley
