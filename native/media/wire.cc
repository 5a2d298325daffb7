#include "media/wire.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/ip.h>

#include <cstring>

namespace parley {
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
    } else if (packets_[from].target->sink()) {
      SinkRun(from, to);
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
    packets_[n].target->envelope().Describe(buffers_[n].data(), packets_[n].bytes, &vectors[n],
                                            &messages[n].msg_hdr);
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
    for (const size_t end = from + static_cast<size_t>(sent); from < end; from++) NoteSent(from, at_ns);
  }
}

// A connection takes packets one by one and never blocks.
void Wire::SinkRun(size_t from, size_t to) {
  for (; from < to; from++) {
    const Outgoing& packet = packets_[from];
    const bool taken = packet.target->sink()->Send(buffers_[from].data(), packet.bytes, Wait::kNo);
    const int64_t at_ns = time_.Now();
    if (taken) NoteSent(from, at_ns);
    else packet.owner->OnSent(packet, SendResult::kRefused, at_ns);
  }
}

void Wire::NoteSent(size_t at, int64_t at_ns) {
  const Outgoing& packet = packets_[at];
  if (PacketTap* const tap = packet.target->tap()) {
    tap->Sent(packet.target->remote(), packet.target->rtcp_port(), at_ns, buffers_[at].data(), packet.bytes,
              PacketTap::Wait::kNo);
  }
  packet.owner->OnSent(packet, SendResult::kSent, at_ns);
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
  target.envelope().Describe(data, bytes, &vector, &message);
  const bool sent = target.sink() ? target.sink()->Send(data, bytes, Wait::kForTurn)
                                  : sendmsg(target.fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
  if (!sent) return false;
  if (PacketTap* const tap = target.tap()) {
    tap->Sent(target.remote(), target.rtcp_port(), at_ns, data, bytes, PacketTap::Wait::kForTurn);
  }
  return true;
}

namespace {

constexpr int kExpeditedForwarding = 0xb8;  // DSCP 46, in the upper six bits of the byte

// Accepts an IPv6 zone behind the address: fe80::1%eth0.
bool ParseV6(const std::string& text, sockaddr_in6* out) {
  const size_t zone = text.find('%');
  if (zone != std::string::npos) out->sin6_scope_id = if_nametoindex(text.c_str() + zone + 1);
  return inet_pton(AF_INET6, text.substr(0, zone).c_str(), &out->sin6_addr) == 1;
}

// An IPv4 address on an IPv6 socket is written ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
bool FillAddress(int family, const std::string& text, uint16_t port, sockaddr_storage* out,
                 socklen_t* bytes) {
  if (family == AF_INET) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(out);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    *bytes = sizeof(sockaddr_in);
    return inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(out);
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  *bytes = sizeof(sockaddr_in6);
  return ParseV6(text, v6) || inet_pton(AF_INET6, ("::ffff:" + text).c_str(), &v6->sin6_addr) == 1;
}

// Refused by some containers; the packets then go unmarked, which is no reason
// to refuse the call.
void MarkExpedited(int fd, int family) {
  const int value = kExpeditedForwarding;
  setsockopt(fd, IPPROTO_IP, IP_TOS, &value, sizeof(value));
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof(value));
}

bool IsDatagramSocket(int fd) {
  int type = 0;
  socklen_t bytes = sizeof(type);
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_DGRAM;
}

}  // namespace

std::unique_ptr<Target> Target::Socket(int fd, const std::string& address, uint16_t port,
                                       std::string* problem) {
  std::unique_ptr<Target> target(new Target());
  target->socket_ = Descriptor::Duplicate(fd);
  if (!target->socket_ || !IsDatagramSocket(target->fd())) {
    *problem = "fd must be an open datagram socket";
    return nullptr;
  }
  sockaddr_storage local{};
  socklen_t local_bytes = sizeof(local);
  getsockname(target->fd(), reinterpret_cast<sockaddr*>(&local), &local_bytes);
  if (!FillAddress(local.ss_family, address, port, &target->envelope_.to, &target->envelope_.to_bytes)) {
    *problem = "address must be an IP address of the socket's family";
    return nullptr;
  }
  MarkExpedited(target->fd(), local.ss_family);
  return target;
}

std::unique_ptr<Target> Target::Along(const Path& path) {
  std::unique_ptr<Target> target(new Target());
  if (!path.socket && !path.sink) return nullptr;
  if (!target->envelope_.Fill(path.family, path.remote, path.local)) return nullptr;
  target->socket_ = path.socket;
  target->sink_ = path.sink;
  return target;
}

std::unique_ptr<Target> Target::Capture() { return std::unique_ptr<Target>(new Target()); }

}  // namespace parley
