// A bounded queue between exactly one writing and one reading thread, without
// locks and without allocation after construction.
#ifndef PARLEY_MEDIA_SPSC_RING_H_
#define PARLEY_MEDIA_SPSC_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace parley {

template <class T>
class SpscRing {
 public:
  // `capacity` is rounded up to a power of two. Items begin uninitialised, so
  // that a large ring costs no memory before it is used.
  explicit SpscRing(size_t capacity) : mask_(RoundUp(capacity) - 1), items_(new T[mask_ + 1]) {}

  // Writer: the place of the next item, or null when the ring is full. Fill it, then Publish().
  T* Place() {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) > mask_) return nullptr;
    return &items_[tail & mask_];
  }
  void Publish() { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  // Reader: the oldest item, or null when the ring is empty. Use it, then Pop().
  T* Front() {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return nullptr;
    return &items_[head & mask_];
  }
  void Pop() { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  static size_t RoundUp(size_t capacity) {
    size_t size = 1;
    while (size < capacity) size *= 2;
    return size;
  }

  const size_t mask_;
  const std::unique_ptr<T[]> items_;
  alignas(64) std::atomic<uint64_t> head_{0};  // next to read
  alignas(64) std::atomic<uint64_t> tail_{0};  // next to write
};

}  // namespace parley

#endif  // PARLEY_MEDIA_SPSC_RING_H_
