// Measures how many listeners an engine on a GPU serves in real time: all ask for speech again and again,
// and hear it as it comes.
//
//   live_bench <parley_cuda.so> <directory of a checkpoint> <streams> <burst|staggered> [seconds: 60]
//              [weights: none|int8|int8-talker|fp8]
//
// In a burst all listeners begin at once; staggered, they begin over ten seconds. Listeners that the engine
// does not admit wait, and the bench counts them separately.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "bench/listeners.h"

namespace parley::bench {
namespace {

constexpr double kArrivals = 10;
constexpr auto kTick = std::chrono::milliseconds(5);

struct Run {
  Engine& engine;
  size_t streams;
  double seconds;
  bool burst;
  Heard heard;

  void Listen() {
    const Clock::time_point began = Clock::now();
    size_t asked = 0, most_live = 0;
    EngineStats half;
    for (double now = 0; now < seconds; now = Since(began)) {
      const size_t arrived =
          burst ? streams
                : std::min(streams, static_cast<size_t>(static_cast<double>(streams) * now / kArrivals) + 1);
      while (asked < arrived + heard.over.load()) Ask(engine, ++asked, &heard);
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
    const size_t late = heard.Late();
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
  const auto opened = Engine::Open(options);
  if (!opened) return std::fprintf(stderr, "live_bench: %s\n", opened.problem().c_str()), 1;
  const auto& engine = *opened;
  std::printf("%s; loaded in %.0f ms, warmed up in %.0f ms\n", engine->facts().device.c_str(),
              engine->facts().load_ms, engine->facts().warm_up_ms);
  std::printf(
      "| asked | live at most | waiting at the end | speeches | that missed sound | latest ms | first sound p50 ms | p95 | of real time, all | eager lists, second half |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  Run run{*engine,
          options.max_streams,
          count > 5 ? std::atof(arguments[5]) : 60,
          std::strcmp(arguments[4], "burst") == 0,
          {}};
  run.Listen();
  return 0;
}
