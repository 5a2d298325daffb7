// Measures a voice and a recogniser on one device: callers who hear speech again and again, and callers who
// speak, half of the time each.
//
//   mixed_bench <parley_cuda.so | cpu> <directory of a voice> <directory of a recogniser>
//               <hearing> <speaking> [seconds: 60, at least 10] [--p95 <ms>]
//
// The listeners are those of live_bench and arrive over ten seconds. Each speaking caller speaks for four
// seconds and is silent for four, at times of its own. A turn ends with its last sample of speech. The bench
// measures the time from there to the final text. The recogniser makes partial texts for each half second of
// sound. The bench does not count the first fifteen seconds.
//
// The text of a recogniser of random weights never ends by itself: the ids that were made for a second of
// recognised sound tell how much more that is than the four of speech.
//
// Before the load begins, the voice speaks four requests one after the other. It speaks them again together
// under load, and the bench compares their samples bit by bit.
//
// The bench fails if a stream fails, if a speech missed sound, if listeners had to wait for their speeches,
// if no final text came, or if the compared speeches differ or were not all heard. With --p95 it also fails
// if the 95th percentile of the final texts' times is larger.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/goals.h"
#include "bench/listeners.h"
#include "bench/sound.h"
#include "runtime/recogniser.h"

namespace parley::bench {
namespace {

constexpr double kArrivals = 10, kSettled = 15;  // seconds
constexpr double kLeastSeconds = 10;             // so that speeches and turns end
constexpr double kSecondsOfSpeech = 10;          // that a listener asks for
constexpr double kLeastShare = 0.8;              // of the speeches that listeners have time for
constexpr double kSpeech = 4, kCycle = 8;        // seconds
constexpr auto kTick = std::chrono::milliseconds(2);

template <class Model>
std::unique_ptr<Model> Opened(Result<std::unique_ptr<Model>> result) {
  if (!result) throw std::runtime_error(result.problem());
  return std::move(*result);
}

// Measurements of all speaking callers.
struct Told {
  std::mutex mutex;
  std::vector<double> final_ms;
  uint64_t partials = 0, failed = 0;
  std::string problem;
  std::atomic<bool> counts{false};
};

// Repeats a cycle of speech and silence in real time.
class Microphone final : public SoundSource {
 public:
  Microphone(const std::vector<float>& cycle, double phase)
      : cycle_(cycle), first_(static_cast<uint64_t>(phase * kSoundRate)) {}

  size_t Read(float* samples, size_t most) override {
    const size_t count = std::min<uint64_t>(most, Heard() - std::min(read_, Heard()));
    for (size_t n = 0; n < count; n++) samples[n] = cycle_[(first_ + read_ + n) % cycle_.size()];
    read_ += count;
    return count;
  }
  bool Ended(std::string*) override { return false; }

  uint64_t Heard() const { return static_cast<uint64_t>(Since(began_) * static_cast<double>(kSoundRate)); }
  // The place in the cycles that sample `at` has.
  uint64_t Place(uint64_t at) const { return first_ + at; }

 private:
  const std::vector<float>& cycle_;
  const uint64_t first_;
  const Clock::time_point began_ = Clock::now();
  uint64_t read_ = 0;
};

class Texts final : public TextSink {
 public:
  explicit Texts(Told& told) : told_(told) {}
  void Recognised(const RecognisedText& text) override {
    const std::lock_guard<std::mutex> lock(told_.mutex);
    if (!told_.counts) return;
    if (text.final) told_.final_ms.push_back(Since(ended_) * 1e3);
    else told_.partials++;
  }
  void Ended(const RecognitionEnd& end) override {
    if (end.outcome == Outcome::kClosed) return;
    const std::lock_guard<std::mutex> lock(told_.mutex);
    told_.failed++;
    told_.problem = std::string(NameOf(end.outcome)) + " " + end.problem;
  }
  // Notes that the turn is over now.
  void EndTurn() {
    const std::lock_guard<std::mutex> lock(told_.mutex);
    ended_ = Clock::now();
  }

 private:
  Told& told_;
  Clock::time_point ended_;  // guarded by the mutex of `told_`
};

// A caller who speaks.
class Caller {
 public:
  Caller(Recogniser& recogniser, const std::vector<float>& cycle, double phase, Told& told)
      : recogniser_(recogniser),
        microphone_(std::make_shared<Microphone>(cycle, phase)),
        texts_(std::make_shared<Texts>(told)) {
    RecognitionRequest request;
    request.use = RecognitionUse::kLive;
    request.partials = request.gated = true;
    id_ = recogniser.Start(request, microphone_, texts_);
  }

  // Gives the orders that are due.
  void Tick() {
    const auto cycle = static_cast<uint64_t>(kCycle * kSoundRate);
    const auto speech = static_cast<uint64_t>(kSpeech * kSoundRate);
    const uint64_t heard = microphone_->Heard(), place = microphone_->Place(heard) % cycle;
    const bool speaks = place < speech;
    if (speaks == speaks_) return;
    speaks_ = speaks;
    const uint64_t at = heard - std::min(heard, speaks ? place : place - speech);
    if (!speaks) texts_->EndTurn();
    recogniser_.Order(id_, {speaks ? TurnOrder::kBegin : TurnOrder::kEnd, at});
  }

 private:
  Recogniser& recogniser_;
  const std::shared_ptr<Microphone> microphone_;
  const std::shared_ptr<Texts> texts_;
  StreamId id_ = 0;
  bool speaks_ = false;
};

// Keeps all samples of a speech, which comes as fast as the voice makes it, or as fast as it is played.
class KeptSound final : public Listener {
 public:
  KeptSound(Heard& heard, uint32_t rate, bool played) : Listener(heard, rate), played_(played) {}

  size_t Room() override { return played_ ? Listener::Room() : SIZE_MAX / 2; }
  void Write(const float* samples, size_t count) override {
    samples_.insert(samples_.end(), samples, samples + count);
    Listener::Write(samples, count);
  }
  // To be called after the end.
  const std::vector<float>& samples() const { return samples_; }

 private:
  const bool played_;
  std::vector<float> samples_;
};

// Speeches whose samples must not depend on what else the device computes.
class Compared {
 public:
  static constexpr size_t kSpeeches = 4;

  // Speaks them one after the other, with nothing beside them.
  explicit Compared(Engine& engine) : engine_(engine) {
    for (size_t n = 0; n < kSpeeches; n++) {
      alone_.push_back(Begin(n, false));
      for (const Clock::time_point began = Clock::now(); heard_.over <= n;
           std::this_thread::sleep_for(kTick)) {
        if (Since(began) > kMostAlone) throw std::runtime_error("a speech alone took more than two minutes");
      }
    }
  }
  void BeginAgain() {
    for (size_t n = 0; n < kSpeeches; n++) again_.push_back(Begin(n, true));
  }
  // Call after the engine was closed. Prints and returns how many were whole and the same both times.
  size_t Same() const {
    size_t same = 0;
    for (size_t n = 0; n < again_.size(); n++) {
      const std::vector<float>&a = alone_[n]->samples(), &b = again_[n]->samples();
      same += !a.empty() && a.size() == b.size() &&
              std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    }
    std::printf("compared speeches: %zu, heard to their end: %llu, the same as alone: %zu\n", kSpeeches,
                static_cast<unsigned long long>(heard_.whole - std::min<uint64_t>(heard_.whole, kSpeeches)),
                same);
    return heard_.whole == 2 * kSpeeches ? same : 0;
  }

 private:
  static constexpr double kMostAlone = 120;     // seconds
  static constexpr size_t kComparedDraws = 63;  // five seconds of sound

  // Uses seeds that no listener has.
  std::shared_ptr<KeptSound> Begin(size_t n, bool played) {
    auto sound = std::make_shared<KeptSound>(heard_, engine_.facts().sample_rate, played);
    engine_.Start(RequestOf(engine_, (uint64_t{1} << 32) + n, kComparedDraws), sound);
    return sound;
  }

  Engine& engine_;
  Heard heard_;
  std::vector<std::shared_ptr<KeptSound>> alone_, again_;
};

struct Load {
  Engine& engine;
  Recogniser& recogniser;
  size_t hearing, speaking;
  double seconds;
  Goal p95;
  Heard heard = {};
  Told told = {};

  // The sound of speech, then silence.
  static std::vector<float> Cycle() {
    std::vector<float> cycle = Sound(kSpeech);
    cycle.resize(static_cast<size_t>(kCycle * kSoundRate), 0.0f);
    return cycle;
  }

  bool Run() {
    Compared compared(engine);
    const std::vector<float> cycle = Cycle();
    std::vector<std::unique_ptr<Caller>> callers;
    const Clock::time_point began = Clock::now();
    size_t asked = 0;
    RecogniserStats first;
    EngineStats first_voice;
    for (double now = 0; now < seconds + kSettled; now = Since(began)) {
      const double share = std::min(1.0, now / kArrivals);
      while (callers.size() < speaking &&
             static_cast<double>(callers.size()) < share * static_cast<double>(speaking)) {
        const double phase = kCycle * static_cast<double>(callers.size() * 7919 % 1000) / 1000;
        callers.push_back(std::make_unique<Caller>(recogniser, cycle, phase, told));
      }
      const auto arrived = static_cast<size_t>(share * static_cast<double>(hearing));
      while (asked < arrived + heard.over.load()) Ask(engine, ++asked, &heard);
      for (const auto& caller : callers) caller->Tick();
      engine.Wake();
      if (!told.counts && now >= kSettled) {
        first = recogniser.stats(), first_voice = engine.stats();
        Forget();
        compared.BeginAgain();
      }
      std::this_thread::sleep_for(kTick);
    }
    const RecogniserStats last = recogniser.stats();
    const EngineStats last_voice = engine.stats();
    recogniser.Close();
    engine.Close();
    Say(first, last, last_voice.busy_ms - first_voice.busy_ms);
    return ReachesGoals(compared.Same());
  }

  // Prints the goals. `same`: speeches that sounded under load as alone.
  bool ReachesGoals(size_t same) {
    const auto say = [](const char* goal, bool reached) {
      std::printf("goal %s: %s\n", goal, reached ? "reached" : "FAILED");
      return reached;
    };
    bool all = say("no stream fails", heard.other + told.failed == 0);
    all = say("a voice's samples under load are those alone, bit by bit", same == Compared::kSpeeches) && all;
    if (hearing > 0) {
      all = say("no listener misses sound", heard.Late() == 0) && all;
      // Admission holds speeches back on a device that is too slow.
      const double expected = static_cast<double>(hearing) * seconds / kSecondsOfSpeech;
      const auto speeches = static_cast<double>(heard.late_ms.size());
      all = say("all listeners are served", speeches >= kLeastShare * expected) && all;
    }
    if (speaking > 0) {
      all = say("callers get final texts", !told.final_ms.empty()) && all;
      all = p95.IsReached(Percentile(told.final_ms, 0.95)) && all;
    }
    return all;
  }

  // Drops the measurements so far.
  void Forget() {
    const std::lock_guard<std::mutex> lock(heard.mutex);
    heard.late_ms.clear();
    heard.first_ms.clear();
    told.counts = true;
  }

  void Say(const RecogniserStats& first, const RecogniserStats& last, double voice_ms) {
    const auto share = [this](double ms) { return ms / 10 / seconds; };
    const double sound = last.sound_seconds - first.sound_seconds;
    std::puts(
        "| hear | speeches | that missed sound | latest ms | first sound p50 ms | p95 | speak | final texts | p50 ms | p95 | longest | partial texts | passes given up | ids a second of sound | busy: voice | recogniser |");
    std::puts(
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    std::printf(
        "| %zu | %zu | %zu | %.1f | %.1f | %.1f | %zu | %zu | %.1f | %.1f | %.1f | %llu | %llu | %.1f | %.0f %% | %.0f %% |\n",
        hearing, heard.late_ms.size(), heard.Late(), Percentile(heard.late_ms, 1),
        Percentile(heard.first_ms, 0.5), Percentile(heard.first_ms, 0.95), speaking, told.final_ms.size(),
        Percentile(told.final_ms, 0.5), Percentile(told.final_ms, 0.95), Percentile(told.final_ms, 1),
        static_cast<unsigned long long>(told.partials),
        static_cast<unsigned long long>(last.dropped_passes - first.dropped_passes),
        sound > 0 ? static_cast<double>(last.ids - first.ids) / sound : 0, share(voice_ms),
        share(last.busy_ms - first.busy_ms));
    if (heard.other > 0)
      std::printf("%llu speeches FAILED, the last: %s\n", static_cast<unsigned long long>(heard.other),
                  heard.problem.c_str());
    if (told.failed > 0)
      std::printf("%llu callers FAILED, the last: %s\n", static_cast<unsigned long long>(told.failed),
                  told.problem.c_str());
  }
};

DeviceOptions DeviceOf(const std::string& file) {
  DeviceOptions options;
  options.device = file == "cpu" ? "cpu" : "cuda";
  options.cuda_file = file == "cpu" ? "" : file;
  options.memory_share = 0.45;
  return options;
}

bool Run(const std::vector<const char*>& words, const Goal& p95) {
  const double seconds = words.size() > 5 ? std::atof(words[5]) : 60;
  EngineOptions voice;
  RecogniserOptions ears;
  static_cast<DeviceOptions&>(voice) = static_cast<DeviceOptions&>(ears) = DeviceOf(words[0]);
  voice.directory = words[1], ears.directory = words[2];
  const int hearing = std::atoi(words[3]), speaking = std::atoi(words[4]);
  if (hearing < 0 || speaking < 0 || hearing + speaking == 0)
    throw std::runtime_error("nobody hears or speaks");
  if (!(seconds >= kLeastSeconds)) throw std::runtime_error("the load lasts ten seconds at least");
  voice.max_streams = static_cast<size_t>(hearing) + Compared::kSpeeches;
  ears.least_interval = std::chrono::milliseconds(500);
  const auto engine = Opened(Engine::Open(voice));
  const auto recogniser = Opened(Recogniser::Open(ears));
  std::printf("%s; voice loaded in %.0f ms and warmed up in %.0f ms, recogniser in %.0f and %.0f ms\n",
              engine->facts().device.c_str(), engine->facts().load_ms, engine->facts().warm_up_ms,
              recogniser->facts().load_ms, recogniser->facts().warm_up_ms);
  return Load{*engine, *recogniser, static_cast<size_t>(hearing), static_cast<size_t>(speaking), seconds, p95}
      .Run();
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** words) {
  using namespace parley::bench;
  try {
    Goal p95{"p95", "ms", Goal::kAtMost};
    const std::vector<const char*> plain = TakeGoals(count, words, {&p95});
    if (plain.size() < 5) {
      std::fputs(
          "mixed_bench <parley_cuda.so | cpu> <voice> <recogniser> <hearing> <speaking> [seconds] [--p95 <ms>]\n",
          stderr);
      return 2;
    }
    return Run(plain, p95) ? 0 : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "mixed_bench: %s\n", problem.what());
    return 1;
  }
}
