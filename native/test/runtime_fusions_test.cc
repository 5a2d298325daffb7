// Which of a backend's fusions are used: those that a trial finds right and not slower, or those that are named.
#include <chrono>
#include <string>
#include <vector>

#include "runtime/fusion_trial.h"
#include "test/check.h"
#include "test/scripted_model.h"

namespace parley::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A frame of n streams takes 3 + n ms without fusions.
class Tried {
 public:
  explicit Tried(std::vector<ScriptedFusion> fusions) {
    model.fusions = std::move(fusions);
    model.step_time = milliseconds(3);
    model.decode_time = milliseconds(1);  // of each stream's frame
  }

  bool Choose(const std::string& option, size_t max_streams = 64) {
    facts.clear();
    problem.clear();
    return ChooseFusions(model, {option, known, max_streams, model.clock()}, &facts, &problem);
  }
  // As the next load would.
  bool ChooseAgain() {
    known = facts;
    for (ScriptedFusion& one : model.fusions) one.on = true;
    model.TakeLog();
    return Choose("auto");
  }
  // Of those that are used.
  std::string On() const {
    std::string names;
    for (const ScriptedFusion& one : model.fusions) names += one.on ? one.name + " " : "";
    return names;
  }

  ScriptedModel model;
  std::vector<FusionFacts> known, facts;
  std::string problem;
};

void ThoseThatSaveTimeAreUsed() {
  Tried tried({{"layers", milliseconds(1)}, {"passes", microseconds(500)}});
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "layers passes ");
  CHECK_EQ(tried.facts.size(), 2u);
  CHECK(tried.facts[0].name == "layers" && tried.facts[0].on && tried.facts[0].why.empty());
}

void AnotherSoundLeavesOneOut() {
  Tried tried({{"layers", milliseconds(1)}, {"passes", milliseconds(1), true}, {"units", microseconds(100)}});
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "layers units ");
  CHECK(!tried.facts[1].on);
  CHECK_EQ(tried.facts[1].why, "it gives another sound here");
}

void ASlowerOneIsLeftOutAndSaysByHowMuch() {
  Tried tried({{"layers", milliseconds(-1)}, {"passes", microseconds(10)}});
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "passes ");
  CHECK_EQ(tried.facts[0].why, "slower here: a frame of 1 takes 5.00 ms instead of 4.00");
}

// What it costs with many is no more than chance would be.
void SlowerForOneSizeIsSlower() {
  Tried tried({{"layers", microseconds(-100)}});
  tried.model.decode_time = milliseconds(3);
  CHECK(tried.Choose("auto", 1));
  CHECK_EQ(tried.On(), "layers ");  // 6.1 instead of 6: less than two hundredths
  tried.model.step_time = milliseconds(1);
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "");
}

void AThousandthIsChance() {
  Tried tried({{"layers", microseconds(-30)}});
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "layers ");
}

void AHiccupIsMeasuredAgain() {
  Tried tried({{"layers", milliseconds(1), false, "", kMostWarmFrames}});
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "layers ");
}

void OneThatFailsIsLeftOutAndTheNextAreTried() {
  Tried tried({{"layers", {}, false, "throw"}, {"passes", {}, false, "memory"}, {"units", milliseconds(1)}});
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "units ");
  CHECK_EQ(tried.facts[0].why, "it fails here: scripted");
  CHECK_EQ(tried.facts[1].why, "there is no memory left to try it");
  CHECK_EQ(tried.model.generations, 0u);
  CHECK_EQ(tried.model.bytes_in_use, 0u);
}

void ALostDeviceNamesTheFusionThatWasTried() {
  Tried tried({{"layers", milliseconds(1)}, {"passes", {}, false, "lost"}, {"units"}});
  std::string what;
  try {
    tried.Choose("auto");
  } catch (const BackendLost& lost) {
    what = lost.what();
  }
  CHECK_EQ(what,
           "the GPU fell off the bus, while the fusion \"passes\" was tried; CUDA_FUSIONS=layers,units leaves it out, if that comes again");
  CHECK(!tried.model.rehearses);
}

// No fusion is to blame.
void ADeviceThatIsLostBeforeIsLost() {
  Tried tried({{"layers"}});
  tried.model.first_step = "lost";
  std::string what;
  try {
    tried.Choose("auto");
  } catch (const BackendLost& lost) {
    what = lost.what();
  }
  CHECK_EQ(what, "the GPU fell off the bus");
  CHECK(!tried.model.rehearses);
  CHECK_EQ(tried.model.bytes_in_use, 0u);
}

void NoMoreSpeakTogetherThanMay() {
  Tried tried({{"layers", milliseconds(1)}});
  const std::vector<TriedFusion> found = TryFusions(tried.model, {{1, 3, 16}, 5, tried.model.clock()}, 3);
  CHECK_EQ(found.size(), 1u);
  CHECK_EQ(found[0].times.size(), 2u);
  CHECK(found[0].times[1].streams == 3 && found[0].times[1].without_ms == 6 && found[0].times[1].with_ms == 5);
}

void ATrialHasFramesToMeasure() {
  Tried tried({{"layers"}});
  for (const size_t frames : {size_t{4}, kMostWarmFrames + 1}) {
    CHECK_EQ(RefusalOf([&] { TryFusions(tried.model, {{1}, frames, tried.model.clock()}, 1); }), "a trial has 5 to 10 frames");
  }
}

// A request takes its prompt's rows and a frame's each: 4 + 11 of these bytes.
void ASizeWithoutRoomIsLeftOut() {
  Tried tried({{"layers", milliseconds(1)}});
  tried.model.free_bytes = 3 * 15;
  const std::vector<TriedFusion> found = TryFusions(tried.model, {{1, 3, 16}, 5, tried.model.clock()}, 16);
  CHECK_EQ(found[0].times.size(), 2u);
  CHECK(found[0].facts.on);
}

void WithoutRoomForATrialNoneIsUsed() {
  Tried tried({{"layers", milliseconds(1)}, {"passes", milliseconds(1)}});
  tried.model.most_positions = 8;
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "");
  CHECK_EQ(tried.facts[1].why, "there is no room to try it");
}

void TheVoiceOfATrialIsForgotten() {
  Tried tried({{"layers", milliseconds(1)}});
  tried.model.SayType("base");
  CHECK(tried.Choose("auto"));
  CHECK_EQ(tried.On(), "layers ");
  CHECK_EQ(tried.model.Voices(), 0u);
  const std::string log = tried.model.TakeLog();
  CHECK(log.find("voice warm-up") != std::string::npos);
}

void NamedOnesAreUsedUntried() {
  Tried tried({{"layers", milliseconds(-1)}, {"passes", {}, true}, {"units", milliseconds(1)}});
  CHECK(tried.Choose("passes,units"));
  CHECK_EQ(tried.On(), "passes units ");
  CHECK_EQ(tried.facts[0].why, "CUDA_FUSIONS leaves it out");
  CHECK(tried.Choose("none"));
  CHECK_EQ(tried.On(), "");
  CHECK(tried.Choose("all"));
  CHECK_EQ(tried.On(), "layers passes units ");
  CHECK_EQ(tried.model.TakeLog(), "");
}

// Its voice would be looked for if it were.
void WhatIsKnownOfAllIsNotTriedAgain() {
  Tried tried({{"layers", milliseconds(1)}, {"passes", {}, true}, {"units", {}, false, "throw"}});
  CHECK(tried.Choose("auto"));
  CHECK(tried.ChooseAgain());
  CHECK_EQ(tried.model.TakeLog(), "");
  CHECK_EQ(tried.On(), "layers ");
  CHECK_EQ(tried.facts[1].why, "it gives another sound here");
  CHECK_EQ(tried.facts[2].why, "it fails here: scripted");
}

void WhatWasNotTriedIsTriedNext() {
  Tried tried({{"layers", milliseconds(1)}});
  const auto free_bytes = tried.model.free_bytes;
  tried.model.most_positions = 8;
  CHECK(tried.Choose("auto"));
  tried.model.most_positions = 4096;
  CHECK(tried.ChooseAgain());
  CHECK_EQ(tried.On(), "layers ");
  // Nor was one tried for which there was no memory, or not with all sizes.
  tried.model.free_bytes = 3 * 15;
  CHECK(tried.Choose("auto"));
  tried.model.free_bytes = free_bytes;
  CHECK(tried.ChooseAgain());
  CHECK(tried.model.TakeLog() != "");
  tried.model.fusions = {{"layers", {}, false, "memory"}};
  CHECK(tried.Choose("auto"));
  tried.model.fusions = {{"layers", milliseconds(1)}};
  CHECK(tried.ChooseAgain());
  CHECK_EQ(tried.On(), "layers ");
  // Nor is what was named, or what is known of others.
  CHECK(tried.Choose("all"));
  CHECK(tried.ChooseAgain());
  CHECK(tried.model.TakeLog() != "");
  tried.facts[0].name = "units";
  CHECK(tried.ChooseAgain());
  CHECK(tried.model.TakeLog() != "");
  CHECK_EQ(tried.facts[0].name, "layers");
}

// What is known is for the choice by trial.
void WhatIsNamedIsUsedWhateverIsKnown() {
  Tried tried({{"layers", {}, true}});
  CHECK(tried.Choose("auto"));
  tried.known = tried.facts;
  CHECK(tried.Choose("layers"));
  CHECK_EQ(tried.On(), "layers ");
}

void AnUnknownNameIsRefused() {
  Tried tried({{"layers"}, {"passes"}});
  CHECK(!tried.Choose("layers,pases"));
  CHECK_EQ(tried.problem, "CUDA_FUSIONS names \"pases\"; it can be auto, all, none, or some of layers, passes");
}

void ABackendWithoutAnyIsNotAsked() {
  Tried tried({});
  CHECK(tried.Choose("auto"));
  CHECK(tried.facts.empty());
  CHECK_EQ(tried.model.TakeLog(), "");
}

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({{"those that save time are used", ThoseThatSaveTimeAreUsed},
              {"another sound leaves one out", AnotherSoundLeavesOneOut},
              {"a slower one is left out and says by how much", ASlowerOneIsLeftOutAndSaysByHowMuch},
              {"slower for one size is slower", SlowerForOneSizeIsSlower},
              {"a thousandth is chance", AThousandthIsChance},
              {"a hiccup is measured again", AHiccupIsMeasuredAgain},
              {"one that fails is left out and the next are tried", OneThatFailsIsLeftOutAndTheNextAreTried},
              {"a lost device names the fusion that was tried", ALostDeviceNamesTheFusionThatWasTried},
              {"no more speak together than may", NoMoreSpeakTogetherThanMay},
              {"a device that is lost before is lost", ADeviceThatIsLostBeforeIsLost},
              {"a trial has frames to measure", ATrialHasFramesToMeasure},
              {"a size without room is left out", ASizeWithoutRoomIsLeftOut},
              {"without room for a trial none is used", WithoutRoomForATrialNoneIsUsed},
              {"the voice of a trial is forgotten", TheVoiceOfATrialIsForgotten},
              {"named ones are used untried", NamedOnesAreUsedUntried},
              {"what is known of all is not tried again", WhatIsKnownOfAllIsNotTriedAgain},
              {"what was not tried is tried next", WhatWasNotTriedIsTriedNext},
              {"what is named is used whatever is known", WhatIsNamedIsUsedWhateverIsKnown},
              {"an unknown name is refused", AnUnknownNameIsRefused},
              {"a backend without any is not asked", ABackendWithoutAnyIsNotAsked}});
}
