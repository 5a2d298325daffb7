// A recogniser's scheduler without its thread: a test gives orders, sound and the time, and runs the rounds.
#ifndef PARLEY_TEST_RECOGNISER_DESK_H_
#define PARLEY_TEST_RECOGNISER_DESK_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/recognition_scheduler.h"
#include "test/recognition_golden.h"

namespace parley::test {

// Sound that a test hands over bit by bit.
class HandedSound final : public runtime::SoundSource {
 public:
  void Add(const std::vector<float>& samples) {
    samples_.insert(samples_.end(), samples.begin(), samples.end());
  }
  void End(const std::string& problem = "") { ended_ = true, problem_ = problem; }

  size_t Read(float* samples, size_t most) override {
    const size_t count = std::min(most, samples_.size() - read_);
    std::copy_n(samples_.begin() + static_cast<ptrdiff_t>(read_), count, samples);
    read_ += count;
    return count;
  }
  bool Ended(std::string* problem) override {
    if (!ended_ || read_ < samples_.size()) return false;
    *problem = problem_;
    return true;
  }
  size_t read() const { return read_; }
  size_t added() const { return samples_.size(); }

 private:
  std::vector<float> samples_;
  size_t read_ = 0;
  bool ended_ = false;
  std::string problem_;
};

// Everything that a sink was told.
class KeptTexts final : public runtime::TextSink {
 public:
  void Recognised(const runtime::RecognisedText& text) override {
    CHECK(!end);
    (text.final ? finals : text.pause ? pauses : partials).push_back(text);
  }
  void Aligned(const std::vector<runtime::AlignedWord>& some) override {
    words.insert(words.end(), some.begin(), some.end());
  }
  void RanAway(const std::string& what) override { runaways.push_back(what); }
  void Ended(const runtime::RecognitionEnd& its) override {
    CHECK(!end);
    end = its;
  }

  std::string Text() const {
    std::string all;
    for (const auto& one : finals) all += one.text + "|";
    return all;
  }

  std::vector<runtime::RecognisedText> finals, partials, pauses;
  std::vector<runtime::AlignedWord> words;
  std::vector<std::string> runaways;
  std::optional<runtime::RecognitionEnd> end;
};

struct Asked {
  runtime::StreamId id = 0;
  std::shared_ptr<HandedSound> sound = std::make_shared<HandedSound>();
  std::shared_ptr<KeptTexts> texts = std::make_shared<KeptTexts>();
};

class RecogniserDesk {
 public:
  explicit RecogniserDesk(const std::string& model, size_t memory = size_t{1} << 32, size_t most = 256,
                          bool official = false,
                          std::unique_ptr<Kernels> kernels = MakeKernels(cpu::ChooseVariant()))
      : loaded(OpenRecognition(model, model == "tiny-aligner" ? model::RecognitionKind::kAligner
                                                              : model::RecognitionKind::kRecogniser),
               std::nullopt, std::move(kernels)) {
    runtime::RecognitionSetup setup;
    setup.model = loaded.model.get();
    setup.cache_format = Format::kF32;
    setup.official = official;
    setup.least_interval = std::chrono::milliseconds(320);
    runtime::RecognitionSchedulerOptions options;
    options.max_files = most;
    options.free_memory = [this] { return free_memory; };
    options.memory_bytes = memory;
    options.now = [this] { return now; };
    options.publish = [this](const runtime::RecogniserStats& its) { stats = its; };
    scheduler = std::make_unique<runtime::RecognitionScheduler>(setup, mailbox, options);
  }

  Asked Ask(runtime::RecognitionRequest request) {
    Asked asked;
    asked.id = mailbox.Start(std::move(request), asked.sound, asked.texts);
    return asked;
  }
  // A sound that is there as a whole.
  Asked AskFile(const std::vector<float>& samples, runtime::RecognitionRequest request = {}) {
    Asked asked = Ask(std::move(request));
    asked.sound->Add(samples);
    asked.sound->End();
    return asked;
  }
  // About the sound that was added until now.
  void Order(const Asked& asked, runtime::TurnOrder order) {
    mailbox.Order(asked.id, {order, asked.sound->added()});
  }

  bool Round() {
    if (!scheduler->Look()) return false;
    scheduler->Work();
    return true;
  }
  // Until there is nothing to do; each round takes a millisecond.
  size_t Run(size_t most = 100'000) {
    size_t rounds = 0;
    while (rounds < most && Round()) {
      now += std::chrono::milliseconds(1);
      rounds++;
    }
    CHECK(rounds < 100'000);
    return rounds;
  }

  const LoadedRecogniser loaded;
  size_t free_memory = SIZE_MAX;  // of the machine
  runtime::Clock::time_point now{std::chrono::hours(1)};
  runtime::RecognitionMailbox mailbox{[this] { return now; }};
  runtime::RecogniserStats stats;
  std::unique_ptr<runtime::RecognitionScheduler> scheduler;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_RECOGNISER_DESK_H_
