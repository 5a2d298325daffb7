// Estimates how much later than the fastest packets the others come, and the delay that 95 % of them need.
//
// The transit time of a packet is its arrival time minus its position in the sound. Its origin is
// arbitrary: only differences count. The base is the least transit time of the last one to two seconds. A
// histogram with exponential forgetting holds the excess of each packet's transit time over the base.
#ifndef PARLEY_MEDIA_HEAR_DELAY_ESTIMATOR_H_
#define PARLEY_MEDIA_HEAR_DELAY_ESTIMATOR_H_

#include <array>
#include <cstddef>

#include "media/hear/drift_estimator.h"

namespace parley {

// All times in milliseconds.
class DelayEstimator {
 public:
  struct Limits {
    double least, most;  // of the target
    double quantum;      // of sound, taken at once: its last sample needs its packet so early
  };
  explicit DelayEstimator(const Limits& limits);

  // A packet with sound came. `arrival` never decreases.
  void Observe(double arrival, double transit);
  // A packet is missing, and a packet that came with `transit` has a copy of its sound. That sound begins
  // `earlier` before the packet's own.
  void ObserveMissing(double transit, double earlier);
  // The transit times that follow do not compare with those before.
  void Restart();
  // The same after a pause, which the drift survives.
  void RestartBase() { has_base_ = false; }

  double base() const { return base_; }
  double target() const { return target_; }
  // 95 % of the packets come at most so much later than the fastest one.
  double excess() const { return excess_; }
  // As in Limits, from now on.
  void SetQuantum(double quantum);
  double jitter() const { return jitter_; }
  double drift_ppm() const { return drift_.ppm(); }

 private:
  static constexpr size_t kBins = 64;
  static constexpr double kBinMs = 4;
  static constexpr double kQuantile = 0.95;
  static constexpr double kPackets = 250;  // that the histogram remembers: 5 s of 20 ms
  static constexpr double kFirst = 20;     // packets without jitter that it begins with
  // A second with at least so many packets has a base of its own.
  static constexpr double kBaseMs = 1000;
  static constexpr int kBasePackets = 20;
  static constexpr double kBaseJump = 2 * kBinMs;

  void Count(double excess);
  void MoveBase(double arrival, double transit);
  void Lower(double by);
  void SetTarget();

  Limits limits_;
  std::array<float, kBins> shares_{};  // of the packets, by excess; the sum is 1
  double seen_ = kFirst;
  double target_, excess_ = kBinMs;

  bool has_base_ = false;
  double base_ = 0, least_now_ = 0, least_before_ = 0;  // of this second, and of the one before
  double began_ = 0;                                    // this second
  int packets_ = 0;                                     // in this second

  double last_transit_ = 0, jitter_ = 0;
  DriftEstimator drift_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_DELAY_ESTIMATOR_H_
