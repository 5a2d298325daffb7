// Notes when RTP packets arrive, by the kernel's own clock, so that neither a
// busy event loop nor this program's scheduling changes what is measured.
//
//   udp_receiver           prints "port N", receives until stdin ends, then
//                          writes what it saw to stdout, little endian:
//     header  u64 records, u64 packets that the kernel dropped
//     record  u32 ssrc, u32 timestamp, u16 sequence, u16 bytes, u32 0, i64 arrival (CLOCK_MONOTONIC ns)
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

constexpr int kBatch = 256;
constexpr size_t kPacketBytes = 2048;
constexpr int kBufferBytes = 32 << 20;     // outlasts half a second of 500 streams
constexpr timespec kNap = {0, 4'000'000};  // between two looks: few wake-ups, the kernel keeps the times

struct Record {
  uint32_t ssrc;
  uint32_t timestamp;
  uint16_t sequence;
  uint16_t bytes;
  uint32_t unused;
  int64_t arrival_ns;
};
static_assert(sizeof(Record) == 24, "written as it lies in memory");

struct Seen {
  std::vector<Record> records;
  uint64_t dropped = 0;
};

int OpenSocket(uint16_t* port) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  // The first needs a privilege, the second is capped by the system.
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof kBufferBytes) != 0) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    std::perror("udp_receiver");
    return -1;
  }
  *port = ntohs(address.sin_port);
  return fd;
}

int64_t NowNs(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

// `ahead_ns`: of the wall clock, in which the kernel stamps, before the monotonic one.
void Note(const msghdr& message, const uint8_t* packet, size_t bytes, int64_t ahead_ns, Seen* seen) {
  if (bytes < 12) return;
  if (packet[1] >= 192 && packet[1] <= 223) return;  // RTCP (RFC 5761 section 4)
  Record record = {};
  std::memcpy(&record.ssrc, packet + 8, sizeof record.ssrc);
  std::memcpy(&record.timestamp, packet + 4, sizeof record.timestamp);
  std::memcpy(&record.sequence, packet + 2, sizeof record.sequence);
  record.ssrc = ntohl(record.ssrc);
  record.timestamp = ntohl(record.timestamp);
  record.sequence = ntohs(record.sequence);
  record.bytes = static_cast<uint16_t>(bytes);
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(const_cast<msghdr*>(&message), c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type == SCM_TIMESTAMPNS) {
      timespec time;
      std::memcpy(&time, CMSG_DATA(c), sizeof time);
      record.arrival_ns = time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec - ahead_ns;
    } else if (c->cmsg_type == SO_RXQ_OVFL) {
      uint32_t dropped;  // since the socket was made
      std::memcpy(&dropped, CMSG_DATA(c), sizeof dropped);
      seen->dropped = dropped;
    }
  }
  seen->records.push_back(record);
}

void TakeAll(int fd, Seen* seen) {
  static uint8_t packets[kBatch][kPacketBytes];
  static uint8_t controls[kBatch][128];
  const int64_t ahead_ns = NowNs(CLOCK_REALTIME) - NowNs(CLOCK_MONOTONIC);
  for (;;) {
    mmsghdr messages[kBatch] = {};
    iovec parts[kBatch];
    for (int i = 0; i < kBatch; i++) {
      parts[i] = {packets[i], kPacketBytes};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_control = controls[i];
      messages[i].msg_hdr.msg_controllen = sizeof controls[i];
    }
    const int count = recvmmsg(fd, messages, kBatch, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < count; i++)
      Note(messages[i].msg_hdr, packets[i], messages[i].msg_len, ahead_ns, seen);
    if (count < kBatch) return;
  }
}

bool InputEnded() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 0) <= 0) return false;
  char byte;
  return read(STDIN_FILENO, &byte, 1) <= 0;
}

}  // namespace

int main() {
  uint16_t port = 0;
  const int fd = OpenSocket(&port);
  if (fd < 0) return 1;
  std::printf("port %u\n", port);
  std::fflush(stdout);
  Seen seen;
  seen.records.reserve(1 << 20);
  while (!InputEnded()) {
    TakeAll(fd, &seen);
    nanosleep(&kNap, nullptr);
  }
  TakeAll(fd, &seen);
  const uint64_t header[2] = {seen.records.size(), seen.dropped};
  std::fwrite(header, sizeof header, 1, stdout);
  std::fwrite(seen.records.data(), sizeof(Record), seen.records.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
