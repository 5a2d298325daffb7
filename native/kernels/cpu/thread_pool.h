// A pool of a few threads that divide one piece of work; part 0 is computed by the caller itself.
//
// The parts depend only on the work's size and the number of threads. Idle threads spin for some
// microseconds, then sleep: between two steps of a model no thread has to be woken, and a silent server costs
// nothing.
//
// One thread at a time calls Run. The destructor waits for the threads to end.
#ifndef PARLEY_KERNELS_CPU_THREAD_POOL_H_
#define PARLEY_KERNELS_CPU_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace parley::cpu {

struct ThreadPoolOptions {
  unsigned threads = 1;  // the caller among them; 1 to 256
  std::vector<int>
      cores;     // one per thread, in order, or none: not pinned. The caller (the first) pins itself.
  int nice = 5;  // niceness of the pool's threads: they yield to the clock thread, which sends the audio
};

class ThreadPool {
 public:
  // Throws std::invalid_argument for options out of range, std::system_error when a
  // thread cannot be started or pinned.
  explicit ThreadPool(const ThreadPoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned Threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  // Calls work(part) for every part of 0 .. Threads() - 1, each on its thread, and
  // returns when all have returned. The work does not throw.
  template <class Work>
  void Run(const Work& work) {
    RunJob([](const void* context, unsigned part) { (*static_cast<const Work*>(context))(part); }, &work);
  }

 private:
  using Job = void (*)(const void* context, unsigned part);

  void RunJob(Job job, const void* context);
  void Pin(const std::vector<int>& cores);
  void Close();
  void Work(unsigned part, int nice);
  bool AwaitRound(uint64_t seen);
  void AwaitWorkers();

  // Written by the caller before round_ grows, read by the workers after.
  Job job_ = nullptr;
  const void* context_ = nullptr;

  std::atomic<uint64_t> round_{0};
  std::atomic<unsigned> left_{0};      // workers that have not finished this round
  std::atomic<unsigned> sleepers_{0};  // workers that sleep, or are about to
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> closing_{false};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> workers_;
};

// Makes the calling thread as nice as this. Needs no privilege; a thread that is nicer already stays so.
void LowerPriority(int nice);

// The share of `part` in `count` things, cut at multiples of `granule`: [first, second).
std::pair<size_t, size_t> ShareOf(size_t count, size_t granule, unsigned part, unsigned parts);

}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_THREAD_POOL_H_
