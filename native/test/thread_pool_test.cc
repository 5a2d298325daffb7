// The pool that shares a step's work: every part once, in any mood of its threads, and a clean end.
#include "kernels/cpu/thread_pool.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "test/check.h"

namespace parley::test {
namespace {

using cpu::ShareOf;
using cpu::ThreadPool;
using cpu::ThreadPoolOptions;

ThreadPoolOptions Threads(unsigned threads) {
  ThreadPoolOptions options;
  options.threads = threads;
  return options;
}

void EveryPartRunsOnceAndIsSeenAfterwards() {
  for (const unsigned threads : {1u, 2u, 5u}) {
    ThreadPool pool(Threads(threads));
    std::vector<int> counts(threads);  // plain: the pool itself must order the accesses
    for (int round = 0; round < 2000; round++) {
      pool.Run([&](unsigned part) { counts[part]++; });
      for (const int count : counts) CHECK_EQ(count, round + 1);
    }
  }
}

void ThreadsThatSleepAreWoken() {
  ThreadPool pool(Threads(3));
  std::atomic<int> ran{0};
  for (int round = 0; round < 20; round++) {
    // Far longer than they look for work before they sleep.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool.Run([&](unsigned) { ran++; });
    CHECK_EQ(ran.load(), 3 * (round + 1));
  }
}

void ACallerThatIsDoneFirstWaitsForTheLast() {
  ThreadPool pool(Threads(2));
  for (int round = 0; round < 10; round++) {
    int seen = 0;
    pool.Run([&](unsigned part) {
      if (part == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      seen = 1;
    });
    CHECK_EQ(seen, 1);
  }
}

void PoolsBeginAndEndWithAndWithoutWork() {
  for (int round = 0; round < 50; round++) {
    ThreadPool idle(Threads(3));
    ThreadPool busy(Threads(2));
    int parts[2] = {};
    busy.Run([&](unsigned part) { parts[part] = 1; });
    CHECK_EQ(parts[0] + parts[1], 2);
  }
}

void SharesCoverEverythingOnceAtBordersOfGranules() {
  for (const size_t count : {0, 1, 7, 8, 9, 64, 1000}) {
    for (const size_t granule : {1, 8}) {
      for (const unsigned parts : {1u, 2u, 3u, 16u}) {
        size_t at = 0;
        for (unsigned part = 0; part < parts; part++) {
          const auto [first, last] = ShareOf(count, granule, part, parts);
          CHECK_EQ(first, at);
          CHECK(last >= first);
          CHECK(last == count || last % granule == 0);
          at = last;
        }
        CHECK_EQ(at, count);
      }
    }
  }
}

int FirstAllowedCore() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int core = 0; core < CPU_SETSIZE; core++) {
    if (CPU_ISSET(static_cast<size_t>(core), &allowed)) return core;
  }
  return 0;
}

void ThreadsArePinnedToTheCoresGiven() {
  const int core = FirstAllowedCore();
  ThreadPoolOptions options = Threads(2);
  options.cores = {core, core};
  ThreadPool pool(options);
  int allowed = 0;
  bool there = false;
  pool.Run([&](unsigned part) {
    if (part == 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    allowed = CPU_COUNT(&set);
    there = CPU_ISSET(static_cast<size_t>(core), &set);
  });
  CHECK_EQ(allowed, 1);
  CHECK(there);
}

template <class Error>
bool Refused(const ThreadPoolOptions& options) {
  try {
    ThreadPool pool(options);
  } catch (const Error&) {
    return true;
  }
  return false;
}

void OptionsOutOfRangeAreRefused() {
  CHECK(Refused<std::invalid_argument>(Threads(0)));
  CHECK(Refused<std::invalid_argument>(Threads(257)));
  ThreadPoolOptions options = Threads(2);
  options.cores = {0};
  CHECK(Refused<std::invalid_argument>(options));
  options.cores = {0, -1};
  CHECK(Refused<std::invalid_argument>(options));
  options.cores = {0, CPU_SETSIZE - 1};  // no such core: its thread runs already, and is joined
  CHECK(Refused<std::system_error>(options));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(thread_pool) {
  using namespace parley::test;
  return Run({
      {"every part runs once and is seen afterwards", EveryPartRunsOnceAndIsSeenAfterwards},
      {"threads that sleep are woken", ThreadsThatSleepAreWoken},
      {"a caller that is done first waits for the last", ACallerThatIsDoneFirstWaitsForTheLast},
      {"pools begin and end with and without work", PoolsBeginAndEndWithAndWithoutWork},
      {"shares cover everything once at borders of granules", SharesCoverEverythingOnceAtBordersOfGranules},
      {"threads are pinned to the cores given", ThreadsArePinnedToTheCoresGiven},
      {"options out of range are refused", OptionsOutOfRangeAreRefused},
  });
}
