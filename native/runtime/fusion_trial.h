// Which of a backend's fusions are used on this device. They were made for some devices and not for others, and every one has to give the sound that
// is heard without it: so it is tried out when the engine loads.
#ifndef PARLEY_RUNTIME_FUSION_TRIAL_H_
#define PARLEY_RUNTIME_FUSION_TRIAL_H_

#include <string>
#include <vector>

#include "runtime/frame_model.h"
#include "runtime/mailbox.h"

namespace parley::runtime {

// What a fusion does on this device: milliseconds of a frame of so many streams without it and with it, the best of some frames.
struct TriedFusion {
  struct Times {
    size_t streams;
    double without_ms, with_ms;
  };

  FusionFacts facts;
  bool is_right = true;  // it did not fail, nor give another sound
  std::vector<Times> times;  // none where it failed
};

struct TrialOptions {
  std::vector<size_t> sizes = {1, 3, 16};  // streams that speak together: few, since fusions are for few
  size_t frames = 8;  // of each, the first two of which are not timed: three or more, and no more than kMostWarmFrames
  TimeSource now = Clock::now;
};

// Tries one after the other, each with those before it that are used: one that gives another sound, fails, or makes frames slower by more than a
// hundredth is left out, and so it stays. No size above max_streams is tried. What a device throws that is lost
// names the fusion that was tried. Empty: the model has none. Where the model has no room for a trial all are left as they are, without times.
std::vector<TriedFusion> TryFusions(FrameModel& model, const TrialOptions& options, size_t max_streams);

// As an option says it: see EngineOptions::fusions. False with `problem` set: it names what is none.
bool ChooseFusions(FrameModel& model, const std::string& option, size_t max_streams, const TimeSource& now, std::vector<FusionFacts>* facts,
                   std::string* problem);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_FUSION_TRIAL_H_
