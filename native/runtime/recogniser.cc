// Implements Recogniser::Open: opens a checkpoint on this machine's processors.
#include "runtime/recogniser.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "model/recognition/alignment_words.h"
#include "model/recognition/recognition_checkpoint.h"
#include "model/recognition/recognition_model.h"
#include "model/recognition/recognition_work.h"
#include "runtime/choices.h"
#include "runtime/machine_memory.h"
#include "runtime/precedence.h"
#include "runtime/recognition_scheduler.h"
#include "runtime/round_thread.h"

namespace parley::runtime {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};  // at sources that do not wake the engine
constexpr size_t kWarmSamples = 32'000;

using model::RecognitionKind;

RecognitionKind KindOf(bool aligner) {
  return aligner ? RecognitionKind::kAligner : RecognitionKind::kRecogniser;
}

RecogniserFacts FactsOf(const model::RecognitionCheckpoint& checkpoint) {
  RecogniserFacts facts;
  facts.aligner = checkpoint.config().kind == RecognitionKind::kAligner;
  facts.languages = checkpoint.config().languages;
  return facts;
}

// What is made of options.
struct Parts {
  std::optional<Format> decoder;
  Format cache = Format::kBf16;
  bool official = false;
  cpu::ThreadPoolOptions threads;
};

bool ReadParts(const RecogniserOptions& options, Parts* parts, std::string* problem) {
  if (options.device != "cpu") {
    return *problem = "device is \"" + options.device + "\"; recognition runs on cpu", false;
  }
  if (options.max_files == 0) return *problem = "max_files must be 1 or more", false;
  return Pick<std::optional<Format>>({"quantize", {{"none", std::nullopt}, {"int8", Format::kInt8}}},
                                     options.quantize, &parts->decoder, problem) &&
         Pick<Format>({"cache_format", {{"", Format::kBf16}, {"f32", Format::kF32}, {"bf16", Format::kBf16}}},
                      options.cache_format, &parts->cache, problem) &&
         Pick<bool>({"streaming", {{"draft", false}, {"official", true}}}, options.streaming,
                    &parts->official, problem) &&
         ReadThreads(options, &parts->threads, problem);
}

// The model and its scheduler, freed in the other order.
class RecognitionRounds final : public Rounds {
 public:
  RecognitionRounds(const RecogniserOptions& options, RecognitionMailbox& mailbox)
      : options_(options), mailbox_(mailbox), member_(Precedence::Of(options.numa_node)) {}

  // False with `problem` set.
  bool Load(Parts parts, std::string* problem) {
    checkpoint_ = model::RecognitionCheckpoint::Open(options_.directory, KindOf(options_.aligner), problem);
    if (checkpoint_ == nullptr) return false;
    if (!options_.korean_dictionary.empty()) {
      nouns_ = model::KoreanDictionary::Open(options_.korean_dictionary, problem);
      if (nouns_ == nullptr) return false;
    }
    memory_ = AvailableMemory();
    parts.threads.give_way = [this] { member_.GiveWay(); };
    kernels_ = OpenProcessor(options_, parts.threads);
    try {
      model_ = std::make_unique<model::RecognitionModel>(*kernels_, *checkpoint_, parts.decoder);
    } catch (const std::invalid_argument& error) {
      return *problem = options_.directory + ": " + error.what(), false;
    }
    setup_.model = model_.get();
    setup_.cache_format = parts.cache;
    setup_.official = parts.official;
    setup_.least_interval = options_.least_interval;
    setup_.nouns = nouns_.get();
    return !checkpoint_->Changed(problem);
  }

  // Two seconds of a quiet noise: all weights are read once. False with `problem` set.
  bool WarmUp(std::string* problem) {
    std::vector<float> noise(kWarmSamples);
    uint32_t state = 1;
    for (float& sample : noise) {
      state = state * 1664525 + 1013904223;
      sample = static_cast<float>(state >> 8) / (1 << 24) * 0.02f - 0.01f;
    }
    model::RecognitionStream stream(*model_, {0}, setup_.cache_format);
    model::RecognitionStream* const one = &stream;
    stream.Push(noise.data(), noise.size());
    model::Pass pass;
    pass.tail = {0};
    pass.max_new_tokens = 2;
    if (options_.aligner) pass.marker = 0;
    stream.BeginPass(std::move(pass));
    model::RecognitionWork work(*model_);
    while (work.Encode(&one, 1, 1) || work.Prefill(&one, 1, 64)) {
      while (work.Advance()) continue;
    }
    while (stream.turn() == model::RecognitionStream::Turn::kDecode) model_->Decode(&one, 1);
    if (stream.end() != model::RecognitionStream::End::kBroken) return true;
    return *problem = options_.directory + ": warming up: the model computed what is not a number", false;
  }

  void Begin(const std::function<void(const RecogniserStats&)>& publish) {
    RecognitionSchedulerOptions options;
    options.max_files = options_.max_files;
    const size_t weights = model_->WeightBytes();
    options.memory_bytes =
        options_.memory_bytes > 0 ? options_.memory_bytes : (memory_ - std::min(memory_, weights)) / 4 * 3;
    options.publish = publish;
    scheduler_ = std::make_unique<RecognitionScheduler>(setup_, mailbox_, member_, options);
  }

  RecogniserFacts Facts() const {
    RecogniserFacts facts = FactsOf(*checkpoint_);
    facts.device = kernels_->Name();
    facts.weight_bytes = model_->WeightBytes();
    facts.second_bytes = setup_.BytesOf(1);
    return facts;
  }

  bool Round() override {
    std::string problem;
    if (checkpoint_->Changed(&problem)) throw BackendLost(problem);
    member_.BeginRound();
    return scheduler_->Round();
  }
  void Wait() override {
    if (scheduler_->Listens()) mailbox_.WaitUntil(Clock::now() + kBetweenLooks);
    else mailbox_.Wait();
  }
  bool closing() const override { return scheduler_->closing(); }
  void EndAll(Outcome outcome, const std::string& problem) override { scheduler_->EndAll(outcome, problem); }

 private:
  const RecogniserOptions options_;
  RecognitionMailbox& mailbox_;
  Precedence::Member member_;
  std::unique_ptr<const model::RecognitionCheckpoint> checkpoint_;
  std::unique_ptr<const model::KoreanDictionary> nouns_;
  std::unique_ptr<cpu::CpuKernels> kernels_;
  std::unique_ptr<model::RecognitionModel> model_;
  size_t memory_ = 0;
  RecognitionSetup setup_;
  std::unique_ptr<RecognitionScheduler> scheduler_;
};

class ThreadedRecogniser final : public Recogniser {
 public:
  explicit ThreadedRecogniser(const RecogniserOptions& options) : options_(options), mailbox_(Clock::now) {}
  ~ThreadedRecogniser() override { Close(); }

  bool Open(const Parts& parts, std::string* problem) {
    return thread_.Open(
        [&](std::string* why) -> std::unique_ptr<Rounds> {
          const Clock::time_point began = Clock::now();
          auto rounds = std::make_unique<RecognitionRounds>(options_, mailbox_);
          if (!rounds->Load(parts, why)) return nullptr;
          const Clock::time_point loaded = Clock::now();
          if (options_.warm_up && !rounds->WarmUp(why)) return nullptr;
          facts_ = rounds->Facts();
          facts_.load_ms = std::chrono::duration<double, std::milli>(loaded - began).count();
          facts_.warm_up_ms = std::chrono::duration<double, std::milli>(Clock::now() - loaded).count();
          rounds->Begin([this](const RecogniserStats& stats) {
            const std::lock_guard<std::mutex> lock(stats_mutex_);
            stats_ = stats;
          });
          return rounds;
        },
        problem);
  }

  const RecogniserFacts& facts() const override { return facts_; }
  StreamId Start(RecognitionRequest request, std::shared_ptr<SoundSource> source,
                 std::shared_ptr<TextSink> sink) override {
    return mailbox_.Start(std::move(request), std::move(source), std::move(sink));
  }
  void Order(StreamId stream, PlacedOrder order) override { mailbox_.Order(stream, order); }
  void Cancel(StreamId stream) override { mailbox_.Cancel(stream); }
  void Wake() override { mailbox_.Wake(); }
  RecogniserStats stats() const override {
    const std::lock_guard<std::mutex> lock(stats_mutex_);
    return stats_;
  }
  void Close() override {
    mailbox_.Close();
    thread_.Join();
    const std::lock_guard<std::mutex> lock(stats_mutex_);
    stats_.memory_in_use = 0;
  }

 private:
  const RecogniserOptions options_;
  RecognitionMailbox mailbox_;
  RecogniserFacts facts_;  // not changed once it is open
  mutable std::mutex stats_mutex_;
  RecogniserStats stats_;
  RoundThread thread_;
};

}  // namespace

bool Recogniser::Inspect(const std::string& directory, bool aligner, RecogniserFacts* facts,
                         std::string* problem) {
  try {
    const auto checkpoint = model::RecognitionCheckpoint::Open(directory, KindOf(aligner), problem);
    if (checkpoint == nullptr) return false;
    *facts = FactsOf(*checkpoint);
    return true;
  } catch (const std::bad_alloc&) {
    *problem = "memory is out";
  } catch (const std::exception& error) {
    *problem = error.what();
  }
  return false;
}

std::unique_ptr<Recogniser> Recogniser::Open(const RecogniserOptions& options, std::string* problem) {
  Parts parts;
  if (!ReadParts(options, &parts, problem)) return nullptr;
  auto recogniser = std::make_unique<ThreadedRecogniser>(options);
  if (!recogniser->Open(parts, problem)) return nullptr;
  return recogniser;
}

}  // namespace parley::runtime
