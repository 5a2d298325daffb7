// Listeners of the benches, who hear speech as it comes. A listener begins to play 40 ms after the first
// sound came (what players keep against jitter), has room for a second of it, and misses sound when some
// comes later than what came before is played.
#ifndef PARLEY_BENCH_LISTENERS_H_
#define PARLEY_BENCH_LISTENERS_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine.h"

namespace parley::bench {

using namespace runtime;

constexpr const char* kText =
    "Your order has shipped and should be with you on Tuesday before noon. You will get a message with the driver's name.";
constexpr size_t kDraws = 126;  // ten seconds of sound
constexpr double kRoom = 1;     // seconds that a listener keeps
constexpr double kJitter = 0.04;

inline double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// Measurements of all listeners.
struct Heard {
  std::mutex mutex;
  std::vector<double> first_ms;  // from the asking; of those that did not wait for a place, apart
  std::vector<double> late_ms;   // of each speech, the latest of its sound
  uint64_t whole = 0, closed = 0, other = 0;
  std::string problem;
  std::atomic<size_t> over{0};  // speeches

  size_t Late() const {
    return static_cast<size_t>(
        std::count_if(late_ms.begin(), late_ms.end(), [](double ms) { return ms > 0; }));
  }
};

// One speech at one listener.
class Listener : public SpeechSink {
 public:
  Listener(Heard& heard, uint32_t rate) : heard_(heard), rate_(rate) {}

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
    heard_.over++;
  }

 private:
  Heard& heard_;
  const double rate_;
  Clock::time_point began_;
  size_t written_ = 0;
  double latest_ = -1;
};

inline double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

inline SpeechRequest RequestOf(const Engine& engine, uint64_t seed, size_t draws) {
  SpeechRequest request;
  request.text = kText;
  if (!engine.facts().speakers.empty()) request.speaker = engine.facts().speakers.front();
  request.seed = seed;
  request.max_new_tokens = draws;
  request.due = Clock::now();
  return request;
}

// Asks for a speech of ten seconds.
inline void Ask(Engine& engine, uint64_t seed, Heard* heard) {
  engine.Start(RequestOf(engine, seed, kDraws),
               std::make_shared<Listener>(*heard, engine.facts().sample_rate));
}

}  // namespace parley::bench

#endif  // PARLEY_BENCH_LISTENERS_H_
