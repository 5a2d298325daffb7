// The engine on the golden checkpoints, spoken to as callers do it.
#ifndef PARLEY_TEST_GOLDEN_ENGINE_H_
#define PARLEY_TEST_GOLDEN_ENGINE_H_

#include <condition_variable>
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
  std::string problem;
  auto engine = Engine::Open(options, &problem);
  CHECK_EQ(problem, "");
  return engine;
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

}  // namespace parley::test

#endif  // PARLEY_TEST_GOLDEN_ENGINE_H_
