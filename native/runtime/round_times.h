// Model of a round's duration by the number of streams: measured means for some numbers, interpolated between
// them and extrapolated beyond.
#ifndef PARLEY_RUNTIME_ROUND_TIMES_H_
#define PARLEY_RUNTIME_ROUND_TIMES_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "runtime/engine.h"

namespace parley::runtime {

// The weights are read once per batch, so a round's time is a fixed part and a part for each stream. Measured
// means give both. The only assumption about sizes that were never measured is that they lie on the line
// through their neighbours.
class RoundTimes {
 public:
  void Record(size_t streams, Clock::duration time) {
    Mean& mean = means_[ClassOf(streams)];
    const double kept = mean.weight * kKept;
    mean.weight = kept + 1;
    mean.streams += (static_cast<double>(streams) - mean.streams) / mean.weight;
    mean.seconds += (std::chrono::duration<double>(time).count() - mean.seconds) / mean.weight;
  }

  // Zero while nothing was measured.
  Clock::duration Of(size_t streams) const {
    const auto wanted = static_cast<double>(streams);
    const Mean *below = nullptr, *above = nullptr;  // the nearest ones, at or below and above
    for (const Mean& mean : means_) {
      if (mean.weight == 0) continue;
      if (mean.streams <= wanted) below = &mean;
      else if (above == nullptr) above = &mean;
    }
    if (below == nullptr) return Seconds(above == nullptr ? 0 : above->seconds);
    // Beyond the measured sizes the line continues. With one measured size the time grows in proportion,
    // which never underestimates.
    const Mean* const other = above != nullptr ? above : FarBelow(*below);
    const double slope = other == nullptr
                             ? below->seconds / below->streams
                             : (other->seconds - below->seconds) / (other->streams - below->streams);
    return Seconds(below->seconds + (slope > 0 ? slope : 0) * (wanted - below->streams));
  }

 private:
  struct Mean {
    double weight = 0, streams = 0, seconds = 0;
  };

  // The nearest mean of at most half the streams, else the smallest one below. Neighbours may be one stream
  // apart, so a millisecond of noise would become a slope.
  const Mean* FarBelow(const Mean& from) const {
    const Mean* far = nullptr;
    for (const Mean& mean : means_) {
      if (mean.weight == 0 || mean.streams >= from.streams) continue;
      if (far == nullptr || mean.streams <= from.streams / 2) far = &mean;
    }
    return far;
  }

  static constexpr double kKept = 0.95;  // weight of the old mean, each time
  static constexpr size_t kClasses = 40;

  // 1, 2, 3, 4, 5-6, 7-8, 9-12, 13-16, ...: two for each doubling.
  static size_t ClassOf(size_t streams) {
    if (streams <= 4) return streams;
    size_t power = 4, known = 4;
    while (2 * power < streams) power *= 2, known += 2;
    const size_t place = known + (streams <= power + power / 2 ? 1 : 2);
    return place < kClasses ? place : kClasses - 1;
  }

  static Clock::duration Seconds(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  std::array<Mean, kClasses> means_{};
};

// Times measured by the warm-up for sizes up to the largest, so that estimates for large batches are not
// extrapolated from small ones.
struct MeasuredTimes {
  RoundTimes rounds;  // step and decoding
  RoundTimes steps;   // the step alone
};

// Largest overrun of recent steps, as a share of the expected time. The expectation is a mean, but a listener
// with only a frame of audio left hears the longest step.
class StepSwing {
 public:
  double Share() const { return share_; }

  // Steps much shorter than a frame are ignored: their relative overrun says nothing.
  void Record(Clock::duration took, Clock::duration expected, Clock::duration frame) {
    if (expected < frame / 8) return;
    const double more = std::chrono::duration<double>(took) / std::chrono::duration<double>(expected) - 1;
    share_ = std::max(std::min(more, kMost), std::max(share_ * kKept, kLeast));
  }

 private:
  static constexpr double kMost = 0.5;  // longer steps are treated as accidents
  static constexpr double kLeast = 0.05;
  static constexpr double kKept = 0.998;  // halves in about 350 steps

  double share_ = 0.2;  // before the first measurement
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ROUND_TIMES_H_
