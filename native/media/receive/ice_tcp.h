// Passive ICE-TCP on one port (RFC 6544): connections of far ends whose networks let no UDP through.
//
//   accepted ──valid check within 10 s──▶ its call's ──▶ closed by either end
//       └── anything else, too many ──▶ closed
//
// Everything is bounded: connections in all, those without a check, those of one host (an IPv4 address or an
// IPv6 /64), bytes that wait in either direction, and the time that half a frame may wait.
#ifndef PARLEY_MEDIA_RECEIVE_ICE_TCP_H_
#define PARLEY_MEDIA_RECEIVE_ICE_TCP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "media/receive/call_table.h"
#include "media/receive/channel.h"
#include "media/receive/tcp_connection.h"

namespace parley {

// Used by one thread at a time, which is the receiver's; counts may be read by any.
class IceTcp {
 public:
  static constexpr size_t kMaxConnections = 4096;
  static constexpr size_t kMaxUnchecked = 512;
  static constexpr size_t kMaxUncheckedOfHost = 16;
  static constexpr int kMaxFramesUnchecked = 32;
  static constexpr int64_t kCheckNs = 10'000'000'000;  // until a valid check, and for the rest of a frame

  // Null with `problem` set when an address cannot be bound. Port 0: the system chooses one.
  static std::unique_ptr<IceTcp> Open(const std::vector<std::string>& addresses, uint16_t port, int dscp,
                                      CallTable* calls, std::string* problem);
  ~IceTcp();

  uint16_t port() const { return port_; }
  int descriptor() const { return epoll_->fd(); }
  void Receive(ReceiveBatch& batch, int64_t now_ns);
  int64_t deadline_ns() const { return deadline_ns_.load(); }
  void Expire(int64_t now_ns);
  // Takes an accepted connection. Public for tests without a network.
  void Admit(std::shared_ptr<const Descriptor> socket, const Address& remote, int64_t now_ns);

  struct Stats {
    uint64_t connections, accepted, refused, expired, dropped;
  };
  Stats Count() const;

 private:
  IceTcp(CallTable* calls, int dscp);
  bool Listen(const Address& address, bool only_v6, std::string* problem);
  void WatchListeners(bool on);
  void Accept(size_t listener, int64_t now_ns);
  size_t UncheckedOf(const Address& host) const;
  void Serve(uint64_t id, uint32_t events, ReceiveBatch& batch, int64_t now_ns);
  bool Take(const std::shared_ptr<TcpConnection>& connection, const uint8_t* data, size_t len,
            ReceiveBatch& batch, int64_t now_ns);
  void Drop(uint64_t id);
  void Await(int64_t until_ns);
  static int64_t LimitOf(const TcpConnection& connection);

  CallTable* const calls_;
  const int dscp_;
  const std::shared_ptr<const Descriptor> epoll_;
  std::vector<std::shared_ptr<const Descriptor>> listeners_;
  uint16_t port_ = 0;
  uint64_t next_id_;
  std::unordered_map<uint64_t, std::shared_ptr<TcpConnection>> connections_;
  size_t unchecked_ = 0;
  int64_t resume_ns_ = INT64_MAX;  // listeners rest: the system had no descriptor
  std::atomic<int64_t> deadline_ns_{INT64_MAX};
  Counter accepted_, refused_, expired_;
  std::atomic<uint64_t> open_{0};
  const std::shared_ptr<Counter> dropped_ = std::make_shared<Counter>();
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_ICE_TCP_H_
