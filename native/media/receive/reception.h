// Statistics of one received source: sequence numbers, loss and jitter as in RFC 3550 A.1, A.3 and A.8.
#ifndef PARLEY_MEDIA_RECEIVE_RECEPTION_H_
#define PARLEY_MEDIA_RECEIVE_RECEPTION_H_

#include <cstddef>
#include <cstdint>

#include "media/replay_window.h"

namespace parley {

// A source is valid after two packets in sequence. A jump of more than 3,000 is accepted at its second packet
// and restarts the count.
class Reception {
 public:
  enum class Verdict : uint8_t {
    kProbation,  // not enough of this source yet
    kNext,       // newer than everything before
    kLate,       // out of order, yet not seen before
    kRepeated,
    kRefused,    // a jump that nothing confirms
    kRestarted,  // the second packet after a jump: counts begin again
  };

  explicit Reception(uint32_t ssrc) : ssrc_(ssrc) {}

  Verdict Take(uint16_t sequence);
  // Call for packets that advance the audio: `clock_rate` is that of the payload type, in Hz.
  void NoteTransit(uint32_t timestamp, uint32_t clock_rate, int64_t arrival_ns);
  // The timestamps jump or change their clock: what comes next is compared with nothing before.
  void BreakTransit() { has_transit_ = false; }

  uint32_t ssrc() const { return ssrc_; }
  uint64_t taken() const { return taken_; }  // extended number of the packet that Take() just counted
  // The packet before the one that Take() just counted, by so many, was lost or is late.
  bool Misses(uint64_t before) const { return taken_ >= base_ + before && window_.IsNew(taken_ - before); }
  bool valid() const { return valid_; }
  uint32_t highest() const { return static_cast<uint32_t>(highest_); }  // extended by the cycles
  // Since the source began, restarts included.
  uint64_t expected() const { return expected_before_ + (valid_ ? highest_ - base_ + 1 : 0); }
  uint64_t received() const { return received_; }  // without repeats
  uint64_t repeated() const { return repeated_; }
  uint64_t late() const { return late_; }
  uint64_t lost() const { return expected() > received_ ? expected() - received_ : 0; }
  uint32_t jitter() const { return static_cast<uint32_t>(jitter_); }  // in ticks of clock_rate()
  uint32_t clock_rate() const { return clock_rate_; }
  double jitter_ms() const { return clock_rate_ == 0 ? 0 : jitter_ * 1000 / clock_rate_; }
  double max_jitter_ms() const { return max_jitter_ms_; }

 private:
  void Begin(uint16_t sequence);

  const uint32_t ssrc_;
  bool seen_ = false;
  bool valid_ = false;
  uint16_t last_ = 0;     // before the source is valid: its last sequence number
  uint64_t base_ = 0;     // first extended sequence number
  uint64_t highest_ = 0;  // extended
  uint64_t taken_ = 0;
  int32_t after_jump_ = -1;  // the sequence number that would confirm a jump
  uint64_t expected_before_ = 0;
  uint64_t received_ = 0, repeated_ = 0, late_ = 0;
  ReplayWindow window_;

  bool has_transit_ = false;
  uint32_t clock_rate_ = 0;
  uint32_t first_timestamp_ = 0;
  uint32_t last_timestamp_ = 0;
  int64_t first_arrival_ns_ = 0;
  double transit_ = 0;
  double jitter_ = 0;
  double max_jitter_ms_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_RECEPTION_H_
