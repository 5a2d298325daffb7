// Measures Pocket TTS on processors, through the engine as the server runs it: one stream, the first sound, a
// voice of a recording, and how many listeners hear it in real time, beside the machine's memory and
// arithmetic.
//
//   pocket_bench <directory> [none|int8-talker|int8] [listeners: 12] [seconds: 60] [--rtf N] [--first N]
//                [--first-of-eight N]
//
// The checkpoint may be of random weights (write_checkpoint --type pocket --size 100m). KERNELS=avx2 keeps to
// AVX2. The other programs of a shared machine make the figures worse: the limits are of the same run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "bench/arithmetic.h"
#include "bench/goals.h"
#include "bench/listeners.h"
#include "bench/reading.h"

namespace parley::bench {
namespace {

constexpr double kFrameMs = 80;
constexpr size_t kFirstTurns = 40;
constexpr size_t kListenersBeside = 7;
constexpr double kArrivals = 5;  // seconds in which listeners come
constexpr auto kTick = std::chrono::milliseconds(5);

// Hears one speech as fast as it comes, and waits for its end.
class Taker final : public SpeechSink {
 public:
  size_t Room() override { return size_t{1} << 30; }
  void Write(const float*, size_t) override {}
  void Ended(const StreamEnd& end) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = end;
    ended_ = true;
    changed_.notify_all();
  }
  bool IsOver() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ended_;
  }
  StreamEnd Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    return end_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  StreamEnd end_;
  bool ended_ = false;
};

StreamEnd Speak(Engine& engine, const SpeechRequest& request) {
  const auto taker = std::make_shared<Taker>();
  engine.Start(request, taker);
  return taker->Await();
}

// A sentence as an agent begins with it.
SpeechRequest Short(const Engine& engine, uint64_t seed) {
  SpeechRequest request = RequestOf(engine, seed, 4);
  request.text = "Good morning, how may I help you today?";
  return request;
}

void SayMachine(unsigned threads) {
  cpu::ThreadPoolOptions options;
  options.threads = threads;
  Reading reading(options);
  cpu::ThreadPool pool(options);
  std::vector<double> speeds, rates;
  for (int n = 0; n < 60; n++) speeds.push_back(reading.Turn());
  for (int n = 0; n < 30; n++) rates.push_back(threads / SecondsPerGiga(&pool));
  std::printf("%u threads read %.1f GB/s and compute %.0f GFLOP/s in f32\n", threads, Percentile90(speeds),
              Percentile90(rates));
}

// Returns the real-time factor. What each part takes of a frame is printed.
double SayOneStream(Engine& engine) {
  Speak(engine, RequestOf(engine, 1, kDraws));
  std::vector<double> factors;
  const EngineStats before = engine.stats();
  for (uint64_t seed = 2; seed < 6; seed++) {
    const StreamEnd end = Speak(engine, RequestOf(engine, seed, kDraws));
    factors.push_back(end.total_ms / (static_cast<double>(end.frames) * kFrameMs));
  }
  const EngineStats stats = engine.stats();
  const auto frames = static_cast<double>(stats.frames - before.frames);
  const double factor = Percentile(factors, 0);
  std::printf("one stream: RTF %.3f (best of %zu), of a frame backbone %.2f ms, flow net %.2f, codec %.2f\n",
              factor, factors.size(), (stats.talker_ms - before.talker_ms) / frames,
              (stats.predictor_ms - before.predictor_ms) / frames,
              (stats.codec_ms - before.codec_ms) / frames);
  return factor;
}

double SayFirstSound(Engine& engine) {
  std::vector<double> first, longer;
  for (size_t n = 0; n < kFirstTurns; n++) {
    first.push_back(Speak(engine, Short(engine, n)).first_frame_ms);
    longer.push_back(Speak(engine, RequestOf(engine, n, 4)).first_frame_ms);
  }
  std::printf(
      "first 80 ms from a short sentence: p50 %.1f ms, p95 %.1f; from a whole chunk: p50 %.1f, p95 %.1f\n",
      Percentile(first, 0.5), Percentile(first, 0.95), Percentile(longer, 0.5), Percentile(longer, 0.95));
  return Percentile(first, 0.5);
}

// A voice of ten seconds of sound, beside nobody.
void SayVoice(Engine& engine) {
  if (!engine.facts().takes_recording) return;
  constexpr size_t kSeconds = 10;
  auto recording = std::make_shared<Recording>();
  recording->hash = "ten seconds";
  recording->samples.resize(kSeconds * recording->rate);
  for (size_t n = 0; n < recording->samples.size(); n++)
    recording->samples[n] = static_cast<float>(n * 2'654'435'761u % 65'536) / 65'536 - 0.5f;
  SpeechRequest request = Short(engine, 1);
  request.speaker.clear();
  request.recording = recording;
  const StreamEnd end = Speak(engine, request);
  std::printf("a voice of a recording of %zu s: %.0f ms; first sound after %.0f\n", kSeconds,
              engine.stats().voice_ms, end.first_frame_ms);
}

// Keeps so many listeners asking until the time is over or `until` says so.
template <class Until>
Heard& Listen(Engine& engine, size_t listeners, Heard* heard, const Until& until) {
  const Clock::time_point began = Clock::now();
  size_t asked = 0;
  while (!until(Since(began))) {
    const double share = std::min(1.0, Since(began) / kArrivals);
    const auto arrived = std::min(listeners, static_cast<size_t>(share * static_cast<double>(listeners)) + 1);
    while (asked < arrived + heard->over.load()) Ask(engine, ++asked, heard);
    engine.Wake();
    std::this_thread::sleep_for(kTick);
  }
  return *heard;
}

// The eighth stream's first sound, while seven are listened to.
double SayFirstAmongEight(Engine& engine) {
  Heard heard;
  std::vector<double> first, waited;
  std::shared_ptr<Taker> taker;
  Listen(engine, kListenersBeside, &heard, [&](double seconds) {
    if (seconds < kArrivals + 1) return false;
    if (taker != nullptr && !taker->IsOver()) return false;
    if (taker != nullptr) {
      const StreamEnd end = taker->Await();
      first.push_back(end.first_frame_ms);
      waited.push_back(end.queue_ms);
    }
    if (first.size() == kFirstTurns) return true;
    taker = std::make_shared<Taker>();
    engine.Start(Short(engine, first.size()), taker);
    return false;
  });
  engine.Close();
  std::printf("first 80 ms as one of eight streams: p50 %.1f ms, p95 %.1f; of them for a place p95 %.1f\n",
              Percentile(first, 0.5), Percentile(first, 0.95), Percentile(waited, 0.95));
  return Percentile(first, 0.95);
}

bool SayListeners(Engine& engine, size_t listeners, double seconds) {
  Heard heard;
  Listen(engine, listeners, &heard, [&](double now) { return now >= seconds; });
  const EngineStats stats = engine.stats();
  engine.Close();
  const size_t late = heard.Late();
  std::printf(
      "%zu listeners for %.0f s: %zu speeches, %zu of them late, the latest sound %.1f ms; first sound "
      "p50 %.1f ms, p95 %.1f; busy %.0f %%; %zu waited at the end\n",
      listeners, seconds, heard.late_ms.size(), late, Percentile(heard.late_ms, 1),
      Percentile(heard.first_ms, 0.5), Percentile(heard.first_ms, 0.95), stats.busy_ms / seconds / 10,
      stats.waiting);
  if (heard.other > 0) std::printf("%zu FAILED, the last: %s\n", heard.other, heard.problem.c_str());
  return late == 0 && heard.other == 0 && stats.waiting == 0;
}

int Measure(const std::vector<const char*>& words, const Goal& factor, const Goal& first, const Goal& eight) {
  EngineOptions options;
  options.directory = words[0];
  if (words.size() > 1) options.quantize = words[1];
  const auto listeners = static_cast<size_t>(words.size() > 2 ? std::atoi(words[2]) : 12);
  const double seconds = words.size() > 3 ? std::atof(words[3]) : 60;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  options.threads = threads;
  options.max_streams = std::max(listeners, kListenersBeside + 1);
  SayMachine(threads);
  const auto opened = [&options] {
    auto engine = Engine::Open(options);
    if (!engine) throw std::runtime_error(engine.problem());
    return std::move(*engine);
  };
  auto engine = opened();
  const EngineFacts& facts = engine->facts();
  std::printf("%s, %s, weights %.0f MB, a stream %.1f MB; loaded in %.0f ms, warmed up in %.0f\n",
              facts.device.c_str(), options.quantize.c_str(), static_cast<double>(facts.weight_bytes) / 1e6,
              static_cast<double>(facts.stream_bytes) / 1e6, facts.load_ms, facts.warm_up_ms);
  const double one = SayOneStream(*engine), alone = SayFirstSound(*engine);
  SayVoice(*engine);
  const double among = SayFirstAmongEight(*engine);
  engine = opened();
  bool good = SayListeners(*engine, listeners, seconds);
  good = factor.IsReached(one) && good;
  good = first.IsReached(alone) && good;
  good = eight.IsReached(among) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  using namespace parley::bench;
  Goal factor = {"rtf", "of real time", Goal::kAtMost}, first = {"first", "ms p50", Goal::kAtMost},
       eight = {"first-of-eight", "ms p95", Goal::kAtMost};
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    const auto words = TakeGoals(count, arguments, {&factor, &first, &eight});
    if (words.empty()) return std::fprintf(stderr, "pocket_bench DIR [weights] [listeners] [seconds]\n"), 2;
    return Measure(words, factor, first, eight);
  } catch (const std::exception& problem) {
    return std::fprintf(stderr, "pocket_bench: %s\n", problem.what()), 1;
  }
}
