// Mailbox of requests from any thread to an engine's thread. The engine's thread takes all of them at once,
// between two stages of its work.
#ifndef PARLEY_RUNTIME_MAILBOX_H_
#define PARLEY_RUNTIME_MAILBOX_H_

#include <condition_variable>
#include <mutex>
#include <utility>

#include "runtime/outcome.h"

namespace parley::runtime {

// `Orders` are the requests since the last Take. They have a member `close`: the engine closes.
template <class Orders>
class Mailbox {
 public:
  void Wake() {
    Leave([](Orders&) {});
  }
  void Close() {
    Leave([](Orders& orders) { orders.close = true; });
  }

  // Returns all orders since the last call, in order of arrival. For the engine's thread.
  Orders Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    news_ = false;
    Orders taken = std::move(orders_);
    orders_ = {};
    orders_.close = taken.close;
    return taken;
  }
  // Blocks until there is something to take, or Wake was called since the last Take.
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return news_; });
  }
  // As above, but no longer than until `latest`.
  void WaitUntil(Clock::time_point latest) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, latest, [this] { return news_; });
  }

 protected:
  // Calls `change` with the orders, unless the mailbox is closed: no thread would take them.
  template <class Change>
  void Leave(const Change& change) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (orders_.close) return;
      change(orders_);
      news_ = true;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  Orders orders_;
  bool news_ = false;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_MAILBOX_H_
