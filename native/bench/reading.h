// Measures the machine's memory bandwidth, the bound of everything that waits for memory: the fastest of
// several ways to read (one to eight streams, with and without prefetch), 32 bytes at a time where the
// processor can.
#ifndef PARLEY_BENCH_READING_H_
#define PARLEY_BENCH_READING_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "kernels/cpu/thread_pool.h"

namespace parley::bench {

inline double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Other programs share the machine: a turn that they disturbed says nothing.
inline double Percentile90(std::vector<double> values) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 9 / 10);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// Memory larger than the caches, walked through in turns, each beginning where the last ended; the parts
// of the pool share a turn.
class Reading {
 public:
  static constexpr size_t kMemoryBytes = size_t{192} << 20;  // six times a cache of 32 MB
  static constexpr size_t kTurnBytes = size_t{8} << 20;      // less than a millisecond

  // Memory of its own: what others have just read would come from a cache.
  explicit Reading(const cpu::ThreadPoolOptions& options) : memory_(kMemoryBytes, '\1'), pool_(options) {
    double best = 0;
    for (const Way& way : kWays) {
      std::vector<double> turns;
      for (int n = 0; n < 60; n++) turns.push_back(Turn(way));
      const double speed = Percentile90(turns);
      if (speed > best) best = speed, way_ = &way;
    }
  }

  // GB/s of one turn.
  double Turn() { return Turn(*way_); }

 private:
  static constexpr size_t kLine = 64;

  struct Way {
    size_t streams, ahead;  // bytes
  };
  static constexpr Way kWays[] = {{1, 0}, {1, 2048}, {2, 0}, {2, 512}, {4, 0}, {4, 512}, {4, 1024}, {8, 512}};

  double Turn(const Way& way) {
    if (place_ + kTurnBytes > memory_.size()) place_ = 0;
    const size_t share = kTurnBytes / pool_.Threads();
    const char* const from = memory_.data() + place_;
    uint64_t seen[256] = {};
    const double start = Now();
    pool_.Run([&](unsigned part) { seen[part] = Read(from + part * share, share, way); });
    const double elapsed = Now() - start;
    for (const uint64_t one : seen) sink_ = sink_ ^ one;
    place_ += kTurnBytes;
    return static_cast<double>(share * pool_.Threads()) / elapsed / 1e9;
  }

#if defined(__x86_64__)
  __attribute__((target_clones("avx2", "default")))
#endif
  static uint64_t Read(const char* from, size_t bytes, const Way& way) {
    typedef uint64_t Wide __attribute__((vector_size(32), aligned(1), may_alias));
    Wide sums[2] = {};
    const size_t stream = bytes / way.streams / kLine * kLine;
    for (size_t i = 0; i < stream; i += kLine) {
      for (size_t s = 0; s < way.streams; s++) {
        const char* const line = from + s * stream + i;
        if (way.ahead > 0)
          __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(line) + way.ahead));
        sums[0] ^= *reinterpret_cast<const Wide*>(line);
        sums[1] ^= *reinterpret_cast<const Wide*>(line + kLine / 2);
      }
    }
    const Wide both = sums[0] ^ sums[1];
    return both[0] ^ both[1] ^ both[2] ^ both[3];
  }

  const std::vector<char> memory_;
  cpu::ThreadPool pool_;
  const Way* way_ = kWays;
  size_t place_ = 0;
  volatile uint64_t sink_ = 0;
};

}  // namespace parley::bench

#endif  // PARLEY_BENCH_READING_H_
