// The way of a datagram between one of our sockets and a far address, and how the kernel is told of it.
#ifndef PARLEY_MEDIA_PATH_H_
#define PARLEY_MEDIA_PATH_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "media/descriptor.h"
#include "media/receive/address.h"

namespace parley {

// kNo: the clock, which never waits for another thread.
enum class Wait : bool { kNo, kForTurn };

// A connection that carries datagrams in frames (RFC 4571).
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  // Any thread. It never blocks on the network. False: the datagram is dropped.
  virtual bool Send(const uint8_t* data, size_t len, Wait wait) = 0;
  // Nothing is sent any more. Any thread, and repeatedly.
  virtual void Close() = 0;
};

struct Path {
  Address remote;
  // Our address, where the socket is bound to all of the machine; else unknown.
  Address local;
  std::shared_ptr<const Descriptor> socket;
  int family = AF_INET;              // the socket's
  std::shared_ptr<PacketSink> sink;  // instead of a socket

  bool known() const { return remote.known(); }
  bool operator==(const Path& other) const {
    return remote == other.remote && local == other.local && socket == other.socket && sink == other.sink;
  }
  bool operator!=(const Path& other) const { return !(*this == other); }
};

// Destination and source of datagrams in the form of the kernel.
struct Envelope {
  sockaddr_storage to{};
  socklen_t to_bytes = 0;
  alignas(cmsghdr) uint8_t control[CMSG_SPACE(sizeof(in6_pktinfo))] = {};
  size_t control_bytes = 0;

  // False when the far address does not suit a socket of this family. `local` may be unknown.
  bool Fill(int family, const Address& remote, const Address& local);
  // One message; `vector` belongs to it.
  void Describe(const uint8_t* data, size_t bytes, iovec* vector, msghdr* message) const;
};

// Sends one datagram now. False when the system refused it or the connection dropped it.
bool SendAlong(const Path& path, const uint8_t* data, size_t bytes);

// Lets a wildcard socket report the address that each datagram came to.
bool ReportLocalAddress(int fd, int family);
// The local address of a received message; unknown if the socket does not report it.
Address LocalAddressOf(const msghdr& message);
constexpr size_t kLocalAddressControl = CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(in_pktinfo));

}  // namespace parley

#endif  // PARLEY_MEDIA_PATH_H_
