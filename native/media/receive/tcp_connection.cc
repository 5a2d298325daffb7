#include "media/receive/tcp_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "media/rtp.h"

namespace parley {
namespace {

bool IsLater(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

TcpConnection::TcpConnection(std::shared_ptr<const Descriptor> socket,
                             std::shared_ptr<const Descriptor> epoll, uint64_t id, const Address& remote,
                             std::shared_ptr<Counter> dropped)
    : socket_(std::move(socket)),
      epoll_(std::move(epoll)),
      id_(id),
      remote_(remote),
      dropped_(std::move(dropped)) {}

// Senders.

bool TcpConnection::Send(const uint8_t* data, size_t len, Wait wait) {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (wait == Wait::kForTurn) lock.lock();
  else if (!lock.try_lock()) return dropped_->Add(), false;
  if (closed_ || len > kMaxFrame) return false;
  const bool taken = SendFrame(data, len, wait == Wait::kForTurn);
  if (!taken) dropped_->Add();
  return taken;
}

bool TcpConnection::SendFrame(const uint8_t* data, size_t len, bool may_wait) {
  uint8_t head[kHeadBytes];
  PutBig16(head, static_cast<uint16_t>(len));
  if (unsent_from_ != unsent_to_) return may_wait && Keep(head, data, len, 0);
  iovec parts[] = {{head, kHeadBytes}, {const_cast<uint8_t*>(data), len}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t sent = sendmsg(socket_->fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && !IsLater(errno)) return false;
  const size_t done = sent < 0 ? 0 : static_cast<size_t>(sent);
  if (done == 0 && !may_wait) return false;
  return done == kHeadBytes + len || Keep(head, data, len, done);
}

// Keeps a frame without its first `sent` bytes, as a whole or not at all.
bool TcpConnection::Keep(const uint8_t* head, const uint8_t* data, size_t len, size_t sent) {
  const size_t rest = kHeadBytes + len - sent;
  if (unsent_to_ - unsent_from_ + rest > kMaxUnsent) return false;
  if (unsent_to_ + rest > kMaxUnsent) {
    std::memmove(unsent_.get(), unsent_.get() + unsent_from_, unsent_to_ - unsent_from_);
    unsent_to_ -= unsent_from_;
    unsent_from_ = 0;
  }
  if (unsent_from_ == unsent_to_) WatchOutput(true);
  if (sent < kHeadBytes) {
    std::copy_n(head + sent, kHeadBytes - sent, unsent_.get() + unsent_to_);
    unsent_to_ += kHeadBytes - sent;
    sent = kHeadBytes;
  }
  const size_t from = sent - kHeadBytes;
  std::copy_n(data + from, len - from, unsent_.get() + unsent_to_);
  unsent_to_ += len - from;
  return true;
}

void TcpConnection::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  FlushHeld();
  closed_ = true;
  shutdown(socket_->fd(), SHUT_RDWR);
}

void TcpConnection::WatchOutput(bool on) {
  epoll_event event{};
  event.events = on ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = id_;
  epoll_ctl(epoll_->fd(), EPOLL_CTL_MOD, socket_->fd(), &event);
}

// The receiver.

void TcpConnection::Unwatch() { epoll_ctl(epoll_->fd(), EPOLL_CTL_DEL, socket_->fd(), nullptr); }

bool TcpConnection::Flush() {
  std::lock_guard<std::mutex> lock(mutex_);
  return !closed_ && FlushHeld();
}

bool TcpConnection::FlushHeld() {
  while (unsent_from_ != unsent_to_) {
    const ssize_t sent = send(socket_->fd(), unsent_.get() + unsent_from_, unsent_to_ - unsent_from_,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return IsLater(errno);
    unsent_from_ += static_cast<size_t>(sent);
  }
  unsent_from_ = unsent_to_ = 0;
  WatchOutput(false);
  return true;
}

bool TcpConnection::Read(uint8_t* scratch, size_t room, int64_t now_ns, const TakeFrame& take) {
  const ssize_t got = recv(socket_->fd(), scratch, room, MSG_DONTWAIT);
  if (got < 0) return IsLater(errno);
  if (got == 0) return false;
  const size_t bytes = static_cast<size_t>(got);
  size_t used = 0;
  if (partial_.empty()) {
    if (!TakeFrames(scratch, bytes, take, &used)) return false;
    partial_.assign(scratch + used, scratch + bytes);
  } else {
    partial_.insert(partial_.end(), scratch, scratch + bytes);
    if (!TakeFrames(partial_.data(), partial_.size(), take, &used)) return false;
    partial_.erase(partial_.begin(), partial_.begin() + static_cast<long>(used));
  }
  // Another frame's first part begins its own wait.
  if (partial_.empty()) half_since_ns_ = INT64_MAX;
  else if (used > 0 || half_since_ns_ == INT64_MAX) half_since_ns_ = now_ns;
  return true;
}

bool TcpConnection::TakeFrames(const uint8_t* data, size_t len, const TakeFrame& take, size_t* used) {
  while (len - *used >= kHeadBytes) {
    const size_t frame = GetBig16(data + *used);
    if (frame > kMaxFrame) return false;
    if (len - *used < kHeadBytes + frame) return true;
    if (frame > 0 && !take(data + *used + kHeadBytes, frame)) return false;
    *used += kHeadBytes + frame;
  }
  return true;
}

}  // namespace parley
