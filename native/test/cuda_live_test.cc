// Listeners who come and go, and callers who speak, on a GPU that runs nothing: whether what they ask for are
// lists that were run before.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "runtime/qwen_frame_model.h"
#include "runtime/scheduler.h"
#include "runtime/warm_up.h"
#include "test/check.h"
#include "test/emulator/idle_device.h"
#include "test/golden_cases.h"
#include "test/recogniser_desk.h"

namespace parley::test {
namespace {

using namespace runtime;
using std::chrono::duration;
using std::chrono::duration_cast;

Clock::duration Ms(double ms) { return duration_cast<Clock::duration>(duration<double, std::milli>(ms)); }
double MsOf(Clock::duration time) { return duration<double, std::milli>(time).count(); }

constexpr size_t kPool = size_t{8} << 30;  // bytes of address space only

// `most_graphs`: lists that the recorder caches.
std::unique_ptr<cuda::CudaKernels> IdleKernels(size_t most_graphs = cuda::RecorderOptions{}.most_graphs) {
  cuda::CudaOptions options;
  options.pool = kPool;
  options.recorder.most_graphs = most_graphs;
  return std::make_unique<cuda::CudaKernels>(std::make_unique<cuda::emulator::IdleDevice>(), options);
}

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
  bool Rehearse(bool on) override { return model_.Rehearse(on); }
  std::vector<size_t> WarmBatches(size_t most) const override { return model_.WarmBatches(most); }
  Result<std::shared_ptr<Voice>> FindVoice(const std::shared_ptr<const Recording>& recording,
                                           bool work) override {
    return model_.FindVoice(recording, work);
  }
  void DropWork() override { model_.DropWork(); }
  size_t WorkBytesOf(const Recording& recording) const override { return model_.WorkBytesOf(recording); }
  size_t Voices() const override { return model_.Voices(); }
  size_t VoiceBytes() const override { return model_.VoiceBytes(); }
  bool ForgetVoice() override { return model_.ForgetVoice(); }
  Result<std::unique_ptr<Generation>, Refusal> Read(const SpeechRequest& request,
                                                    std::shared_ptr<Voice> voice) override {
    return model_.Read(request, std::move(voice));
  }
  size_t BytesOf(const Generation& generation, size_t draws) const override {
    return model_.BytesOf(generation, draws);
  }
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

// Plays received sound at once, and buffers up to one second.
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
  double written_ms() const {
    return static_cast<double>(written_) / static_cast<double>(model_.FrameSamples()) * 80;
  }
  const TimedModel& model_;
  size_t& over_;
  Clock::time_point began_;
  size_t written_ = 0;
};

// Work of a GPU server for listeners that repeat their requests.
class Server {
 public:
  Server(size_t listeners, SpeechKernels& kernels) : listeners_(listeners) {
    QwenFrameModel::Parts parts;
    parts.codec = parts.cache = Format::kBf16;
    const std::string directory = kGolden + "/tiny-customvoice";
    qwen_ = ValueOf(QwenFrameModel::Make(ValueOf(OpenCheckpoint(directory, model::PieceRule::kNative)),
                                         directory, parts, kPool, kernels));
    model_ = std::make_unique<TimedModel>(*qwen_);
    SchedulerOptions wanted;
    wanted.times = Rehearse();
    wanted.max_streams = listeners;
    wanted.memory_bytes = kPool / 2;
    wanted.keeps_pace = false;  // the times that the warm-up measured are this machine's
    wanted.now = [this] { return model_->now(); };
    mailbox_ = std::make_unique<SpeechMailbox>(wanted.now);
    scheduler_ = std::make_unique<Scheduler>(*model_, *mailbox_, wanted);
    began_ = model_->now();
  }
  ~Server() { scheduler_->EndAll(Outcome::kClosed, "the test is over"); }

  BackendFigures Figures() const { return qwen_->Figures(); }

  MeasuredTimes Rehearse() { return ValueOf(WarmUp(*qwen_, listeners_)); }

  // Runs until so many seconds since the beginning; listeners arrive in the first three.
  void Serve(double seconds) {
    for (double now = MsOf(model_->now() - began_); now < seconds * 1e3; now = MsOf(model_->now() - began_)) {
      const double share = std::min(1.0, now / 3e3);
      const auto arrived = static_cast<size_t>(static_cast<double>(listeners_) * share) + over_ + 1;
      while (asked_ < std::min(arrived, listeners_ + over_)) Ask();
      if (!scheduler_->Round()) model_->Pass(5);
    }
  }

 private:
  // Texts and speeches of any length.
  void Ask() {
    SpeechRequest request;
    request.text = "Your order has shipped and should be with you on Tuesday before noon.";
    for (size_t n = 0; n < asked_ * 7919 % 31; n++) request.text += " And so on.";
    request.speaker = qwen_->facts().speakers.front();
    request.seed = ++asked_;
    request.max_new_tokens = 30 + asked_ * 104729 % 170;
    request.due = model_->now();
    mailbox_->Start(std::move(request), std::make_shared<Player>(*model_, over_));
  }

  const size_t listeners_;
  std::unique_ptr<FrameModel> qwen_;
  std::unique_ptr<TimedModel> model_;
  std::unique_ptr<SpeechMailbox> mailbox_;
  std::unique_ptr<Scheduler> scheduler_;
  Clock::time_point began_;
  size_t asked_ = 0, over_ = 0;
};

// Half a minute after the listeners came, at most so many of a thousand lists are new.
void CheckKnown(size_t listeners, double most) {
  const auto kernels = IdleKernels();
  Server server(listeners, *kernels);
  server.Serve(30);
  const BackendFigures before = server.Figures();
  server.Serve(60);
  const BackendFigures after = server.Figures();
  const auto eager = after.eager - before.eager, launches = after.launches - before.launches;
  std::printf(
      "  %zu listeners: %llu of %llu lists in thirty seconds were new; those remembered take %.1f MB\n",
      listeners, static_cast<unsigned long long>(eager), static_cast<unsigned long long>(eager + launches),
      static_cast<double>(after.list_bytes) / 1e6);
  CHECK(launches > 1000);
  CHECK(static_cast<double>(eager) <= most / 1000 * static_cast<double>(launches));
}

void WhatIsAskedForWasAskedForBefore() {
  CheckKnown(16, 3);
  CheckKnown(64, 5);
  CheckKnown(600, 40);
}

// The warm-up asks for what comes: to those who come first nearly all lists are known, too.
void TheWarmUpKnowsWhatComes() {
  const auto kernels = IdleKernels();
  Server server(8, *kernels);
  const BackendFigures before = server.Figures();
  server.Serve(2);
  CHECK(server.Figures().launches - before.launches > 100);
  CHECK(server.Figures().eager - before.eager <= 15);
}

// Callers who speak for some seconds and pause, each at other times, with a recogniser whose text never ends
// by itself. Sound comes every tenth of a second.
class SpeakingCallers {
 public:
  SpeakingCallers(size_t callers, std::unique_ptr<Kernels> kernels)
      : desk_("tiny-asr-a", size_t{1} << 32, 256, false, std::move(kernels)) {
    RecognitionRequest request;
    request.use = RecognitionUse::kLive;
    request.partials = request.gated = true;
    for (size_t n = 0; n < callers; n++) callers_.push_back(desk_.Ask(request));
  }
  ~SpeakingCallers() { desk_.scheduler->EndAll(Outcome::kClosed, "the test is over"); }

  BackendFigures Figures() const { return desk_.loaded.kernels->Figures(); }
  size_t Finals() const {
    size_t count = 0;
    for (const Asked& one : callers_) count += one.texts->finals.size();
    return count;
  }

  void Serve(size_t tenths) {
    for (size_t end = tenth_ + tenths; tenth_ < end; tenth_++) {
      for (size_t n = 0; n < callers_.size(); n++) {
        const size_t place = (tenth_ + 7 * n) % (50 + n % 13);
        if (place == 0) desk_.Order(callers_[n], TurnOrder::kBegin);
        if (place == 30 + n % 7) desk_.Order(callers_[n], TurnOrder::kEnd);
        callers_[n].sound->Add(noise_);
      }
      desk_.Run();
      desk_.now += std::chrono::milliseconds(100);
    }
  }

 private:
  RecogniserDesk desk_;
  const std::vector<float> noise_ = RandomFloats(1600, 1);
  std::vector<Asked> callers_;
  size_t tenth_ = 0;
};

// Half a minute after they came, of a thousand lists not so many are new.
void CheckHeard(size_t count, double most) {
  SpeakingCallers callers(count, IdleKernels());
  callers.Serve(300);
  const BackendFigures before = callers.Figures();
  const size_t finals = callers.Finals();
  callers.Serve(300);
  const BackendFigures after = callers.Figures();
  const auto eager = after.eager - before.eager, launches = after.launches - before.launches;
  std::printf("  %zu callers: %llu of %llu lists in thirty seconds were new; those remembered take %.1f MB\n",
              count, static_cast<unsigned long long>(eager),
              static_cast<unsigned long long>(eager + launches), static_cast<double>(after.list_bytes) / 1e6);
  CHECK(callers.Finals() > finals);
  CHECK(static_cast<double>(eager) <= most / 1000 * static_cast<double>(launches));
}

void WhatIsHeardWasHeardBefore() {
  CheckHeard(4, 50);
  CheckHeard(64, 50);
}

// A recogniser and an idle voice share a device. In a minute the recogniser makes more lists than the cache
// holds, but most of them once. They evict nothing that the voice's warm-up rehearsed.
void ARecogniserLeavesAnIdleVoiceItsGraphs() {
  constexpr size_t kMostGraphs = 512;
  auto made = IdleKernels(kMostGraphs);
  SpeechKernels& kernels = *made;
  SpeakingCallers callers(64, std::move(made));
  callers.Serve(100);  // the work room has its full size afterwards
  Server server(8, kernels);
  server.Rehearse();
  const BackendFigures before = server.Figures();
  callers.Serve(600);
  const BackendFigures after = server.Figures();
  CHECK(after.eager - before.eager > kMostGraphs);
  server.Rehearse();
  const BackendFigures again = server.Figures();
  CHECK(again.launches - after.launches > 100);
  CHECK_EQ(again.captures, after.captures);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_live) {
  using namespace parley::test;
  return Run({
      {"what is asked for was asked for before", WhatIsAskedForWasAskedForBefore},
      {"the warm-up knows what comes", TheWarmUpKnowsWhatComes},
      {"what is heard was heard before", WhatIsHeardWasHeardBefore},
      {"a recogniser leaves an idle voice its graphs", ARecogniserLeavesAnIdleVoiceItsGraphs},
  });
}
