// Which moment of its period a new stream gets, so that the packets of all
// streams leave spread over time and not as one burst.
//
// The load of every quarter of a millisecond is counted over 120 ms, the common
// multiple of the usual periods; a new stream gets the phase whose busiest
// quarter is the least busy. A period that does not divide 120 ms wanders
// through all phases by itself and is not counted.
#ifndef PARLEY_MEDIA_PHASE_PLAN_H_
#define PARLEY_MEDIA_PHASE_PLAN_H_

#include <array>
#include <cstdint>

namespace parley {

class PhasePlan {
 public:
  static constexpr int64_t kStepNs = 250'000;

  // The phase for a stream of this period, counted as taken: its due times are
  // origin + phase + n * period. The first one of all is 0.
  int64_t Take(int64_t period_ns);

  // Gives back what Take returned.
  void Release(int64_t period_ns, int64_t phase_ns);

  // Streams due in the busiest quarter of a millisecond.
  uint32_t Busiest() const;

 private:
  static constexpr int64_t kCycleNs = 120'000'000;
  static constexpr int64_t kSteps = kCycleNs / kStepNs;

  static bool Counted(int64_t period_ns) { return kCycleNs % period_ns == 0 && period_ns % kStepNs == 0; }
  void Add(int64_t period_ns, int64_t phase_ns, int32_t change);

  std::array<uint32_t, kSteps> load_{};
  uint64_t taken_ = 0;  // streams so far: rotates the order in which equal phases are tried
};

}  // namespace parley

#endif  // PARLEY_MEDIA_PHASE_PLAN_H_
