// Implements Recogniser::Open: opens a checkpoint on a GPU or on processors.
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
#include "runtime/attempt.h"
#include "runtime/choices.h"
#include "runtime/device.h"
#include "runtime/machine_memory.h"
#include "runtime/recognition_scheduler.h"

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

// The constructor makes these of its options.
struct Parts {
  std::optional<Format> decoder;
  Format cache = Format::kBf16;
  bool official = false;
};

Result<Parts> ReadParts(const RecogniserOptions& options) {
  if (options.max_files == 0) return Problem{"max_files must be 1 or more"};
  const auto decoder = Pick<std::optional<Format>>(
      {"quantize", {{"none", std::nullopt}, {"int8", Format::kInt8}}}, options.quantize);
  if (!decoder) return decoder.reason();
  const auto cache =
      Pick<Format>({"cache_format", {{"", Format::kBf16}, {"f32", Format::kF32}, {"bf16", Format::kBf16}}},
                   options.cache_format);
  if (!cache) return cache.reason();
  const auto official = Pick<bool>({"streaming", {{"draft", false}, {"official", true}}}, options.streaming);
  if (!official) return official.reason();
  return Parts{*decoder, *cache, *official};
}

struct Files {
  std::unique_ptr<const model::RecognitionCheckpoint> checkpoint;
  std::unique_ptr<const model::KoreanDictionary> nouns;  // or none
};

// Runs on the caller's thread, so that the device's can serve other models.
Result<Files> OpenFiles(const RecogniserOptions& options) {
  Files files;
  std::string problem;
  files.checkpoint = model::RecognitionCheckpoint::Open(options.directory, KindOf(options.aligner), &problem);
  if (files.checkpoint == nullptr) return Problem{problem};
  if (options.korean_dictionary.empty()) return files;
  files.nouns = model::KoreanDictionary::Open(options.korean_dictionary, &problem);
  if (files.nouns == nullptr) return Problem{problem};
  return files;
}

// The model and its scheduler, freed in the other order.
class RecognitionRounds final : public Rounds {
 public:
  RecognitionRounds(const RecogniserOptions& options, Files files, const Place& place,
                    RecognitionMailbox& mailbox)
      : options_(options), place_(place), mailbox_(mailbox), files_(std::move(files)) {}

  Result<> Load(const Parts& parts) {
    try {
      model_ = std::make_unique<model::RecognitionModel>(place_.kernels, *files_.checkpoint, parts.decoder,
                                                         place_.host);
    } catch (const std::invalid_argument& error) {
      return Problem{options_.directory + ": " + error.what()};
    }
    const Result<size_t> beside = MemoryBeside(model_->WeightBytes(), options_, place_);
    if (!beside) return beside.reason();
    memory_ = *beside;
    setup_.model = model_.get();
    setup_.cache_format = parts.cache;
    setup_.official = parts.official;
    setup_.least_interval = options_.least_interval;
    setup_.nouns = files_.nouns.get();
    std::string problem;
    if (files_.checkpoint->Changed(&problem)) return Problem{problem};
    return Done{};
  }

  // Two seconds of a quiet noise: all weights are read once.
  Result<> WarmUp() {
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
      while (work.Advance()) place_.kernels.Pause();
    }
    while (stream.turn() == model::RecognitionStream::Turn::kDecode) model_->Decode(&one, 1);
    if (stream.end() != model::RecognitionStream::End::kBroken) return Done{};
    return Problem{options_.directory + ": warming up: the model computed what is not a number"};
  }

  void Begin(const std::function<void(const RecogniserStats&)>& publish) {
    RecognitionSchedulerOptions options;
    options.max_files = options_.max_files;
    options.memory_bytes = memory_;
    if (place_.is_gpu()) options.free_memory = [this] { return place_.kernels.Figures().memory_free; };
    options.publish = publish;
    scheduler_ = std::make_unique<RecognitionScheduler>(setup_, mailbox_, options);
  }

  RecogniserFacts Facts() const {
    RecogniserFacts facts = FactsOf(*files_.checkpoint);
    facts.device = place_.kernels.Name();
    facts.device_memory = place_.kernels.Figures().memory_total;
    facts.weight_bytes = model_->WeightBytes();
    facts.second_bytes = setup_.BytesOf(1);
    return facts;
  }

  std::optional<Need> Look() override { return scheduler_->Look(); }
  Clock::time_point LooksAgain() const override {
    return scheduler_->Listens() ? Clock::now() + kBetweenLooks : Clock::time_point::max();
  }
  void Work(Clock::duration spare) override {
    std::string problem;
    if (place_.kernels.ReadsHostMemory() && files_.checkpoint->Changed(&problem)) throw BackendLost(problem);
    scheduler_->Work(spare);
  }
  bool closing() const override { return scheduler_->closing(); }
  void EndAll(Outcome outcome, const std::string& problem) override { scheduler_->EndAll(outcome, problem); }

 private:
  const RecogniserOptions options_;
  const Place place_;
  RecognitionMailbox& mailbox_;
  const Files files_;
  std::unique_ptr<model::RecognitionModel> model_;
  RecognitionSetup setup_;
  size_t memory_ = 0;  // beside the weights
  std::unique_ptr<RecognitionScheduler> scheduler_;
};

class ThreadedRecogniser final : public Recogniser {
 public:
  ThreadedRecogniser(const RecogniserOptions& options, std::shared_ptr<Device> device)
      : options_(options), mailbox_(Clock::now, device->signal()), seat_(std::move(device)) {}
  ~ThreadedRecogniser() override { Close(); }

  Result<> Open(const Parts& parts) {
    const Clock::time_point began = Clock::now();
    auto files = Attempt([&] { return OpenFiles(options_); });
    if (!files) return files.reason();
    return seat_.Open([&](const Place& place) { return Load(std::move(*files), parts, place, began); });
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
    seat_.Leave();
    const std::lock_guard<std::mutex> lock(stats_mutex_);
    stats_.memory_in_use = 0;
  }

 private:
  Result<std::unique_ptr<Rounds>> Load(Files files, const Parts& parts, const Place& place,
                                       Clock::time_point began) {
    auto rounds = std::make_unique<RecognitionRounds>(options_, std::move(files), place, mailbox_);
    const Result<> read = rounds->Load(parts);
    if (!read) return read.reason();
    const Clock::time_point loaded = Clock::now();
    const Result<> warm = options_.warm_up ? rounds->WarmUp() : Done{};
    if (!warm) return warm.reason();
    facts_ = rounds->Facts();
    facts_.no_cuda = place.no_cuda;
    facts_.load_ms = Milliseconds(loaded - began);
    facts_.warm_up_ms = Milliseconds(Clock::now() - loaded);
    rounds->Begin([this](const RecogniserStats& stats) {
      const std::lock_guard<std::mutex> lock(stats_mutex_);
      stats_ = stats;
    });
    return rounds;
  }

  const RecogniserOptions options_;
  RecognitionMailbox mailbox_;
  Seat seat_;
  RecogniserFacts facts_;  // not changed once it is open
  mutable std::mutex stats_mutex_;
  RecogniserStats stats_;
};

}  // namespace

Result<RecogniserFacts> Recogniser::Inspect(const std::string& directory, bool aligner) {
  return Attempt([&]() -> Result<RecogniserFacts> {
    std::string problem;
    const auto checkpoint = model::RecognitionCheckpoint::Open(directory, KindOf(aligner), &problem);
    if (checkpoint == nullptr) return Problem{problem};
    return FactsOf(*checkpoint);
  });
}

Result<std::unique_ptr<Recogniser>> Recogniser::Open(const RecogniserOptions& options) {
  auto device = Device::Open(options);
  if (!device) return device.reason();
  return Open(options, std::move(*device));
}

Result<std::unique_ptr<Recogniser>> Recogniser::Open(const RecogniserOptions& options,
                                                     std::shared_ptr<Device> device) {
  const Result<Parts> parts = ReadParts(options);
  if (!parts) return parts.reason();
  auto recogniser = std::make_unique<ThreadedRecogniser>(options, std::move(device));
  const Result<> opened = recogniser->Open(*parts);
  if (!opened) return opened.reason();
  return recogniser;
}

}  // namespace parley::runtime
