// Measures how many listeners an engine on a GPU serves in real time: all ask for speech again and again,
// and hear it as it comes.
//
//   live_bench <parley_cuda.so> <directory of a checkpoint> <streams> <burst|staggered> [seconds: 60]
//              [weights: none|int8|int8-talker|fp8]
//
// Burst: all begin at once; staggered: over ten seconds. A listener begins to play 40 ms after the first
// sound came (what players keep against jitter), has room for a second of it, and misses sound when some
// comes later than what came before is played. Those that the engine does not admit wait, and are counted
// separately.
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

#include "runtime/engine.h"

namespace parley::bench {
namespace {

using namespace runtime;

constexpr const char* kText =
    "Your order has shipped and should be with you on Tuesday before noon. You will get a message with the driver's name.";
constexpr size_t kDraws = 126;  // ten seconds of sound
constexpr double kRoom = 1;     // seconds that a listener keeps
constexpr double kJitter = 0.04;
constexpr double kArrivals = 10;
constexpr auto kTick = std::chrono::milliseconds(5);

double Since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

// Measurements of all listeners.
struct Heard {
  std::mutex mutex;
  std::vector<double> first_ms;  // from the asking; of those that did not wait for a place, apart
  std::vector<double> late_ms;   // of each speech, the latest of its sound
  uint64_t whole = 0, closed = 0, other = 0;
  std::string problem;
};

// One speech at one listener.
class Listener final : public SpeechSink {
 public:
  Listener(Heard& heard, uint32_t rate, std::atomic<size_t>& over)
      : heard_(heard), rate_(rate), over_(over) {}

  size_t Room() override {
    if (written_ == 0) return static_cast<size_t>(kRoom * rate_);
    const double free = Since(began_) + kRoom - static_cast<double>(written_) / rate_;
    return free <= 0 ? 0 : static_cast<size_t>(std::min(free, kRoom) * rate_);
  }

  void Write(const float*, size_t count) override {
    if (written_ == 0)
      began_ =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kJitter));
    else latest_ = std::max(latest_, Since(began_) - static_cast<double>(written_) / rate_);
    written_ += count;
  }

  void Ended(const StreamEnd& end) override {
    const std::lock_guard<std::mutex> lock(heard_.mutex);
    if (end.outcome == Outcome::kBudget || end.outcome == Outcome::kDone) heard_.whole++;
    else if (end.outcome == Outcome::kClosed) heard_.closed++;
    else heard_.other++, heard_.problem = std::string(NameOf(end.outcome)) + " " + end.problem;
    if (written_ > 0) {
      heard_.late_ms.push_back(latest_ * 1e3);
      heard_.first_ms.push_back(end.first_frame_ms - end.queue_ms);
    }
    over_++;
  }

 private:
  Heard& heard_;
  const double rate_;
  std::atomic<size_t>& over_;
  Clock::time_point began_;
  size_t written_ = 0;
  double latest_ = -1;
};

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Run {
  Engine& engine;
  size_t streams;
  double seconds;
  bool burst;
  Heard heard;
  std::atomic<size_t> over{0};

  void Ask(uint64_t seed) {
    SpeechRequest request;
    request.text = kText;
    if (!engine.facts().speakers.empty()) request.speaker = engine.facts().speakers.front();
    request.seed = seed;
    request.max_new_tokens = kDraws;
    request.due = Clock::now();
    engine.Start(std::move(request), std::make_shared<Listener>(heard, engine.facts().sample_rate, over));
  }

  void Listen() {
    const Clock::time_point began = Clock::now();
    size_t asked = 0, most_live = 0;
    EngineStats half;
    for (double now = 0; now < seconds; now = Since(began)) {
      const size_t arrived =
          burst ? streams
                : std::min(streams, static_cast<size_t>(static_cast<double>(streams) * now / kArrivals) + 1);
      while (asked < arrived + over.load()) Ask(++asked);
      engine.Wake();
      const EngineStats stats = engine.stats();
      most_live = std::max(most_live, stats.live);
      if (now < seconds / 2) half = stats;
      std::this_thread::sleep_for(kTick);
    }
    const EngineStats stats = engine.stats();
    engine.Close();
    Say(stats, half, most_live);
  }

  // Prints the mean time of a round in the second half.
  static void SayRounds(const EngineStats& stats, const EngineStats& half) {
    const auto rounds = static_cast<double>(stats.steps - half.steps);
    const double step = stats.talker_ms - half.talker_ms + stats.predictor_ms - half.predictor_ms;
    const double codec = stats.codec_ms - half.codec_ms, prompts = stats.prefill_ms - half.prefill_ms,
                 all = stats.busy_ms - half.busy_ms;
    std::printf(
        "%.0f rounds of %.1f ms: %.1f frames and %.2f speeches begun each; step %.1f ms, codec %.1f, prompts alone %.1f, else %.1f\n",
        rounds, all / rounds, static_cast<double>(stats.frames - half.frames) / rounds,
        static_cast<double>(stats.begun - half.begun) / rounds, step / rounds, codec / rounds,
        prompts / rounds, (all - step - codec - prompts) / rounds);
  }

  void Say(const EngineStats& stats, const EngineStats& half, size_t most_live) {
    const size_t late = static_cast<size_t>(
        std::count_if(heard.late_ms.begin(), heard.late_ms.end(), [](double ms) { return ms > 0; }));
    std::printf("| %zu, %s | %zu | %zu | %zu | %zu | %.1f | %.1f | %.1f | %.1f | %llu of %llu |\n", streams,
                burst ? "burst" : "staggered", most_live, stats.waiting, heard.late_ms.size(), late,
                Percentile(heard.late_ms, 1), Percentile(heard.first_ms, 0.5),
                Percentile(heard.first_ms, 0.95), static_cast<double>(stats.frames) / seconds / 12.5,
                static_cast<unsigned long long>(stats.eager - half.eager),
                static_cast<unsigned long long>(stats.eager - half.eager + stats.launches - half.launches));
    std::printf(
        "lists grid by grid, graphs made, graphs run: %llu, %llu, %llu in the first half and before, %llu, %llu, %llu in the second\n",
        static_cast<unsigned long long>(half.eager), static_cast<unsigned long long>(half.captures),
        static_cast<unsigned long long>(half.launches),
        static_cast<unsigned long long>(stats.eager - half.eager),
        static_cast<unsigned long long>(stats.captures - half.captures),
        static_cast<unsigned long long>(stats.launches - half.launches));
    SayRounds(stats, half);
    std::printf("%llu were heard to their end, %llu not when the bench ended",
                static_cast<unsigned long long>(heard.whole), static_cast<unsigned long long>(heard.closed));
    if (heard.other > 0)
      std::printf("; %llu FAILED, the last: %s", static_cast<unsigned long long>(heard.other),
                  heard.problem.c_str());
    std::printf("\n");
    std::fflush(stdout);
  }
};

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  using namespace parley::bench;
  if (count < 5 || std::atoi(arguments[3]) < 1 ||
      (std::strcmp(arguments[4], "burst") != 0 && std::strcmp(arguments[4], "staggered") != 0)) {
    std::fprintf(
        stderr,
        "live_bench <parley_cuda.so> <directory> <streams> <burst|staggered> [seconds] [none|int8|int8-talker|fp8]\n");
    return 2;
  }
  EngineOptions options;
  options.directory = arguments[2];
  options.device = "cuda";
  options.cuda_file = arguments[1];
  if (count > 6) options.quantize = arguments[6];
  options.max_streams = static_cast<size_t>(std::atoi(arguments[3]));
  std::string problem;
  const auto engine = Engine::Open(options, &problem);
  if (engine == nullptr) return std::fprintf(stderr, "live_bench: %s\n", problem.c_str()), 1;
  std::printf("%s; loaded in %.0f ms, warmed up in %.0f ms\n", engine->facts().device.c_str(),
              engine->facts().load_ms, engine->facts().warm_up_ms);
  std::printf(
      "| asked | live at most | waiting at the end | speeches | that missed sound | latest ms | first sound p50 ms | p95 | of real time, all | eager lists, second half |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  Run run{*engine,
          options.max_streams,
          count > 5 ? std::atof(arguments[5]) : 60,
          std::strcmp(arguments[4], "burst") == 0,
          {},
          {}};
  run.Listen();
  return 0;
}
