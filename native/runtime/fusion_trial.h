// Which of a backend's fusions are used on this device. They were made for some devices and not for others, and every one has to give the sound that
// is heard without it: so it is tried out when the engine loads, unless an earlier load's trial is known.
#ifndef PARLEY_RUNTIME_FUSION_TRIAL_H_
#define PARLEY_RUNTIME_FUSION_TRIAL_H_

#include <string>
#include <vector>

#include "runtime/frame_model.h"
#include "runtime/mailbox.h"
#include "runtime/warm_speech.h"

namespace parley::runtime {

struct TrialOptions {
  std::vector<size_t> sizes = {1, 2, 3, 16};  // streams that speak together: few, since fusions are for few
  // Of each. The first two, whose lists are new, and the last two, which are decoded together, are not timed: at least five, and no more than
  // kMostWarmFrames, else std::invalid_argument.
  size_t frames = kMostWarmFrames;
  TimeSource now = Clock::now;
};

// What a fusion does on this device: milliseconds of a frame of so many streams without it and with it, the best of some frames.
struct TriedFusion {
  struct Times {
    size_t streams;
    double without_ms, with_ms;
  };

  FusionFacts facts;
  bool is_right = true;      // it did not fail, nor give another sound
  std::vector<Times> times;  // none where it was not tried, or failed
};

// Tries one after the other, each with those before it that are used: one that gives another sound, fails, or makes frames of some size slower by more
// than two hundredths, measured twice, is left out, and so it stays. Sizes above max_streams, or for which there is no room, are not tried; where no
// size is, no fusion is used. What a device throws that is lost names the fusion that was tried. Empty: the model has none.
std::vector<TriedFusion> TryFusions(FrameModel& model, const TrialOptions& options, size_t max_streams);

struct FusionOptions {
  std::string fusions = "auto";    // as EngineOptions::fusions
  std::vector<FusionFacts> known;  // as EngineOptions::known_fusions
  size_t max_streams = 1;
  TimeSource now = Clock::now;
};

// False with `problem` set: the option names what is none.
bool ChooseFusions(FrameModel& model, const FusionOptions& options, std::vector<FusionFacts>* facts, std::string* problem);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_FUSION_TRIAL_H_
