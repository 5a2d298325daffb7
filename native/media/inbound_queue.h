// Events of incoming media for JavaScript: few and small.
#ifndef PARLEY_MEDIA_INBOUND_QUEUE_H_
#define PARLEY_MEDIA_INBOUND_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "media/ready.h"

namespace parley {

struct InboundEvent {
  enum Kind : uint8_t { kDigit, kTarget, kBye, kForeign, kIce, kDtls, kTone, kKeyDown };
  uint64_t socket;  // handle; kDtls: of the association
  Kind kind;
  uint8_t digit;        // kDigit, kKeyDown: the event of RFC 4733; kTone: a ToneKind
  int64_t duration_ns;  // kDigit, kTone
  int64_t at_ns;        // kDigit, kKeyDown: when the key went down; kTone: when it began
  double hz = 0;        // kTone
};

// Any thread.
class InboundQueue {
 public:
  static constexpr size_t kMax = 16'384;

  explicit InboundQueue(std::shared_ptr<ReadyWatch> watch) : watch_(std::move(watch)) {}

  // False: events were not taken for so long that this one is lost.
  bool Put(const InboundEvent& event) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (events_.size() >= kMax) return false;
      events_.push_back(event);
    }
    watch_->Fire();
    return true;
  }

  std::vector<InboundEvent> Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::move(events_);
  }

  bool Empty() {
    std::lock_guard<std::mutex> lock(mutex_);
    return events_.empty();
  }

 private:
  const std::shared_ptr<ReadyWatch> watch_;
  std::mutex mutex_;
  std::vector<InboundEvent> events_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_INBOUND_QUEUE_H_
