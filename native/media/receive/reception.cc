#include "media/receive/reception.h"

#include <algorithm>
#include <cmath>

#include "media/time.h"

namespace parley {
namespace {

constexpr uint16_t kMaxDropout = 3000;  // RFC 3550, A.1
constexpr uint16_t kMaxMisorder = 100;
constexpr uint64_t kCycle = 1 << 16;

}  // namespace

Reception::Verdict Reception::Take(uint16_t sequence) {
  if (!valid_) {
    const bool in_sequence = seen_ && sequence == static_cast<uint16_t>(last_ + 1);
    const uint16_t before = last_;
    seen_ = true;
    last_ = sequence;
    if (!in_sequence) return Verdict::kProbation;
    Begin(before);  // the packet that began the probation counts too
    received_ = 1;
  }
  const auto ahead = static_cast<uint16_t>(sequence - static_cast<uint16_t>(highest_));
  if (ahead == 0) return ++repeated_, Verdict::kRepeated;
  if (ahead < kMaxDropout) {
    taken_ = highest_ += ahead;
    window_.Add(highest_);
    received_++;
    after_jump_ = -1;
    return Verdict::kNext;
  }
  if (ahead <= kCycle - kMaxMisorder) {
    if (sequence != after_jump_) {
      after_jump_ = static_cast<uint16_t>(sequence + 1);
      return Verdict::kRefused;
    }
    expected_before_ = expected();
    Begin(sequence);
    received_++;
    return Verdict::kRestarted;
  }
  const uint64_t behind = kCycle - ahead;
  if (highest_ < base_ + behind || !window_.IsNew(highest_ - behind)) return ++repeated_, Verdict::kRepeated;
  taken_ = highest_ - behind;
  window_.Add(taken_);
  received_++;
  late_++;
  return Verdict::kLate;
}

// One cycle above zero, so that nothing falls below it.
void Reception::Begin(uint16_t sequence) {
  valid_ = true;
  base_ = highest_ = taken_ = kCycle + sequence;
  after_jump_ = -1;
  window_ = ReplayWindow();
  window_.Add(highest_);
  BreakTransit();
}

// RFC 3550, A.8, with the arrival counted from the first packet so that the
// difference needs no common clock. The timestamp's own wrap is undone by sign.
void Reception::NoteTransit(uint32_t timestamp, uint32_t clock_rate, int64_t arrival_ns) {
  if (clock_rate == 0) return;
  if (!has_transit_ || clock_rate != clock_rate_) {
    if (clock_rate != clock_rate_) jitter_ = 0;
    clock_rate_ = clock_rate;
    first_timestamp_ = last_timestamp_ = timestamp;
    first_arrival_ns_ = arrival_ns;
    transit_ = 0;
    has_transit_ = true;
    return;
  }
  if (timestamp == last_timestamp_) return;  // another packet of the same moment
  last_timestamp_ = timestamp;
  const double arrival = static_cast<double>(arrival_ns - first_arrival_ns_) * clock_rate_ / kNsPerSecond;
  const double transit = arrival - static_cast<double>(static_cast<int32_t>(timestamp - first_timestamp_));
  const double difference = std::fabs(transit - transit_);
  transit_ = transit;
  // A second away is no jitter: the far end set its timestamps anew, or half their range has passed.
  if (difference > clock_rate_) return BreakTransit();
  jitter_ += (difference - jitter_) / 16;
  max_jitter_ms_ = std::max(max_jitter_ms_, jitter_ms());
}

}  // namespace parley
