#include "media/wire.h"

namespace parley {
namespace {

// `message` points into `vector`, both filled for one packet.
void Describe(const Target& target, const uint8_t* data, size_t bytes, iovec* vector, msghdr* message) {
  *vector = {const_cast<uint8_t*>(data), bytes};
  *message = msghdr{};
  message->msg_name = const_cast<sockaddr*>(target.address());
  message->msg_namelen = target.address_bytes();
  message->msg_iov = vector;
  message->msg_iovlen = 1;
}

}  // namespace

uint8_t* Wire::Buffer() {
  if (count_ == kBuffers) Flush();
  return buffers_[count_].data();
}

void Wire::Flush() {
  size_t from = 0;
  while (from < count_) {
    size_t to = from + 1;
    while (to < count_ && packets_[to].target->SameWay(*packets_[from].target)) to++;
    if (packets_[from].target->captures()) {
      CaptureRun(from, to);
    } else {
      SendRun(from, to);
    }
    from = to;
  }
  count_ = 0;
}

void Wire::SendRun(size_t from, size_t to) {
  std::array<mmsghdr, kBuffers> messages;
  std::array<iovec, kBuffers> vectors;
  for (size_t n = from; n < to; n++) {
    Describe(*packets_[n].target, buffers_[n].data(), packets_[n].bytes, &vectors[n], &messages[n].msg_hdr);
  }
  while (from < to) {
    const int sent = sendmmsg(packets_[from].target->fd(), &messages[from], static_cast<unsigned>(to - from),
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    const int64_t at_ns = time_.Now();
    // An error concerns the first message; those behind it get their own try.
    if (sent <= 0) {
      packets_[from].owner->OnSent(packets_[from], SendResult::kRefused, at_ns);
      from++;
      continue;
    }
    for (const size_t end = from + static_cast<size_t>(sent); from < end; from++) {
      const Outgoing& packet = packets_[from];
      if (PacketTap* const tap = packet.target->tap()) {
        tap->Sent(packet.target->remote(), packet.target->rtcp_port(), at_ns, buffers_[from].data(), packet.bytes,
                  PacketTap::Wait::kNo);
      }
      packet.owner->OnSent(packet, SendResult::kSent, at_ns);
    }
  }
}

void Wire::CaptureRun(size_t from, size_t to) {
  PacketRing* const ring = capture_.load();
  for (; from < to; from++) {
    const Outgoing& packet = packets_[from];
    const int64_t at_ns = time_.Now();
    const PacketInfo info{packet.stream, at_ns, packet.bytes, packet.kind == PacketKind::kRtcp, {}};
    const bool taken = ring && ring->Write(info, buffers_[from].data());
    packet.owner->OnSent(packet, taken ? SendResult::kSent : SendResult::kCaptureFull, at_ns);
  }
}

bool SendNow(const Target& target, const uint8_t* data, size_t bytes, int64_t at_ns) {
  iovec vector;
  msghdr message;
  Describe(target, data, bytes, &vector, &message);
  if (sendmsg(target.fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return false;
  if (PacketTap* const tap = target.tap()) {
    tap->Sent(target.remote(), target.rtcp_port(), at_ns, data, bytes, PacketTap::Wait::kForTurn);
  }
  return true;
}

}  // namespace parley
