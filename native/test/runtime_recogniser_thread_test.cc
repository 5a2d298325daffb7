// The recogniser's thread: streams that come from several threads, are cancelled, and end when it closes.
#include <future>
#include <mutex>
#include <thread>

#include "runtime/recogniser.h"
#include "test/recognition_golden.h"
#include "test/whole_sound.h"

namespace parley::test {
namespace {

using namespace runtime;

class Texts final : public TextSink {
 public:
  void Recognised(const RecognisedText& text) override { text_ = text.text; }
  void Ended(const RecognitionEnd& end) override { end_.set_value({end, text_}); }
  std::pair<RecognitionEnd, std::string> Wait() { return end_.get_future().get(); }

 private:
  std::string text_;
  std::promise<std::pair<RecognitionEnd, std::string>> end_;
};

std::unique_ptr<Recogniser> Opened(unsigned threads) {
  RecogniserOptions options;
  options.directory = kGolden + "/tiny-asr-a";
  options.cache_format = "f32";
  options.threads = threads;
  return ValueOf(Recogniser::Open(options));
}

void StreamsOfManyThreadsAreServed() {
  const auto recogniser = Opened(2);
  CHECK(!recogniser->facts().aligner);
  CHECK_EQ(recogniser->facts().languages.size(), 30u);
  CHECK(recogniser->facts().weight_bytes > 100'000);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; n++) {
    threads.emplace_back([&recogniser, n] {
      for (int turn = 0; turn < 3; turn++) {
        const auto texts = std::make_shared<Texts>();
        const bool cancels = (n + turn) % 4 == 3;
        const auto id =
            recogniser->Start({}, std::make_shared<WholeSound>(ReadClip("yes03"), !cancels), texts);
        CHECK(id != 0);
        recogniser->Order(id, {TurnOrder::kPause, 0});
        recogniser->Wake();
        if (cancels) recogniser->Cancel(id);
        const auto [end, text] = texts->Wait();
        CHECK(end.outcome == (cancels ? Outcome::kCancelled : Outcome::kDone));
        CHECK_EQ(text, cancels ? "" : "Yes.");
        CHECK(recogniser->stats().begun + recogniser->stats().cancelled > 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  recogniser->Close();
  CHECK_EQ(recogniser->stats().memory_in_use, 0u);
}

void ACloseEndsWhatRuns() {
  const auto recogniser = Opened(1);
  const auto texts = std::make_shared<Texts>();
  RecognitionRequest live;
  live.use = RecognitionUse::kLive;
  live.partials = true;
  CHECK(recogniser->Start(live, std::make_shared<WholeSound>(ReadClip("long31"), false), texts) != 0);
  std::thread other([&recogniser] { recogniser->Close(); });
  recogniser->Close();
  other.join();
  CHECK(texts->Wait().first.outcome == Outcome::kClosed);
  CHECK_EQ(recogniser->Start({}, std::make_shared<WholeSound>(ReadClip("yes03"), true), texts), 0u);
}

void WhatCannotBeOpenedIsNamed() {
  RecogniserOptions options;
  options.directory = kGolden + "/tiny-asr-a";
  const auto refused = [&](const RecogniserOptions& wrong, const char* part) {
    const std::string problem = ProblemIn(Recogniser::Open(wrong));
    CHECK_EQ(problem.find(part) == std::string::npos ? problem : "", "");
  };
  RecogniserOptions wrong = options;
  wrong.directory = "/nowhere";
  refused(wrong, "/nowhere/config.json");
  wrong = options, wrong.quantize = "int4";
  refused(wrong, "quantize is \"int4\"; it can be none, int8");
  wrong = options, wrong.device = "tpu";
  refused(wrong, "device is \"tpu\"; it can be auto, cpu, cuda, cuda:<number>");
  wrong = options, wrong.streaming = "fast";
  refused(wrong, "streaming is \"fast\"; it can be draft, official");
  wrong = options, wrong.aligner = true;
  refused(wrong, "expected a checkpoint of a forced aligner, found one of a recogniser");
  wrong = options, wrong.cores = {0}, wrong.threads = 2;
  refused(wrong, "1 cores are named for 2 threads");
  wrong = options, wrong.korean_dictionary = "/nowhere";
  refused(wrong, "/nowhere");
  CHECK(!Recogniser::Inspect(kGolden + "/tiny-base", false));
  CHECK(ValueOf(Recogniser::Inspect(kGolden + "/tiny-aligner", true)).aligner);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_recogniser_thread) {
  using namespace parley::test;
  return Run({
      {"streams of many threads are served", StreamsOfManyThreadsAreServed},
      {"a close ends what runs", ACloseEndsWhatRuns},
      {"what cannot be opened is named", WhatCannotBeOpenedIsNamed},
  });
}
