// The ports that calls receive on: pairs of an even port for RTP and the next odd port for RTCP (RFC 3550,
// 11), out of a range.
//
// A returned pair is not reused for a while: the far end of the old call may still send to it, and a new call
// must not receive that. Ports in use by other processes are skipped. The pair is chosen at random among the
// free ones (RFC 6056), so that an attacker cannot guess the next call's port.
#ifndef PARLEY_MEDIA_RECEIVE_PORT_POOL_H_
#define PARLEY_MEDIA_RECEIVE_PORT_POOL_H_

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "media/descriptor.h"

namespace parley {

struct PortPoolConfig {
  std::string address;  // local address; :: and 0.0.0.0 mean all
  uint16_t first = 0;   // even
  uint16_t last = 0;
  int64_t drain_ns = 0;
  int dscp = 46;  // Expedited Forwarding (RFC 3246)
};

class PortPool;

// Two bound sockets, not blocking; the second one is null when RTCP is muxed.
class PortPair {
 public:
  ~PortPair();
  PortPair(const PortPair&) = delete;
  PortPair& operator=(const PortPair&) = delete;

  const std::shared_ptr<const Descriptor>& rtp() const { return rtp_; }
  const std::shared_ptr<const Descriptor>& rtcp() const { return rtcp_; }
  uint16_t port() const { return port_; }
  int family() const { return family_; }
  // Lets the sockets go, which no target may hold any more; the pair rests from now on.
  void Close(int64_t now_ns);

 private:
  friend class PortPool;
  PortPair(std::shared_ptr<PortPool> pool, int family) : pool_(std::move(pool)), family_(family) {}

  const std::shared_ptr<PortPool> pool_;
  const int family_;
  std::shared_ptr<const Descriptor> rtp_, rtcp_;
  uint16_t port_ = 0;
};

class PortPool : public std::enable_shared_from_this<PortPool> {
 public:
  // Null with `problem` set when the address is not an IP address or the range holds no pair.
  static std::shared_ptr<PortPool> Open(const PortPoolConfig& config, std::string* problem);

  // Null with `problem` set when no pair is free or the system refuses.
  std::unique_ptr<PortPair> Take(bool mux, int64_t now_ns, std::string* problem);

  struct Counts {
    size_t pairs, in_use, draining;
    uint64_t taken_by_others;  // pairs stepped over because the system said so
  };
  Counts Count(int64_t now_ns);

 private:
  friend class PortPair;
  enum class Bound { kYes, kInUse, kRefused };
  static constexpr int64_t kInUse = INT64_MAX;

  PortPool(const PortPoolConfig& config, int family);
  Bound BindPair(PortPair* pair, uint16_t port, bool mux, std::string* problem);
  Bound Bind(std::shared_ptr<const Descriptor>* bound, uint16_t port, std::string* problem) const;
  void GiveBack(uint16_t port, int64_t now_ns);

  const PortPoolConfig config_;
  const int family_;
  std::mutex mutex_;                // guards what follows
  std::vector<int64_t> free_from_;  // for each pair: when it may be taken
  uint64_t taken_by_others_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_PORT_POOL_H_
