// One UDP port for all calls of a plane that are found by ICE, and one TCP port for far ends without UDP.
//
//   datagram ─▶ STUN? ─▶ binding request? ─▶ known fragment? ─▶ its call answers
//                 └─▶ known address? ─▶ its call
//
// A datagram of no call is counted and dropped without an answer, and without an allocation. At most
// RefusalLimit::kMost error answers leave in a second, over all calls. The sockets are closed with the last
// call that uses them, or with their owner, whichever is later.
#ifndef PARLEY_MEDIA_RECEIVE_UDP_MUX_H_
#define PARLEY_MEDIA_RECEIVE_UDP_MUX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "media/counters.h"
#include "media/ice/ice_lite.h"
#include "media/path.h"
#include "media/receive/call_table.h"
#include "media/receive/channel.h"
#include "media/receive/ice_tcp.h"

namespace parley {

struct UdpMuxConfig {
  std::vector<std::string> addresses;  // local addresses; :: and 0.0.0.0 mean all of the family
  uint16_t port = 0;                   // 0: the system chooses one for all addresses
  int dscp = 46;                       // Expedited Forwarding (RFC 3246)
  int buffer_bytes = 8 << 20;          // asked for in each direction
  int tcp_port = -1;                   // of ICE-TCP on the same addresses; 0 as above, -1: none
};

class UdpMux : public Channel {
 public:
  static constexpr size_t kMaxAddresses = Channel::kMaxDescriptors - 1;

  // Null with `problem` set when an address is not an IP address or cannot be bound.
  static std::shared_ptr<UdpMux> Open(const UdpMuxConfig& config, std::string* problem);

  uint16_t port() const { return port_; }
  uint16_t tcp_port() const { return tcp_ ? tcp_->port() : 0; }  // 0: none
  CallTable& calls() { return calls_; }
  RefusalLimit& refusals() { return refusals_; }
  // A path through the socket that suits the address, without a source address of ours; not known if no
  // socket does.
  Path PathTo(const Address& remote) const;

  // The receiver that reads it. False: another one does.
  bool BelongTo(const void* receiver);

  // Takes a datagram that the receiver read. Public for tests without a network.
  void Take(const uint8_t* data, size_t len, const Path& from, ReceiveBatch& batch, int64_t now_ns);

  struct Stats {
    uint64_t datagrams, unknown, malformed, contested;
    uint64_t kernel_drops;                        // datagrams that found the receive buffer full
    int receive_buffer_bytes, send_buffer_bytes;  // granted, the smallest of all sockets
    CallTable::Counts calls;
    IceTcp::Stats tcp;
  };
  Stats Count();
  // A check whose address belongs to another call.
  void NoteContested() { contested_.Add(); }

  std::vector<int> descriptors() const override;
  void Receive(size_t index, ReceiveBatch& batch, int64_t now_ns) override;
  int64_t deadline_ns() const override { return tcp_ ? tcp_->deadline_ns() : INT64_MAX; }
  void Expire(int64_t now_ns) override {
    if (tcp_) tcp_->Expire(now_ns);
  }

 private:
  struct Socket {
    std::shared_ptr<const Descriptor> descriptor;
    int family;
    bool any;  // bound to all addresses, so that each datagram states its own
  };

  static constexpr int kReads = 4;  // batches of one socket in a round

  UdpMux() = default;
  bool Bind(const Address& address, bool only_v6, const UdpMuxConfig& config, std::string* problem);
  bool ReadBatch(const Socket& socket, ReceiveBatch& batch, int64_t now_ns);
  std::shared_ptr<MediaSocket> CallOf(const uint8_t* data, size_t len, const Path& from);

  std::vector<Socket> sockets_;
  uint16_t port_ = 0;
  std::atomic<const void*> receiver_{nullptr};
  CallTable calls_;
  RefusalLimit refusals_;
  Counter datagrams_, unknown_, malformed_, contested_;
  std::unique_ptr<IceTcp> tcp_;  // null: no TCP
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_UDP_MUX_H_
