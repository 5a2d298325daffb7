#include "media/receive/reorder_buffer.h"

#include <algorithm>
#include <iterator>

namespace parley {

void ReorderBuffer::Put(uint64_t index, HeardPayload payload) {
  if (!started_) {
    started_ = true;
    next_ = index;
  }
  if (index < next_) return;  // the hole was given up before it came
  const int64_t now_ns = payload.at_ns;
  const auto behind = std::find_if(waiting_.begin(), waiting_.end(),
                                   [index](const Waiting& one) { return one.index >= index; });
  if (behind != waiting_.end() && behind->index == index) return;
  waiting_.insert(behind, Waiting{index, std::move(payload)});
  Release(now_ns);
}

void ReorderBuffer::Release(int64_t now_ns) {
  while (!waiting_.empty()) {
    Waiting& first = waiting_.front();
    const bool in_order = first.index == next_;
    if (!in_order && waiting_.size() < kDepth && now_ns - first.payload.at_ns < kPatienceNs) return;
    PassOn(std::move(first));
    waiting_.pop_front();
  }
}

void ReorderBuffer::PassOn(Waiting&& one) {
  lost_ += one.index - next_;
  next_ = one.index + 1;
  if (!one.payload.sound) return;
  one.payload.lost_before = static_cast<uint32_t>(std::min<uint64_t>(lost_, UINT32_MAX));
  lost_ = 0;
  ready_.push_back(std::move(one.payload));
  if (ready_.size() <= kMaxReady) return;
  // The loss of this packet is reported with the next one.
  const uint32_t lost = ready_.front().lost_before + 1;
  ready_.pop_front();
  ready_.front().lost_before += lost;
  dropped_++;
}

void ReorderBuffer::Restart() {
  for (Waiting& one : waiting_) PassOn(std::move(one));
  waiting_.clear();
  started_ = false;
}

std::vector<HeardPayload> ReorderBuffer::Take() {
  std::vector<HeardPayload> taken(std::make_move_iterator(ready_.begin()),
                                  std::make_move_iterator(ready_.end()));
  ready_.clear();
  return taken;
}

}  // namespace parley
