#include "media/join/joining_thread.h"

#include <algorithm>

namespace parley {

// The time is read anew for each mixer and frame, because those before took some.
void JoiningWork::Tick(const std::vector<std::shared_ptr<Mixer>>& mixers, int64_t at_ns, int64_t) {
  jobs_.clear();
  for (const auto& mixer : mixers) mixer->Run(at_ns, time_.Now(), &jobs_);
  std::sort(jobs_.begin(), jobs_.end(),
            [](const Mixer::Job& one, const Mixer::Job& other) { return one.tick_ns < other.tick_ns; });
  for (const Mixer::Job& job : jobs_) job.mixer->Encode(job, at_ns, time_.Now());
}

}  // namespace parley
