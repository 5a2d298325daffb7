// The deadline wheel (a timing wheel): finds the stream due next, in constant time for any number of streams.
//
//   due ──▶ slot of 250 µs (due / kSlotNs mod 256) ──▶ list in order of due time
//
// Slots only sort: every node keeps its exact due time. A bit per slot marks it as occupied, so the next
// deadline is found without walking empty slots. Owned by one thread; nothing is allocated.
#ifndef PARLEY_MEDIA_WHEEL_H_
#define PARLEY_MEDIA_WHEEL_H_

#include <array>
#include <cstdint>

namespace parley {

struct WheelNode {
  int64_t due_ns = 0;
  WheelNode* previous = nullptr;
  WheelNode* next = nullptr;
};

class DeadlineWheel {
 public:
  static constexpr int64_t kSlotNs = 250'000;
  static constexpr int kSlots = 256;
  static constexpr int64_t kNever = INT64_MAX;
  // A node may be due this far after the earliest one that waits.
  static constexpr int64_t kHorizonNs = kSlotNs * (kSlots - 1);

  // `now_ns`: the moment before which nothing will be due.
  explicit DeadlineWheel(int64_t now_ns) : cursor_(now_ns / kSlotNs) {}

  // The node must not be in a wheel. One that is overdue comes out next.
  void Insert(WheelNode* node);

  // The earliest due time, or kNever.
  int64_t NextDue() const;

  // Takes out the earliest node that is due at or before `now_ns`; nodes with
  // equal due times leave in the order of Insert. Null when there is none.
  WheelNode* PopDue(int64_t now_ns);

 private:
  struct Slot {
    WheelNode* first = nullptr;
    WheelNode* last = nullptr;
  };

  // The slot number, at or after the cursor, of the first occupied slot; -1 when all are empty.
  int64_t FirstOccupied() const;

  std::array<Slot, kSlots> slots_{};
  std::array<uint64_t, kSlots / 64> occupied_{};
  int64_t cursor_;  // no node waits in a slot number before this one
};

}  // namespace parley

#endif  // PARLEY_MEDIA_WHEEL_H_
