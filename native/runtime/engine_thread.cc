#include "runtime/engine_thread.h"

#ifdef __linux__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "runtime/mailbox.h"
#include "runtime/scheduler.h"
#include "runtime/warm_up.h"

namespace parley::runtime {
namespace {

constexpr char kOutOfMemory[] = "memory is out";
constexpr int kTriesToEnd = 100;
constexpr std::chrono::milliseconds kBetweenTries{10};

// Returns memory freed piece by piece to the system; otherwise the allocator keeps it for this process.
void GiveBackToSystem() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class ThreadedEngine final : public Engine {
 public:
  explicit ThreadedEngine(const EngineOptions& options) : options_(options), mailbox_(Clock::now) {}
  ~ThreadedEngine() override { Close(); }

  bool Open(const ModelMaker& make, std::string* problem) {
    std::promise<std::string> opened;
    std::future<std::string> result = opened.get_future();
    thread_ = std::thread([this, &make, &opened] { Run(make, &opened); });
    *problem = result.get();
    return problem->empty();
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
    const std::lock_guard<std::mutex> lock(close_mutex_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run(const ModelMaker& make, std::promise<std::string>* opened) {
    std::unique_ptr<FrameModel> model;
    const std::string problem = Load(make, &model);
    if (problem.empty()) {
      SchedulerOptions options;
      options.max_streams = options_.max_streams;
      if (options_.max_batch > 0) options.max_batch = options_.max_batch;
      options.max_new_tokens = options_.max_new_tokens;
      options.memory_bytes = options_.memory_bytes > 0 ? options_.memory_bytes : model->FreeBytes() / 4 * 3;
      options.times = times_;
      options.publish = [this](const EngineStats& stats) { Publish(stats); };
      Scheduler scheduler(*model, mailbox_, options);
      opened->set_value("");  // gone after this
      Serve(scheduler);
      model.reset();
      GiveBackToSystem();
      EngineStats last = scheduler.stats();
      last.memory_in_use = last.voices = 0;
      Publish(last);
    } else {
      model.reset();
      GiveBackToSystem();
      opened->set_value(problem);
    }
  }

  std::string Load(const ModelMaker& make, std::unique_ptr<FrameModel>* model) {
    try {
      std::string problem;
      const Clock::time_point began = Clock::now();
      *model = make(&problem);
      if (*model == nullptr) return problem;
      const Clock::time_point loaded = Clock::now();
      if (options_.warm_up && !WarmUp(**model, LargestBatch(), &times_, &problem)) return problem;
      facts_ = (*model)->facts();
      facts_.load_ms = Milliseconds(loaded - began);
      facts_.warm_up_ms = Milliseconds(Clock::now() - loaded);
      return "";
    } catch (const std::bad_alloc&) {
      return kOutOfMemory;
    } catch (const NotFinite& error) {
      return options_.directory + ": warming up: " + error.what();
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  size_t LargestBatch() const {
    return options_.max_batch == 0 ? options_.max_streams
                                   : std::min(options_.max_batch, options_.max_streams);
  }

  void Serve(Scheduler& scheduler) {
    while (!scheduler.closing()) {
      if (!Round(scheduler) && !scheduler.closing()) mailbox_.Wait();
    }
    EndAll(scheduler, Outcome::kClosed, "the engine closed");
  }

  // A round that fails as a whole ends all present streams; later streams are served.
  bool Round(Scheduler& scheduler) {
    Outcome outcome = Outcome::kFailed;
    std::string problem;
    bool busy = true;
    try {
      return scheduler.Round();
    } catch (const std::bad_alloc&) {
      outcome = Outcome::kOutOfMemory;
      problem = kOutOfMemory;
    } catch (const BackendLost& lost) {
      outcome = Outcome::kLost;
      problem = lost.what();
      busy = false;  // until a request arrives, which gets the same answer
    } catch (const std::exception& error) {
      problem = std::string("a mistake in the engine: ") + error.what();
    }
    EndAll(scheduler, outcome, problem);
    return busy;
  }

  // Out of memory even this may fail; each try ends some more streams, which frees their memory.
  static void EndAll(Scheduler& scheduler, Outcome outcome, const std::string& problem) {
    for (int tries = 1; tries < kTriesToEnd; tries++) {
      try {
        return scheduler.EndAll(outcome, problem);
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(kBetweenTries);
      }
    }
    scheduler.EndAll(outcome, problem);
  }

  void Publish(const EngineStats& stats) {
    const std::lock_guard<std::mutex> lock(stats_mutex_);
    stats_ = stats;
  }

  static double Milliseconds(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  }

  const EngineOptions options_;
  Mailbox mailbox_;
  EngineFacts facts_;    // not changed once it is open
  MeasuredTimes times_;  // the engine thread's
  mutable std::mutex stats_mutex_;
  EngineStats stats_;
  std::mutex close_mutex_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Engine> OpenEngine(const EngineOptions& options, const ModelMaker& make,
                                   std::string* problem) {
  if (options.max_streams == 0) return *problem = "max_streams must be 1 or more", nullptr;
  auto engine = std::make_unique<ThreadedEngine>(options);
  if (!engine->Open(make, problem)) return nullptr;
  return engine;
}

const char* NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kBudget:
      return "budget";
    case Outcome::kRunaway:
      return "runaway";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kTooLarge:
      return "too large";
    case Outcome::kBadRequest:
      return "bad request";
    case Outcome::kOutOfMemory:
      return "out of memory";
    case Outcome::kClosed:
      return "closed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kLost:
      return "lost";
  }
  return "failed";
}

}  // namespace parley::runtime
