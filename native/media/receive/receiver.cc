#include "media/receive/receiver.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace parley {
namespace {

constexpr uint64_t kWakeKey = 0;
constexpr int kLongestWaitMs = 1000;

// The lowest bits of the tag in an epoll event are the index of the descriptor: of a call's RTP or RTCP
// socket, or of a channel's sockets.
constexpr int kIndexBits = 3;
static_assert(Channel::kMaxDescriptors <= size_t{1} << kIndexBits, "an index has its bits in the tag");

uint64_t Tag(uint64_t key, size_t index) { return key << kIndexBits | index; }
uint64_t KeyOf(uint64_t tag) { return tag >> kIndexBits; }

// The lowest bits of a key are the slot of a call's socket, or all set.
constexpr int kSlotBits = 20;
constexpr uint64_t kNoSlot = (uint64_t{1} << kSlotBits) - 1;

uint64_t Key(uint64_t number, uint64_t slot) { return number << kSlotBits | slot; }
size_t SlotOf(uint64_t key) { return key & kNoSlot; }

}  // namespace

Receiver::Receiver(const TimeSource& time)
    : time_(time),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      batch_(std::make_unique<ReceiveBatch>()) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = Tag(kWakeKey, 0);
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

Receiver::~Receiver() {
  Close();
  close(epoll_);
  close(wake_);
}

bool Receiver::Add(std::shared_ptr<MediaSocket> socket) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || epoll_ < 0 || wake_ < 0) return false;
  if (free_slots_.empty() && slots_.size() >= kNoSlot) return false;
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.push_back({});
  }
  const size_t slot = free_slots_.back();
  const uint64_t key = Key(next_number_++, slot);
  // A socket that is half added leaves epoll when it is closed.
  if (!Watch(key, 0, socket->fd(false)) || !Watch(key, 1, socket->fd(true))) return false;
  free_slots_.pop_back();
  keys_[socket.get()] = key;
  slots_[slot] = {key, std::move(socket)};
  Begin();
  return true;
}

bool Receiver::Attach(const std::shared_ptr<Channel>& channel) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || epoll_ < 0 || wake_ < 0) return false;
  for (auto entry = channels_.begin(); entry != channels_.end();) {
    if (entry->second.channel.expired()) {
      entry = channels_.erase(entry);
    } else if (entry->second.key == channel.get()) {
      return true;
    } else {
      ++entry;
    }
  }
  const uint64_t key = Key(next_number_++, kNoSlot);
  const std::vector<int> descriptors = channel->descriptors();
  for (size_t index = 0; index < descriptors.size(); index++) {
    if (!Watch(key, index, descriptors[index])) return false;
  }
  channels_[key] = {channel.get(), channel};
  Begin();
  return true;
}

void Receiver::Begin() {
  if (!thread_.joinable() && !time_.manual()) thread_ = std::thread([this] { Run(); });
}

// True for a negative descriptor, too: there is nothing to watch.
bool Receiver::Watch(uint64_t key, size_t index, int fd) {
  if (fd < 0) return true;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = Tag(key, index);
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool Receiver::Remove(MediaSocket* socket) {
  std::shared_ptr<MediaSocket> held;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto key = keys_.find(socket);
    if (key == keys_.end()) return false;
    const size_t slot = SlotOf(key->second);
    held = std::exchange(slots_[slot].socket, nullptr);
    free_slots_.push_back(slot);
    for (const bool rtcp : {false, true}) {
      if (held->fd(rtcp) >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, held->fd(rtcp), nullptr);
    }
    waiting_.erase(held);
    keys_.erase(key);
  }
  held->Close();  // waits for a batch under way
  return true;
}

std::vector<uint64_t> Receiver::Close() {
  std::vector<std::shared_ptr<MediaSocket>> left;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return {};
    closed_ = true;
    for (const Slot& slot : slots_) {
      if (slot.socket) left.push_back(slot.socket);
    }
    slots_.clear();
    free_slots_.clear();
    keys_.clear();
    waiting_.clear();
    channels_.clear();
  }
  stopping_.store(true);
  const uint64_t one = 1;
  if (write(wake_, &one, sizeof(one)) < 0) {
    // Full means that it wakes already.
  }
  if (thread_.joinable()) thread_.join();
  std::vector<uint64_t> handles;
  for (const auto& socket : left) {
    handles.push_back(socket->handle());
    socket->Close();
  }
  return handles;
}

size_t Receiver::size() {
  std::lock_guard<std::mutex> lock(mutex_);
  return keys_.size();
}

void Receiver::Run() {
  pthread_setname_np(pthread_self(), "parley-receive");
  while (!stopping_.load()) {
    Round(WaitMs());
    Expire(time_.Now());
  }
}

void Receiver::Poll() { Round(0); }

void Receiver::Round(int timeout_ms) {
  epoll_event events[kRound];
  const int count = epoll_wait(epoll_, events, kRound, timeout_ms);
  std::shared_ptr<MediaSocket> sockets[kRound];
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (int n = 0; n < count; n++) sockets[n] = Find(KeyOf(events[n].data.u64));
  }
  for (int n = 0; n < count; n++) Ready(events[n].data.u64, std::exchange(sockets[n], nullptr));
}

void Receiver::Ready(uint64_t tag, const std::shared_ptr<MediaSocket>& socket) {
  const uint64_t key = KeyOf(tag);
  const size_t index = tag & ((size_t{1} << kIndexBits) - 1);
  if (key == kWakeKey) return;
  if (socket) {
    socket->Receive(index == 1, batch_.get());
    return NoteDeadline(socket);
  }
  const auto channel = FindChannel(key);
  if (!channel) return;
  channel->Receive(index, *batch_, time_.Now());
  for (const auto& socket : batch_->waiting) NoteDeadline(socket);
  batch_->waiting.clear();
}

int Receiver::WaitMs() {
  const int64_t next_ns = NextDeadline();
  if (next_ns == INT64_MAX) return kLongestWaitMs;
  const int64_t left_ms = (next_ns - time_.Now() + kNsPerMs - 1) / kNsPerMs;
  return static_cast<int>(std::clamp<int64_t>(left_ms, 0, kLongestWaitMs));
}

std::shared_ptr<MediaSocket> Receiver::Find(uint64_t key) const {
  const size_t slot = SlotOf(key);
  return slot < slots_.size() && slots_[slot].key == key ? slots_[slot].socket : nullptr;
}

std::shared_ptr<Channel> Receiver::FindChannel(uint64_t key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto entry = channels_.find(key);
  return entry == channels_.end() ? nullptr : entry->second.channel.lock();
}

void Receiver::NoteDeadline(const std::shared_ptr<MediaSocket>& socket) {
  if (socket->deadline_ns() == INT64_MAX) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (keys_.count(socket.get()) != 0) waiting_.insert(socket);
}

// Locked channels are released outside of the mutex: the last user of one closes it.
int64_t Receiver::NextDeadline() {
  std::vector<std::shared_ptr<Channel>> channels;
  int64_t next_ns = INT64_MAX;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& socket : waiting_) next_ns = std::min(next_ns, socket->deadline_ns());
    for (const auto& entry : channels_) channels.push_back(entry.second.channel.lock());
  }
  for (const auto& channel : channels) {
    if (channel) next_ns = std::min(next_ns, channel->deadline_ns());
  }
  return next_ns;
}

void Receiver::Expire(int64_t now_ns) {
  std::vector<std::shared_ptr<MediaSocket>> over;
  std::vector<std::shared_ptr<Channel>> channels;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto socket = waiting_.begin(); socket != waiting_.end();) {
      const int64_t deadline_ns = (*socket)->deadline_ns();
      if (deadline_ns <= now_ns) over.push_back(*socket);
      socket = deadline_ns <= now_ns || deadline_ns == INT64_MAX ? waiting_.erase(socket) : std::next(socket);
    }
    for (const auto& entry : channels_) channels.push_back(entry.second.channel.lock());
  }
  for (const auto& socket : over) {
    socket->Expire(now_ns);
    NoteDeadline(socket);
  }
  for (const auto& channel : channels) {
    if (channel && channel->deadline_ns() <= now_ns) channel->Expire(now_ns);
  }
}

}  // namespace parley
