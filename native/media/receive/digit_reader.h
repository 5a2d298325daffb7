// Receives telephone events (RFC 4733): one report for each key pressed.
//
// A new timestamp begins a new event; the marker bit is not required. Any packet of an event begins it, so
// its first packets may be lost. It ends with a packet with the end flag, a packet of the next event, or
// silence of kTimeoutNs. Later packets of an ended event are retransmissions and are ignored.
#ifndef PARLEY_MEDIA_RECEIVE_DIGIT_READER_H_
#define PARLEY_MEDIA_RECEIVE_DIGIT_READER_H_

#include <cstddef>
#include <cstdint>

namespace parley {

struct Digit {
  uint8_t event;        // 0-9, 10 = *, 11 = #, 12-15 = A-D, 16 = flash (RFC 4733, 3.2)
  int64_t started_ns;   // the first packet of it came
  int64_t duration_ns;  // as the far end says
};

class DigitReader {
 public:
  // Far ends repeat their packet every 10 to 60 ms; this outlives the loss of several.
  static constexpr int64_t kTimeoutNs = 250'000'000;

  struct Packet {
    uint32_t ssrc;
    uint32_t timestamp;
    uint32_t clock_rate;  // the telephone-event payload type's, in Hz
    const uint8_t* payload;
    size_t payload_bytes;
  };

  // Up to two digits end with one packet: the one before, and one that comes as its end only.
  // Returns how many were written to `out`. A payload shorter than four bytes is nothing.
  int Take(const Packet& packet, int64_t now_ns, Digit out[2]);

  // INT64_MAX while no key is down.
  int64_t deadline_ns() const { return down_ ? last_ns_ + kTimeoutNs : INT64_MAX; }
  // True: the deadline has passed, the digit is over.
  bool Expire(int64_t now_ns, Digit* out);

  // The far end begins anew (its addresses or payload types change): a key that is down is over.
  bool Release(Digit* out);

 private:
  bool IsContinuation(const Packet& packet, uint8_t event) const;
  Digit Up();

  bool known_ = false;  // there was an event; it may be over
  bool down_ = false;
  uint32_t ssrc_ = 0;
  uint32_t timestamp_ = 0;  // the event's, or its last segment's
  uint32_t clock_rate_ = 0;
  uint8_t event_ = 0;
  uint32_t duration_ = 0;      // ticks of this segment
  uint64_t before_ticks_ = 0;  // duration of earlier segments (RFC 4733, 2.5.1.3)
  int64_t started_ns_ = 0;
  int64_t last_ns_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_DIGIT_READER_H_
