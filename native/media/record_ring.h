// A bounded queue of records of different length between one writing and one reading thread, without locks.
//
//   [Head][data][padding to 8]; a record that does not fit before the end of the memory begins at its start
//
// The memory is allocated once. The caller decides what happens to a record that finds no room.
#ifndef PARLEY_MEDIA_RECORD_RING_H_
#define PARLEY_MEDIA_RECORD_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace parley {

// `Head` is copied as bytes and has a field `uint32_t bytes`, the length of the data behind it.
template <class Head>
class RecordRing {
 public:
  // `size`: bytes, a multiple of 8.
  explicit RecordRing(size_t size) : size_(size), bytes_(new uint8_t[size]) {}

  // Writer. False when there is no room.
  bool Write(const Head& head, const uint8_t* data) {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    const uint64_t read = head_.load(std::memory_order_acquire);
    const size_t record = RecordBytes(head.bytes);
    const size_t to_end = size_ - tail % size_;
    const size_t skipped = record > to_end ? to_end : 0;
    if (tail + skipped + record - read > size_) return false;
    if (skipped >= sizeof(Head)) {
      Head skip = head;
      skip.bytes = kSkip;
      std::memcpy(&bytes_[tail % size_], &skip, sizeof(skip));
    }
    tail += skipped;
    std::memcpy(&bytes_[tail % size_], &head, sizeof(head));
    if (head.bytes > 0) std::memcpy(&bytes_[tail % size_ + sizeof(head)], data, head.bytes);
    tail_.store(tail + record, std::memory_order_release);
    return true;
  }

  // Reader: the oldest record, valid until Pop(). False when there is none.
  bool Front(Head* head, const uint8_t** data) {
    for (;;) {
      const uint64_t read = head_.load(std::memory_order_relaxed);
      if (read == tail_.load(std::memory_order_acquire)) return false;
      const size_t to_end = size_ - read % size_;
      if (to_end >= sizeof(Head)) {
        std::memcpy(head, &bytes_[read % size_], sizeof(*head));
        if (head->bytes != kSkip) {
          *data = &bytes_[read % size_ + sizeof(*head)];
          return true;
        }
      }
      head_.store(read + to_end, std::memory_order_release);
    }
  }
  void Pop() {
    const uint64_t read = head_.load(std::memory_order_relaxed);
    Head head;
    std::memcpy(&head, &bytes_[read % size_], sizeof(head));
    head_.store(read + RecordBytes(head.bytes), std::memory_order_release);
  }

  bool Empty() const { return head_.load() == tail_.load(); }

 private:
  static constexpr uint32_t kSkip = UINT32_MAX;  // `bytes` of the rest of the memory, which is left out
  static size_t RecordBytes(uint32_t bytes) { return (sizeof(Head) + bytes + 7) / 8 * 8; }

  const size_t size_;
  const std::unique_ptr<uint8_t[]> bytes_;
  std::atomic<uint64_t> head_{0};  // bytes read
  std::atomic<uint64_t> tail_{0};  // bytes written
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECORD_RING_H_
