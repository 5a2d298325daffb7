// The thread that decodes for the listeners of all calls of a plane: a quantum of 16 ms of each call at each
// moment of a grid on the plane's clock. It has a lower priority than the clock, and the clock never waits
// for it.
//
// A late wake-up processes every moment that was missed, as if it had been punctual. After a longer stall it
// leaves the moments before out: rings get silence for them (ListenerRing), and ears count lost windows. On a
// manual plane its owner runs it instead of a thread.
#ifndef PARLEY_MEDIA_HEAR_LISTENING_THREAD_H_
#define PARLEY_MEDIA_HEAR_LISTENING_THREAD_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "media/event.h"
#include "media/hear/listening_call.h"
#include "media/time.h"

namespace parley {

class ListeningThread {
 public:
  // A stall of so long loses no moment.
  static constexpr int64_t kMostBehindNs = 10 * kNsPerSecond;

  explicit ListeningThread(const TimeSource& time) : time_(time) {}
  ~ListeningThread() { Stop(); }
  ListeningThread(const ListeningThread&) = delete;
  ListeningThread& operator=(const ListeningThread&) = delete;

  // Callers, any thread. The thread begins with the first call, unless the time is held by the caller.
  // False: stopped.
  bool Add(std::shared_ptr<ListeningCall> call);
  void Remove(const ListeningCall* call);
  size_t size();
  void Stop();  // joins it

  // The thread, or the owner of a manual plane. INT64_MAX: nobody listens.
  int64_t NextTick();
  void RunUpTo(int64_t now_ns);

 private:
  void Run();
  bool TakeBatch(int64_t now_ns, int64_t* at_ns);
  void Tick(int64_t at_ns, int64_t now_ns);

  const TimeSource& time_;
  Event idle_;  // ends the sleep of a thread without calls
  std::atomic<bool> stopping_{false};
  std::thread thread_;

  // Only the thread uses these.
  std::vector<std::shared_ptr<ListeningCall>> batch_;
  std::vector<std::shared_ptr<Ears>> announced_;

  std::mutex mutex_;  // guards what follows
  std::vector<std::shared_ptr<ListeningCall>> calls_;
  int64_t next_ns_ = INT64_MAX;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_LISTENING_THREAD_H_
