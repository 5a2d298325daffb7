#include "media/receive/udp_mux.h"

#include <linux/sock_diag.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "media/receive/media_socket.h"
#include "media/rtp.h"

namespace parley {
namespace {

constexpr int kPortTries =
    32;  // ports that the system chooses for the first address, until all others are free

bool IsAny(const std::string& address) { return address == "0.0.0.0" || address == "::"; }

// SO_RCVBUFFORCE goes beyond the limit of the system, and needs CAP_NET_ADMIN.
void SetBuffer(int fd, int force, int plain, int bytes) {
  if (setsockopt(fd, SOL_SOCKET, force, &bytes, sizeof(bytes)) != 0) {
    setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof(bytes));
  }
}

// The kernel doubles what is asked for, to account for its own bookkeeping.
int BufferOf(int fd, int option) {
  int bytes = 0;
  socklen_t size = sizeof(bytes);
  getsockopt(fd, SOL_SOCKET, option, &bytes, &size);
  return bytes / 2;
}

uint64_t DropsOf(int fd) {
  uint32_t words[SK_MEMINFO_VARS] = {};
  socklen_t size = sizeof(words);
  if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, words, &size) != 0) return 0;
  return words[SK_MEMINFO_DROPS];
}

uint16_t PortOf(int fd) {
  sockaddr_storage local{};
  socklen_t bytes = sizeof(local);
  getsockname(fd, reinterpret_cast<sockaddr*>(&local), &bytes);
  return Address::Of(local).port();
}

}  // namespace

std::shared_ptr<UdpMux> UdpMux::Open(const UdpMuxConfig& config, std::string* problem) {
  if (config.addresses.empty() || config.addresses.size() > kMaxAddresses) {
    *problem = "addresses must be 1 to " + std::to_string(kMaxAddresses) + " IP addresses";
    return nullptr;
  }
  const bool has_v4 =
      std::any_of(config.addresses.begin(), config.addresses.end(),
                  [](const std::string& text) { return text.find(':') == std::string::npos; });
  for (int tries = 0;; tries++) {
    std::shared_ptr<UdpMux> mux(new UdpMux());
    mux->port_ = config.port;
    const bool bound =
        std::all_of(config.addresses.begin(), config.addresses.end(), [&](const std::string& text) {
          const Address address = Address::Of(text, mux->port_);
          if (!address.known()) *problem = "addresses must be IP addresses, not " + text;
          return address.known() && mux->Bind(address, has_v4 || !IsAny(text), config, problem);
        });
    if (bound && config.tcp_port >= 0) {
      const auto port = static_cast<uint16_t>(config.tcp_port);
      mux->tcp_ = IceTcp::Open(config.addresses, port, config.dscp, &mux->calls_, problem);
      return mux->tcp_ ? mux : nullptr;
    }
    if (bound) return mux;
    const bool another = config.port == 0 && mux->port_ != 0 && tries < kPortTries;
    if (!another) return nullptr;
  }
}

// `only_v6`: IPv4 has a socket of its own, or none.
bool UdpMux::Bind(const Address& address, bool only_v6, const UdpMuxConfig& config, std::string* problem) {
  uint8_t bytes[16];
  const int family = address.CopyTo(bytes) == 4 ? AF_INET : AF_INET6;
  sockaddr_storage local;
  socklen_t local_bytes = 0;
  address.Fill(family, &local, &local_bytes);
  auto descriptor = Descriptor::Adopt(socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = descriptor ? descriptor->fd() : -1;
  const int v6_only = only_v6 ? 1 : 0;
  const bool ready =
      fd >= 0 && (family == AF_INET || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(int)) == 0);
  if (!ready || bind(fd, reinterpret_cast<const sockaddr*>(&local), local_bytes) != 0) {
    *problem = "the UDP port " + std::to_string(address.port()) + " of " + address.text() +
               " cannot be opened: " + std::strerror(errno);
    return false;
  }
  // Refused by some containers; the packets then go unmarked.
  const int service = config.dscp << 2;
  setsockopt(fd, IPPROTO_IP, IP_TOS, &service, sizeof(service));
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &service, sizeof(service));
  SetBuffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, config.buffer_bytes);
  SetBuffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, config.buffer_bytes);
  const bool any = IsAny(address.text()) && ReportLocalAddress(fd, family);
  if (port_ == 0) port_ = PortOf(fd);
  sockets_.push_back({std::move(descriptor), family, any});
  return true;
}

Path UdpMux::PathTo(const Address& remote) const {
  for (const Socket& socket : sockets_) {
    sockaddr_storage to;
    socklen_t bytes = 0;
    if (!remote.Fill(socket.family, &to, &bytes)) continue;
    uint8_t octets[16];
    const bool is_v4 = remote.CopyTo(octets) == 4;
    if (is_v4 == (socket.family == AF_INET) || sockets_.size() == 1) {
      return {remote, Address(), socket.descriptor, socket.family, nullptr};
    }
  }
  return {};
}

bool UdpMux::BelongTo(const void* receiver) {
  const void* present = nullptr;
  return receiver_.compare_exchange_strong(present, receiver) || present == receiver;
}

std::vector<int> UdpMux::descriptors() const {
  std::vector<int> descriptors;
  for (const Socket& socket : sockets_) descriptors.push_back(socket.descriptor->fd());
  if (tcp_) descriptors.push_back(tcp_->descriptor());
  return descriptors;
}

void UdpMux::Receive(size_t index, ReceiveBatch& batch, int64_t now_ns) {
  if (index >= sockets_.size()) return tcp_->Receive(batch, now_ns);
  for (int read = 0; read < kReads && ReadBatch(sockets_[index], batch, now_ns); read++) {
  }
}

// True while there may be more.
bool UdpMux::ReadBatch(const Socket& socket, ReceiveBatch& batch, int64_t now_ns) {
  std::array<mmsghdr, ReceiveBatch::kPackets> messages{};
  std::array<iovec, ReceiveBatch::kPackets> vectors;
  for (size_t n = 0; n < messages.size(); n++) {
    vectors[n] = {batch.data[n].data(), batch.data[n].size()};
    msghdr& head = messages[n].msg_hdr;
    head.msg_iov = &vectors[n];
    head.msg_iovlen = 1;
    head.msg_name = &batch.from[n];
    head.msg_namelen = sizeof(sockaddr_storage);
    if (!socket.any) continue;
    head.msg_control = batch.control[n].bytes;
    head.msg_controllen = sizeof(batch.control[n].bytes);
  }
  // An error (a port that is closed over there) concerns something sent before; it is read away.
  const int count =
      recvmmsg(socket.descriptor->fd(), messages.data(), messages.size(), MSG_DONTWAIT, nullptr);
  if (count <= 0) return false;
  Path from{Address(), Address(), socket.descriptor, socket.family, nullptr};
  for (size_t n = 0; n < static_cast<size_t>(count); n++) {
    const msghdr& head = messages[n].msg_hdr;
    const bool cut = (head.msg_flags & MSG_TRUNC) != 0;
    from.remote = Address::Of(batch.from[n]);
    if (socket.any) from.local = LocalAddressOf(head);
    Take(batch.data[n].data(), cut ? Intake::kMaxDatagram + 1 : messages[n].msg_len, from, batch, now_ns);
  }
  return static_cast<size_t>(count) == messages.size();
}

void UdpMux::Take(const uint8_t* data, size_t len, const Path& from, ReceiveBatch& batch, int64_t now_ns) {
  datagrams_.Add();
  // Port 0 cannot be answered; only a raw socket can send from it.
  if (len > Intake::kMaxDatagram || from.remote.port() == 0) return malformed_.Add();
  const std::shared_ptr<MediaSocket> call = CallOf(data, len, from);
  if (!call) return;
  call->Take(data, len, from, now_ns);
  if (call->deadline_ns() != INT64_MAX) batch.waiting.push_back(call);
}

std::shared_ptr<MediaSocket> UdpMux::CallOf(const uint8_t* data, size_t len, const Path& from) {
  std::shared_ptr<MediaSocket> call;
  if (KindOf(data, len) == DatagramKind::kStun) {
    StunMessage message;
    std::string_view fragment;
    // Responses and indications concern nothing that an ICE-lite agent has sent.
    if (!ReadStun(data, len, &message) || message.kind != StunClass::kRequest) {
      malformed_.Add();
      return nullptr;
    }
    if (LocalFragment(message, &fragment)) call = calls_.ByFragment(fragment);
  } else {
    call = calls_.ByAddress(from.remote);
  }
  if (!call) unknown_.Add();
  return call;
}

UdpMux::Stats UdpMux::Count() {
  Stats stats{datagrams_.value(),
              unknown_.value(),
              malformed_.value(),
              contested_.value(),
              0,
              INT32_MAX,
              INT32_MAX,
              calls_.Count(),
              tcp_ ? tcp_->Count() : IceTcp::Stats{}};
  for (const Socket& socket : sockets_) {
    const int fd = socket.descriptor->fd();
    stats.kernel_drops += DropsOf(fd);
    stats.receive_buffer_bytes = std::min(stats.receive_buffer_bytes, BufferOf(fd, SO_RCVBUF));
    stats.send_buffer_bytes = std::min(stats.send_buffer_bytes, BufferOf(fd, SO_SNDBUF));
  }
  return stats;
}

}  // namespace parley
