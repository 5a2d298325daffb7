// Listeners who come and go, on a GPU that runs nothing: whether what they ask for are lists that were run before.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/emulator/idle_device.h"
#include "runtime/qwen_frame_model.h"
#include "runtime/scheduler.h"
#include "runtime/warm_up.h"
#include "test/check.h"
#include "test/golden_cases.h"

namespace parley::test {
namespace {

using namespace runtime;
using std::chrono::duration;
using std::chrono::duration_cast;

Clock::duration Ms(double ms) { return duration_cast<Clock::duration>(duration<double, std::milli>(ms)); }
double MsOf(Clock::duration time) { return duration<double, std::milli>(time).count(); }

// A model whose calls take made-up times of a clock of its own: those of an H200 with 1.7B.
class TimedModel final : public FrameModel {
 public:
  explicit TimedModel(FrameModel& model) : model_(model) {}

  Clock::time_point now() const { return now_; }
  void Pass(double ms) { now_ += Ms(ms); }

  const EngineFacts& facts() const override { return model_.facts(); }
  size_t FrameSamples() const override { return model_.FrameSamples(); }
  size_t MostPositions() const override { return model_.MostPositions(); }
  size_t MostDraws() const override { return model_.MostDraws(); }
  size_t FreeBytes() const override { return model_.FreeBytes(); }
  StageTimes Times() const override { return model_.Times(); }
  BackendFigures Figures() const override { return model_.Figures(); }
  std::vector<size_t> WarmBatches(size_t most) const override { return model_.WarmBatches(most); }
  VoiceResult FindVoice(const std::shared_ptr<const Recording>& recording, bool work, std::shared_ptr<Voice>* voice,
                        std::string* problem) override {
    return model_.FindVoice(recording, work, voice, problem);
  }
  void DropWork() override { model_.DropWork(); }
  size_t WorkBytesOf(const Recording& recording) const override { return model_.WorkBytesOf(recording); }
  size_t Voices() const override { return model_.Voices(); }
  size_t VoiceBytes() const override { return model_.VoiceBytes(); }
  bool ForgetVoice() override { return model_.ForgetVoice(); }
  std::unique_ptr<Generation> Read(const SpeechRequest& request, std::shared_ptr<Voice> voice, Refusal* refusal) override {
    return model_.Read(request, std::move(voice), refusal);
  }
  size_t BytesOf(const Generation& generation, size_t draws) const override { return model_.BytesOf(generation, draws); }
  void Begin(Generation& generation, size_t draws) override { model_.Begin(generation, draws); }
  void Prefill(Generation* const* generations, size_t count, size_t rows) override {
    model_.Prefill(generations, count, rows);
    Pass(4 + 0.44 * static_cast<double>(count));
  }
  void Step(Generation* const* generations, size_t count, FrameResult* results) override {
    model_.Step(generations, count, results);
    Pass(3 + 0.0257 * static_cast<double>(count));
  }
  void Decode(const DecodeJob* jobs, size_t count) override {
    model_.Decode(jobs, count);
    size_t frames = 0;
    for (size_t n = 0; n < count; n++) frames += jobs[n].frames;
    Pass(0.5 + 0.0278 * static_cast<double>(frames));
  }

 private:
  FrameModel& model_;
  Clock::time_point now_;
};

// Who plays what comes at once, and has room for a second of it.
class Player final : public SpeechSink {
 public:
  Player(const TimedModel& model, size_t& over) : model_(model), over_(over) {}
  size_t Room() override {
    const double free = written_ == 0 ? 1000 : 1000 - (written_ms() - MsOf(model_.now() - began_));
    return free <= 0 ? 0 : static_cast<size_t>(free / 80) * model_.FrameSamples();
  }
  void Write(const float*, size_t count) override {
    if (written_ == 0) began_ = model_.now();
    written_ += count;
  }
  void Ended(const StreamEnd&) override { over_++; }

 private:
  double written_ms() const { return static_cast<double>(written_) / static_cast<double>(model_.FrameSamples()) * 80; }
  const TimedModel& model_;
  size_t& over_;
  Clock::time_point began_;
  size_t written_ = 0;
};

void Explore(size_t listeners, double arrivals_s, double seconds, bool vary) {
  std::string problem;
  cuda::CudaOptions options;
  options.pool = size_t{64} << 30;
  auto kernels = std::make_unique<cuda::CudaKernels>(std::make_unique<cuda::emulator::IdleDevice>(), options);
  QwenFrameModel::Parts parts;
  parts.codec = parts.cache = Format::kBf16;
  const auto qwen = QwenFrameModel::Open(kGolden + "/tiny-customvoice", parts, size_t{60} << 30, std::move(kernels), &problem);
  CHECK_EQ(problem, "");
  TimedModel model(*qwen);
  RoundTimes times;
  CHECK(WarmUp(*qwen, listeners, &times, &problem));
  const BackendFigures warm = qwen->Figures();
  std::printf("warmed up: %llu eager, %llu captures, %llu launches\n", (unsigned long long)warm.eager, (unsigned long long)warm.captures, (unsigned long long)warm.launches);
  SchedulerOptions wanted;
  wanted.max_streams = wanted.max_waiting = listeners;
  wanted.memory_bytes = size_t{60} << 30;
  for (size_t n = 1; n <= 1024; n *= 2)
    for (int i = 0; i < 2; i++) wanted.round_times.Did(n, Ms(3.5 + 0.0535 * static_cast<double>(n)));
  wanted.now = [&model] { return model.now(); };
  Mailbox mailbox(2 * listeners, wanted.now);
  Scheduler scheduler(model, mailbox, wanted);
  const Clock::time_point began = model.now();
  size_t asked = 0, over = 0;
  double said = 0;
  BackendFigures before = warm;
  for (double now = 0; now < seconds * 1e3; now = MsOf(model.now() - began)) {
    const double share = arrivals_s == 0 ? 1 : std::min(1.0, now / arrivals_s / 1e3);
    const auto arrived = static_cast<size_t>(static_cast<double>(listeners) * share) + over;
    while (asked < arrived) {
      SpeechRequest request;
      request.text = "Your order has shipped and should be with you on Tuesday before noon.";
      if (vary) for (size_t n = 0; n < asked * 7919 % 31; n++) request.text += " And so on.";
      request.speaker = qwen->facts().speakers.front();
      request.seed = ++asked;
      request.max_new_tokens = vary ? 30 + asked * 104729 % 170 : 126;
      request.due = model.now();
      mailbox.Start(std::move(request), std::make_shared<Player>(model, over));
    }
    if (!scheduler.Round()) model.Pass(5);
    if (now - said >= 2000) {
      said = now;
      const BackendFigures figures = qwen->Figures();
      std::printf("%5.1f s live %zu waiting %zu done %llu failed %llu | eager %llu captures %llu launches %llu\n", now / 1e3, scheduler.stats().live, scheduler.stats().waiting,
                  (unsigned long long)scheduler.stats().done, (unsigned long long)scheduler.stats().failed, (unsigned long long)(figures.eager - before.eager),
                  (unsigned long long)(figures.captures - before.captures), (unsigned long long)(figures.launches - before.launches));
      std::fflush(stdout);
      before = figures;
    }
  }
  scheduler.EndAll(Outcome::kClosed, "over");
}

}  // namespace
}  // namespace parley::test

int main(int count, char** arguments) {
  if (count > 3) {
    parley::test::Explore(std::atoi(arguments[1]), std::atof(arguments[2]), std::atof(arguments[3]), count > 4);
    return 0;
  }
  return 0;
}
