// The thread that decodes for the listeners of all calls of a plane: a quantum of 16 ms of each call at each
// moment of its grid.
//
// A late wake-up processes the moments that were missed as if it had been punctual. Of moments that are left
// out, rings get silence (ListenerRing), and ears count lost windows.
#ifndef PARLEY_MEDIA_HEAR_LISTENING_THREAD_H_
#define PARLEY_MEDIA_HEAR_LISTENING_THREAD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "media/grid_thread.h"
#include "media/hear/listening_call.h"
#include "media/time.h"

namespace parley {

class ListeningWork {
 public:
  using Item = ListeningCall;
  static constexpr int64_t kQuantaOfWindow = EarWindow::kSamples / CallerSound::kQuantum;
  // Above JavaScript where the system allows it.
  static constexpr Grid kGrid{"parley-listen",
                              -5,
                              1,
                              SentSound::kQuantumNs,
                              10 * kNsPerSecond,
                              kQuantaOfWindow * SentSound::kQuantumNs};

  explicit ListeningWork(const TimeSource& time) : time_(time) {}

  void Tick(const std::vector<std::shared_ptr<ListeningCall>>& calls, int64_t at_ns, int64_t now_ns);

 private:
  const TimeSource& time_;
  std::vector<std::shared_ptr<Ears>> announced_;
};

using ListeningThread = GridThread<ListeningWork>;

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_LISTENING_THREAD_H_
