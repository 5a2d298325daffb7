#include "binding/ring_sink.h"

#include <utility>

namespace parley {

// The ring calls it on the reader's thread, once half of the ring is free or the ring was aborted.
class RingSink::Waker final : public ReadySink {
 public:
  explicit Waker(std::weak_ptr<runtime::Engine> engine) : engine_(std::move(engine)) {}

  // False: it is armed already. The engine's thread alone arms it.
  bool Arm() { return !armed_.exchange(true); }
  void Disarm() { armed_.store(false); }

 protected:
  void Wake() override {
    Take();
    armed_.store(false);
    if (const auto engine = engine_.lock()) engine->Wake();
  }

 private:
  const std::weak_ptr<runtime::Engine> engine_;
  std::atomic<bool> armed_{false};
};

RingSink::RingSink(std::shared_ptr<runtime::Engine> engine, std::shared_ptr<ByteRing> ring)
    : engine_(engine), ring_(std::move(ring)), waker_(std::make_shared<Waker>(engine)) {}

void RingSink::SetNotifier(std::shared_ptr<Notifier> notifier, Handle handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  notifier_ = std::move(notifier);
  handle_ = handle;
}

void RingSink::Started(runtime::StreamId stream) {
  stream_.store(stream);
  if (ring_->GetStatus().aborted) Cancel();
}

size_t RingSink::Room() {
  const ByteRing::Status status = ring_->GetStatus();
  if (status.aborted) {
    Cancel();
    return 0;
  }
  size_t room = status.writable;
  if (status.writable < status.readable && waker_->Arm() && ring_->WatchWrite(waker_, 0)) {
    waker_->Disarm();
    room = ring_->GetStatus().writable;
  }
  return room / sizeof(float);
}

void RingSink::Write(const float* samples, size_t count) {
  ring_->Write(reinterpret_cast<const uint8_t*>(samples), count * sizeof(float), sizeof(float));
}

void RingSink::Waits(bool waits) {
  waits_.store(waits);
  std::shared_ptr<Notifier> notifier;
  Handle handle = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    notifier = notifier_;
    handle = handle_;
  }
  if (notifier) Notifier::Ready(notifier, handle);
}

void RingSink::Ended(const runtime::StreamEnd& end) {
  using runtime::Outcome;
  const bool whole =
      end.outcome == Outcome::kDone || end.outcome == Outcome::kBudget || end.outcome == Outcome::kRunaway;
  if (whole) ring_->End("");
  std::shared_ptr<Notifier> notifier;
  Handle handle = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = end;
    notifier = std::move(notifier_);
    handle = handle_;
  }
  if (notifier) Notifier::Ready(notifier, handle);
}

void RingSink::AddText(std::string text, bool last) {
  const auto engine = engine_.lock();
  if (engine && stream_.load() != 0) engine->AddText(stream_.load(), std::move(text), last);
}

void RingSink::Cancel() {
  const auto engine = engine_.lock();
  if (engine && stream_.load() != 0) engine->Cancel(stream_.load());
}

std::optional<runtime::StreamEnd> RingSink::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return end_;
}

}  // namespace parley
