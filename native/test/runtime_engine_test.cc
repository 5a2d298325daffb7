// The engine's thread: what callers may do from any thread at any time, and
// that nothing is left when it closes.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/engine_thread.h"
#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {
namespace {

// Counters of one test: the models that exist, and the bytes that the last one left allocated.
struct Traces {
  std::atomic<int> models{0};
  std::atomic<size_t> bytes_left{0};
};

// A scripted model that says when it goes, and keeps no log.
class TracedModel final : public ScriptedModel {
 public:
  explicit TracedModel(Traces* traces) : traces_(traces) { traces_->models++; }
  ~TracedModel() override {
    traces_->bytes_left = bytes_in_use;
    traces_->models--;
  }
  void Step(Generation* const* generations, size_t count, FrameResult* results) override {
    ScriptedModel::Step(generations, count, results);
    log.clear();
  }

 private:
  Traces* const traces_;
};

// Refuses whatever it reads.
class MuteModel final : public ScriptedModel {
 public:
  Result<std::unique_ptr<Generation>, Refusal> Read(const SpeechRequest&, std::shared_ptr<Voice>) override {
    return Refusal{Outcome::kBadRequest, "cannot speak"};
  }
};

ModelMaker Maker(Traces* traces) {
  return [traces](const Place&) { return std::make_unique<TracedModel>(traces); };
}

EngineOptions Options() {
  EngineOptions options;
  options.warm_up = false;
  options.max_streams = 6;
  return options;
}

std::shared_ptr<Device> Processors(const DeviceOptions& options) { return ValueOf(Device::Open(options)); }

std::unique_ptr<Engine> Opened(Traces* traces, const EngineOptions& options = Options()) {
  return ValueOf(OpenEngine(options, Processors(options), Maker(traces)));
}

SpeechRequest Script(const std::string& text) {
  SpeechRequest request;
  request.text = text;
  return request;
}

// A sink that a second thread plays from.
class SharedSink final : public SpeechSink {
 public:
  explicit SharedSink(size_t room_in_frames) : room_(room_in_frames * ScriptedModel::kFrameSamples) {}

  size_t Room() override { return room_; }
  void Write(const float* samples, size_t count) override {
    if (ended_) mistakes++;
    for (size_t n = 0; n < count; n++) {
      if (samples[n] != static_cast<float>(written_++ / ScriptedModel::kFrameSamples + 1)) mistakes++;
    }
    if (count > room_) mistakes++;
    room_ -= count;
    Notify();
  }
  void Ended(const StreamEnd& end) override {
    if (ended_ || end.samples != written_) mistakes++;
    end_ = end;
    ended_ = true;
    Notify();
  }

  void Play() { room_ += ScriptedModel::kFrameSamples; }
  bool ended() const { return ended_; }
  std::string AwaitEnd() {
    Await([this] { return ended_.load(); });
    return NameOf(end_.outcome);
  }
  void AwaitSound() {
    Await([this] { return written_ > 0; });
  }
  std::atomic<int> mistakes{0};

 private:
  void Notify() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
    }
    changed_.notify_all();
  }
  template <class Condition>
  void Await(const Condition& condition) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, condition);
  }

  std::atomic<size_t> room_;
  std::atomic<size_t> written_{0};
  std::atomic<bool> ended_{false};
  StreamEnd end_;  // read after ended_
  std::mutex mutex_;
  std::condition_variable changed_;
};

constexpr size_t kEnough = 1'000'000;  // frames

void AnEngineSpeaksAndRests() {
  Traces traces;
  const auto engine = Opened(&traces);
  CHECK_EQ(engine->facts().model_type, "scripted");
  const auto a = std::make_shared<SharedSink>(kEnough), b = std::make_shared<SharedSink>(kEnough);
  const StreamId first = engine->Start(Script("a frames=30 tokens=20"), a);
  const StreamId second = engine->Start(Script("b frames=3"), b);
  CHECK(first != 0 && second != 0 && first != second);
  CHECK_EQ(a->AwaitEnd() + b->AwaitEnd(), "donedone");
  CHECK_EQ(a->mistakes + b->mistakes, 0);
}

void AParkedStreamIsWokenByItsSink() {
  Traces traces;
  const auto engine = Opened(&traces);
  const auto sink = std::make_shared<SharedSink>(1);
  engine->Start(Script("a frames=40 tokens=20"), sink);
  sink->AwaitSound();
  while (!sink->ended()) {
    if (sink->Room() == 0) sink->Play();
    engine->Wake();
  }
  CHECK_EQ(sink->AwaitEnd(), "done");
  CHECK_EQ(sink->mistakes, 0);
}

void TextComesFromAnotherThread() {
  Traces traces;
  const auto engine = Opened(&traces);
  const auto sink = std::make_shared<SharedSink>(kEnough);
  SpeechRequest request = Script("a words=2 frames=25");
  request.more_text = true;
  const StreamId id = engine->Start(request, sink);
  std::thread writer([&] {
    for (int n = 0; n < 20; n++) engine->AddText(id, "word ", n == 19);
  });
  CHECK_EQ(sink->AwaitEnd(), "done");
  writer.join();
}

void ClosingEndsEverybodyAndGivesAllBack() {
  Traces traces;
  auto engine = Opened(&traces);
  const auto live = std::make_shared<SharedSink>(kEnough), parked = std::make_shared<SharedSink>(1);
  engine->Start(Script("live frames=1000000 tokens=9999"), live);
  engine->Start(Script("parked"), parked);
  std::vector<std::shared_ptr<SharedSink>> more;
  for (int n = 0; n < 8; n++) {
    more.push_back(std::make_shared<SharedSink>(1));
    engine->Start(Script("more"), more.back());
  }
  live->AwaitSound();
  parked->AwaitSound();
  CHECK(engine->stats().memory_limit > 0);
  std::thread other([&] { engine->Close(); });
  engine->Close();
  other.join();
  engine->Close();
  CHECK_EQ(live->AwaitEnd() + parked->AwaitEnd(), "closedclosed");
  for (const auto& one : more) {
    CHECK_EQ(one->AwaitEnd(), "closed");
    CHECK_EQ(one.use_count(), 1L);
  }
  CHECK_EQ(live->mistakes + parked->mistakes, 0);
  CHECK_EQ(traces.models.load(), 0);
  CHECK_EQ(traces.bytes_left.load(), size_t{0});
  CHECK_EQ(engine->stats().memory_in_use, size_t{0});
  CHECK_EQ(engine->stats().live + engine->stats().waiting, size_t{0});
}

void AClosedEngineTakesNothing() {
  Traces traces;
  const auto engine = Opened(&traces);
  engine->Close();
  const auto sink = std::make_shared<SharedSink>(kEnough);
  CHECK_EQ(engine->Start(Script("a"), sink), StreamId{0});
  engine->AddText(1, "a", true);
  engine->Cancel(1);
  engine->Wake();
  CHECK(!sink->ended());
  CHECK_EQ(sink.use_count(), 1L);
}

void AnEngineThatIsLetGoOfCloses() {
  Traces traces;
  const auto sink = std::make_shared<SharedSink>(1);
  {
    const auto engine = Opened(&traces);
    engine->Start(Script("a"), sink);
  }
  CHECK_EQ(sink->AwaitEnd(), "closed");
  CHECK_EQ(traces.models.load(), 0);
}

std::string OpenProblem(const ModelMaker& make, bool warm_up = false) {
  EngineOptions options = Options();
  options.warm_up = warm_up;
  return ProblemIn(OpenEngine(options, Processors(options), make));
}

void AnEngineThatCannotBeOpenedSaysWhy() {
  CHECK_EQ(OpenProblem([](const Place&) { return Problem{"no such file"}; }), "no such file");
  CHECK_EQ(OpenProblem([](const Place&) -> std::unique_ptr<FrameModel> { throw std::bad_alloc(); }),
           "memory is out");
  CHECK_EQ(OpenProblem([](const Place&) -> std::unique_ptr<FrameModel> { throw std::runtime_error("why"); }),
           "why");
  CHECK_EQ(OpenProblem([](const Place&) { return std::make_unique<MuteModel>(); }, true),
           "warming up: cannot speak");
}

// Everything at once, from several threads; every sink hears its own sound in order and one end.
void CallersFromManyThreadsDoNotDisturbEachOther() {
  Traces traces;
  const auto engine = Opened(&traces);
  constexpr int kCallers = 4;
  std::atomic<int> mistakes{0}, done{0};
  const auto until = Clock::now() + std::chrono::milliseconds(1000);
  const auto call = [&](unsigned seed) {
    std::mt19937 random(seed);
    while (Clock::now() < until) {
      const auto sink = std::make_shared<SharedSink>(1 + random() % 20);
      const bool open = random() % 3 == 0, cancelled = random() % 3 == 0;
      SpeechRequest request = Script("a words=1 tokens=20 frames=" + std::to_string(random() % 40));
      request.more_text = open;
      if (random() % 2 == 0) request.due = Clock::now();
      const StreamId id = engine->Start(request, sink);
      const unsigned cancel_at = random() % 30;
      for (unsigned n = 0; !sink->ended(); n++) {
        if (open) engine->AddText(id, "word", n > 40);
        if (cancelled && n == cancel_at) engine->Cancel(id);
        sink->Play();
        engine->Wake();
        std::this_thread::yield();
      }
      const std::string end = sink->AwaitEnd();
      if (end != "done" && end != "cancelled") mistakes++;
      mistakes += sink->mistakes;
      done++;
    }
  };
  std::vector<std::thread> callers;
  for (unsigned n = 0; n < kCallers; n++) callers.emplace_back(call, n + 1);
  for (std::thread& caller : callers) caller.join();
  CHECK_EQ(mistakes.load(), 0);
  CHECK(done > kCallers);
  engine->Close();
  const EngineStats stats = engine->stats();
  CHECK_EQ(stats.done + stats.cancelled + stats.refused, static_cast<uint64_t>(done));
  CHECK_EQ(stats.failed + stats.runaways, uint64_t{0});
  CHECK_EQ(traces.bytes_left.load(), size_t{0});
}

void AModelThatComputesNoNumbersIsNotLoaded() {
  for (const bool breaks_logits : {true, false}) {
    EngineOptions options = Options();
    options.directory = "/models/broken";
    options.warm_up = true;
    const auto make = [&](const Place&) {
      auto model = std::make_unique<ScriptedModel>();
      model->breaks_logits = breaks_logits;
      model->breaks_sound = !breaks_logits;
      return model;
    };
    CHECK_EQ(ProblemIn(OpenEngine(options, Processors(options), make)),
             std::string("/models/broken: warming up: ") +
                 (breaks_logits ? "the model computed what is not a number"
                                : "the codec computed sound that is not finite"));
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_engine) {
  using namespace parley::test;
  return Run({
      {"an engine speaks and rests", AnEngineSpeaksAndRests},
      {"a parked stream is woken by its sink", AParkedStreamIsWokenByItsSink},
      {"text comes from another thread", TextComesFromAnotherThread},
      {"closing ends everybody and gives all back", ClosingEndsEverybodyAndGivesAllBack},
      {"a closed engine takes nothing", AClosedEngineTakesNothing},
      {"an engine that is let go of closes", AnEngineThatIsLetGoOfCloses},
      {"an engine that cannot be opened says why", AnEngineThatCannotBeOpenedSaysWhy},
      {"callers from many threads do not disturb each other", CallersFromManyThreadsDoNotDisturbEachOther},
      {"a model that computes no numbers is not loaded", AModelThatComputesNoNumbersIsNotLoaded},
  });
}
