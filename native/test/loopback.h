// Sockets on the loopback address, open descriptors and threads: parts of several tests and benches.
#ifndef PARLEY_TEST_LOOPBACK_H_
#define PARLEY_TEST_LOOPBACK_H_

#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "media/wire.h"

namespace parley::test {

// A UDP socket on the loopback address. Ends the program where the system refuses one.
class LoopbackSocket {
 public:
  LoopbackSocket() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address);
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) std::abort();
    if (getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) std::abort();
    port_ = ntohs(address.sin_port);
  }
  ~LoopbackSocket() { close(fd_); }
  LoopbackSocket(const LoopbackSocket&) = delete;
  LoopbackSocket& operator=(const LoopbackSocket&) = delete;

  int fd() const { return fd_; }
  uint16_t port() const { return port_; }

  // Sends from this socket to `to`.
  std::unique_ptr<Target> TargetAt(const LoopbackSocket& to) const {
    std::string problem;
    return Target::Socket(fd_, "127.0.0.1", to.port(), &problem);
  }

  // The next packet, or empty when none comes within `wait_ms`.
  std::string Receive(int wait_ms) const {
    pollfd wait{fd_, POLLIN, 0};
    if (poll(&wait, 1, wait_ms) <= 0) return {};
    char data[2048];
    const ssize_t bytes = recv(fd_, data, sizeof(data), MSG_DONTWAIT);
    return bytes > 0 ? std::string(data, static_cast<size_t>(bytes)) : std::string();
  }

  // Throws away what has arrived.
  void Drain() const {
    while (!Receive(0).empty()) {
    }
  }

 private:
  const int fd_;
  uint16_t port_ = 0;
};

inline size_t OpenDescriptors() {
  size_t count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

// Calls `hammer(seed, running)` in three threads, which return once `running` is false: after a second.
template <class Hammer>
void HammerForASecond(const Hammer& hammer) {
  std::atomic<bool> running{true};
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 3; seed++) threads.emplace_back([&, seed] { hammer(seed, running); });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  running.store(false);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace parley::test

#endif  // PARLEY_TEST_LOOPBACK_H_
