#include "media/path.h"

#include <netinet/ip.h>

#include <cstring>

namespace parley {
namespace {

template <class Info>
size_t WriteControl(uint8_t* control, int level, int type, const Info& info) {
  auto* const head = reinterpret_cast<cmsghdr*>(control);
  head->cmsg_level = level;
  head->cmsg_type = type;
  head->cmsg_len = CMSG_LEN(sizeof(info));
  std::memcpy(CMSG_DATA(head), &info, sizeof(info));
  return CMSG_SPACE(sizeof(info));
}

}  // namespace

bool Envelope::Fill(int family, const Address& remote, const Address& local) {
  control_bytes = 0;
  if (!remote.Fill(family, &to, &to_bytes)) return false;
  sockaddr_storage from;
  socklen_t from_bytes = 0;
  if (!local.known() || !local.Fill(family, &from, &from_bytes)) return true;
  if (family == AF_INET) {
    in_pktinfo info{};
    info.ipi_spec_dst = reinterpret_cast<const sockaddr_in&>(from).sin_addr;
    control_bytes = WriteControl(control, IPPROTO_IP, IP_PKTINFO, info);
  } else {
    in6_pktinfo info{};
    info.ipi6_addr = reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
    control_bytes = WriteControl(control, IPPROTO_IPV6, IPV6_PKTINFO, info);
  }
  return true;
}

void Envelope::Describe(const uint8_t* data, size_t bytes, iovec* vector, msghdr* message) const {
  *vector = {const_cast<uint8_t*>(data), bytes};
  *message = msghdr{};
  message->msg_name = const_cast<sockaddr_storage*>(&to);
  message->msg_namelen = to_bytes;
  message->msg_iov = vector;
  message->msg_iovlen = 1;
  if (control_bytes == 0) return;
  message->msg_control = const_cast<uint8_t*>(control);
  message->msg_controllen = control_bytes;
}

bool SendAlong(const Path& path, const uint8_t* data, size_t bytes) {
  if (path.sink) return path.sink->Send(data, bytes, Wait::kForTurn);
  Envelope envelope;
  if (!path.socket || !envelope.Fill(path.family, path.remote, path.local)) return false;
  iovec vector;
  msghdr message;
  envelope.Describe(data, bytes, &vector, &message);
  return sendmsg(path.socket->fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

bool ReportLocalAddress(int fd, int family) {
  const int on = 1;
  if (family == AF_INET) return setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) == 0;
  return setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) == 0;
}

Address LocalAddressOf(const msghdr& message) {
  auto* const all = const_cast<msghdr*>(&message);
  for (cmsghdr* note = CMSG_FIRSTHDR(all); note; note = CMSG_NXTHDR(all, note)) {
    sockaddr_storage local{};
    if (note->cmsg_level == IPPROTO_IP && note->cmsg_type == IP_PKTINFO) {
      in_pktinfo info;
      std::memcpy(&info, CMSG_DATA(note), sizeof(info));
      local.ss_family = AF_INET;
      // ipi_addr is the header's destination; ipi_spec_dst is ours where that one is a group.
      reinterpret_cast<sockaddr_in&>(local).sin_addr = info.ipi_spec_dst;
      return Address::Of(local);
    }
    if (note->cmsg_level == IPPROTO_IPV6 && note->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info;
      std::memcpy(&info, CMSG_DATA(note), sizeof(info));
      local.ss_family = AF_INET6;
      reinterpret_cast<sockaddr_in6&>(local).sin6_addr = info.ipi6_addr;
      return Address::Of(local);
    }
  }
  return Address();
}

}  // namespace parley
