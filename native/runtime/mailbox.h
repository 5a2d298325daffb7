// Mailbox of requests from any thread to a device's thread, which takes all of them at once, between two
// stages of its work.
#ifndef PARLEY_RUNTIME_MAILBOX_H_
#define PARLEY_RUNTIME_MAILBOX_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/outcome.h"

namespace parley::runtime {

// Wakes a device's thread. All its mailboxes share one.
class Signal {
 public:
  void Notify() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      notified_ = true;
    }
    changed_.notify_one();
  }
  // Blocks until Notify was called since the last return, but no longer than until `latest`.
  void Wait(Clock::time_point latest) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto notified = [this] { return notified_; };
    if (latest == Clock::time_point::max()) changed_.wait(lock, notified);
    else changed_.wait_until(lock, latest, notified);
    notified_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool notified_ = false;
};

// `Orders` are the requests since the last Take. They have a member `close`: the engine closes.
template <class Orders>
class Mailbox {
 public:
  explicit Mailbox(std::shared_ptr<Signal> signal) : signal_(std::move(signal)) {}

  void Wake() {
    Leave([](Orders&) {});
  }
  void Close() {
    Leave([](Orders& orders) { orders.close = true; });
  }

  // Returns true if something was left since the last Take. Only the device's thread calls it.
  bool HasNews() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return news_;
  }
  // Returns all orders since the last call, in order of arrival.
  Orders Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    news_ = false;
    Orders taken = std::move(orders_);
    orders_ = {};
    orders_.close = taken.close;
    return taken;
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
    signal_->Notify();
  }

 private:
  const std::shared_ptr<Signal> signal_;
  mutable std::mutex mutex_;  // guards everything below
  Orders orders_;
  bool news_ = false;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_MAILBOX_H_
