#include "media/receive/port_pool.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "media/receive/address.h"

namespace parley {
namespace {

// Below `count`, which is 1 or more; false when the system gives none. 64 bits leave no bias worth a second
// draw.
bool RandomBelow(size_t count, size_t* out) {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) return false;
  *out = static_cast<size_t>(bits % count);
  return true;
}

}  // namespace

PortPair::~PortPair() { Close(0); }

void PortPair::Close(int64_t now_ns) {
  if (!rtp_) return;
  rtp_.reset();
  rtcp_.reset();
  pool_->GiveBack(port_, now_ns);
}

PortPool::PortPool(const PortPoolConfig& config, int family)
    : config_(config), family_(family), free_from_((config.last - config.first + 1U) / 2, INT64_MIN) {}

std::shared_ptr<PortPool> PortPool::Open(const PortPoolConfig& config, std::string* problem) {
  const bool v6 = config.address.find(':') != std::string::npos;
  if (!Address::Of(config.address, 0).known()) {
    *problem = "address must be an IP address";
    return nullptr;
  }
  if (config.first < 2 || config.first % 2 != 0 || config.last <= config.first) {
    *problem = "the port range must begin with an even port and hold the one after it";
    return nullptr;
  }
  return std::shared_ptr<PortPool>(new PortPool(config, v6 ? AF_INET6 : AF_INET));
}

std::unique_ptr<PortPair> PortPool::Take(bool mux, int64_t now_ns, std::string* problem) {
  std::unique_ptr<PortPair> pair(new PortPair(shared_from_this(), family_));
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<size_t> free;
  for (size_t place = 0; place < free_from_.size(); place++) {
    if (free_from_[place] <= now_ns) free.push_back(place);
  }
  while (!free.empty()) {
    size_t chosen = 0;
    if (!RandomBelow(free.size(), &chosen)) {
      *problem = "the system gives no random numbers";
      return nullptr;
    }
    std::swap(free[chosen], free.back());
    const size_t place = free.back();
    free.pop_back();
    const auto port = static_cast<uint16_t>(config_.first + 2 * place);
    switch (BindPair(pair.get(), port, mux, problem)) {
      case Bound::kYes:
        free_from_[place] = kInUse;
        return pair;
      case Bound::kInUse:
        taken_by_others_++;
        break;
      case Bound::kRefused:
        return nullptr;
    }
  }
  *problem = "no pair of RTP ports is free";
  return nullptr;
}

PortPool::Bound PortPool::BindPair(PortPair* pair, uint16_t port, bool mux, std::string* problem) {
  std::shared_ptr<const Descriptor> rtp, rtcp;
  Bound bound = Bind(&rtp, port, problem);
  if (bound == Bound::kYes && !mux) bound = Bind(&rtcp, static_cast<uint16_t>(port + 1), problem);
  if (bound != Bound::kYes) return bound;
  pair->rtp_ = std::move(rtp);
  pair->rtcp_ = std::move(rtcp);
  pair->port_ = port;
  return Bound::kYes;
}

PortPool::Bound PortPool::Bind(std::shared_ptr<const Descriptor>* bound, uint16_t port,
                               std::string* problem) const {
  sockaddr_storage address{};
  socklen_t bytes = 0;
  Address::Of(config_.address, port).Fill(family_, &address, &bytes);
  *bound = Descriptor::Adopt(socket(family_, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (*bound) {
    const int fd = (*bound)->fd();
    // Refused by some containers; the packets then go unmarked.
    const int service = config_.dscp << 2;
    setsockopt(fd, IPPROTO_IP, IP_TOS, &service, sizeof(service));
    if (family_ == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &service, sizeof(service));
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), bytes) == 0) return Bound::kYes;
  }
  const int error = errno;
  bound->reset();
  if (error == EADDRINUSE) return Bound::kInUse;
  *problem = "an RTP port cannot be opened: " + std::string(std::strerror(error));
  return Bound::kRefused;
}

void PortPool::GiveBack(uint16_t port, int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_from_[static_cast<size_t>(port - config_.first) / 2] = now_ns + config_.drain_ns;
}

PortPool::Counts PortPool::Count(int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  Counts counts{free_from_.size(), 0, 0, taken_by_others_};
  for (const int64_t free_from : free_from_) {
    counts.in_use += free_from == kInUse;
    counts.draining += free_from != kInUse && free_from > now_ns;
  }
  return counts;
}

}  // namespace parley
