#include "media/receive/digit_reader.h"

#include <algorithm>

#include "media/big_endian.h"
#include "media/time.h"

namespace parley {
namespace {

constexpr uint32_t kLongestSegment = 0xffff;  // ticks

}  // namespace

int DigitReader::Take(const Packet& packet, int64_t now_ns, Digit out[2]) {
  if (packet.payload_bytes < 4 || packet.clock_rate == 0) return 0;
  const uint8_t event = packet.payload[0];
  const bool end = (packet.payload[1] & 0x80) != 0;
  const uint32_t duration = GetBig16(packet.payload + 2);
  int digits = 0;

  const bool same_source = known_ && packet.ssrc == ssrc_;
  const bool same_event = same_source && packet.timestamp == timestamp_ && event == event_;
  if (same_event && !down_) return 0;  // its end comes three times
  if (!same_event && same_source) {
    // Behind what was seen: a packet that was overtaken.
    if (static_cast<int32_t>(packet.timestamp - timestamp_) < 0) return 0;
  }
  if (!same_event) {
    if (IsContinuation(packet, event)) {
      before_ticks_ += kLongestSegment;
    } else {
      if (down_) out[digits++] = Up();
      before_ticks_ = 0;
      started_ns_ = now_ns;
    }
    known_ = down_ = true;
    ssrc_ = packet.ssrc;
    timestamp_ = packet.timestamp;
    clock_rate_ = packet.clock_rate;
    event_ = event;
    duration_ = 0;
  }
  duration_ = std::max(duration_, duration);
  last_ns_ = now_ns;
  if (end) out[digits++] = Up();
  return digits;
}

// A key held longer than the duration field can say goes on as a new segment,
// whose timestamp is where the one before ended.
bool DigitReader::IsContinuation(const Packet& packet, uint8_t event) const {
  return down_ && packet.ssrc == ssrc_ && event == event_ && packet.timestamp == timestamp_ + kLongestSegment;
}

Digit DigitReader::Up() {
  down_ = false;
  const uint64_t ticks = before_ticks_ + duration_;
  return {event_, started_ns_, static_cast<int64_t>(ticks) * kNsPerSecond / clock_rate_};
}

bool DigitReader::Expire(int64_t now_ns, Digit* out) { return now_ns >= deadline_ns() && Release(out); }

bool DigitReader::Release(Digit* out) {
  if (!down_) return false;
  *out = Up();
  return true;
}

}  // namespace parley
