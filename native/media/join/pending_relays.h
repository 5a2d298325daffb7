// The streams that relayed packets wait for. The threads that receive mark a stream, the clock takes the
// marked ones. Nothing waits for anybody.
//
//   Mark(slot) ──▶ one bit a slot, and one bit for each word of bits ──▶ TakeAll
#ifndef PARLEY_MEDIA_JOIN_PENDING_RELAYS_H_
#define PARLEY_MEDIA_JOIN_PENDING_RELAYS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace parley {

class Stream;

class PendingRelays {
 public:
  static constexpr size_t kMost = 4096;

  // Callers, any thread. The slot; absent: all are taken.
  std::optional<size_t> Add(Stream* stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (size_t tries = 0; tries < kMost; tries++) {
      const size_t slot = next_++ % kMost;
      if (streams_[slot].load()) continue;
      streams_[slot].store(stream);
      return slot;
    }
    return std::nullopt;
  }
  // The caller waits for the clock's turn to end (Clock::Quiesce) before the stream may go.
  void Remove(size_t slot) {
    std::lock_guard<std::mutex> lock(mutex_);
    streams_[slot].store(nullptr);
  }

  // Any thread. A mark on a slot that was given to another stream meanwhile does no harm.
  void Mark(size_t slot) {
    bits_[slot / kBits].fetch_or(uint64_t{1} << slot % kBits);
    words_.fetch_or(uint64_t{1} << slot / kBits);
  }
  bool any() const { return words_.load() != 0; }

  // The clock, within a turn. Calls `work(stream, slot)` for each that is marked, and takes the mark away.
  template <class Work>
  void TakeAll(const Work& work) {
    for (uint64_t words = any() ? words_.exchange(0) : 0; words != 0; words &= words - 1) {
      const auto word = static_cast<size_t>(__builtin_ctzll(words));
      for (uint64_t bits = bits_[word].exchange(0); bits != 0; bits &= bits - 1) {
        const size_t slot = word * kBits + static_cast<size_t>(__builtin_ctzll(bits));
        if (Stream* const stream = streams_[slot].load()) work(*stream, slot);
      }
    }
  }

 private:
  static constexpr size_t kBits = 64;
  static_assert(kMost == kBits * kBits, "one word has a bit for each word of bits");

  std::atomic<uint64_t> words_{0};
  std::array<std::atomic<uint64_t>, kBits> bits_{};
  std::array<std::atomic<Stream*>, kMost> streams_{};
  std::mutex mutex_;  // guards next_ and the changes of streams_; the clock never takes it
  size_t next_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_PENDING_RELAYS_H_
