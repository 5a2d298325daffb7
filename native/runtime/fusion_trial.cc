#include "runtime/fusion_trial.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace parley::runtime {
namespace {

constexpr size_t kNew = 2;       // frames of each: their lists are new
constexpr size_t kTogether = 2;  // the last frames, which are decoded in one
constexpr double kMaySlow = 1.02;  // chance is some thousandths

// What speakers of some sizes gave.
struct Spoken {
  std::vector<std::vector<float>> sounds;  // of each size
  std::vector<double> best_ms;             // of a frame

  // Bit by bit: what is no number is equal to itself too.
  bool SoundsLike(const Spoken& other) const {
    const auto are_equal = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    };
    return std::equal(sounds.begin(), sounds.end(), other.sounds.begin(), other.sounds.end(), are_equal);
  }
  void KeepBest(const Spoken& other) {
    for (size_t of = 0; of < best_ms.size(); of++) best_ms[of] = std::min(best_ms[of], other.best_ms[of]);
  }
};

// No memory for what there was memory for before.
class NoRoom : public std::runtime_error {
 public:
  NoRoom() : std::runtime_error("there is no memory left to try it") {}
};

class Trial {
 public:
  Trial(FrameModel& model, TrialOptions options)
      : model_(model), options_(std::move(options)), request_(WarmRequest(model, kWarmTexts[kWarmOfBatches])) {
    model_.Rehearse(true);
  }
  ~Trial() {
    model_.Rehearse(false);
    voice_ = nullptr;
    while (model_.ForgetVoice()) {
    }
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Speaks without any fusion. Sizes for which there is no room are left out. False: that is all of them.
  bool Begin() {
    std::string problem;
    if (!FindWarmVoice(model_, request_, &voice_, &problem)) return false;
    const auto has_no_room = [&](size_t size) { return Make(size).empty(); };
    const size_t wanted = options_.sizes.size();
    options_.sizes.erase(std::remove_if(options_.sizes.begin(), options_.sizes.end(), has_no_room), options_.sizes.end());
    has_room_for_all_ = options_.sizes.size() == wanted;
    if (options_.sizes.empty()) return false;
    try {
      without_ = Speak();
    } catch (const NoRoom&) {
      return false;
    }
    return true;
  }

  // The n-th, which stays on where it proves itself.
  void Try(size_t n, TriedFusion* its) {
    try {
      Spoken with = SpeakWith(n, true);
      its->is_right = with.SoundsLike(without_);
      if (!its->is_right) its->facts.why = "it gives another sound here";
      if (its->is_right && !SlowerAt(with).empty()) {
        // Once more, in turn: chance does not come twice.
        without_.KeepBest(SpeakWith(n, false));
        with.KeepBest(SpeakWith(n, true));
        its->facts.why = SlowerAt(with);
      }
      for (size_t of = 0; of < options_.sizes.size(); of++) its->times.push_back({options_.sizes[of], without_.best_ms[of], with.best_ms[of]});
      its->facts.is_proven = has_room_for_all_;
      if (its->facts.why.empty()) without_ = std::move(with);
    } catch (const BackendLost&) {
      throw;
    } catch (const NoRoom& none) {
      its->facts.why = none.what();
    } catch (const std::bad_alloc&) {
      its->facts.why = NoRoom().what();
    } catch (const std::exception& error) {
      its->is_right = false;
      its->facts.is_proven = has_room_for_all_;
      its->facts.why = std::string("it fails here: ") + error.what();
    }
    its->facts.on = its->facts.why.empty();
    if (!its->facts.on) model_.Fuse(n, false);
  }

 private:
  // None: there is no room for them.
  Generations Make(size_t size) {
    Generations generations;
    std::string problem;
    if (!MakeGenerations(model_, request_, voice_, size, &generations, &problem)) generations.clear();
    return generations;
  }

  Spoken SpeakWith(size_t n, bool on) {
    model_.Fuse(n, on);
    return Speak();
  }

  Spoken Speak() {
    Spoken spoken;
    for (const size_t size : options_.sizes) {
      Generations generations = Make(size);
      if (generations.empty()) throw NoRoom();
      WarmSpeech all(model_, std::move(generations));
      all.Join(size);
      SpeakFrames(&all, &spoken);
    }
    return spoken;
  }

  void SpeakFrames(WarmSpeech* all, Spoken* spoken) {
    std::vector<float> sound;
    double best = std::numeric_limits<double>::max();
    for (size_t n = 0; n < options_.frames; n++) {
      const Clock::time_point began = options_.now();
      all->Step();
      const bool waits = n + kTogether >= options_.frames && n + 1 < options_.frames;
      const size_t samples = waits ? 0 : all->Decode();
      const double took = std::chrono::duration<double, std::milli>(options_.now() - began).count();
      if (n >= kNew && n + kTogether < options_.frames) best = std::min(best, took);
      sound.insert(sound.end(), all->Samples(), all->Samples() + samples);
    }
    spoken->sounds.push_back(std::move(sound));
    spoken->best_ms.push_back(best);
  }

  // Where frames take longer than without; empty: nowhere.
  std::string SlowerAt(const Spoken& with) const {
    for (size_t of = 0; of < options_.sizes.size(); of++) {
      if (with.best_ms[of] <= kMaySlow * without_.best_ms[of]) continue;
      char text[96];
      std::snprintf(text, sizeof text, "slower here: a frame of %zu takes %.2f ms instead of %.2f", options_.sizes[of], with.best_ms[of],
                    without_.best_ms[of]);
      return text;
    }
    return "";
  }

  FrameModel& model_;
  TrialOptions options_;
  const SpeechRequest request_;
  std::shared_ptr<Voice> voice_;
  Spoken without_;
  bool has_room_for_all_ = true;
};

void SetAll(FrameModel& model, const std::vector<TriedFusion>& tried) {
  for (size_t n = 0; n < tried.size(); n++) model.Fuse(n, tried[n].facts.on);
}

// All but the n-th, as CUDA_FUSIONS names them.
std::string NamesWithout(const std::vector<TriedFusion>& all, size_t n) {
  std::string names;
  for (size_t other = 0; other < all.size(); other++) {
    if (other != n) names += (names.empty() ? "" : ",") + all[other].facts.name;
  }
  return names.empty() ? "none" : names;
}

std::vector<TriedFusion> FusionsOf(const FrameModel& model) {
  std::vector<TriedFusion> tried;
  for (const Fusion& fusion : model.Fusions()) tried.push_back({{fusion.name, fusion.on, "", false}, true, {}});
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

// What is known of all of them is taken over. False: of some nothing is.
bool TakeKnown(const std::vector<FusionFacts>& known, std::vector<TriedFusion>* all) {
  const auto is_of = [](const FusionFacts& one, const TriedFusion& other) { return one.is_proven && one.name == other.facts.name; };
  if (!std::equal(known.begin(), known.end(), all->begin(), all->end(), is_of)) return false;
  for (size_t n = 0; n < all->size(); n++) (*all)[n].facts = known[n];
  return true;
}

void TryOne(Trial* trial, size_t n, std::vector<TriedFusion>* all) {
  try {
    trial->Try(n, &(*all)[n]);
  } catch (const BackendLost& lost) {
    throw BackendLost(std::string(lost.what()) + ", while the fusion \"" + (*all)[n].facts.name + "\" was tried; CUDA_FUSIONS=" + NamesWithout(*all, n) +
                      " leaves it out, if that comes again");
  }
}

}  // namespace

std::vector<TriedFusion> TryFusions(FrameModel& model, const TrialOptions& options, size_t max_streams) {
  if (options.frames <= kNew + kTogether || options.frames > kMostWarmFrames) throw std::invalid_argument("a trial has 5 to 10 frames");
  std::vector<TriedFusion> tried = FusionsOf(model);
  if (tried.empty()) return tried;
  TrialOptions possible = options;
  const auto is_too_large = [&](size_t size) { return size > max_streams; };
  possible.sizes.erase(std::remove_if(possible.sizes.begin(), possible.sizes.end(), is_too_large), possible.sizes.end());
  for (size_t n = 0; n < tried.size(); n++) model.Fuse(n, false);
  {
    Trial trial(model, std::move(possible));
    const bool has_room = trial.Begin();
    for (size_t n = 0; n < tried.size(); n++) {
      if (!has_room) tried[n].facts = {tried[n].facts.name, false, "there is no room to try it", false};
      else TryOne(&trial, n, &tried);
    }
  }
  // What the trial's lists were is forgotten by that.
  for (size_t n = 0; n < tried.size(); n++) model.Fuse(n, false);
  SetAll(model, tried);
  return tried;
}

bool ChooseFusions(FrameModel& model, const FusionOptions& options, std::vector<FusionFacts>* facts, std::string* problem) {
  std::vector<TriedFusion> all = FusionsOf(model);
  if (all.empty()) return true;
  const bool by_trial = options.fusions == "auto";
  if (!by_trial && !TakeNamed(options.fusions, &all, problem)) return false;
  if (!by_trial || TakeKnown(options.known, &all)) {
    SetAll(model, all);
  } else {
    TrialOptions trial;
    trial.now = options.now;
    all = TryFusions(model, trial, options.max_streams);
  }
  for (TriedFusion& one : all) facts->push_back(std::move(one.facts));
  return true;
}

}  // namespace parley::runtime
