// A voice and a recogniser on one emulated GPU, served by its thread: each gives what it gives alone, one
// that does not fit beside the other is refused, and both end their streams when the GPU is lost.
#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "runtime/engine.h"
#include "runtime/recogniser.h"
#include "test/cuda_backend.h"
#include "test/recognition_golden.h"
#include "test/whole_sound.h"

namespace parley::test {
namespace {

using namespace runtime;

constexpr std::chrono::seconds kPatience{60};
constexpr size_t kDraws = 4;  // of a speech: a frame each but for the last

// A device that is opened for one test. `emulated` belongs to its thread.
struct Gpu {
  cuda::emulator::EmulatedDevice* emulated = nullptr;
  std::shared_ptr<Device> device;

  explicit Gpu(size_t memory = size_t{64} << 20) {
    device = ValueOf(Device::Open([&] {
      cuda::emulator::DeviceOptions options;
      options.memory = memory;
      auto made = std::make_unique<cuda::emulator::EmulatedDevice>(options);
      emulated = made.get();
      return std::make_unique<cuda::CudaKernels>(std::move(made), cuda::CudaOptions{});
    }));
  }
  // Calls `act` on the device's thread, between two rounds. Returns its free bytes.
  size_t Between(const std::function<void()>& act = [] {}) const {
    size_t free = 0;
    const auto none = device->Serve([&](const Place& place) {
      free = place.memory;
      act();
      return Problem{"this is no model"};
    });
    CHECK(!none);
    return free;
  }
};

Result<std::unique_ptr<Engine>> Voice(const Gpu& gpu) {
  EngineOptions options;
  options.directory = kGolden + "/tiny-customvoice";
  options.warm_up = false;
  return Engine::Open(options, gpu.device);
}

Result<std::unique_ptr<Recogniser>> Ears(const Gpu& gpu) {
  RecogniserOptions options;
  options.directory = kGolden + "/tiny-asr-a";
  options.warm_up = false;
  return Recogniser::Open(options, gpu.device);
}

// Records the order in which things happen on the device's thread.
struct Events {
  std::string all;  // v: sound was written, t: text was recognised
  std::function<void()> after = [] {};

  void Add(char event) {
    all += event;
    after();
  }
};

template <class Value>
Value Awaited(std::future<Value> future) {
  const bool has_ended = future.wait_for(kPatience) == std::future_status::ready;
  CHECK(has_ended);
  return has_ended ? future.get() : Value{};
}

struct Said {
  StreamEnd end;
  std::vector<float> samples;
};

class Listener final : public SpeechSink {
 public:
  explicit Listener(Events* events) : events_(events) {}
  size_t Room() override { return size_t{1} << 30; }
  void Write(const float* samples, size_t count) override {
    said_.samples.insert(said_.samples.end(), samples, samples + count);
    events_->Add('v');
  }
  void Ended(const StreamEnd& end) override {
    said_.end = end;
    done_.set_value(said_);
  }
  Said Await() { return Awaited(done_.get_future()); }

 private:
  Events* const events_;
  Said said_;
  std::promise<Said> done_;
};

struct Heard {
  RecognitionEnd end;
  std::vector<std::string> texts;
};

class Texts final : public TextSink {
 public:
  explicit Texts(Events* events) : events_(events) {}
  void Recognised(const RecognisedText& text) override {
    heard_.texts.push_back(text.language + ": " + text.text);
    events_->Add('t');
  }
  void Ended(const RecognitionEnd& end) override {
    heard_.end = end;
    done_.set_value(heard_);
  }
  Heard Await() { return Awaited(done_.get_future()); }

 private:
  Events* const events_;
  Heard heard_;
  std::promise<Heard> done_;
};

std::shared_ptr<Listener> Speak(Engine& voice, Events* events, uint64_t seed, size_t draws = kDraws) {
  SpeechRequest request;
  request.text = "Hello there, how are you today?";
  request.language = "English";
  request.speaker = "Vivian";
  request.seed = seed;
  request.greedy = seed % 2 == 0;
  request.max_new_tokens = draws;
  const auto listener = std::make_shared<Listener>(events);
  CHECK(voice.Start(request, listener) != 0);
  return listener;
}

std::shared_ptr<Texts> Listen(Recogniser& ears, Events* events, const std::string& clip,
                              RecognitionUse use = RecognitionUse::kFile) {
  RecognitionRequest request;
  request.use = use;
  request.partials = use == RecognitionUse::kLive;
  const auto texts = std::make_shared<Texts>(events);
  const auto sound = std::make_shared<WholeSound>(ReadClip(clip), use == RecognitionUse::kFile);
  CHECK(ears.Start(request, sound, texts) != 0);
  return texts;
}

// Two callers who hear speech, of whom one is sampled for, and two who speak. Either model may be absent.
struct Callers {
  std::vector<Said> speeches;
  std::vector<Heard> texts;

  Callers(const Gpu& gpu, Engine* voice, Recogniser* ears, Events* events) {
    std::vector<std::shared_ptr<Listener>> listeners;
    std::vector<std::shared_ptr<Texts>> speakers;
    gpu.Between([&] {  // so that none begins before the others
      for (const uint64_t seed : {1, 2}) {
        if (voice != nullptr) listeners.push_back(Speak(*voice, events, seed));
      }
      for (const char* const clip : {"edge101", "yes03"}) {
        if (ears != nullptr) speakers.push_back(Listen(*ears, events, clip));
      }
    });
    for (const auto& one : listeners) speeches.push_back(one->Await());
    for (const auto& one : speakers) texts.push_back(one->Await());
  }
};

void CheckSpeeches(const std::vector<Said>& seen, const std::vector<Said>& wanted) {
  CHECK_EQ(seen.size(), wanted.size());
  for (size_t n = 0; n < std::min(seen.size(), wanted.size()); n++) {
    CHECK_EQ(NameOf(seen[n].end.outcome), std::string("budget"));
    CHECK_EQ(seen[n].end.frames, kDraws - 1);
    CHECK(!wanted[n].samples.empty());
    CHECK(SameBits(seen[n].samples, wanted[n].samples));
  }
}

void CheckTexts(const std::vector<Heard>& seen, const std::vector<Heard>& wanted) {
  CHECK_EQ(seen.size(), wanted.size());
  for (size_t n = 0; n < std::min(seen.size(), wanted.size()); n++) {
    CHECK_EQ(NameOf(seen[n].end.outcome) + (" " + seen[n].end.problem), "done ");
    CHECK(seen[n].texts == wanted[n].texts);
  }
  CHECK(!seen.empty() && seen.back().texts == std::vector<std::string>{"English: Yes."});
}

void EachGivesBesideTheOtherWhatItGivesAlone() {
  const Gpu for_voice, for_ears, shared;
  const auto voice = ValueOf(Voice(for_voice)), beside_ears = ValueOf(Voice(shared));
  const auto ears = ValueOf(Ears(for_ears)), beside_voice = ValueOf(Ears(shared));
  Events none, events;
  // True if the recogniser works on what it has not recognised yet.
  const auto is_heard = [&] {
    return beside_voice->stats().encode_ms > 0 && beside_voice->stats().done == 0;
  };
  std::string turns;  // of the voice: b before the recogniser's first, m in the midst of its work, a after it
  events.after = [&] {
    if (events.all.back() == 'v') turns += beside_voice->stats().done > 0 ? 'a' : is_heard() ? 'm' : 'b';
  };
  const Callers both(shared, beside_ears.get(), beside_voice.get(), &events);
  CheckSpeeches(both.speeches, Callers(for_voice, voice.get(), nullptr, &none).speeches);
  CheckTexts(both.texts, Callers(for_ears, nullptr, ears.get(), &none).texts);
  CHECK(turns.find('m') != std::string::npos);
  std::printf("       %s\n", turns.c_str());
}

// Takes all of a GPU's memory but for so many bytes, as another process would.
struct Taken {
  const Gpu& gpu;
  void* memory = nullptr;

  Taken(const Gpu& of, size_t left) : gpu(of) {
    const size_t free = gpu.Between();
    gpu.Between([&] { memory = gpu.emulated->Allocate(free - left); });
  }
  ~Taken() {
    gpu.Between([&] { gpu.emulated->Free(memory); });
  }
};

constexpr const char* kDoesNotFit =
    "cuda emulated, 4 multiprocessors: the model does not fit into the 0 MiB that are free of 64 MiB; other "
    "models here, or another process, have the rest";
constexpr size_t kLeft = 500'000;  // bytes: fewer than the weights of either

void AVoiceThatDoesNotFitIsRefusedAndTheRecogniserGoesOn() {
  const Gpu gpu;
  const auto ears = ValueOf(Ears(gpu));
  Events none;
  const auto heard = [&] { return Listen(*ears, &none, "yes03")->Await().texts; };
  const std::vector<std::string> wanted = heard();
  CHECK(wanted == std::vector<std::string>{"English: Yes."});
  {
    const Taken taken(gpu, kLeft);
    CHECK_EQ(ProblemIn(Voice(gpu)), kDoesNotFit);
    CHECK(gpu.Between() >= kLeft - kLeft / 10);  // what was loaded is given back
    CHECK(heard() == wanted);
  }
  CHECK(ValueOf(Voice(gpu)) != nullptr);
}

void ARecogniserThatDoesNotFitIsRefusedAndTheVoiceGoesOn() {
  const Gpu gpu;
  const auto voice = ValueOf(Voice(gpu));
  Events none;
  const auto spoken = [&] { return Speak(*voice, &none, 2, 2)->Await().samples; };
  const std::vector<float> wanted = spoken();
  CHECK(!wanted.empty());
  {
    const Taken taken(gpu, kLeft);
    CHECK_EQ(ProblemIn(Ears(gpu)), kDoesNotFit);
    CHECK(SameBits(spoken(), wanted));
  }
  CHECK(ValueOf(Ears(gpu)) != nullptr);
}

// The GPU is lost between two rounds, when both have given something and neither is done.
void ALostGpuEndsWhatIsSpokenAndWhatIsHeard() {
  constexpr char kWhy[] = "the GPU has fallen off the bus";
  const Gpu gpu;
  const auto voice = ValueOf(Voice(gpu));
  const auto ears = ValueOf(Ears(gpu));
  Events events;
  events.after = [&] {
    const bool both = events.all.find('v') != std::string::npos && events.all.find('t') != std::string::npos;
    if (both) gpu.emulated->Lose(kWhy);
  };
  std::shared_ptr<Texts> texts;
  std::shared_ptr<Listener> listener;
  gpu.Between([&] {
    texts = Listen(*ears, &events, "edge101", RecognitionUse::kLive);
    listener = Speak(*voice, &events, 2, 40);
  });
  const Said said = listener->Await();
  const Heard heard = texts->Await();
  CHECK_EQ(NameOf(said.end.outcome) + (": " + said.end.problem), std::string("lost: ") + kWhy);
  CHECK_EQ(NameOf(heard.end.outcome) + (": " + heard.end.problem), std::string("lost: ") + kWhy);
  CHECK(!said.samples.empty() && !heard.texts.empty());
  // Later requests end in the same way.
  CHECK_EQ(NameOf(Speak(*voice, &events, 2)->Await().end.outcome), std::string("lost"));
  CHECK_EQ(NameOf(Listen(*ears, &events, "yes03")->Await().end.outcome), std::string("lost"));
  voice->Close();
  ears->Close();
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_models) {
  using namespace parley::test;
  return Run({
      {"each gives beside the other what it gives alone", EachGivesBesideTheOtherWhatItGivesAlone},
      {"a voice that does not fit is refused, and the recogniser goes on",
       AVoiceThatDoesNotFitIsRefusedAndTheRecogniserGoesOn},
      {"a recogniser that does not fit is refused, and the voice goes on",
       ARecogniserThatDoesNotFitIsRefusedAndTheVoiceGoesOn},
      {"a lost GPU ends what is spoken and what is heard", ALostGpuEndsWhatIsSpokenAndWhatIsHeard},
  });
}
