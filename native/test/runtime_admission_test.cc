// Admission where a step's time grows with the listeners: how many are admitted, and whether all of them hear
// everything. Simulates a backend with scripted times and its own clock for a minute.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::microseconds;

Clock::duration Ms(double ms) { return duration_cast<Clock::duration>(duration<double, std::milli>(ms)); }
double MsOf(Clock::duration time) { return duration<double, std::milli>(time).count(); }

// Round times of a GPU. A frame of n streams: 5 ms and 0.11 ms each, half of it in the codec. A new prompt:
// 0.7 ms.
struct Machine {
  double step = 3, step_each = 0.055;
  double codec = 2, codec_each = 0.055;  // each frame
  double prompt = 0.7;                   // for kRows rows
  double prompts = 0;                    // each batch of them, besides
  double begin = 0;                      // each speech, before its prompt
  size_t slow_every = 0;                 // one of so many steps takes `slow` times as long; 0: none
  double slow = 1.2;
  size_t smaller =
      1;  // so many times fewer listeners, who take as many times longer: quicker to play through

  double Each(double ms) const { return ms * static_cast<double>(smaller); }
};

constexpr size_t kRows = 20;
constexpr size_t kFrames = 125;  // per speech: ten seconds
constexpr double kRoomMs = 1000;
constexpr double kFrameMs = 80;

class GpuModel final : public ScriptedModel {
 public:
  explicit GpuModel(const Machine& machine) : machine_(machine) {}
  void Prefill(Generation* const* generations, size_t count, size_t rows) override {
    size_t before = 0, after = 0;
    for (size_t n = 0; n < count; n++) before += generations[n]->PromptLeft();
    ScriptedModel::Prefill(generations, count, rows);
    for (size_t n = 0; n < count; n++) after += generations[n]->PromptLeft();
    Pass(Ms(machine_.prompts + machine_.Each(machine_.prompt) * static_cast<double>(before - after) / kRows));
    log.clear();
  }
  void Begin(Generation& generation, size_t draws) override {
    ScriptedModel::Begin(generation, draws);
    Pass(Ms(machine_.Each(machine_.begin)));
  }
  void Step(Generation* const* generations, size_t count, FrameResult* results) override {
    ScriptedModel::Step(generations, count, results);
    slow_ = machine_.slow_every > 0 && ++steps_ % machine_.slow_every == 0;
    Take(machine_.step + machine_.Each(machine_.step_each) * static_cast<double>(count));
    log.clear();
  }
  void Decode(const DecodeJob* jobs, size_t count) override {
    ScriptedModel::Decode(jobs, count);
    size_t frames = 0;
    for (size_t n = 0; n < count; n++) frames += jobs[n].frames;
    Take(machine_.codec + machine_.Each(machine_.codec_each) * static_cast<double>(frames));
    log.clear();
  }

 private:
  void Take(double ms) { Pass(Ms(slow_ ? machine_.slow * ms : ms)); }

  const Machine machine_;
  size_t steps_ = 0;
  bool slow_ = false;
};

// One speech at one listener, who plays from the first sound on, without anything kept against jitter.
class Listener final : public SpeechSink {
 public:
  Listener(const GpuModel& model, size_t& over) : model_(model), over_(over), asked_(model.now()) {}
  size_t Room() override {
    const double free = written_ == 0 ? kRoomMs : kRoomMs - (written_ms() - Played());
    return free <= 0 ? 0 : static_cast<size_t>(free / kFrameMs) * ScriptedModel::kFrameSamples;
  }
  void Write(const float*, size_t count) override {
    if (written_ == 0) began_ = model_.now();
    else late_ms = std::max(late_ms, Played() - written_ms());
    written_ += count;
  }
  void Ended(const StreamEnd&) override { over_++; }

  double late_ms = -1e9;  // the latest of its sound
  double first_ms() const { return MsOf(began_ - asked_); }

 private:
  double written_ms() const {
    return static_cast<double>(written_) / ScriptedModel::kFrameSamples * kFrameMs;
  }
  double Played() const { return MsOf(model_.now() - began_); }
  const GpuModel& model_;
  size_t& over_;
  const Clock::time_point asked_;
  Clock::time_point began_;
  size_t written_ = 0;
};

struct Heard {
  size_t most_live = 0, speeches = 0, late = 0;
  double latest_ms = -1e9;
  double first_ms = 0;  // until the first sound, of nineteen in twenty the longest
  double carried = 0;   // listeners whose sound was made as fast as it is played, in the second half
};

struct Crowd {
  size_t asked = 700;
  double arrivals_s = 10;  // 0: all at once
  double seconds = 60;
  size_t most = 4096;  // live
  bool keeps_pace = true;
};

// Times that the warm-up on a GPU would measure, for sizes up to `most`.
MeasuredTimes WarmedUp(const Machine& machine, size_t most) {
  MeasuredTimes times;
  for (size_t n = 1; n <= most; n *= 2) {
    for (const size_t size : {n, n / 2 * 3}) {
      if (size == 0 || size > most) continue;
      const auto count = static_cast<double>(size);
      const double step = machine.step + machine.Each(machine.step_each) * count;
      for (int i = 0; i < 2; i++) {
        times.steps.Record(size, Ms(step));
        times.rounds.Record(size, Ms(step + machine.codec + machine.Each(machine.codec_each) * count));
      }
    }
  }
  return times;
}

void Sum(const std::vector<std::shared_ptr<Listener>>& listeners, Heard* heard) {
  std::vector<double> firsts;
  for (const auto& one : listeners) {
    if (one->late_ms == -1e9) continue;
    firsts.push_back(one->first_ms());
    heard->speeches++;
    heard->late += one->late_ms > 0 ? 1 : 0;
    heard->latest_ms = std::max(heard->latest_ms, one->late_ms);
  }
  std::sort(firsts.begin(), firsts.end());
  if (!firsts.empty()) heard->first_ms = firsts[firsts.size() * 19 / 20];
}

Heard Listen(const Machine& machine, const Crowd& crowd) {
  SchedulerOptions options;
  options.max_streams = crowd.most;
  options.memory_bytes = SIZE_MAX / 2;
  options.times = WarmedUp(machine, 768);
  options.keeps_pace = crowd.keeps_pace;
  GpuModel model(machine);
  SpeechMailbox mailbox(model.clock());
  options.now = model.clock();
  Scheduler scheduler(model, mailbox, options);
  const Clock::time_point began = model.now();
  size_t asked = 0, over = 0;
  std::vector<std::shared_ptr<Listener>> listeners;
  Heard heard;
  uint64_t half_frames = 0;
  double half_at = 0;
  for (double now = 0; now < crowd.seconds * 1e3; now = MsOf(model.now() - began)) {
    const double share = crowd.arrivals_s == 0 ? 1 : std::min(1.0, now / crowd.arrivals_s / 1e3);
    const auto arrived = static_cast<size_t>(static_cast<double>(crowd.asked) * share) + over;
    while (asked < arrived) {
      SpeechRequest request;
      request.text = "s frames=" + std::to_string(kFrames) + " rows=" + std::to_string(kRows) + " tokens=60";
      request.due = model.now();
      listeners.push_back(std::make_shared<Listener>(model, over));
      mailbox.Start(std::move(request), listeners.back());
      asked++;
    }
    if (!scheduler.Round()) model.Pass(Ms(5));
    heard.most_live = std::max(heard.most_live, scheduler.stats().live);
    if (half_at == 0 && now > crowd.seconds * 500) half_at = now, half_frames = scheduler.stats().frames;
  }
  const double rest_ms = MsOf(model.now() - began) - half_at;
  heard.carried = static_cast<double>(scheduler.stats().frames - half_frames) * kFrameMs / rest_ms;
  Sum(listeners, &heard);
  return heard;
}

// The most that a fixed number of places carries without a speech that misses sound.
double CarriedByPlaces(const Machine& machine) {
  double most = 0;
  for (const size_t places : {520u, 560u, 600u}) {
    Crowd crowd;
    crowd.asked /= machine.smaller;
    crowd.most = places / machine.smaller;
    crowd.seconds = 20;
    crowd.keeps_pace = false;
    const Heard heard = Listen(machine, crowd);
    if (heard.late == 0) most = std::max(most, heard.carried);
  }
  return most;
}

void CheckAllHearAll(const Machine& machine, double carried) {
  for (const double arrivals_s : {10.0, 0.0}) {
    Crowd crowd;
    crowd.asked /= machine.smaller;
    crowd.arrivals_s = arrivals_s;
    const Heard heard = Listen(machine, crowd);
    std::printf(
        "  %s: %zu live, %.0f carried of %.0f, %zu speeches, %zu late, the latest %.1f ms before it was due\n",
        arrivals_s > 0 ? "staggered" : "burst", heard.most_live, heard.carried, carried, heard.speeches,
        heard.late, -heard.latest_ms);
    CHECK_EQ(heard.late, size_t{0});
    CHECK(heard.carried >= 0.85 * carried);
    CHECK(heard.most_live < crowd.asked);
  }
}

void CheckMachine(const Machine& machine) {
  const double carried = CarriedByPlaces(machine);
  CHECK(carried * static_cast<double>(machine.smaller) > 450);  // else there is nothing to compare with
  CheckAllHearAll(machine, carried);
}

void NobodyWhoIsLetInMissesSound() {
  Machine machine;
  machine.smaller = 4;
  CheckMachine(machine);
}

void StepsThatTakeAFifthLongerAreNobodysGap() {
  Machine machine;
  machine.slow_every = 10;
  CheckMachine(machine);
}

// Measured on an H200 with the 1.7B model: a frame of a thousand streams takes 57 of its 80 ms. All are
// admitted, although some steps take much longer than the others (graph capture).
void AThousandAreLetInWhereThereIsTime() {
  Machine machine;
  machine.step_each = 0.0257;
  machine.codec = 0.5, machine.codec_each = 0.0278;
  machine.prompt = 0.44, machine.prompts = 4, machine.begin = 0.1;
  machine.slow_every = 30, machine.slow = 1.4;
  for (const double arrivals_s : {10.0, 0.0}) {
    Crowd crowd;
    crowd.asked = 1000;
    crowd.arrivals_s = arrivals_s;
    crowd.seconds = 40;
    const Heard heard = Listen(machine, crowd);
    std::printf(
        "  %s: %zu live, %.0f carried, %zu speeches, %zu late, the latest %.1f ms before it was due, first sound p95 %.0f ms\n",
        arrivals_s > 0 ? "staggered" : "burst", heard.most_live, heard.carried, heard.speeches, heard.late,
        -heard.latest_ms, heard.first_ms);
    CHECK_EQ(heard.late, size_t{0});
    CHECK_EQ(heard.most_live, size_t{1000});
    CHECK(heard.carried > 970);
  }
}

// A regression: admission once ignored that prompts take time from listeners.
void LongPromptsAreNobodysGap() {
  Machine machine;
  machine.prompt = 3;
  machine.slow_every = 7;
  machine.smaller = 4;
  CheckMachine(machine);
}

// A stream that is in one step of several gets its frame only after all of them.
void StepsOfAPartCountAsOften() {
  SchedulerOptions options = Usual();
  options.max_batch = 2;
  for (const size_t n : {1u, 2u}) options.times.rounds.Record(n, milliseconds(15 + 5 * n));
  Desk desk(options);
  desk.model.step_time = milliseconds(15);
  desk.model.stream_time = milliseconds(5);
  for (int n = 0; n < 8; n++)
    desk.StartDue("s" + std::to_string(n) + " frames=30 tokens=20", Sink(), milliseconds(0));
  desk.Rounds(1);
  // Two of them take 25 ms, so that five have a frame each 62.5 ms in the mean, and six would each 75.
  CHECK_EQ(desk.stats().live, size_t{5});
}

void WhatTakesLongerIsRememberedForAWhile() {
  StepSwing swing;
  CHECK_EQ(swing.Share(), 0.2);
  for (int n = 0; n < 2000; n++) swing.Record(milliseconds(50), milliseconds(50), milliseconds(80));
  CHECK_EQ(swing.Share(), 0.05);
  swing.Record(milliseconds(65), milliseconds(50), milliseconds(80));
  CHECK(std::abs(swing.Share() - 0.3) < 1e-9);
  for (int n = 0; n < 250; n++) swing.Record(milliseconds(50), milliseconds(50), milliseconds(80));
  CHECK(swing.Share() > 0.15 && swing.Share() < 0.3);
  swing.Record(seconds(5), milliseconds(50), milliseconds(80));
  CHECK_EQ(swing.Share(), 0.5);
  StepSwing idle;
  idle.Record(milliseconds(18), milliseconds(9), milliseconds(80));
  CHECK_EQ(idle.Share(), 0.2);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_admission) {
  using namespace parley::test;
  return Run({
      {"nobody who is let in misses sound", NobodyWhoIsLetInMissesSound},
      {"steps that take a fifth longer are nobody's gap", StepsThatTakeAFifthLongerAreNobodysGap},
      {"a thousand are let in where there is time", AThousandAreLetInWhereThereIsTime},
      {"long prompts are nobody's gap", LongPromptsAreNobodysGap},
      {"steps of a part count as often", StepsOfAPartCountAsOften},
      {"what takes longer is remembered for a while", WhatTakesLongerIsRememberedForAWhile},
  });
}
