#include "media/target.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace parley {
namespace {

constexpr int kExpeditedForwarding = 0xb8;  // DSCP 46, in the upper six bits of the byte

// Accepts an IPv6 zone behind the address: fe80::1%eth0.
bool ParseV6(const std::string& text, sockaddr_in6* out) {
  const size_t zone = text.find('%');
  if (zone != std::string::npos) out->sin6_scope_id = if_nametoindex(text.c_str() + zone + 1);
  return inet_pton(AF_INET6, text.substr(0, zone).c_str(), &out->sin6_addr) == 1;
}

// An IPv4 address on an IPv6 socket is written ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
bool FillAddress(int family, const std::string& text, uint16_t port, sockaddr_storage* out, socklen_t* bytes) {
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
  target->Hold(fd);
  if (target->fd_ < 0 || !IsDatagramSocket(target->fd_)) {
    *problem = "fd must be an open datagram socket";
    return nullptr;
  }
  sockaddr_storage local{};
  socklen_t local_bytes = sizeof(local);
  getsockname(target->fd_, reinterpret_cast<sockaddr*>(&local), &local_bytes);
  if (!FillAddress(local.ss_family, address, port, &target->address_, &target->address_bytes_)) {
    *problem = "address must be an IP address of the socket's family";
    return nullptr;
  }
  MarkExpedited(target->fd_, local.ss_family);
  return target;
}

std::unique_ptr<Target> Target::From(int fd, int family, const Address& to) {
  std::unique_ptr<Target> target(new Target());
  if (!to.Fill(family, &target->address_, &target->address_bytes_)) return nullptr;
  target->Hold(fd);
  return target->fd_ < 0 ? nullptr : std::move(target);
}

void Target::Hold(int fd) {
  struct stat about {};
  fd_ = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (fd_ >= 0 && fstat(fd_, &about) == 0) inode_ = about.st_ino;
}

std::unique_ptr<Target> Target::Capture() { return std::unique_ptr<Target>(new Target()); }

Target::~Target() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace parley
