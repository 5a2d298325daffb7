// Payloads in their order, each once, for whoever listens: a small buffer that
// waits for what was overtaken and tells of what was lost.
//
// It has no clock of its own, because nobody plays what it gives: packets that
// are in order go through at once, a hole holds the ones behind it back until it
// is filled, `depth` packets wait, or the oldest has waited kPatienceNs.
// Bounded: what nobody takes is dropped from its old end and counted.
#ifndef PARLEY_MEDIA_RECEIVE_REORDER_BUFFER_H_
#define PARLEY_MEDIA_RECEIVE_REORDER_BUFFER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace parley {

struct HeardPayload {
  uint64_t timestamp;  // extended over its wraps
  uint8_t payload_type;
  bool sound;            // false: a packet that only takes its number (an event), not handed on
  uint32_t lost_before;  // packets missing between the one before and this
  int64_t at_ns;         // it came
  std::vector<uint8_t> bytes;
};

class ReorderBuffer {
 public:
  static constexpr size_t kDepth = 8;  // packets behind a hole: 160 ms of 20 ms frames
  static constexpr int64_t kPatienceNs = 120'000'000;
  static constexpr size_t kMaxReady = 500;  // ten seconds that nobody took

  // `index`: the sequence number extended over its wraps; one seen before must not come.
  void Put(uint64_t index, HeardPayload payload);
  // The source or its count begins anew: what waits goes out as it is.
  void Restart();

  bool has_ready() const { return !ready_.empty(); }
  std::vector<HeardPayload> Take();
  uint64_t dropped() const { return dropped_; }

 private:
  struct Waiting {
    uint64_t index;
    HeardPayload payload;
  };

  void Release(int64_t now_ns);
  void PassOn(Waiting&& one);

  bool started_ = false;
  uint64_t next_ = 0;  // index
  uint64_t lost_ = 0;  // packets before the next sound
  std::deque<Waiting> waiting_;  // in order of index; at most kDepth
  std::deque<HeardPayload> ready_;
  uint64_t dropped_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_REORDER_BUFFER_H_
