#include "media/receive/ice_tcp.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "media/ice/stun_message.h"
#include "media/receive/media_socket.h"
#include "media/rtp.h"

namespace parley {
namespace {

constexpr int kBacklog = 128;
constexpr int kAcceptsInRound = 16;
constexpr int kHostBits = 64;  // of IPv6: a host may use each address of its /64
constexpr int kEventsInRound = 64;
constexpr int kReadsInRound = 4;  // of one connection
constexpr int kTcpPortTries = 32;
// The kernel's buffer, and how much of it may wait to be sent for the first time. More would only delay sound
// that an interruption can no longer reach: this is some 200 ms of Opus.
constexpr int kSendBuffer = 32 << 10;
constexpr int kMaxNotSent = 1024;
constexpr int64_t kRestNs = kNsPerSecond;

template <class Value>
bool SetOption(int fd, int level, int option, Value value) {
  return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

void MarkPackets(int fd, int family, int dscp) {
  SetOption(fd, IPPROTO_IP, IP_TOS, dscp << 2);
  if (family == AF_INET6) SetOption(fd, IPPROTO_IPV6, IPV6_TCLASS, dscp << 2);
}

bool IsWildcard(const std::string& address) { return address == "0.0.0.0" || address == "::"; }

}  // namespace

std::unique_ptr<IceTcp> IceTcp::Open(const std::vector<std::string>& addresses, uint16_t port, int dscp,
                                     CallTable* calls, std::string* problem) {
  const bool has_v4 = std::any_of(addresses.begin(), addresses.end(), [](const std::string& text) {
    return text.find(':') == std::string::npos;
  });
  for (int tries = 0;; tries++) {
    std::unique_ptr<IceTcp> tcp(new IceTcp(calls, dscp));
    if (!tcp->epoll_) {
      *problem = std::string("no TCP port can be opened: ") + std::strerror(errno);
      return nullptr;
    }
    tcp->port_ = port;
    const bool bound = std::all_of(addresses.begin(), addresses.end(), [&](const std::string& text) {
      return tcp->Listen(Address::Of(text, tcp->port_), has_v4 || !IsWildcard(text), problem);
    });
    if (bound) {
      tcp->WatchListeners(true);
      return tcp;
    }
    if (port != 0 || tcp->port_ == 0 || tries >= kTcpPortTries) return nullptr;
  }
}

IceTcp::IceTcp(CallTable* calls, int dscp)
    : calls_(calls), dscp_(dscp), epoll_(Descriptor::Adopt(epoll_create1(EPOLL_CLOEXEC))), next_id_(0) {}

IceTcp::~IceTcp() {
  for (const auto& entry : connections_) entry.second->Close();
}

bool IceTcp::Listen(const Address& address, bool only_v6, std::string* problem) {
  uint8_t octets[16];
  const int family = address.CopyTo(octets) == 4 ? AF_INET : AF_INET6;
  sockaddr_storage local;
  socklen_t bytes = 0;
  address.Fill(family, &local, &bytes);
  auto listener = Descriptor::Adopt(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = listener ? listener->fd() : -1;
  const bool ready = fd >= 0 && SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
                     (family == AF_INET || SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, only_v6 ? 1 : 0)) &&
                     bind(fd, reinterpret_cast<const sockaddr*>(&local), bytes) == 0 &&
                     listen(fd, kBacklog) == 0;
  if (!ready) {
    *problem = "the TCP port " + std::to_string(address.port()) + " of " + address.text() +
               " cannot be opened: " + std::strerror(errno);
    return false;
  }
  bytes = sizeof(local);
  getsockname(fd, reinterpret_cast<sockaddr*>(&local), &bytes);
  port_ = Address::Of(local).port();
  listeners_.push_back(std::move(listener));
  next_id_ = listeners_.size();  // those below are the listeners'
  return true;
}

void IceTcp::WatchListeners(bool on) {
  for (size_t n = 0; n < listeners_.size(); n++) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = n;
    epoll_ctl(epoll_->fd(), on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listeners_[n]->fd(), &event);
  }
}

void IceTcp::Receive(ReceiveBatch& batch, int64_t now_ns) {
  epoll_event events[kEventsInRound];
  const int count = epoll_wait(epoll_->fd(), events, kEventsInRound, 0);
  for (int n = 0; n < count; n++) {
    const uint64_t id = events[n].data.u64;
    if (id < listeners_.size()) Accept(id, now_ns);
    else Serve(id, events[n].events, batch, now_ns);
  }
}

void IceTcp::Accept(size_t listener, int64_t now_ns) {
  for (int n = 0; n < kAcceptsInRound; n++) {
    sockaddr_storage from{};
    socklen_t bytes = sizeof(from);
    const int fd = accept4(listeners_[listener]->fd(), reinterpret_cast<sockaddr*>(&from), &bytes,
                           SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      Admit(Descriptor::Adopt(fd), Address::Of(from), now_ns);
      continue;
    }
    // Without a descriptor the connection stays in the queue, and the listener readable.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      WatchListeners(false);
      resume_ns_ = now_ns + kRestNs;
      Await(resume_ns_);
    }
    return;
  }
}

// Closes the socket if there are too many.
void IceTcp::Admit(std::shared_ptr<const Descriptor> socket, const Address& remote, int64_t now_ns) {
  const int fd = socket->fd();
  const uint64_t id = next_id_;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  if (connections_.size() >= kMaxConnections || unchecked_ >= kMaxUnchecked ||
      UncheckedOf(remote) >= kMaxUncheckedOfHost || epoll_ctl(epoll_->fd(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return refused_.Add();
  }
  next_id_++;
  uint8_t octets[16];
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, SOL_SOCKET, SO_SNDBUF, kSendBuffer);
  SetOption(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kMaxNotSent);
  MarkPackets(fd, remote.CopyTo(octets) == 4 ? AF_INET : AF_INET6, dscp_);
  auto connection = std::make_shared<TcpConnection>(std::move(socket), epoll_, id, remote, dropped_);
  connection->opened_ns = now_ns;
  connections_[id] = std::move(connection);
  unchecked_++;
  accepted_.Add();
  open_.store(connections_.size());
  Await(now_ns + kCheckNs);
}

size_t IceTcp::UncheckedOf(const Address& host) const {
  if (unchecked_ < kMaxUncheckedOfHost) return unchecked_;
  const int bits = std::min(host.bits(), kHostBits);
  return static_cast<size_t>(std::count_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
    return !entry.second->checked && entry.second->remote().SharesPrefix(host, bits);
  }));
}

void IceTcp::Serve(uint64_t id, uint32_t events, ReceiveBatch& batch, int64_t now_ns) {
  const auto entry = connections_.find(id);
  if (entry == connections_.end()) return;
  const std::shared_ptr<TcpConnection> connection = entry->second;
  bool open = (events & EPOLLERR) == 0;
  if (open && (events & EPOLLOUT)) open = connection->Flush();
  uint8_t* const scratch = batch.data[0].data();
  const auto take = [&](const uint8_t* data, size_t len) {
    return Take(connection, data, len, batch, now_ns);
  };
  if (open && (events & (EPOLLIN | EPOLLHUP))) {
    open = connection->Read(scratch, kReadsInRound * ReceiveBatch::kPacketBytes, now_ns, take);
  }
  if (!open) return Drop(id);
  if (connection->half_since_ns() != INT64_MAX) Await(connection->half_since_ns() + kCheckNs);
}

// False closes the connection.
bool IceTcp::Take(const std::shared_ptr<TcpConnection>& connection, const uint8_t* data, size_t len,
                  ReceiveBatch& batch, int64_t now_ns) {
  std::shared_ptr<MediaSocket> call = connection->call.lock();
  if (connection->checked && !call) return false;
  if (KindOf(data, len) == DatagramKind::kStun) {
    StunMessage message;
    std::string_view fragment;
    if (!ReadStun(data, len, &message) || message.kind != StunClass::kRequest) return connection->checked;
    const auto named = LocalFragment(message, &fragment) ? calls_->ByFragment(fragment) : nullptr;
    if (!connection->checked && ++connection->frames > kMaxFramesUnchecked) return false;
    if (!named || (call && call != named)) return connection->checked;
    call = named;
  }
  if (!call) return false;
  const bool passed =
      call->Take(data, len, {connection->remote(), Address(), nullptr, AF_INET6, connection}, now_ns);
  if (passed && !connection->checked) {
    connection->checked = true;
    connection->call = call;
    unchecked_--;
  }
  if (call->deadline_ns() != INT64_MAX) batch.waiting.push_back(call);
  return true;
}

void IceTcp::Drop(uint64_t id) {
  const auto entry = connections_.find(id);
  const std::shared_ptr<TcpConnection> connection = entry->second;
  connections_.erase(entry);
  open_.store(connections_.size());
  if (!connection->checked) unchecked_--;
  connection->Close();
  connection->Unwatch();
  if (const auto call = connection->call.lock()) call->LoseConnection(connection.get());
}

int64_t IceTcp::LimitOf(const TcpConnection& connection) {
  const int64_t half = connection.half_since_ns();
  const int64_t frame = half == INT64_MAX ? INT64_MAX : half + kCheckNs;
  return connection.checked ? frame : std::min(frame, connection.opened_ns + kCheckNs);
}

void IceTcp::Expire(int64_t now_ns) {
  std::vector<uint64_t> over;
  int64_t next_ns = INT64_MAX;
  if (resume_ns_ <= now_ns) {
    resume_ns_ = INT64_MAX;
    WatchListeners(true);
  }
  for (const auto& [id, connection] : connections_) {
    const int64_t limit_ns = LimitOf(*connection);
    if (limit_ns <= now_ns) over.push_back(id);
    else next_ns = std::min(next_ns, limit_ns);
  }
  deadline_ns_.store(std::min(next_ns, resume_ns_));
  for (const uint64_t id : over) {
    expired_.Add();
    Drop(id);
  }
}

void IceTcp::Await(int64_t until_ns) { deadline_ns_.store(std::min(deadline_ns_.load(), until_ns)); }

IceTcp::Stats IceTcp::Count() const {
  return {open_.load(), accepted_.value(), refused_.value(), expired_.value(), dropped_->value()};
}

}  // namespace parley
