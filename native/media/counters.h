// Counts of a plane, readable from any thread while the clock runs.
#ifndef PARLEY_MEDIA_COUNTERS_H_
#define PARLEY_MEDIA_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "media/time.h"

namespace parley {

class Counter {
 public:
  void Add(uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

constexpr int64_t kLateNs = kNsPerMs;  // a packet that leaves later than this is a late tick

// Histogram of the delay between a packet's due time and its departure.
class LatenessHistogram {
 public:
  // Upper bounds, inclusive; one more bucket takes what is later.
  static constexpr std::array<int64_t, 23> kUpperUs = {
      50,    100,   150,   200,   250,   300,    400,    500,    600,    800,    1'000,  1'500,
      2'000, 3'000, 4'000, 5'000, 7'500, 10'000, 15'000, 20'000, 30'000, 50'000, 100'000};

  void Add(int64_t late_ns) {
    size_t bucket = 0;
    while (bucket < kUpperUs.size() && late_ns > kUpperUs[bucket] * kNsPerUs) bucket++;
    counts_[bucket].Add();
  }
  uint64_t count(size_t bucket) const { return counts_[bucket].value(); }
  static constexpr size_t size() { return kUpperUs.size() + 1; }

 private:
  std::array<Counter, kUpperUs.size() + 1> counts_;
};

struct PlaneCounters {
  Counter packets;  // RTP that left, silence included
  Counter silence_packets;
  Counter late_ticks;
  Counter skipped_ticks;  // not sent because the clock was too late to catch up
  Counter underruns;
  Counter send_errors;
  Counter capture_overflow;
  Counter marks_lost;
  LatenessHistogram lateness;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_COUNTERS_H_
