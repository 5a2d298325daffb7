// A thread that works at each moment of a grid on the plane's clock, while it has items to work for. It has a
// lower priority than the clock, and the clock never waits for it.
//
// A late wake-up processes every moment that was missed. After a longer stall it leaves the moments before
// out. On a manual plane its owner runs it instead of a thread.
//
// The work is a class with
//   using Item                        what callers add and remove
//   static constexpr Grid kGrid
//   Work(const TimeSource&)
//   void Tick(const std::vector<std::shared_ptr<Item>>& items, int64_t at_ns, int64_t now_ns)
//     `at_ns`: the moment; `now_ns`: when the thread woke for it
#ifndef PARLEY_MEDIA_GRID_THREAD_H_
#define PARLEY_MEDIA_GRID_THREAD_H_

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "media/clock.h"
#include "media/event.h"
#include "media/time.h"

namespace parley {

struct Grid {
  const char* name;        // of the thread, at most 15 characters
  int nice, nice_refused;  // the second where the system does not allow the first
  int64_t period_ns;       // from moment to moment
  int64_t most_behind_ns;  // a stall of so long loses no moment
  int64_t left_out_ns;     // moments are left out in multiples of this, itself a multiple of the period
};

template <class Work>
class GridThread {
 public:
  using Item = typename Work::Item;

  explicit GridThread(const TimeSource& time) : time_(time), work_(time) {}
  ~GridThread() { Stop(); }
  GridThread(const GridThread&) = delete;
  GridThread& operator=(const GridThread&) = delete;

  // Callers, any thread. The thread begins with the first item, unless the time is held by the caller.
  // False: stopped.
  bool Add(std::shared_ptr<Item> item) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_.load()) return false;
    items_.push_back(std::move(item));
    if (next_ns_ == INT64_MAX) {
      const int64_t periods = (time_.Now() - time_.start_ns()) / kGrid.period_ns + 1;
      next_ns_ = time_.start_ns() + periods * kGrid.period_ns;
      idle_.Set();
    }
    if (!thread_.joinable() && !time_.manual()) thread_ = std::thread([this] { Run(); });
    return true;
  }

  void Remove(const Item* item) {
    std::lock_guard<std::mutex> lock(mutex_);
    items_.erase(
        std::remove_if(items_.begin(), items_.end(), [item](const auto& one) { return one.get() == item; }),
        items_.end());
    if (items_.empty()) next_ns_ = INT64_MAX;
  }

  size_t size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return items_.size();
  }

  // Joins the thread.
  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_.store(true);
    }
    idle_.Set();
    if (thread_.joinable()) thread_.join();
  }

  // The thread, or the owner of a manual plane. INT64_MAX: there is no item.
  int64_t NextTick() {
    std::lock_guard<std::mutex> lock(mutex_);
    return next_ns_;
  }

  void RunUpTo(int64_t now_ns) {
    int64_t at_ns = 0;
    while (!stopping_.load() && TakeBatch(now_ns, &at_ns)) {
      work_.Tick(batch_, at_ns, now_ns);
      batch_.clear();
    }
  }

 private:
  static constexpr Grid kGrid = Work::kGrid;

  void Run() {
    pthread_setname_np(pthread_self(), kGrid.name);
    if (!SetThreadNice(kGrid.nice)) SetThreadNice(kGrid.nice_refused);
    while (!stopping_.load()) {
      RunUpTo(time_.Now());
      const int64_t next_ns = NextTick();
      if (next_ns == INT64_MAX) idle_.Wait();
      else SleepUntilNs(next_ns);
    }
  }

  // False: no moment is due.
  bool TakeBatch(int64_t now_ns, int64_t* at_ns) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (next_ns_ > now_ns) return false;
    const int64_t behind_ns = now_ns - next_ns_;
    if (behind_ns > kGrid.most_behind_ns) next_ns_ += behind_ns / kGrid.left_out_ns * kGrid.left_out_ns;
    *at_ns = next_ns_;
    next_ns_ += kGrid.period_ns;
    batch_.assign(items_.begin(), items_.end());
    return true;
  }

  const TimeSource& time_;
  Event idle_;  // ends the sleep of a thread without items
  std::atomic<bool> stopping_{false};
  std::thread thread_;

  // Only the thread uses these.
  Work work_;
  std::vector<std::shared_ptr<Item>> batch_;

  std::mutex mutex_;  // guards what follows
  std::vector<std::shared_ptr<Item>> items_;
  int64_t next_ns_ = INT64_MAX;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_GRID_THREAD_H_
