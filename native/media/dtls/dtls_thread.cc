#include "media/dtls/dtls_thread.h"

#include <pthread.h>

#include <chrono>

#include "media/time.h"

namespace parley {

bool DtlsThread::Add(const std::shared_ptr<DtlsAssociation>& association) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || associations_.size() >= kMaxAssociations) return false;
  associations_.emplace(association.get(), association);
  if (!manual_ && !thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  return true;
}

void DtlsThread::Remove(const DtlsAssociation* association) {
  std::shared_ptr<DtlsAssociation> held;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = associations_.find(association);
  if (found == associations_.end()) return;
  held = std::move(found->second);
  associations_.erase(found);
}

void DtlsThread::List(std::shared_ptr<DtlsAssociation> association) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    waiting_.push_back(std::move(association));
    if (waiting_.size() > 1) return;
  }
  changed_.notify_one();
}

size_t DtlsThread::size() {
  std::lock_guard<std::mutex> lock(mutex_);
  return associations_.size();
}

size_t DtlsThread::waiting() {
  std::lock_guard<std::mutex> lock(mutex_);
  return waiting_.size() + running_;
}

void DtlsThread::Run() {
  ListDue(MonotonicNs());
  std::unique_lock<std::mutex> lock(mutex_);
  while (StepOne(lock)) {
  }
}

void DtlsThread::Loop() {
  pthread_setname_np(pthread_self(), "parley-dtls");
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    lock.unlock();
    ListDue(MonotonicNs());
    lock.lock();
    if (StepOne(lock)) continue;
    const auto is_over = [this] { return closed_ || !waiting_.empty(); };
    const int64_t next_ns = next_deadline_ns();
    if (next_ns == INT64_MAX) {
      changed_.wait(lock, is_over);
    } else {
      const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(next_ns)};
      changed_.wait_until(lock, until, is_over);
    }
  }
}

// Retransmissions take their turn among the others. Both clocks are CLOCK_MONOTONIC.
void DtlsThread::ListDue(int64_t now_ns) {
  while (next_deadline_ns() <= now_ns) {
    const std::shared_ptr<DtlsAssociation> association = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    association->due_ns = INT64_MAX;
    association->Wake();
  }
}

// False: nothing waits. OpenSSL works without the lock.
bool DtlsThread::StepOne(std::unique_lock<std::mutex>& lock) {
  if (closed_ || waiting_.empty()) return false;
  std::shared_ptr<DtlsAssociation> association = std::move(waiting_.front());
  waiting_.pop_front();
  running_++;
  lock.unlock();
  const DtlsAssociation::Next next = association->Step(MonotonicNs());
  if (association->due_ns != next.deadline_ns) {
    deadlines_.erase({association->due_ns, association});
    association->due_ns = next.deadline_ns;
    if (next.deadline_ns != INT64_MAX) deadlines_.emplace(next.deadline_ns, association);
  }
  if (!next.more) association.reset();
  lock.lock();
  running_--;
  if (association && !closed_) waiting_.push_back(std::move(association));
  return true;
}

std::vector<uint64_t> DtlsThread::Close() {
  std::unordered_map<const DtlsAssociation*, std::shared_ptr<DtlsAssociation>> left;
  std::deque<std::shared_ptr<DtlsAssociation>> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return {};
    closed_ = true;
    left.swap(associations_);
    waiting.swap(waiting_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  deadlines_.clear();
  std::vector<uint64_t> handles;
  for (const auto& entry : left) {
    handles.push_back(entry.second->handle());
    entry.second->Close();
  }
  return handles;
}

}  // namespace parley
