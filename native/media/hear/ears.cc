#include "media/hear/ears.h"

#include <algorithm>
#include <utility>

namespace parley {

void EarSeat::Put(const EarWindow& window) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (count_ == kMost) {
    first_ = (first_ + 1) % kMost;
    count_--;
    dropped_++;
  }
  windows_[(first_ + count_++) % kMost] = window;
}

void EarSeat::Lose(uint64_t windows) {
  std::lock_guard<std::mutex> lock(mutex_);
  dropped_ += count_ + windows;
  count_ = 0;
}

int64_t EarSeat::FirstEnd() {
  std::lock_guard<std::mutex> lock(mutex_);
  return count_ == 0 ? INT64_MAX : windows_[first_].end_ns;
}

bool EarSeat::Take(int64_t end_ns, EarWindow* window, uint64_t* dropped) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (count_ == 0 || windows_[first_].end_ns != end_ns) return false;
  *window = windows_[first_];
  *dropped = std::exchange(dropped_, 0);
  first_ = (first_ + 1) % kMost;
  count_--;
  return true;
}

std::shared_ptr<EarSeat> Ears::Join(std::weak_ptr<ListeningOwner> owner, uint64_t socket) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return nullptr;
  members_.push_back({std::make_shared<EarSeat>(socket), std::move(owner)});
  return members_.back().seat;
}

void Ears::Leave(const EarSeat* seat) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto member = std::find_if(members_.begin(), members_.end(),
                                   [seat](const Member& one) { return one.seat.get() == seat; });
  if (member == members_.end()) return;
  if (static_cast<size_t>(member - members_.begin()) < next_) next_--;
  members_.erase(member);
}

void Ears::Close() {
  std::vector<Member> members;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    members.swap(members_);
  }
  for (const Member& member : members) {
    if (const auto owner = member.owner.lock()) owner->LeaveEars(this);
  }
  watch_.Disarm();
}

// Returns the earliest end of a window of any member; INT64_MAX when no complete batch waits. Under mutex_.
int64_t Ears::FirstEnd() {
  int64_t first_ns = INT64_MAX;
  for (const Member& member : members_) first_ns = std::min(first_ns, member.seat->FirstEnd());
  return first_ns <= complete_ns_.load() ? first_ns : INT64_MAX;
}

bool Ears::Take(Row* row) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (;;) {
    while (next_ < members_.size()) {
      EarSeat& seat = *members_[next_++].seat;
      if (!seat.Take(batch_ns_, &row->window, &row->dropped)) continue;
      row->socket = seat.socket();
      return true;
    }
    batch_ns_ = FirstEnd();
    if (batch_ns_ == INT64_MAX) return false;
    next_ = 0;
  }
}

bool Ears::Watch(std::shared_ptr<ReadySink> sink, uint64_t handle) {
  watch_.Arm(std::move(sink), handle);
  std::lock_guard<std::mutex> lock(mutex_);
  const bool waiting = FirstEnd() != INT64_MAX;
  if (waiting) watch_.Disarm();
  return waiting;
}

void Ears::Announce(int64_t end_ns) {
  complete_ns_.store(std::max(complete_ns_.load(), end_ns));
  watch_.Fire();
}

}  // namespace parley
