// Where the packets of a stream go: an address by way of a socket that somebody
// else owns, or the plane's capture ring. Immutable.
#ifndef PARLEY_MEDIA_TARGET_H_
#define PARLEY_MEDIA_TARGET_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>

#include "media/packet_tap.h"
#include "media/receive/address.h"

namespace parley {

class Target {
 public:
  // Works on a dup() of `fd`, closed with the target, and marks the socket's
  // packets Expedited Forwarding (RFC 3246). Null with `problem` set when the
  // descriptor is no datagram socket or the address does not suit it.
  static std::unique_ptr<Target> Socket(int fd, const std::string& address, uint16_t port,
                                        std::string* problem);
  // By a socket of ours, marked as its owner wished. Null when the address does not suit it.
  static std::unique_ptr<Target> From(int fd, int family, const Address& to);
  static std::unique_ptr<Target> Capture();

  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  // RTCP goes this way instead (its own port). Before the target is used.
  void SendRtcpBy(std::unique_ptr<Target> way) { rtcp_ = std::move(way); }
  const Target& rtcp() const { return rtcp_ ? *rtcp_ : *this; }

  // What leaves by it is copied there. Before the target is used; null: nothing is.
  void CopyTo(std::shared_ptr<PacketTap> tap, bool rtcp_port) {
    tap_ = std::move(tap);
    rtcp_port_ = rtcp_port;
  }
  PacketTap* tap() const { return tap_.get(); }
  bool rtcp_port() const { return rtcp_port_; }
  Address remote() const { return Address::Of(address_); }

  bool captures() const { return fd_ < 0; }
  int fd() const { return fd_; }
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t address_bytes() const { return address_bytes_; }

  // Descriptors of one socket differ after dup(); the socket's inode does not.
  bool SameWay(const Target& other) const { return inode_ == other.inode_; }

 private:
  Target() = default;
  void Hold(int fd);

  int fd_ = -1;
  uint64_t inode_ = 0;  // 0: capture
  sockaddr_storage address_{};
  socklen_t address_bytes_ = 0;
  std::unique_ptr<Target> rtcp_;
  std::shared_ptr<PacketTap> tap_;
  bool rtcp_port_ = false;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_TARGET_H_
