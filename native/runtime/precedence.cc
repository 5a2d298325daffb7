#include "runtime/precedence.h"

#include <map>

namespace parley::runtime {
namespace {

constexpr std::chrono::milliseconds kMostWaitOfText{200}, kMostWaitOfFiles{1000};  // in a round
constexpr int kNoNode = -1;

size_t PlaceOf(Rank rank) { return static_cast<size_t>(rank); }

}  // namespace

std::shared_ptr<Precedence> Precedence::Of(std::optional<int> numa_node) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Precedence>> all;
  const std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<Precedence>& kept = all[numa_node.value_or(kNoNode)];
  std::shared_ptr<Precedence> one = kept.lock();
  if (one == nullptr) kept = one = std::make_shared<Precedence>();
  return one;
}

void Precedence::Change(Rank rank, int by) {
  if (working_[PlaceOf(rank)].fetch_add(by) + by > 0) return;
  // Between a waiter's look and its sleep this lock cannot be had.
  {
    const std::lock_guard<std::mutex> lock(mutex_);
  }
  changed_.notify_all();
}

bool Precedence::IsOutranked(Rank rank) const {
  for (size_t n = 0; n < PlaceOf(rank); n++) {
    if (working_[n].load(std::memory_order_relaxed) > 0) return true;
  }
  return false;
}

void Precedence::Member::Work(Rank rank) {
  if (rank_ == rank) return;
  Rest();
  rank_ = rank;
  all_->Change(rank, 1);
}

void Precedence::Member::Rest() {
  if (!rank_) return;
  all_->Change(*rank_, -1);
  rank_.reset();
}

void Precedence::Member::GiveWay() {
  if (!rank_ || !all_->IsOutranked(*rank_)) return;
  const auto most = *rank_ == Rank::kFiles ? kMostWaitOfFiles : kMostWaitOfText;
  if (waited_ >= most) return;
  const auto began = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(all_->mutex_);
  all_->changed_.wait_for(lock, most - waited_, [this] { return !all_->IsOutranked(*rank_); });
  waited_ += std::chrono::steady_clock::now() - began;
}

}  // namespace parley::runtime
