// Opens engines on the golden checkpoints, speaks the golden requests as callers do, and compares the
// results with the golden waveforms.
#ifndef PARLEY_TEST_GOLDEN_ENGINE_H_
#define PARLEY_TEST_GOLDEN_ENGINE_H_

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "model/speech/codec_decoder.h"
#include "runtime/engine.h"
#include "test/golden_cases.h"

namespace parley::test {

using namespace runtime;

// Takes everything; a test waits for its end.
class Listener final : public SpeechSink {
 public:
  size_t Room() override { return size_t{1} << 30; }
  void Write(const float* samples, size_t count) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    samples_.insert(samples_.end(), samples, samples + count);
    changed_.notify_all();
  }
  void Ended(const StreamEnd& end) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = end;
    ended_ = true;
    changed_.notify_all();
  }

  StreamEnd AwaitEnd() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    return end_;
  }
  // Also returns at its end.
  void AwaitSamples(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this, count] { return ended_ || samples_.size() >= count; });
  }
  const std::vector<float>& samples() const { return samples_; }  // after its end

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<float> samples_;
  StreamEnd end_;
  bool ended_ = false;
};

inline std::unique_ptr<Engine> OpenedEngine(const std::string& directory, EngineOptions options = {}) {
  options.directory = directory;
  options.warm_up = false;
  options.threads = 1;
  return ValueOf(Engine::Open(options));
}

inline std::unique_ptr<Engine> GoldenEngine(const std::string& model, EngineOptions options = {}) {
  return OpenedEngine(kGolden + "/" + model, std::move(options));
}

struct Said {
  StreamEnd end;
  std::vector<float> samples;
};

inline Said Say(Engine& engine, SpeechRequest request) {
  const auto listener = std::make_shared<Listener>();
  CHECK(engine.Start(std::move(request), listener) != 0);
  Said said;
  said.end = listener->AwaitEnd();
  said.samples = listener->samples();
  return said;
}

// The recording of a golden voice.
inline std::shared_ptr<const Recording> GoldenRecording(const std::string& name, const std::string& text) {
  auto recording = std::make_shared<Recording>();
  recording->hash = name + "/" + text;
  recording->samples = GoldenVectors("tiny-base__ref_" + name).Read("waveform");
  recording->text = text;
  return recording;
}

// A golden request as a caller sends it; its text is in `text`, sent at once or, if more_text, after it.
inline SpeechRequest GoldenRequest(model::Json one) {
  const model::Json asked = one.Find("request");
  SpeechRequest request;
  request.text = asked.Find("text").text();
  request.language = asked.Find("language").text();
  request.speaker = asked.Find("speaker").text();
  request.instruction = asked.Find("instruct").text();
  request.greedy = true;
  request.max_new_tokens = static_cast<size_t>(one.Find("max_new_tokens").number());
  if (one.Find("ref_wave").present()) {
    const bool only_voice = one.Find("x_vector_only").boolean();
    request.recording = GoldenRecording(std::string(one.Find("ref_wave").text()),
                                        only_voice ? "" : std::string(one.Find("ref_text").text()));
  }
  return request;
}

// The golden codes of a case, decoded alone and in one piece, behind those of its voice.
inline std::vector<float> DecodedCodes(const GoldenCase& one) {
  cpu::ThreadPoolOptions threads;
  cpu::CpuKernels kernels(threads);
  model::CodecDecoder decoder(kernels, GoldenCheckpoint(one.model), Format::kF32);
  const auto groups = static_cast<size_t>(GoldenCheckpoint(one.model).config().talker.code_groups);
  const auto state = decoder.NewState();
  if (one.voice != nullptr && !one.voice->codes.empty()) {
    const std::vector<int32_t>& heard = one.voice->codes;
    const model::CodecDecoder::Job past = {state.get(), heard.data(), heard.size() / groups, nullptr};
    decoder.Decode(&past, 1);
  }
  std::vector<float> samples(one.codes.size() / groups * decoder.frame_samples());
  const model::CodecDecoder::Job job = {state.get(), one.codes.data(), one.codes.size() / groups,
                                        samples.data()};
  decoder.Decode(&job, 1);
  return samples;
}

inline double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (size_t n = 0; n < a.size(); n++) worst = std::max(worst, std::fabs(static_cast<double>(a[n]) - b[n]));
  return worst;
}

inline std::unique_ptr<const model::JsonDocument> GoldenManifest() {
  std::string problem;
  return model::JsonDocument::Parse(ReadAll(kGolden + "/vectors/manifest.json"), &problem);
}

// As a caller would: text that is given frame by frame comes after the start. A voice by example reads
// its text so in any case; the two cases that do otherwise are the model's own tests.
inline bool SpokenByTheEngine(model::Json one) {
  return !(one.Find("ref_wave").present() && one.Find("request").Find("non_streaming_mode").boolean());
}

inline const std::vector<float>& DecodedOnce(const GoldenCase& golden) {
  static std::map<std::string, std::vector<float>> decoded;
  std::vector<float>& samples = decoded[golden.name];
  if (samples.empty()) samples = DecodedCodes(golden);
  return samples;
}

inline void CheckGoldenRequest(Engine& engine, model::Json one) {
  SpeechRequest request = GoldenRequest(one);
  const bool whole = one.Find("request").Find("non_streaming_mode").boolean();
  const bool comes_later = one.Find("model").text() != "tiny-base" && !whole;
  const std::string text = request.text;
  if (comes_later) {
    request.text.clear();
    request.more_text = true;
  }
  const auto listener = std::make_shared<Listener>();
  const StreamId id = engine.Start(request, listener);
  if (comes_later) engine.AddText(id, text, true);
  const StreamEnd end = listener->AwaitEnd();
  const GoldenCase& golden = GoldenCaseNamed(std::string(one.key()));
  CHECK_EQ(std::string(NameOf(end.outcome)) + " " + end.problem.substr(0, 2),
           golden.stopped_on_eos ? "done " : "budget no");
  CHECK_EQ(end.frames, golden.codes.size() / 16);
  // Bit for bit: the same codes, and no cut between chunks can be heard.
  CHECK_EQ(LargestDifference(listener->samples(), DecodedOnce(golden)), 0.0);
  if (golden.vectors->Has("waveform")) {
    CHECK(LargestDifference(listener->samples(), golden.vectors->Read("waveform")) <= 1e-5);
  }
}

using EngineOpener = std::function<std::unique_ptr<Engine>(const std::string& model)>;

// All of them, each spoken by the engine of its model.
inline void CheckGoldenRequests(const EngineOpener& open) {
  const auto manifest = GoldenManifest();
  std::map<std::string, std::unique_ptr<Engine>> engines;
  size_t spoken = 0, waveforms = 0;
  for (model::Json one = manifest->root().Find("cases").first(); one.present(); one = one.next()) {
    if (!SpokenByTheEngine(one)) continue;
    auto& engine = engines[std::string(one.Find("model").text())];
    if (!engine) engine = open(std::string(one.Find("model").text()));
    const int before = OwnFailures();
    CheckGoldenRequest(*engine, one);
    if (OwnFailures() != before) std::fprintf(stderr, "    in %s\n", std::string(one.key()).c_str());
    spoken++;
    waveforms += GoldenCaseNamed(std::string(one.key())).vectors->Has("waveform");
  }
  CHECK_EQ(spoken, size_t{11});
  CHECK_EQ(waveforms, size_t{2});
}

}  // namespace parley::test

#endif  // PARLEY_TEST_GOLDEN_ENGINE_H_
