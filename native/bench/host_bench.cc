// Measures the host's work for a frame of speech, on a device that runs nothing: all of the time is the
// host's.
//
//   host_bench <directory of a checkpoint> [streams: 1,64,256] [frames: 20]
//
// Weights are not loaded into anything: memory of the device is the host's, zeroed, and touched only where it
// is written. Codes are those of a frame of zeros. A row's figures are medians over its frames, after as many
// as make the lists known.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/reading.h"
#include "kernels/cuda/cuda_kernels.h"
#include "model/shared/codec_state.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/speech_model.h"
#include "test/emulator/idle_device.h"

namespace parley::bench {
namespace {

using namespace model;

constexpr size_t kWarmFrames = 3;
constexpr const char* kText = "Your order has shipped and should be with you on Tuesday before noon.";

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

template <class Work>
double Microseconds(const Work& work) {
  const double began = Now();
  work();
  return (Now() - began) * 1e6;
}

struct Loaded {
  std::unique_ptr<const SpeechCheckpoint> checkpoint;
  std::unique_ptr<cuda::CudaKernels> kernels;
  std::unique_ptr<SpeechModel> speech;
  std::unique_ptr<CodecDecoder> codec;

  explicit Loaded(const std::string& directory) {
    std::string problem;
    checkpoint = SpeechCheckpoint::Open(directory, PieceRule::kNative, &problem);
    if (!checkpoint) throw std::runtime_error(problem);
    kernels = std::make_unique<cuda::CudaKernels>(std::make_unique<cuda::emulator::IdleDevice>(),
                                                  cuda::CudaOptions{});
    speech = std::make_unique<SpeechModel>(*kernels, *checkpoint, Quantize::kNone, Format::kBf16);
    codec = std::make_unique<CodecDecoder>(*kernels, *checkpoint, Format::kBf16);
  }
};

// Speeches that begin together, each of the same prompt.
struct Speeches {
  std::vector<std::unique_ptr<SpeechStream>> streams;
  std::vector<std::unique_ptr<CodecState>> states;
  std::vector<SpeechStream*> pointers;
  std::vector<StepResult> results;
  std::vector<int32_t> codes;
  std::vector<float> samples;
  std::vector<CodecDecoder::Job> jobs;

  Speeches(const Loaded& loaded, const Prompt& prompt, const DrawRules& rules, size_t count) {
    const auto groups = static_cast<size_t>(loaded.checkpoint->config().talker.code_groups),
               length = loaded.codec->frame_samples();
    results.resize(count);
    codes.resize(count * groups);
    samples.resize(count * length);
    std::string problem;
    for (size_t n = 0; n < count; n++) {
      streams.push_back(loaded.speech->BeginStream(prompt, nullptr, rules, &problem));
      if (!streams.back()) throw std::runtime_error(problem);
      pointers.push_back(streams.back().get());
      states.push_back(loaded.codec->NewState());
      jobs.push_back({states.back().get(), codes.data() + n * groups, 1, samples.data() + n * length});
    }
    loaded.speech->Prefill(pointers.data(), count);
  }
};

Prompt PromptOf(const Loaded& loaded) {
  const ModelConfig& config = loaded.checkpoint->config();
  PromptRequest request;
  request.text = kText;
  if (config.type == ModelType::kCustomVoice) request.speaker = config.talker.speakers.front().name;
  std::string problem;
  Prompt prompt;
  if (!BuildPrompt(config, loaded.checkpoint->tokenizer(), request, &prompt, &problem))
    throw std::runtime_error(problem);
  return prompt;
}

void Row(const Loaded& loaded, size_t count, size_t frames) {
  DrawRules rules = DefaultRules(loaded.checkpoint->generation());
  rules.max_new_tokens = rules.min_new_tokens = frames + kWarmFrames + 1;
  Speeches all(loaded, PromptOf(loaded), rules, count);
  const cuda::Recorder& recorder = loaded.kernels->TheRecorder();
  std::vector<double> steps, decodes;
  cuda::RecorderCounters before;
  const size_t lists_before = recorder.Graphs(), bytes_before = recorder.ListBytes();
  for (size_t n = 0; n < kWarmFrames + frames; n++) {
    if (n == kWarmFrames) before = recorder.Counters();
    const double step = Microseconds(
        [&] { loaded.speech->Step(all.pointers.data(), count, all.results.data(), all.codes.data()); });
    const double decode = Microseconds([&] { loaded.codec->Decode(all.jobs.data(), count); });
    if (n >= kWarmFrames) steps.push_back(step), decodes.push_back(decode);
  }
  const cuda::RecorderCounters after = recorder.Counters();
  const size_t lists = recorder.Graphs() - lists_before, bytes = recorder.ListBytes() - bytes_before;
  std::printf("| %zu | %.0f | %.0f | %llu | %llu | %zu of %.0f KB |\n", count, Median(steps), Median(decodes),
              static_cast<unsigned long long>((after.nodes - before.nodes) / frames),
              static_cast<unsigned long long>(after.eager - before.eager), lists,
              lists > 0 ? static_cast<double>(bytes) / static_cast<double>(lists) / 1e3 : 0.0);
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "host_bench <directory> [1,64,256] [frames]\n");
    return 2;
  }
  try {
    const parley::bench::Loaded loaded(arguments[1]);
    const std::string batches = count > 2 ? arguments[2] : "1,64,256";
    const int frames = count > 3 ? std::atoi(arguments[3]) : 20;
    std::printf(
        "| streams | step us | codec us | grids | eager | new lists |\n| --- | --- | --- | --- | --- | --- |\n");
    for (const char* at = batches.c_str(); *at != 0;) {
      char* end = nullptr;
      const unsigned long streams = std::strtoul(at, &end, 10);
      if (end == at || streams == 0) throw std::runtime_error("batches are numbers with commas between them");
      parley::bench::Row(loaded, streams, static_cast<size_t>(frames < 5 ? 5 : frames));
      at = *end == ',' ? end + 1 : end;
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "host_bench: %s\n", problem.what());
    return 1;
  }
}
