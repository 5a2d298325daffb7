#include "media/hear/media_timeline.h"

#include <algorithm>
#include <cmath>

namespace parley {

MediaTimeline::Place MediaTimeline::Map(const Packet& packet, int64_t live) {
  if (!started() || restart_) return Begin(packet, live);
  const auto ahead = static_cast<int64_t>(packet.sequence - newest_sequence_);
  if (ahead > kMostSkipped) return Begin(packet, live);
  if (ahead <= -static_cast<int64_t>(kWindow)) return Old(packet, live);
  if (ahead <= 0 && HasCome(packet.sequence)) return {Verdict::kDuplicate, epoch_, 0, 0};
  const Verdict verdict = ahead > 0 ? Verdict::kNext : Verdict::kReordered;
  const uint64_t skipped = ahead > 0 ? static_cast<uint64_t>(ahead - 1) : 0;
  const bool same_rate = packet.clock_rate == clock_rate_;
  if (packet.kind == Packet::kPlaceless || (packet.kind == Packet::kSilence && !same_rate))
    return Advance(packet, verdict, skipped, end_);
  if (!same_rate || Jumps(packet, ahead > 0)) return ahead > 0 ? Begin(packet, live) : Old(packet, live);
  const auto ticks = static_cast<int64_t>(packet.timestamp - first_timestamp_);
  const int64_t position = first_position_ + ticks * kRate / clock_rate_;
  if (ahead > 0) {
    newest_timestamp_ = packet.timestamp;
    newest_arrival_ns_ = packet.arrival_ns;
  }
  return Advance(packet, verdict, skipped, position);
}

// Timestamps never decrease with the sequence number, and they progress as the clock does.
bool MediaTimeline::Jumps(const Packet& packet, bool newer) const {
  const auto ticks = static_cast<int64_t>(packet.timestamp - newest_timestamp_);
  if (newer && ticks < 0) return true;
  const double seconds = static_cast<double>(ticks) / clock_rate_;
  const double elapsed = static_cast<double>(packet.arrival_ns - newest_arrival_ns_) * 1e-9;
  return elapsed > kLongest || std::abs(seconds - elapsed) > kJump;
}

MediaTimeline::Place MediaTimeline::Begin(const Packet& packet, int64_t live) {
  restart_ = false;
  epoch_++;
  clock_rate_ = packet.clock_rate;
  first_timestamp_ = newest_timestamp_ = packet.timestamp;
  newest_arrival_ns_ = packet.arrival_ns;
  newest_sequence_ = packet.sequence;
  first_position_ = std::max(end_, live);
  came_.fill(false);
  old_in_a_row_ = 0;
  return Advance(packet, Verdict::kEpoch, 0, first_position_);
}

MediaTimeline::Place MediaTimeline::Old(const Packet& packet, int64_t live) {
  old_in_a_row_ = packet.sequence == next_old_ ? old_in_a_row_ + 1 : 1;
  next_old_ = packet.sequence + 1;
  if (old_in_a_row_ == kOldInARow) return Begin(packet, live);
  return {Verdict::kOld, epoch_, 0, 0};
}

MediaTimeline::Place MediaTimeline::Advance(const Packet& packet, Verdict verdict, uint64_t skipped,
                                            int64_t position) {
  if (verdict == Verdict::kNext) {
    for (uint64_t n = 1; n <= skipped; n++) came_[(newest_sequence_ + n) % kWindow] = false;
    newest_sequence_ = packet.sequence;
  }
  came_[packet.sequence % kWindow] = true;
  end_ = std::max(end_, position + packet.samples);
  return {verdict, epoch_, position, skipped};
}

uint64_t MediaTimeline::Missing(uint32_t epoch, uint64_t after, uint64_t before) const {
  if (before <= after) return 0;
  if (epoch != epoch_) return before - after - 1;
  uint64_t missing = 0;
  for (uint64_t sequence = after + 1; sequence < before; sequence++)
    if (sequence + kWindow <= newest_sequence_ || !HasCome(sequence)) missing++;
  return missing;
}

}  // namespace parley
