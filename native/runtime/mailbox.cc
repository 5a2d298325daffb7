#include "runtime/mailbox.h"

namespace parley::runtime {

// A closed mailbox keeps nothing: no thread would take it.
template <class Change>
void Mailbox::Leave(const Change& change) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (orders_.close) return;
    change();
    news_ = true;
  }
  changed_.notify_one();
}

StreamId Mailbox::Start(SpeechRequest request, std::shared_ptr<SpeechSink> sink) {
  StreamId id = 0;
  Leave([&] {
    orders_.arrivals.push_back({last_id_ + 1, std::move(request), std::move(sink), now_()});
    id = ++last_id_;
  });
  return id;
}

void Mailbox::AddText(StreamId stream, std::string text, bool last) {
  Leave([&] { orders_.texts.push_back({stream, std::move(text), last}); });
}

void Mailbox::Cancel(StreamId stream) {
  Leave([&] { orders_.cancels.push_back(stream); });
}

void Mailbox::Wake() {
  Leave([] {});
}

void Mailbox::Close() {
  Leave([&] { orders_.close = true; });
}

Orders Mailbox::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  news_ = false;
  Orders taken = std::move(orders_);
  orders_ = {};
  orders_.close = taken.close;
  return taken;
}

void Mailbox::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return news_; });
}

}  // namespace parley::runtime
