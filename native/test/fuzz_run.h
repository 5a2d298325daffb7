// Runs episodes of fuzzing from seeds, on two threads, for a time; whatever
// ends the process says first which episode it was.
//
//   FUZZ_SECONDS=600 ./media_tests intake_fuzz     for so long, both threads together
//   FUZZ_SEED=... ./media_tests intake_fuzz        the same run again
//   FUZZ_EPISODE=... ./media_tests intake_fuzz     one episode again, as a failure named it
#ifndef PARLEY_TEST_FUZZ_RUN_H_
#define PARLEY_TEST_FUZZ_RUN_H_

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "media/random.h"
#include "test/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace parley::fuzz {

// Both threads together fuzz for so long: the longest with AddressSanitizer, shorter with ThreadSanitizer.
// Without a sanitizer, the time only shows that the fuzzer runs. `npm run test:long` sets FUZZ_SECONDS.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kUsualSeconds = 12;
#elif defined(__SANITIZE_THREAD__)
constexpr double kUsualSeconds = 6;
#else
constexpr double kUsualSeconds = 2;
#endif
constexpr size_t kThreads = 2;

inline thread_local uint64_t t_episode = 0;

inline void SayEpisode() {
  if (t_episode != 0)
    std::fprintf(stderr, "again: FUZZ_EPISODE=%llu\n", static_cast<unsigned long long>(t_episode));
}

inline uint64_t NumberFrom(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Feeds packets or files from this seed; how many.
using Episode = std::function<size_t(uint64_t seed)>;

inline size_t RunOne(const Episode& episode, uint64_t seed) {
  const int before = test::OwnFailures();
  t_episode = seed;
  const size_t fed = episode(seed);
  if (test::OwnFailures() != before) SayEpisode();
  t_episode = 0;
  return fed;
}

// Packets in all: for so long, and longer where that was too short for `least` of them, as on a machine with
// much to do.
inline size_t RunFor(double seconds, size_t least, uint64_t seed, const Episode& episode) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds / kThreads);
  std::atomic<size_t> fed{0};
  std::vector<std::thread> threads;
  for (size_t n = 0; n < kThreads; n++) {
    threads.emplace_back([&, n] {
      Random seeds(seed + n);
      do fed += RunOne(episode, seeds.Next());
      while (std::chrono::steady_clock::now() < until || fed < least);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return fed;
}

inline void NameEpisodeAtDeath() {
  // An exception that nobody caught; signals of other kinds are the sanitizer's.
  std::signal(SIGABRT, [](int) { SayEpisode(); });
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(SayEpisode);
#endif
}

// Duration of the whole run in seconds, both threads together.
inline double Seconds() {
  const char* const asked = std::getenv("FUZZ_SECONDS");
  return asked ? std::strtod(asked, nullptr) : kUsualSeconds;
}

inline bool IsOneEpisode() { return NumberFrom("FUZZ_EPISODE", 0) != 0; }

// One part of `parts` of the whole time, and of `least` packets in the whole run; prints what it did.
inline size_t RunPart(const char* name, size_t parts, const Episode& episode, size_t least = 0) {
  NameEpisodeAtDeath();
  if (const uint64_t one = NumberFrom("FUZZ_EPISODE", 0)) return RunOne(episode, one);
  static const uint64_t fresh = std::random_device{}();
  const uint64_t seed = NumberFrom("FUZZ_SEED", fresh);
  const auto began = std::chrono::steady_clock::now();
  const size_t fed = RunFor(Seconds() / static_cast<double>(parts), least / parts, seed, episode);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("       %s: %zu packets, %.0f a second, FUZZ_SEED=%llu\n", name, fed,
              static_cast<double>(fed) / took.count(), static_cast<unsigned long long>(seed));
  return fed;
}

}  // namespace parley::fuzz

#endif  // PARLEY_TEST_FUZZ_RUN_H_
