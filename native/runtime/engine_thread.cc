#include "runtime/engine_thread.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "runtime/precedence.h"
#include "runtime/round_thread.h"
#include "runtime/scheduler.h"
#include "runtime/speech_mailbox.h"
#include "runtime/warm_up.h"

namespace parley::runtime {
namespace {

// The model, freed after its scheduler.
class SpeechRounds final : public Rounds {
 public:
  // `member` outlives it.
  SpeechRounds(std::unique_ptr<FrameModel> model, SpeechMailbox& mailbox, Precedence::Member& member,
               const SchedulerOptions& options)
      : member_(member),
        model_(std::move(model)),
        mailbox_(mailbox),
        publish_(options.publish),
        scheduler_(std::make_unique<Scheduler>(*model_, mailbox, options)) {}
  ~SpeechRounds() override {
    EngineStats last = scheduler_->stats();
    scheduler_.reset();
    model_.reset();
    last.memory_in_use = last.voices = 0;
    publish_(last);
  }

  bool Round() override {
    member_.BeginRound();
    // Only a round with listeners has a pace to keep; a GPU's takes no processor from others.
    if (model_->Figures().memory_total == 0)
      member_.Work(scheduler_->HasListeners() ? Rank::kListeners : Rank::kFiles);
    const bool busy = scheduler_->Round();
    if (!busy) member_.Rest();
    return busy;
  }
  void Wait() override { mailbox_.Wait(); }
  bool closing() const override { return scheduler_->closing(); }
  void EndAll(Outcome outcome, const std::string& problem) override { scheduler_->EndAll(outcome, problem); }

 private:
  Precedence::Member& member_;
  std::unique_ptr<FrameModel> model_;
  SpeechMailbox& mailbox_;
  const std::function<void(const EngineStats&)> publish_;
  std::unique_ptr<Scheduler> scheduler_;
};

class ThreadedEngine final : public Engine {
 public:
  ThreadedEngine(const EngineOptions& options, std::shared_ptr<Precedence> precedence)
      : options_(options), mailbox_(Clock::now), member_(std::move(precedence)) {}
  ~ThreadedEngine() override { Close(); }

  bool Open(const ModelMaker& make, std::string* problem) {
    return thread_.Open([&](std::string* why) { return Load(make, why); }, problem);
  }

  const EngineFacts& facts() const override { return facts_; }
  StreamId Start(SpeechRequest request, std::shared_ptr<SpeechSink> sink) override {
    return mailbox_.Start(std::move(request), std::move(sink));
  }
  void AddText(StreamId stream, std::string text, bool last) override {
    mailbox_.AddText(stream, std::move(text), last);
  }
  void Cancel(StreamId stream) override { mailbox_.Cancel(stream); }
  void Wake() override { mailbox_.Wake(); }

  EngineStats stats() const override {
    const std::lock_guard<std::mutex> lock(stats_mutex_);
    return stats_;
  }

  void Close() override {
    mailbox_.Close();
    thread_.Join();
  }

 private:
  std::unique_ptr<Rounds> Load(const ModelMaker& make, std::string* problem) {
    const Clock::time_point began = Clock::now();
    std::unique_ptr<FrameModel> model = make([this] { member_.GiveWay(); }, problem);
    if (model == nullptr) return nullptr;
    const Clock::time_point loaded = Clock::now();
    SchedulerOptions options;
    try {
      if (options_.warm_up && !WarmUp(*model, LargestBatch(), &options.times, problem)) return nullptr;
    } catch (const NotFinite& error) {
      return *problem = options_.directory + ": warming up: " + error.what(), nullptr;
    }
    facts_ = model->facts();
    facts_.load_ms = Milliseconds(loaded - began);
    facts_.warm_up_ms = Milliseconds(Clock::now() - loaded);
    options.max_streams = options_.max_streams;
    if (options_.max_batch > 0) options.max_batch = options_.max_batch;
    options.max_new_tokens = options_.max_new_tokens;
    options.memory_bytes = options_.memory_bytes > 0 ? options_.memory_bytes : model->FreeBytes() / 4 * 3;
    options.publish = [this](const EngineStats& stats) { Publish(stats); };
    return std::make_unique<SpeechRounds>(std::move(model), mailbox_, member_, options);
  }

  size_t LargestBatch() const {
    return options_.max_batch == 0 ? options_.max_streams
                                   : std::min(options_.max_batch, options_.max_streams);
  }

  void Publish(const EngineStats& stats) {
    const std::lock_guard<std::mutex> lock(stats_mutex_);
    stats_ = stats;
  }

  const EngineOptions options_;
  SpeechMailbox mailbox_;
  Precedence::Member member_;  // the thread's
  EngineFacts facts_;          // not changed once it is open
  mutable std::mutex stats_mutex_;
  EngineStats stats_;
  RoundThread thread_;
};

}  // namespace

std::unique_ptr<Engine> OpenEngine(const EngineOptions& options, const ModelMaker& make,
                                   std::string* problem) {
  if (options.max_streams == 0) return *problem = "max_streams must be 1 or more", nullptr;
  auto engine = std::make_unique<ThreadedEngine>(options, Precedence::Of(options.numa_node));
  if (!engine->Open(make, problem)) return nullptr;
  return engine;
}

}  // namespace parley::runtime
