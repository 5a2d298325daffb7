#include "media/wheel.h"

#include <algorithm>

namespace parley {

void DeadlineWheel::Insert(WheelNode* node) {
  const int64_t number = std::max(node->due_ns / kSlotNs, cursor_);
  const size_t index = static_cast<size_t>(number % kSlots);
  Slot& slot = slots_[index];

  // Nearly always the node belongs at the end of its list.
  WheelNode* before = slot.last;
  while (before && before->due_ns > node->due_ns) before = before->previous;
  WheelNode* after = before ? before->next : slot.first;
  node->previous = before;
  node->next = after;
  (before ? before->next : slot.first) = node;
  (after ? after->previous : slot.last) = node;
  occupied_[index / 64] |= uint64_t{1} << (index % 64);
}

int64_t DeadlineWheel::NextDue() const {
  const int64_t number = FirstOccupied();
  return number < 0 ? kNever : slots_[static_cast<size_t>(number % kSlots)].first->due_ns;
}

WheelNode* DeadlineWheel::PopDue(int64_t now_ns) {
  const int64_t number = FirstOccupied();
  if (number < 0) {
    cursor_ = std::max(cursor_, now_ns / kSlotNs);
    return nullptr;
  }
  const size_t index = static_cast<size_t>(number % kSlots);
  Slot& slot = slots_[index];
  WheelNode* node = slot.first;
  if (node->due_ns > now_ns) {
    cursor_ = std::max(cursor_, std::min(number, now_ns / kSlotNs));
    return nullptr;
  }
  cursor_ = number;
  slot.first = node->next;
  (slot.first ? slot.first->previous : slot.last) = nullptr;
  if (!slot.first) occupied_[index / 64] &= ~(uint64_t{1} << (index % 64));
  node->previous = node->next = nullptr;
  return node;
}

int64_t DeadlineWheel::FirstOccupied() const {
  const size_t start = static_cast<size_t>(cursor_ % kSlots);
  constexpr size_t kWords = kSlots / 64;
  // The word of the start is looked at twice: its upper part first, the rest last.
  for (size_t step = 0; step <= kWords; step++) {
    const size_t word = (start / 64 + step) % kWords;
    uint64_t bits = occupied_[word];
    if (step == 0) bits &= ~uint64_t{0} << (start % 64);
    if (step == kWords) bits &= ~(~uint64_t{0} << (start % 64));
    if (bits == 0) continue;
    const size_t index = word * 64 + static_cast<size_t>(__builtin_ctzll(bits));
    return cursor_ + static_cast<int64_t>((index + kSlots - start) % kSlots);
  }
  return -1;
}

}  // namespace parley
