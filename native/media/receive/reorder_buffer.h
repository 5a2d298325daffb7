// Reorders payloads and delivers each once: a small buffer that waits for overtaken packets and reports
// losses.
//
// It has no playout clock, because its output is not played: packets in order pass at once. A gap holds back
// later packets until it is filled, `depth` packets wait, or the oldest has waited kPatienceNs. The buffer is
// bounded: the oldest payloads that are not taken are dropped and counted.
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
  static constexpr size_t kMaxReady = 500;  // ten seconds of payloads not taken

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
  uint64_t next_ = 0;            // index
  uint64_t lost_ = 0;            // packets before the next sound
  std::deque<Waiting> waiting_;  // in order of index; at most kDepth
  std::deque<HeardPayload> ready_;
  uint64_t dropped_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_REORDER_BUFFER_H_
