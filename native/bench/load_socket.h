// The UDP socket of the far ends of many calls: packets leave in batches, and each that comes has the
// kernel's time of its arrival.
#ifndef PARLEY_BENCH_LOAD_SOCKET_H_
#define PARLEY_BENCH_LOAD_SOCKET_H_

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "media/srtp.h"
#include "media/time.h"

namespace parley::bench {

constexpr SrtpProfile kLoadProfile = SrtpProfile::kAesCm128HmacSha1_80;
// The key and the salt of encrypted calls, both ways: LOAD_KEYS of rtp-load.ts.
constexpr uint8_t kLoadKey[16] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
constexpr uint8_t kLoadSalt[14] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};

class LoadSocket {
 public:
  static constexpr size_t kRoom = 1024;  // bytes of a packet

  LoadSocket() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  ~LoadSocket() { close(fd_); }
  LoadSocket(const LoadSocket&) = delete;
  LoadSocket& operator=(const LoadSocket&) = delete;

  static sockaddr_in Loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }

  // Binds to a free port; 0 if that failed, and why is printed.
  uint16_t Bind() {
    const int on = 1;
    setsockopt(fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    setsockopt(fd_, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
    for (const int option : {SO_RCVBUF, SO_RCVBUFFORCE, SO_SNDBUF, SO_SNDBUFFORCE}) {
      setsockopt(fd_, SOL_SOCKET, option, &kBufferBytes, sizeof kBufferBytes);
    }
    sockaddr_in address = Loopback(0);
    socklen_t length = sizeof address;
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) == 0)
      return ntohs(address.sin_port);
    std::perror("load socket");
    return 0;
  }

  // Room of kRoom bytes for the next packet, which Add sends.
  uint8_t* Next() { return packets_[count_].data(); }

  // The packet leaves with this batch. `to` must stay until Flush.
  void Add(sockaddr_in* to, size_t bytes) {
    vectors_[count_] = {packets_[count_].data(), bytes};
    messages_[count_] = {};
    messages_[count_].msg_hdr.msg_name = to;
    messages_[count_].msg_hdr.msg_namelen = sizeof *to;
    messages_[count_].msg_hdr.msg_iov = &vectors_[count_];
    messages_[count_].msg_hdr.msg_iovlen = 1;
    if (++count_ == kBatch) Flush();
  }

  void Flush() {
    for (size_t from = 0; from < count_;) {
      const int sent = sendmmsg(fd_, &messages_[from], static_cast<unsigned>(count_ - from), 0);
      from += sent > 0 ? static_cast<size_t>(sent) : 1;
      sent_ += sent > 0 ? static_cast<uint64_t>(sent) : 0;
    }
    count_ = 0;
  }

  // Calls `take(packet, bytes, port, arrival_ns)` for each packet that waits: its port is in network order,
  // and its time is on the monotonic clock.
  template <class Take>
  void Receive(const Take& take) {
    const int64_t ahead_ns = WallNs() - MonotonicNs();
    for (int count = kBatch; count == static_cast<int>(kBatch);) {
      std::array<mmsghdr, kBatch> messages{};
      std::array<iovec, kBatch> vectors;
      std::array<sockaddr_in, kBatch> from;
      for (size_t n = 0; n < kBatch; n++) {
        vectors[n] = {received_[n].data(), kRoom};
        messages[n].msg_hdr = {&from[n], sizeof from[n], &vectors[n], 1, controls_[n].data(), 128, 0};
      }
      count = recvmmsg(fd_, messages.data(), kBatch, MSG_DONTWAIT, nullptr);
      for (size_t n = 0; count > 0 && n < static_cast<size_t>(count); n++) {
        const int64_t arrival_ns = ArrivalOf(messages[n].msg_hdr) - ahead_ns;
        take(received_[n].data(), size_t{messages[n].msg_len}, from[n].sin_port, arrival_ns);
      }
    }
  }

  uint64_t sent() const { return sent_; }
  // Packets that found the socket's buffer full since it was made.
  uint32_t dropped() const { return dropped_; }

 private:
  static constexpr size_t kBatch = 64;
  static constexpr int kBufferBytes = 32 << 20;

  static int64_t WallNs() {
    timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * kNsPerSecond + time.tv_nsec;
  }

  int64_t ArrivalOf(const msghdr& message) {
    int64_t arrival_ns = 0;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(const_cast<msghdr*>(&message), c)) {
      timespec time;
      if (c->cmsg_level != SOL_SOCKET) continue;
      if (c->cmsg_type == SO_RXQ_OVFL) std::memcpy(&dropped_, CMSG_DATA(c), sizeof dropped_);
      if (c->cmsg_type != SCM_TIMESTAMPNS) continue;
      std::memcpy(&time, CMSG_DATA(c), sizeof time);
      arrival_ns = time.tv_sec * kNsPerSecond + time.tv_nsec;
    }
    return arrival_ns;
  }

  const int fd_;
  uint64_t sent_ = 0;
  uint32_t dropped_ = 0;
  size_t count_ = 0;
  std::array<std::array<uint8_t, kRoom>, kBatch> packets_, received_;
  std::array<std::array<uint8_t, 128>, kBatch> controls_;
  std::array<iovec, kBatch> vectors_;
  std::array<mmsghdr, kBatch> messages_;
};

// In microseconds; -1 if there are none.
inline int64_t At(const std::vector<int64_t>& sorted, double share) {
  if (sorted.empty()) return -1;
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))] / kNsPerUs;
}

// Binds the socket, prints its port, and reads the line of the order from the standard input.
inline bool ReadOrder(LoadSocket* socket, std::istringstream* order) {
  const uint16_t port = socket->Bind();
  if (port == 0) return false;
  std::printf("port %u\n", port);
  std::fflush(stdout);
  std::string text;
  if (!std::getline(std::cin, text)) return false;
  order->str(text);
  return true;
}

}  // namespace parley::bench

#endif  // PARLEY_BENCH_LOAD_SOCKET_H_
