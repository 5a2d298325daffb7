// The thread that mixes for all bridges and rooms of a plane: a quantum of 5 ms of each mixer at each moment
// of its grid. Then it encodes the frames that follow from it, those with the earliest tick first.
#ifndef PARLEY_MEDIA_JOIN_JOINING_THREAD_H_
#define PARLEY_MEDIA_JOIN_JOINING_THREAD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "media/grid_thread.h"
#include "media/join/mixer.h"
#include "media/time.h"

namespace parley {

class JoiningWork {
 public:
  using Item = Mixer;
  // Above JavaScript and the listening thread where the system allows it.
  static constexpr Grid kGrid{"parley-join",          -8, 0, JoinedSound::kQuantumNs, 200 * kNsPerMs,
                              JoinedSound::kQuantumNs};

  explicit JoiningWork(const TimeSource& time) : time_(time) {}

  void Tick(const std::vector<std::shared_ptr<Mixer>>& mixers, int64_t at_ns, int64_t now_ns);

 private:
  const TimeSource& time_;
  std::vector<Mixer::Job> jobs_;
};

using JoiningThread = GridThread<JoiningWork>;

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_JOINING_THREAD_H_
