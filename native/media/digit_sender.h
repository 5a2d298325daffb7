// Keys that a stream presses at the far end: packets of RFC 4733 in place of the stream's frames, one for
// each of its ticks.
//
//   tick   1     2     3    ...    n     n+1   n+2  │ pause
//          M                       E      E     E   │ silence
//   all with the timestamp of tick 1, the duration growing up to tick n
//
// The voice stands still meanwhile; its timestamps go on as if it had sounded.
#ifndef PARLEY_MEDIA_DIGIT_SENDER_H_
#define PARLEY_MEDIA_DIGIT_SENDER_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "media/rtp.h"
#include "media/spsc_ring.h"
#include "media/time.h"

namespace parley {

struct DigitTone {
  uint8_t event;         // RFC 4733, 3.2
  uint8_t payload_type;  // telephone-event's, as negotiated
  uint8_t volume;        // -dBm0, 0 to 63
  uint32_t clock_rate;   // that payload type's, in Hz
  int64_t duration_ns;
  int64_t pause_ns;  // silence after it
};

class DigitSender {
 public:
  static constexpr size_t kWaiting = 64;
  static constexpr size_t kPayloadBytes = 4;
  static constexpr int64_t kLongestTicks = 0xffff;

  enum class Turn : uint8_t { kNothing, kEvent, kPause };

  struct Packet {
    uint8_t payload_type;
    bool marker;
    uint32_t timestamp;
    uint8_t payload[kPayloadBytes];
  };

  // One caller at a time. False: as many wait as may.
  bool Put(const DigitTone& tone) {
    if (!held_tones_) {
      held_tones_ = std::make_unique<Tones>(kWaiting);
      tones_.store(held_tones_.get());
    }
    DigitTone* const place = held_tones_->Place();
    if (!place) return false;
    *place = tone;
    waiting_.fetch_add(1);
    held_tones_->Publish();
    return true;
  }

  // Tones that are not over; any thread.
  uint32_t waiting() const { return waiting_.load(); }

  // The clock, once a tick.
  Turn Next(uint32_t timestamp, int64_t period_ns, Packet* out) {
    if (stage_ == Stage::kIdle && !Begin(timestamp, period_ns)) return Turn::kNothing;
    if (stage_ == Stage::kPause) {
      if (--pause_ticks_ == 0) End();
      return Turn::kPause;
    }
    tick_++;
    const int64_t length = std::min(tick_ * period_ns, tone_.duration_ns);
    const auto ticks =
        static_cast<uint16_t>(std::min(length * tone_.clock_rate / kNsPerSecond, kLongestTicks));
    const bool end = tick_ >= ticks_;
    *out = {tone_.payload_type, tick_ == 1, timestamp_, {tone_.event, 0, 0, 0}};
    out->payload[1] = static_cast<uint8_t>((end ? 0x80 : 0) | (tone_.volume & 0x3f));
    PutBig16(out->payload + 2, ticks);
    if (tick_ == ticks_ + kEndRepeats) {
      stage_ = Stage::kPause;
      if (pause_ticks_ == 0) End();
    }
    return Turn::kEvent;
  }

  // The way out was lost in the middle of a tone: it is not begun again.
  void Abandon() {
    if (stage_ != Stage::kIdle) End();
  }

 private:
  enum class Stage : uint8_t { kIdle, kEvent, kPause };
  static constexpr int64_t kEndRepeats = 2;  // the end is sent three times (RFC 4733, 2.5.1.4)

  bool Begin(uint32_t timestamp, int64_t period_ns) {
    Tones* const tones = tones_.load();
    const DigitTone* const next = tones ? tones->Front() : nullptr;
    if (!next) return false;
    tone_ = *next;
    tones->Pop();
    stage_ = Stage::kEvent;
    timestamp_ = timestamp;
    tick_ = 0;
    ticks_ = std::max<int64_t>(1, (tone_.duration_ns + period_ns - 1) / period_ns);
    pause_ticks_ = (tone_.pause_ns + period_ns - 1) / period_ns;
    return true;
  }

  void End() {
    stage_ = Stage::kIdle;
    waiting_.fetch_sub(1);
  }

  using Tones = SpscRing<DigitTone>;

  std::unique_ptr<Tones> held_tones_;  // the caller's: made for the first tone, as few calls press any
  std::atomic<Tones*> tones_{nullptr};
  std::atomic<uint32_t> waiting_{0};

  // The clock's.
  Stage stage_ = Stage::kIdle;
  DigitTone tone_{};
  uint32_t timestamp_ = 0;
  int64_t tick_ = 0;
  int64_t ticks_ = 0;
  int64_t pause_ticks_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_DIGIT_SENDER_H_
