#include "media/receive/media_socket.h"

#include <sys/socket.h>

#include <algorithm>

namespace parley {

// Callers.

void MediaSocket::SetPayloadTypes(const PayloadTypes& types) {
  std::lock_guard<std::mutex> lock(mutex_);
  intake_.SetPayloadTypes(types);
}

void MediaSocket::Learn(const Address& rtp, const Address& rtcp, bool mux, const Latch::Rules& rules) {
  std::lock_guard<std::mutex> lock(mutex_);
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
  if (stream_ && ports_) stream_->SetTarget(nullptr);
  stream_ = std::move(stream);
  if (!stream_) return;
  intake_.SetOurs(stream_->config().ssrc, stream_->config().clock_rate);
  Aim();
}

void MediaSocket::Listen(bool on) {
  std::lock_guard<std::mutex> lock(mutex_);
  intake_.Listen(on);
}

std::vector<HeardPayload> MediaSocket::TakeSound() {
  std::lock_guard<std::mutex> lock(mutex_);
  sound_announced_ = false;
  return intake_.TakeSound();
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
  sockaddr_storage address;
  socklen_t bytes = 0;
  const int descriptor = fd(rtcp_port);
  if (descriptor < 0 || to.port() == 0 || !to.Fill(ports_->family(), &address, &bytes)) return false;
  const auto* const where = reinterpret_cast<sockaddr*>(&address);
  if (sendto(descriptor, data, len, MSG_DONTWAIT | MSG_NOSIGNAL, where, bytes) < 0) return false;
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

void MediaSocket::Where(Address* rtp, Address* rtcp, bool* latched) {
  std::lock_guard<std::mutex> lock(mutex_);
  *rtp = intake_.latch().target();
  *rtcp = intake_.rtcp_target();
  *latched = intake_.latch().latched().known();
}

void MediaSocket::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  closed_ = true;
  if (stream_ && ports_) stream_->SetTarget(nullptr);
  stream_.reset();
  if (ports_) ports_->Close(time_->Now());
  ports_.reset();
  foreign_.clear();
  tapping_ = false;
  tap_.reset();
  deadline_ns_.store(INT64_MAX);
}

// The receiver.

bool MediaSocket::Receive(bool rtcp, Batch* batch) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int descriptor = fd(rtcp);
  if (descriptor < 0) return false;
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> vectors;
  for (size_t n = 0; n < kBatch; n++) {
    vectors[n] = {batch->data[n].data(), batch->data[n].size()};
    messages[n].msg_hdr.msg_iov = &vectors[n];
    messages[n].msg_hdr.msg_iovlen = 1;
    messages[n].msg_hdr.msg_name = &batch->from[n];
    messages[n].msg_hdr.msg_namelen = sizeof(sockaddr_storage);
  }
  // An error (a port that is closed over there) concerns something sent before; it is read away.
  const int count = recvmmsg(descriptor, messages.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (count <= 0) return false;
  const int64_t now_ns = time_->Now();
  for (size_t n = 0; n < static_cast<size_t>(count); n++) {
    // Longer than any packet of media: the intake counts it by its length.
    const bool cut = (messages[n].msg_hdr.msg_flags & MSG_TRUNC) != 0;
    const Address from = Address::Of(batch->from[n]);
    Copy(batch->data[n].data(), messages[n].msg_len, from, rtcp, now_ns);
    intake_.Take(batch->data[n].data(), cut ? Intake::kMaxDatagram + 1 : messages[n].msg_len, from, rtcp,
                 now_ns);
  }
  deadline_ns_.store(intake_.deadline_ns());
  return static_cast<size_t>(count) == kBatch;
}

void MediaSocket::Feed(const uint8_t* data, size_t len, const Address& from, bool rtcp_port) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  const int64_t now_ns = time_->Now();
  Copy(data, std::min(len, Intake::kMaxDatagram), from, rtcp_port, now_ns);
  intake_.Take(data, len, from, rtcp_port, now_ns);
  deadline_ns_.store(intake_.deadline_ns());
}

void MediaSocket::Expire(int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  intake_.Expire(now_ns);
  deadline_ns_.store(intake_.deadline_ns());
}

// The intake's word, under the mutex.

void MediaSocket::OnDigit(const Digit& digit) {
  if (!queue_->Put({handle_, InboundEvent::kDigit, digit.event, digit.duration_ns, digit.started_ns}))
    digits_lost_++;
}

void MediaSocket::OnSoundReady() {
  if (sound_announced_) return;
  sound_announced_ = queue_->Put({handle_, InboundEvent::kSound, 0, 0, time_->Now()});
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
  if (foreign_.size() >= kMaxForeign) return;
  foreign_.push_back({from, rtcp_port, {data, data + len}});
  if (!foreign_announced_)
    foreign_announced_ = queue_->Put({handle_, InboundEvent::kForeign, 0, 0, time_->Now()});
}

// Without sockets the stream's target is the caller's business. A port below
// kLowestPort, such as the discard port, is none that media is sent to.
void MediaSocket::Aim() {
  if (!stream_ || !ports_) return;
  const Address& to = intake_.latch().target();
  std::unique_ptr<Target> target;
  if (to.known() && to.port() >= Latch::kLowestPort)
    target = Target::From(ports_->rtp(), ports_->family(), to);
  const Address reports = intake_.rtcp_target();
  if (target && ports_->rtcp() >= 0 && reports != to) {
    auto way = Target::From(ports_->rtcp(), ports_->family(), reports);
    if (way && tapping_) way->CopyTo(tap_, true);
    target->SendRtcpBy(std::move(way));
  }
  if (target && tapping_) target->CopyTo(tap_, false);
  stream_->SetTarget(std::move(target));
}

}  // namespace parley
