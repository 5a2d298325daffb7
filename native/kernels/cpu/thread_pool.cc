#include "kernels/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace parley::cpu {
namespace {

constexpr unsigned kMostThreads = 256;
constexpr int kLooks = 2000;  // some 30 microseconds: longer than the gaps within a step of the model

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

void PinThread(pthread_t thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(core), &set);
  const int error = pthread_setaffinity_np(thread, sizeof set, &set);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(),
                            "pinning a thread to core " + std::to_string(core));
  }
}

void Validate(const ThreadPoolOptions& options) {
  if (options.threads < 1 || options.threads > kMostThreads) {
    throw std::invalid_argument("1 to 256 threads can share the work");
  }
  if (!options.cores.empty() && options.cores.size() != options.threads) {
    throw std::invalid_argument("cores must name one core for each thread");
  }
  for (const int core : options.cores) {
    if (core < 0 || core >= CPU_SETSIZE) throw std::invalid_argument("no such core: " + std::to_string(core));
  }
}

}  // namespace

ThreadPool::ThreadPool(const ThreadPoolOptions& options) {
  Validate(options);
  try {
    workers_.reserve(options.threads - 1);
    for (unsigned part = 1; part < options.threads; part++) {
      workers_.emplace_back([this, part, nice = options.nice] { Work(part, nice); });
    }
    Pin(options.cores);
  } catch (...) {
    Close();
    throw;
  }
}

ThreadPool::~ThreadPool() { Close(); }

void ThreadPool::Pin(const std::vector<int>& cores) {
  for (size_t part = 1; part < cores.size(); part++)
    PinThread(workers_[part - 1].native_handle(), cores[part]);
}

void ThreadPool::Close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void ThreadPool::RunJob(Job job, const void* context) {
  if (workers_.empty()) return job(context, 0);
  job_ = job;
  context_ = context;
  left_.store(static_cast<unsigned>(workers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1);
  // A worker counts itself a sleeper before it looks at round_ for the last time, so
  // either it saw the new one or it is seen here.
  if (sleepers_.load() > 0) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
    }
    wake_.notify_all();
  }
  job(context, 0);
  AwaitWorkers();
}

void ThreadPool::AwaitWorkers() {
  for (int look = 0; look < kLooks; look++) {
    if (left_.load(std::memory_order_acquire) == 0) return;
    Relax();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  caller_sleeps_ = true;
  done_.wait(lock, [this] { return left_.load() == 0; });
  caller_sleeps_ = false;
}

void ThreadPool::Work(unsigned part, int nice) {
  LowerPriority(nice);
  for (uint64_t seen = 0; AwaitRound(seen); seen++) {
    job_(context_, part);
    if (left_.fetch_sub(1) == 1 && caller_sleeps_.load()) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
      }
      done_.notify_one();
    }
  }
}

void LowerPriority(int nice) {
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  errno = 0;
  const int inherited = getpriority(PRIO_PROCESS, self);
  if (errno == 0 && inherited < nice) setpriority(PRIO_PROCESS, self, nice);
}

// Waits until a round after `seen` begins; false when there will be none.
bool ThreadPool::AwaitRound(uint64_t seen) {
  for (int look = 0; look < kLooks; look++) {
    if (round_.load(std::memory_order_acquire) != seen) return true;
    Relax();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  sleepers_++;
  wake_.wait(lock, [this, seen] { return closing_.load() || round_.load() != seen; });
  sleepers_--;
  return round_.load() != seen;
}

std::pair<size_t, size_t> ShareOf(size_t count, size_t granule, unsigned part, unsigned parts) {
  const size_t granules = (count + granule - 1) / granule;
  const auto border = [&](size_t p) { return std::min(count, granules * p / parts * granule); };
  return {border(part), border(size_t{part} + 1)};
}

}  // namespace parley::cpu
