#include "runtime/engine_thread.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "runtime/scheduler.h"
#include "runtime/speech_mailbox.h"
#include "runtime/warm_up.h"

namespace parley::runtime {
namespace {

// The model, freed after its scheduler.
class SpeechRounds final : public Rounds {
 public:
  SpeechRounds(std::unique_ptr<FrameModel> model, SpeechMailbox& mailbox, const SchedulerOptions& options)
      : model_(std::move(model)),
        publish_(options.publish),
        scheduler_(std::make_unique<Scheduler>(*model_, mailbox, options)) {}
  ~SpeechRounds() override {
    EngineStats last = scheduler_->stats();
    scheduler_.reset();
    model_.reset();
    last.memory_in_use = last.voices = 0;
    publish_(last);
  }

  std::optional<Need> Look() override { return scheduler_->Look(); }
  void Work(Clock::duration) override { scheduler_->Round(); }
  bool closing() const override { return scheduler_->closing(); }
  void EndAll(Outcome outcome, const std::string& problem) override { scheduler_->EndAll(outcome, problem); }

 private:
  std::unique_ptr<FrameModel> model_;
  const std::function<void(const EngineStats&)> publish_;
  std::unique_ptr<Scheduler> scheduler_;
};

class ThreadedEngine final : public Engine {
 public:
  ThreadedEngine(const EngineOptions& options, std::shared_ptr<Device> device)
      : options_(options), mailbox_(Clock::now, device->signal()), seat_(std::move(device)) {}
  ~ThreadedEngine() override { Close(); }

  Result<> Open(const ModelMaker& make) {
    return seat_.Open([&](const Place& place) { return Load(make, place); });
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
    seat_.Leave();
  }

 private:
  Result<std::unique_ptr<Rounds>> Load(const ModelMaker& make, const Place& place) {
    const Clock::time_point began = Clock::now();
    auto made = make(place);
    if (!made) return made.reason();
    std::unique_ptr<FrameModel> model = std::move(*made);
    const Clock::time_point loaded = Clock::now();
    SchedulerOptions options;
    const size_t weights = model->facts().weight_bytes;
    const Result<size_t> beside = MemoryBeside(weights, options_, place);
    if (!beside) return beside.reason();
    options.memory_bytes = *beside;
    try {
      if (options_.warm_up) {
        const Result<MeasuredTimes> times = WarmUp(*model, LargestBatch());
        if (!times) return times.reason();
        options.times = *times;
      }
    } catch (const NotFinite& error) {
      return Problem{options_.directory + ": warming up: " + error.what()};
    }
    facts_ = model->facts();
    facts_.no_cuda = place.no_cuda;
    facts_.load_ms = Milliseconds(loaded - began);
    facts_.warm_up_ms = Milliseconds(Clock::now() - loaded);
    options.max_streams = options_.max_streams;
    if (options_.max_batch > 0) options.max_batch = options_.max_batch;
    options.max_new_tokens = options_.max_new_tokens;
    options.publish = [this](const EngineStats& stats) { Publish(stats); };
    return std::make_unique<SpeechRounds>(std::move(model), mailbox_, options);
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
  Seat seat_;
  EngineFacts facts_;  // not changed once it is open
  mutable std::mutex stats_mutex_;
  EngineStats stats_;
};

}  // namespace

Result<std::unique_ptr<Engine>> OpenEngine(const EngineOptions& options, std::shared_ptr<Device> device,
                                           const ModelMaker& make) {
  if (options.max_streams == 0) return Problem{"max_streams must be 1 or more"};
  auto engine = std::make_unique<ThreadedEngine>(options, std::move(device));
  const Result<> opened = engine->Open(make);
  if (!opened) return opened.reason();
  return engine;
}

}  // namespace parley::runtime
