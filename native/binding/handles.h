// Handles are numbers by which any thread of JavaScript names a native object.
//
//   52 bits = generation (32) << 20 | slot (20): a safe integer of JavaScript
//
// A removed handle never names another object: the generation of its slot is incremented, so a late caller
// finds nothing.
#ifndef PARLEY_BINDING_HANDLES_H_
#define PARLEY_BINDING_HANDLES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace parley {

using Handle = uint64_t;  // 0 names nothing

class Handles {
 public:
  // The table of the process. It is never destroyed, because worker threads may still look handles up while
  // the process runs its exit handlers.
  static Handles& Process() {
    static Handles* const table = new Handles();
    return *table;
  }

  // 0 when every slot is taken.
  template <class T>
  Handle Add(std::shared_ptr<T> object) {
    return AddErased(std::move(object), KindOf<T>());
  }

  // Null for a handle that is stale, foreign or of another kind.
  template <class T>
  std::shared_ptr<T> Get(Handle handle) {
    return std::static_pointer_cast<T>(GetErased(handle, KindOf<T>()));
  }

  // Removes the handle and returns its object, for the caller to end. Users on other threads keep the object
  // alive until they release it.
  template <class T>
  std::shared_ptr<T> Remove(Handle handle) {
    return std::static_pointer_cast<T>(RemoveErased(handle, KindOf<T>()));
  }

  // Number of handles in use, which leak tests check.
  size_t Count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return live_;
  }

 private:
  using Kind = const void*;  // the address of a variable of its own for each T

  struct Slot {
    std::shared_ptr<void> object;
    Kind kind = nullptr;
    uint32_t generation = 1;
  };

  static constexpr int kSlotBits = 20;
  static constexpr size_t kMaxSlots = size_t{1} << kSlotBits;

  template <class T>
  static Kind KindOf() {
    static const char kind = 0;
    return &kind;
  }

  Handle AddErased(std::shared_ptr<void> object, Kind kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t slot = 0;
    if (!free_.empty()) {
      slot = free_.front();
      free_.pop_front();
    } else if (slots_.size() < kMaxSlots) {
      slot = slots_.size();
      slots_.emplace_back();
    } else {
      return 0;
    }
    slots_[slot].object = std::move(object);
    slots_[slot].kind = kind;
    live_++;
    return Handle{slots_[slot].generation} << kSlotBits | slot;
  }

  Slot* Find(Handle handle, Kind kind) {
    const size_t slot = handle & (kMaxSlots - 1);
    if (slot >= slots_.size() || slots_[slot].generation != handle >> kSlotBits) return nullptr;
    return slots_[slot].kind == kind ? &slots_[slot] : nullptr;
  }

  std::shared_ptr<void> GetErased(Handle handle, Kind kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    Slot* slot = Find(handle, kind);
    return slot ? slot->object : nullptr;
  }

  std::shared_ptr<void> RemoveErased(Handle handle, Kind kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    Slot* slot = Find(handle, kind);
    if (!slot) return nullptr;
    slot->kind = nullptr;
    if (++slot->generation == 0) slot->generation = 1;
    free_.push_back(handle & (kMaxSlots - 1));
    live_--;
    return std::move(slot->object);
  }

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::deque<size_t> free_;  // oldest first, so that a generation lasts as long as it can
  size_t live_ = 0;
};

}  // namespace parley

#endif  // PARLEY_BINDING_HANDLES_H_
