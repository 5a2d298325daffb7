// A device's thread: whose round is next, loads beside work, ends, and devices that are shared.
#include "runtime/device.h"

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/cpu/cpu_kernels.h"
#include "test/check.h"

namespace parley::test {
namespace {

using namespace runtime;
using namespace std::chrono_literals;

const Clock::time_point kNow{1h};

// The state of fake rounds, which the test and the device's thread share.
struct Model {
  std::atomic<int> wanted{0};  // rounds
  std::atomic<bool> closing{false};
  Rank rank = Rank::kFiles;
  std::function<void()> work = [] {};
  std::atomic<int> rounds{0}, ends{0}, freed{0};
  std::mutex mutex;
  std::string problem;  // of the last end, with its outcome
};

class FakeRounds final : public Rounds {
 public:
  explicit FakeRounds(Model& model) : model_(model) {}
  ~FakeRounds() override { model_.freed++; }

  std::optional<Need> Look() override {
    if (model_.wanted == 0) return std::nullopt;
    return Need{model_.rank, kNow};
  }
  void Work(Clock::duration) override {
    model_.wanted--;
    model_.rounds++;
    model_.work();
  }
  bool closing() const override { return model_.closing; }
  void EndAll(Outcome outcome, const std::string& problem) override {
    const std::lock_guard<std::mutex> lock(model_.mutex);
    model_.problem = std::string(NameOf(outcome)) + ": " + problem;
    model_.ends++;
  }

 private:
  Model& model_;
};

// Kernels of a device with its own memory, which a test can lose.
class OwnMemory final : public cpu::CpuKernels {
 public:
  OwnMemory() : CpuKernels(cpu::ThreadPoolOptions{}, cpu::ChooseVariant()) {}
  bool ReadsHostMemory() const override { return false; }
  bool Rehearse(bool on) override { return rehearses_ = on, true; }
  bool Rehearses() const override { return rehearses_; }

 private:
  bool rehearses_ = false;
};

std::shared_ptr<Device> Opened() {
  return ValueOf(Device::Open([] { return std::make_unique<OwnMemory>(); }));
}

Device::Maker Of(Model& model) {
  return [&model](const Place&) { return std::make_unique<FakeRounds>(model); };
}

std::shared_future<void> Serve(Device& device, Model& model) { return ValueOf(device.Serve(Of(model))); }

void Close(Device& device, Model& model, const std::shared_future<void>& gone) {
  model.closing = true;
  device.signal()->Notify();
  gone.wait();
  CHECK_EQ(model.freed.load(), 1);
}

void Until(const std::function<bool()>& is_so) {
  while (!is_so()) std::this_thread::yield();
}

// --- which round is next

class Choice {
 public:
  void Add(const char* name, const Need& need, Clock::duration waited) {
    auto one = std::make_unique<Served>();
    one->need = need;
    one->since = kNow - waited;
    all_.push_back(std::move(one));
    names_.emplace_back(name);
  }
  std::string Next() {
    Served* const next = ChooseNext(all_, kNow, &spare);
    for (size_t n = 0; n < all_.size(); n++) {
      if (all_[n].get() == next) return names_[n];
    }
    return "none";
  }
  Clock::duration spare{};

 private:
  std::vector<std::unique_ptr<Served>> all_;
  std::vector<std::string> names_;
};

std::string Next(Clock::duration slack, Clock::duration text_takes, Clock::duration text_waited,
                 Clock::duration file_waited) {
  Choice choice;
  choice.Add("file", {Rank::kFiles, Clock::time_point::max(), 5ms}, file_waited);
  choice.Add("listeners", {Rank::kListeners, kNow + slack, 20ms}, 10ms);
  if (text_takes > 0ms) choice.Add("text", {Rank::kLiveText, kNow - 1s, text_takes}, text_waited);
  return choice.Next();
}

void TextIsRecognisedBetweenTwoFramesWhereItFits() {
  CHECK_EQ(Next(110ms, 10ms, 0ms, 0ms), "text");
  CHECK_EQ(Next(109ms, 10ms, 0ms, 0ms), "listeners");
  CHECK_EQ(Next(-50ms, 10ms, 199ms, 0ms), "listeners");
}

void NothingWaitsForEver() {
  CHECK_EQ(Next(-50ms, 10ms, 200ms, 0ms), "text");
  CHECK_EQ(Next(-50ms, 10ms, 0ms, 999ms), "listeners");
  CHECK_EQ(Next(-50ms, 10ms, 0ms, 1s), "file");
  CHECK_EQ(Next(-50ms, 0ms, 0ms, 1s), "file");
}

void AFileIsWorkedOnWhereListenersHaveSoundEnough() {
  CHECK_EQ(Next(505ms, 0ms, 0ms, 11ms), "file");
  CHECK_EQ(Next(504ms, 0ms, 0ms, 11ms), "listeners");
  CHECK_EQ(Next(505ms, 0ms, 0ms, 9ms), "listeners");
  CHECK_EQ(Next(505ms, 10ms, 0ms, 11ms), "text");
}

void TheEarliestOfARankGoesFirst() {
  Choice choice;
  CHECK_EQ(choice.Next(), "none");
  choice.Add("file", {Rank::kFiles}, 20ms);
  CHECK_EQ(choice.Next(), "file");
  CHECK(choice.spare == Clock::duration::max());
  choice.Add("older file", {Rank::kFiles}, 21ms);
  CHECK_EQ(choice.Next(), "older file");
  CHECK(choice.spare == 10ms);
  choice.Add("text", {Rank::kLiveText, kNow + 2s}, 20ms);
  choice.Add("earlier text", {Rank::kLiveText, kNow + 1s}, 20ms);
  CHECK_EQ(choice.Next(), "earlier text");
  choice.Add("listeners", {Rank::kListeners, kNow + 60ms}, 0ms);
  choice.Add("hungry listeners", {Rank::kListeners, kNow + 50ms}, 0ms);
  CHECK_EQ(choice.Next(), "hungry listeners");
}

void AFinalTextGoesBeforeAPartialOneThatIsDueEarlier() {
  Choice choice;
  choice.Add("partial", {Rank::kLiveText, kNow - 1s, 2ms}, 20ms);
  choice.Add("final", {Rank::kLiveText, kNow, 2ms, true}, 10ms);
  CHECK_EQ(choice.Next(), "final");
}

// Another text that is always due earlier does not delay it, with listeners or without.
void EveryTextHasItsTurn() {
  Choice choice;
  choice.Add("final", {Rank::kLiveText, kNow - 1s, 2ms, true}, 5ms);
  choice.Add("late partial", {Rank::kLiveText, kNow, 2ms}, 200ms);
  CHECK_EQ(choice.Next(), "late partial");
  choice.Add("listeners", {Rank::kListeners, kNow - 50ms, 20ms}, 10ms);
  CHECK_EQ(choice.Next(), "late partial");
}

void ARoundIsAsLongAsListenersCanSpare() {
  Choice choice;
  choice.Add("listeners", {Rank::kListeners, kNow + 104ms}, 0ms);
  choice.Add("text", {Rank::kLiveText, kNow, 2ms}, 0ms);
  CHECK_EQ(choice.Next(), "text");
  CHECK(choice.spare == 4ms);
}

// --- the thread

void AModelIsServedUntilItCloses() {
  const auto device = Opened();
  Model model;
  const auto gone = Serve(*device, model);
  model.wanted = 3;
  device->signal()->Notify();
  Until([&] { return model.rounds == 3; });
  Close(*device, model, gone);
  CHECK_EQ(model.problem, "closed: the engine closed");
}

// The end of a part of a load that took long.
void PauseAfterLong(const Place& place) {
  const Clock::time_point began = Clock::now();
  while (Clock::now() - began < std::chrono::milliseconds(10)) continue;
  place.kernels.Pause();
}

void ALoadLetsOthersGoOn() {
  const auto device = Opened();
  Model first, second;
  const auto first_gone = Serve(*device, first);
  first.rank = Rank::kListeners;
  const auto second_gone = ValueOf(device->Serve([&](const Place& place) {
    first.wanted = 5;
    place.kernels.Pause();  // it comes too soon after the beginning
    CHECK_EQ(first.rounds.load(), 0);
    PauseAfterLong(place);  // all rounds for listeners
    CHECK_EQ(first.rounds.load(), 5);
    first.rank = Rank::kFiles;
    first.wanted = 5;
    PauseAfterLong(place);  // one for a file
    CHECK_EQ(first.rounds.load(), 6);
    first.closing = true;
    PauseAfterLong(place);
    CHECK_EQ(first.freed.load(), 1);
    return std::make_unique<FakeRounds>(second);
  }));
  first_gone.wait();
  Close(*device, second, second_gone);
}

// A voice that always has work does not keep another model from being loaded.
void ALoadGoesOnBesideAModelThatNeverRests() {
  const auto device = Opened();
  Model busy, second;
  busy.rank = Rank::kListeners;
  busy.wanted = 1'000'000'000;
  const auto busy_gone = Serve(*device, busy);
  const auto second_gone = ValueOf(device->Serve([&](const Place& place) {
    PauseAfterLong(place);
    return std::make_unique<FakeRounds>(second);
  }));
  Close(*device, second, second_gone);
  Close(*device, busy, busy_gone);
}

void WhatCannotBeMadeIsNamedAndOthersGoOn() {
  const auto device = Opened();
  Model model;
  const auto gone = Serve(*device, model);
  const auto problem_of = [&](const Device::Maker& make) { return ProblemIn(device->Serve(make)); };
  CHECK_EQ(problem_of([](const Place&) { return Problem{"no file"}; }), "no file");
  CHECK_EQ(problem_of([](const Place&) -> std::unique_ptr<Rounds> { throw std::bad_alloc(); }),
           "memory is out");
  CHECK_EQ(problem_of([](const Place&) -> std::unique_ptr<Rounds> { throw std::runtime_error("why"); }),
           "why");
  model.wanted = 1;
  device->signal()->Notify();
  Until([&] { return model.rounds == 1; });
  Close(*device, model, gone);
}

void AGpuThatIsLostDuringALoadEndsTheStreamsOfAll() {
  const auto device = Opened();
  Model model;
  const auto gone = Serve(*device, model);
  const auto lost = [](const Place&) -> std::unique_ptr<Rounds> { throw BackendLost("Xid 79"); };
  CHECK_EQ(ProblemIn(device->Serve(lost)), "Xid 79");
  CHECK_EQ(model.ends.load(), 1);
  CHECK_EQ(model.problem, "lost: Xid 79");
  Close(*device, model, gone);
}

// Only the model that is loaded rehearses, and no model does after a load that failed.
void ARehearsalEndsWithItsLoad() {
  const auto device = Opened();
  Model beside;
  const auto gone = Serve(*device, beside);
  bool rehearsed_beside = true, rehearsed_after = true;
  const auto fails = [&](const Place& place) -> std::unique_ptr<Rounds> {
    place.kernels.Rehearse(true);
    beside.work = [&] { rehearsed_beside = place.kernels.Rehearses(); };
    beside.rank = Rank::kListeners;
    beside.wanted = 1;
    PauseAfterLong(place);
    CHECK(place.kernels.Rehearses());
    throw std::runtime_error("a damaged file");
  };
  CHECK_EQ(ProblemIn(device->Serve(fails)), "a damaged file");
  CHECK_EQ(beside.rounds.load(), 1);
  CHECK(!rehearsed_beside);
  const auto looks = [&](const Place& place) {
    rehearsed_after = place.kernels.Rehearses();
    return Problem{"seen"};
  };
  CHECK_EQ(ProblemIn(device->Serve(looks)), "seen");
  CHECK(!rehearsed_after);
  Close(*device, beside, gone);
}

std::string EndOf(const std::function<void()>& work, Model* beside) {
  const auto device = Opened();
  Model model;
  model.work = work;
  const auto gone = Serve(*device, model), other_gone = Serve(*device, *beside);
  model.wanted = 1;
  device->signal()->Notify();
  Until([&] { return model.ends == 1; });
  std::string end;
  {
    const std::lock_guard<std::mutex> lock(model.mutex);
    end = model.problem;
  }
  beside->wanted = 1;
  device->signal()->Notify();
  Until([&] { return beside->rounds == 1; });
  end += beside->ends > 0 ? ", for all" : "";
  Close(*device, model, gone);
  Close(*device, *beside, other_gone);
  return end;
}

void AMistakeEndsTheStreamsOfItsModelAndALostGpuAllOfThem() {
  Model first, second, third;
  CHECK_EQ(EndOf([] { throw std::bad_alloc(); }, &first), "out of memory: memory is out");
  CHECK_EQ(EndOf([] { throw std::runtime_error("why"); }, &second), "failed: a mistake in the engine: why");
  CHECK_EQ(EndOf([] { throw BackendLost("gone"); }, &third), "lost: gone, for all");
}

// --- devices that are shared

DeviceOptions Threads(unsigned threads) {
  DeviceOptions options;
  options.threads = threads;
  return options;
}

void ModelsWithTheSameOptionsShareADevice() {
  const auto one = ValueOf(Device::Open(Threads(1))), same = ValueOf(Device::Open(Threads(1))),
             other = ValueOf(Device::Open(Threads(2)));
  CHECK(one == same);
  CHECK(one != other);
}

void ADeviceThatCannotBeOpenedSaysWhy() {
  const auto problem_of = [](const char* device) {
    DeviceOptions options = Threads(1);
    options.device = device;
    options.cuda_file = "/nowhere/parley_cuda.so";
    return ProblemIn(Device::Open(options));
  };
  CHECK_EQ(problem_of("tpu"), "device is \"tpu\"; it can be auto, cpu, cuda, cuda:<number>");
  CHECK_EQ(problem_of("cuda:x"), "device is \"cuda:x\"; it can be auto, cpu, cuda, cuda:<number>");
  CHECK_EQ(problem_of("cuda:1").substr(0, 8), "cuda:1: ");
  const auto throws = []() -> std::unique_ptr<SpeechKernels> { throw std::bad_alloc(); };
  CHECK_EQ(ProblemIn(Device::Open(throws)), "memory is out");
}

void WithoutAGpuAutoIsAProcessorThatSaysSo() {
  DeviceOptions options = Threads(3);
  options.device = "auto";
  options.cuda_file = "/nowhere/parley_cuda.so";
  std::string no_cuda;
  const auto device = ValueOf(Device::Open(options));
  Model model;
  const auto gone = ValueOf(device->Serve([&](const Place& place) {
    no_cuda = place.no_cuda;
    CHECK(!place.is_gpu());
    CHECK(place.memory > 0);
    return std::make_unique<FakeRounds>(model);
  }));
  CHECK(!no_cuda.empty());
  Close(*device, model, gone);
}

void AModelsMemoryIsWhatItsOptionsSay() {
  cpu::CpuKernels kernels(cpu::ThreadPoolOptions{}, cpu::ChooseVariant());
  const Place place{kernels, 1000 << 20};
  const auto beside = [&](size_t bytes, double share) {
    DeviceOptions options;
    options.memory_bytes = bytes << 20;
    options.memory_share = share;
    const auto memory = MemoryBeside(size_t{200} << 20, options, place);
    return memory ? std::to_string(*memory >> 20) : memory.problem();
  };
  CHECK_EQ(beside(0, 0), "600");
  CHECK_EQ(beside(300, 0), "100");
  CHECK_EQ(beside(0, 0.5), "300");
  CHECK_EQ(beside(100, 0), "the model may take 100 MiB, and its weights alone take 200 MiB");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_device) {
  using namespace parley::test;
  return Run({
      {"text is recognised between two frames where it fits", TextIsRecognisedBetweenTwoFramesWhereItFits},
      {"nothing waits for ever", NothingWaitsForEver},
      {"a file is worked on where listeners have sound enough", AFileIsWorkedOnWhereListenersHaveSoundEnough},
      {"the earliest of a rank goes first", TheEarliestOfARankGoesFirst},
      {"a round is as long as listeners can spare", ARoundIsAsLongAsListenersCanSpare},
      {"a model is served until it closes", AModelIsServedUntilItCloses},
      {"a final text goes before a partial one that is due earlier",
       AFinalTextGoesBeforeAPartialOneThatIsDueEarlier},
      {"every text has its turn", EveryTextHasItsTurn},
      {"a load lets others go on", ALoadLetsOthersGoOn},
      {"a GPU that is lost during a load ends the streams of all",
       AGpuThatIsLostDuringALoadEndsTheStreamsOfAll},
      {"a rehearsal ends with its load", ARehearsalEndsWithItsLoad},
      {"a load goes on beside a model that never rests", ALoadGoesOnBesideAModelThatNeverRests},
      {"what cannot be made is named, and others go on", WhatCannotBeMadeIsNamedAndOthersGoOn},
      {"a mistake ends the streams of its model, and a lost GPU all of them",
       AMistakeEndsTheStreamsOfItsModelAndALostGpuAllOfThem},
      {"models with the same options share a device", ModelsWithTheSameOptionsShareADevice},
      {"a device that cannot be opened says why", ADeviceThatCannotBeOpenedSaysWhy},
      {"without a GPU, auto is a processor that says so", WithoutAGpuAutoIsAProcessorThatSaysSo},
      {"a model's memory is what its options say", AModelsMemoryIsWhatItsOptionsSay},
  });
}
