#include "media/hear/listening_thread.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "media/clock.h"

namespace parley {
namespace {

// Above JavaScript where the system allows it; below the clock in any case.
constexpr int kNiceRaised = -5, kNiceLowered = 1;
constexpr int64_t kQuantaOfWindow = EarWindow::kSamples / CallerSound::kQuantum;
constexpr int64_t kWindowNs = kQuantaOfWindow * SentSound::kQuantumNs;

}  // namespace

bool ListeningThread::Add(std::shared_ptr<ListeningCall> call) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_.load()) return false;
  calls_.push_back(std::move(call));
  if (next_ns_ == INT64_MAX) {
    const int64_t quanta = (time_.Now() - time_.start_ns()) / SentSound::kQuantumNs + 1;
    next_ns_ = time_.start_ns() + quanta * SentSound::kQuantumNs;
    idle_.Set();
  }
  if (!thread_.joinable() && !time_.manual()) thread_ = std::thread([this] { Run(); });
  return true;
}

void ListeningThread::Remove(const ListeningCall* call) {
  std::lock_guard<std::mutex> lock(mutex_);
  calls_.erase(
      std::remove_if(calls_.begin(), calls_.end(), [call](const auto& one) { return one.get() == call; }),
      calls_.end());
  if (calls_.empty()) next_ns_ = INT64_MAX;
}

size_t ListeningThread::size() {
  std::lock_guard<std::mutex> lock(mutex_);
  return calls_.size();
}

void ListeningThread::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_.store(true);
  }
  idle_.Set();
  if (thread_.joinable()) thread_.join();
}

void ListeningThread::Run() {
  pthread_setname_np(pthread_self(), "parley-listen");
  if (!SetThreadNice(kNiceRaised)) SetThreadNice(kNiceLowered);
  while (!stopping_.load()) {
    RunUpTo(time_.Now());
    const int64_t next_ns = NextTick();
    if (next_ns == INT64_MAX) {
      idle_.Wait();
    } else {
      SleepUntilNs(next_ns);
    }
  }
}

int64_t ListeningThread::NextTick() {
  std::lock_guard<std::mutex> lock(mutex_);
  return next_ns_;
}

void ListeningThread::RunUpTo(int64_t now_ns) {
  int64_t at_ns = 0;
  while (!stopping_.load() && TakeBatch(now_ns, &at_ns)) {
    Tick(at_ns, now_ns);
    batch_.clear();
  }
}

// False: no moment is due.
bool ListeningThread::TakeBatch(int64_t now_ns, int64_t* at_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (next_ns_ > now_ns) return false;
  const int64_t behind_ns = now_ns - next_ns_;
  if (behind_ns > kMostBehindNs) next_ns_ += behind_ns / kWindowNs * kWindowNs;
  *at_ns = next_ns_;
  next_ns_ += SentSound::kQuantumNs;
  batch_.assign(calls_.begin(), calls_.end());
  return true;
}

void ListeningThread::Tick(int64_t at_ns, int64_t now_ns) {
  const int64_t quantum = (at_ns - time_.start_ns()) / SentSound::kQuantumNs;
  const bool ends_window = quantum % kQuantaOfWindow == kQuantaOfWindow - 1;
  for (const auto& call : batch_) {
    ListeningCall::Result result = call->Tick({at_ns, now_ns, ends_window});
    if (result.ears && std::find(announced_.begin(), announced_.end(), result.ears) == announced_.end()) {
      announced_.push_back(std::move(result.ears));
    }
    const auto owner = result.ended ? call->owner() : nullptr;
    if (owner) owner->OnListenerEnded();
  }
  for (const auto& ears : announced_) ears->Announce(at_ns + SentSound::kQuantumNs);
  announced_.clear();
}

}  // namespace parley
