#include "media/receive/media_socket.h"

#include <sys/socket.h>

#include <algorithm>

#include "media/receive/udp_mux.h"

namespace parley {
MediaSocket::MediaSocket(const TimeSource* time, std::shared_ptr<InboundQueue> queue,
                         std::shared_ptr<ListeningThread> listening, Ways ways, bool mux)
    : time_(time),
      queue_(std::move(queue)),
      listening_thread_(std::move(listening)),
      udp_mux_(std::move(ways.mux)),
      ports_(std::move(ways.ports)),
      port_(udp_mux_ ? udp_mux_->port()
            : ports_ ? ports_->port()
                     : 0),
      intake_(time, this, mux),
      rtcp_mux_(mux) {}

MediaSocket::~MediaSocket() = default;

// Callers.

void MediaSocket::SetPayloadTypes(const PayloadTypes& types) {
  std::lock_guard<std::mutex> lock(mutex_);
  intake_.SetPayloadTypes(types);
}

void MediaSocket::Learn(const Address& rtp, const Address& rtcp, bool mux, const Latch::Rules& rules) {
  std::lock_guard<std::mutex> lock(mutex_);
  rtcp_mux_ = mux;
  if (follow_ && ice_ && ice_->nominated(1)) return FollowNomination(time_->Now());
  intake_.SetLatchRules(rules);
  intake_.Learn(rtp, rtcp, mux);
}

bool MediaSocket::SetSrtp(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt,
                          size_t salt_len, size_t mki_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const SrtpReceiver* const present = intake_.srtp();
  const bool same = present && present->cipher().HasKeys(profile, key, key_len, salt, salt_len);
  if (same && present->mki_bytes() == mki_bytes) return true;
  auto receiver = SrtpReceiver::Create(profile, key, key_len, salt, salt_len, mki_bytes);
  if (!receiver) return false;
  intake_.SetProtection(Protection::kSrtp, std::move(receiver));
  return true;
}

void MediaSocket::SetProtection(Protection protection) {
  std::lock_guard<std::mutex> lock(mutex_);
  intake_.SetProtection(protection, nullptr);
}

void MediaSocket::Bind(std::shared_ptr<RtpStream> stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || stream == stream_) return;
  if (stream_ && has_way()) stream_->SetTarget(nullptr);
  if (stream_) stream_->SetTap(nullptr);
  if (stream_ && leg_) stream_->SetJoined(nullptr);
  stream_ = std::move(stream);
  FollowMixer();
  if (!stream_) return;
  FollowListeners();
  intake_.SetOurs(stream_->config().ssrc, stream_->config().clock_rate);
  Aim();
}

std::vector<ForeignPacket> MediaSocket::TakeForeign() {
  std::lock_guard<std::mutex> lock(mutex_);
  foreign_announced_ = false;
  std::vector<ForeignPacket> taken(std::make_move_iterator(foreign_.begin()),
                                   std::make_move_iterator(foreign_.end()));
  foreign_.clear();
  return taken;
}

bool MediaSocket::SendForeign(const uint8_t* data, size_t len, const Address& to, bool rtcp_port) {
  std::lock_guard<std::mutex> lock(mutex_);
  return SendOne(data, len, to, rtcp_port);
}

bool MediaSocket::SendOne(const uint8_t* data, size_t len, const Address& to, bool rtcp_port) {
  if (closed_ || to.port() == 0 || !SendAlong(PathTo(to, rtcp_port), data, len)) return false;
  if (tapping_) tap_->Sent(to, rtcp_port, time_->Now(), data, len, PacketTap::Wait::kForTurn);
  return true;
}

void MediaSocket::Tap(bool on) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || on == tapping_) return;
  if (on && !tap_) tap_ = std::make_shared<PacketTap>();
  tapping_ = on;
  Aim();
}

std::shared_ptr<PacketTap> MediaSocket::tap() {
  std::lock_guard<std::mutex> lock(mutex_);
  return tap_;
}

IntakeStats MediaSocket::Stats() {
  std::lock_guard<std::mutex> lock(mutex_);
  return intake_.Stats();
}

MediaSocket::Destination MediaSocket::Where() {
  std::lock_guard<std::mutex> lock(mutex_);
  const Address& rtp = intake_.latch().target();
  return {rtp, intake_.rtcp_target(), intake_.latch().latched().known(), PathTo(rtp, false).sink != nullptr};
}

void MediaSocket::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  closed_ = true;
  if (stream_ && has_way()) stream_->SetTarget(nullptr);
  StopListening();
  intake_.RelayTo(nullptr);
  relay_.reset();
  StopJoining();
  stream_.reset();
  ReleaseShared();
  ice_.reset();
  dtls_.reset();
  if (ports_) ports_->Close(time_->Now());
  ports_.reset();
  foreign_.clear();
  tapping_ = false;
  tap_.reset();
  deadline_ns_.store(INT64_MAX);
}

// The receiver.

bool MediaSocket::Receive(bool rtcp, ReceiveBatch* batch) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int descriptor = fd(rtcp);
  if (descriptor < 0) return false;
  auto& messages = batch->messages;
  // An error (a port that is closed over there) concerns something sent before; it is read away.
  const int count = recvmmsg(descriptor, messages.data(), messages.size(), MSG_DONTWAIT, nullptr);
  if (count <= 0) return false;
  batch->Reuse(static_cast<size_t>(count));
  const int64_t now_ns = time_->Now();
  Path from{Address(), Address(), rtcp ? ports_->rtcp() : ports_->rtp(), ports_->family(), nullptr};
  for (size_t n = 0; n < static_cast<size_t>(count); n++) {
    // Longer than any packet of media: the intake counts it by its length.
    const bool cut = (messages[n].msg_hdr.msg_flags & MSG_TRUNC) != 0;
    from.remote = Address::Of(batch->from[n]);
    TakeOne(batch->data[n].data(), cut ? Intake::kMaxDatagram + 1 : messages[n].msg_len, from, rtcp, now_ns);
  }
  return static_cast<size_t>(count) == messages.size();
}

bool MediaSocket::Take(const uint8_t* data, size_t len, const Path& from, int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return false;
  TakeOne(data, len, from, false, now_ns);
  return ice_ && ice_->HasChecked(from.remote, from.sink.get());
}

void MediaSocket::Feed(const uint8_t* data, size_t len, const Address& from, bool rtcp_port) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  Path path = udp_mux_ ? udp_mux_->PathTo(from) : PathTo(from, rtcp_port);
  path.remote = from;
  TakeOne(data, len, path, rtcp_port, time_->Now());
}

void MediaSocket::TakeOne(const uint8_t* data, size_t len, const Path& from, bool rtcp_port, int64_t now_ns) {
  Copy(data, std::min(len, Intake::kMaxDatagram), from.remote, rtcp_port, now_ns);
  arriving_ = &from;
  intake_.Take(data, len, from.remote, rtcp_port, now_ns);
  arriving_ = nullptr;
  NoteDeadline();
}

void MediaSocket::Expire(int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  intake_.Expire(now_ns);
  if (follow_due_) Follow(now_ns);
  NoteDeadline();
}

void MediaSocket::NoteDeadline() {
  const int64_t follow_ns = follow_due_ ? follow_from_ns_ : INT64_MAX;
  deadline_ns_.store(std::min(intake_.deadline_ns(), follow_ns));
}

// The intake's word, under the mutex.

// One that is lost costs 100 ms of an interruption: the digit follows.
void MediaSocket::OnKeyDown(uint8_t event, int64_t now_ns) {
  queue_->Put({handle_, InboundEvent::kKeyDown, event, 0, now_ns});
}

void MediaSocket::OnDigit(const Digit& digit) {
  if (!queue_->Put({handle_, InboundEvent::kDigit, digit.event, digit.duration_ns, digit.started_ns}))
    digits_lost_++;
}

void MediaSocket::OnTarget(const Address&, const Address&) {
  Aim();
  queue_->Put({handle_, InboundEvent::kTarget, 0, 0, time_->Now()});
}

void MediaSocket::OnBye() { queue_->Put({handle_, InboundEvent::kBye, 0, 0, time_->Now()}); }

void MediaSocket::OnReception(const ReceptionState& state) {
  if (stream_) stream_->reception().Put(state);
}

void MediaSocket::OnForeign(const uint8_t* data, size_t len, const Address& from, bool rtcp_port) {
  if (ice_) {
    if (KindOf(data, len) == DatagramKind::kStun) return TakeCheck(data, len, rtcp_port);
    if (!ice_->HasChecked(from, arriving_->sink.get())) return;
    if (dtls_) return rtcp_port ? void() : dtls_->Receive(data, len);
  }
  if (foreign_.size() >= kMaxForeign) return;
  foreign_.push_back({from, rtcp_port, {data, data + len}});
  if (!foreign_announced_)
    foreign_announced_ = queue_->Put({handle_, InboundEvent::kForeign, 0, 0, time_->Now()});
}

// Path of a datagram to this address. On a shared port there is none before a check came from there.
Path MediaSocket::PathTo(const Address& to, bool rtcp_port) const {
  if (ports_) {
    return {to, Address(), rtcp_port ? ports_->rtcp() : ports_->rtp(), ports_->family(), nullptr};
  }
  if (!udp_mux_ || !ice_ || rtcp_port) return {};
  const Path* const nominated = ice_->nominated(1);
  const Path* const path = nominated && nominated->remote == to ? nominated : ice_->PathTo(to);
  return path ? *path : Path();
}

// Null for a port below kLowestPort, such as the discard port: no media is sent there.
std::unique_ptr<Target> MediaSocket::TargetTo(const Address& to, bool rtcp_port) const {
  if (!to.known() || to.port() < Latch::kLowestPort) return nullptr;
  auto target = Target::Along(PathTo(to, rtcp_port));
  if (target && tapping_) target->CopyTo(tap_, rtcp_port);
  return target;
}

// Without sockets the stream's target is the caller's business.
void MediaSocket::Aim() {
  if (!stream_ || !has_way()) return;
  const Address& to = intake_.latch().target();
  auto target = TargetTo(to, false);
  const Address reports = intake_.rtcp_target();
  if (target && ports_ && ports_->rtcp() && reports != to) target->SendRtcpBy(TargetTo(reports, true));
  stream_->SetTarget(std::move(target));
}

}  // namespace parley
