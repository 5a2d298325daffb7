#include "runtime/fusion_trial.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "runtime/warm_speech.h"

namespace parley::runtime {
namespace {

constexpr size_t kUntimed = 2;  // frames of each: their lists are new
constexpr double kMaySlow = 1.01;  // chance is some thousandths

// What speakers of some sizes gave.
struct Spoken {
  std::vector<std::vector<float>> sounds;  // of each size
  std::vector<double> best_ms;             // of a frame

  double Milliseconds() const { return std::accumulate(best_ms.begin(), best_ms.end(), 0.0); }
  // Bit by bit: no numbers are equal too.
  bool SoundsLike(const Spoken& other) const {
    const auto are_equal = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    };
    return std::equal(sounds.begin(), sounds.end(), other.sounds.begin(), other.sounds.end(), are_equal);
  }
};

class Trial {
 public:
  Trial(FrameModel& model, TrialOptions options) : model_(model), options_(std::move(options)), request_(WarmRequest(model, kWarmTexts[kWarmOfBatches])) {
    model_.Rehearse(true);
  }
  ~Trial() { model_.Rehearse(false); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // None where there is no room for one of the sizes.
  std::optional<Spoken> Speak() {
    Spoken spoken;
    for (const size_t size : options_.sizes) {
      Generations generations;
      std::string problem;
      if (!MakeGenerations(model_, request_, size, &generations, &problem) || generations.empty()) return std::nullopt;
      WarmSpeech all(model_, std::move(generations));
      all.Join(size);
      SpeakFrames(&all, &spoken);
    }
    return spoken;
  }

 private:
  void SpeakFrames(WarmSpeech* all, Spoken* spoken) {
    std::vector<float> sound;
    double best = 1e9;
    for (size_t n = 0; n < options_.frames; n++) {
      const Clock::time_point began = options_.now();
      all->Step();
      const size_t samples = all->Decode();
      const double took = std::chrono::duration<double, std::milli>(options_.now() - began).count();
      if (n >= kUntimed) best = std::min(best, took);
      sound.insert(sound.end(), all->Samples(), all->Samples() + samples);
    }
    spoken->sounds.push_back(std::move(sound));
    spoken->best_ms.push_back(best);
  }

  FrameModel& model_;
  const TrialOptions options_;
  const SpeechRequest request_;
};

std::string Slower(double without, double with) {
  char text[96];
  std::snprintf(text, sizeof text, "slower here: %.2f ms instead of %.2f", with, without);
  return text;
}

// With the fusion that is on now. None, with `why` set: it fails.
std::optional<Spoken> SpeakWith(Trial* trial, const std::string& name, std::string* why) {
  try {
    std::optional<Spoken> spoken = trial->Speak();
    if (!spoken) *why = "no memory to try it";
    return spoken;
  } catch (const BackendLost& lost) {
    throw BackendLost(std::string(lost.what()) + ", while the fusion \"" + name + "\" was tried: leave it out of CUDA_FUSIONS");
  } catch (const std::exception& error) {
    return *why = std::string("it fails here: ") + error.what(), std::nullopt;
  }
}

// With the fusion that is on now, and without it.
void Judge(const std::vector<size_t>& sizes, const Spoken& with, const Spoken& without, TriedFusion* its) {
  its->is_right = with.SoundsLike(without);
  if (!its->is_right) its->facts.why = "it gives another sound here";
  else if (with.Milliseconds() > kMaySlow * without.Milliseconds()) its->facts.why = Slower(without.Milliseconds(), with.Milliseconds());
  for (size_t of = 0; of < sizes.size(); of++) its->times.push_back({sizes[of], without.best_ms[of], with.best_ms[of]});
}

void SetAll(FrameModel& model, const std::vector<TriedFusion>& tried) {
  for (size_t n = 0; n < tried.size(); n++) model.Fuse(n, tried[n].facts.on);
}

std::vector<TriedFusion> FusionsOf(const FrameModel& model) {
  std::vector<TriedFusion> tried;
  for (const Fusion& fusion : model.Fusions()) tried.push_back({{fusion.name, fusion.on, ""}, true, {}});
  return tried;
}

std::vector<std::string> NamesIn(const std::string& option) {
  std::vector<std::string> names;
  std::istringstream in(option);
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  return names;
}

// Those of the option are on. False with `problem` set: it names what is none.
bool TakeNamed(const std::string& option, std::vector<TriedFusion>* all, std::string* problem) {
  const std::vector<std::string> names = option == "all" || option == "none" ? std::vector<std::string>{} : NamesIn(option);
  std::string known;
  for (TriedFusion& one : *all) {
    known += (known.empty() ? "" : ", ") + one.facts.name;
    one.facts.on = option == "all" || std::find(names.begin(), names.end(), one.facts.name) != names.end();
    if (!one.facts.on) one.facts.why = "CUDA_FUSIONS leaves it out";
  }
  for (const std::string& name : names) {
    const bool is_one = std::any_of(all->begin(), all->end(), [&](const TriedFusion& one) { return one.facts.name == name; });
    if (!is_one) return *problem = "CUDA_FUSIONS names \"" + name + "\"; it can be auto, all, none, or some of " + known, false;
  }
  return true;
}

}  // namespace

std::vector<TriedFusion> TryFusions(FrameModel& model, const TrialOptions& options, size_t max_streams) {
  std::vector<TriedFusion> tried = FusionsOf(model);
  if (tried.empty()) return tried;
  TrialOptions possible = options;
  const auto is_too_large = [&](size_t size) { return size > max_streams; };
  possible.sizes.erase(std::remove_if(possible.sizes.begin(), possible.sizes.end(), is_too_large), possible.sizes.end());
  for (size_t n = 0; n < tried.size(); n++) model.Fuse(n, false);
  Trial trial(model, possible);
  std::optional<Spoken> without = trial.Speak();
  for (size_t n = 0; without && n < tried.size(); n++) {
    TriedFusion& its = tried[n];
    model.Fuse(n, true);
    std::optional<Spoken> with = SpeakWith(&trial, its.facts.name, &its.facts.why);
    if (with) Judge(possible.sizes, *with, *without, &its);
    else its.is_right = false;
    its.facts.on = its.facts.why.empty();
    if (its.facts.on) without = std::move(with);
    else model.Fuse(n, false);
  }
  // What the trial's lists were is forgotten by that.
  for (size_t n = 0; n < tried.size(); n++) model.Fuse(n, false);
  SetAll(model, tried);
  return tried;
}

bool ChooseFusions(FrameModel& model, const std::string& option, size_t max_streams, const TimeSource& now, std::vector<FusionFacts>* facts,
                   std::string* problem) {
  std::vector<TriedFusion> all = FusionsOf(model);
  if (all.empty()) return true;
  TrialOptions trial;
  trial.now = now;
  if (option == "auto") all = TryFusions(model, trial, max_streams);
  else if (!TakeNamed(option, &all, problem)) return false;
  else SetAll(model, all);
  for (TriedFusion& one : all) facts->push_back(std::move(one.facts));
  return true;
}

}  // namespace parley::runtime
