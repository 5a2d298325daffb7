// What the host does for a frame of speech while a GPU waits for it: on a device that runs nothing, so that all of the time is the
// host's.
//
//   host_bench <directory of a checkpoint> [streams: 1,64,256] [frames: 20]
//
// Weights are not loaded into anything: memory of the device is the host's, zeroed, and touched only where it is written. Codes are those of
// a frame of zeros. A row's figures are medians over its frames, after as many as make the lists known.
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
#include "kernels/cuda/emulator/idle_device.h"
#include "model/codec_decoder.h"
#include "model/codec_state.h"
#include "model/speech_model.h"

namespace parley::bench {
namespace {

using namespace model;

constexpr size_t kWarmFrames = 3;
constexpr const char* kText = "Your order has shipped and should be with you on Tuesday before noon.";

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class Work>
double Microseconds(const Work& work) {
  const double began = Now();
  work();
  return (Now() - began) * 1e6;
}

struct Loaded {
  std::unique_ptr<const Checkpoint> checkpoint;
  std::unique_ptr<cuda::CudaKernels> kernels;
  std::unique_ptr<SpeechModel> speech;
  std::unique_ptr<CodecDecoder> codec;

  explicit Loaded(const std::string& directory) {
    std::string problem;
    checkpoint = Checkpoint::Open(directory, PieceRule::kNative, &problem);
    if (!checkpoint) throw std::runtime_error(problem);
    kernels = std::make_unique<cuda::CudaKernels>(std::make_unique<cuda::emulator::IdleDevice>(), cuda::CudaOptions{});
    speech = std::make_unique<SpeechModel>(*kernels, *checkpoint, Quantize::kNone, Format::kBf16);
    codec = std::make_unique<CodecDecoder>(*kernels, *checkpoint, Format::kBf16);
  }
};

void Row(const Loaded& loaded, size_t count, size_t frames) {
  const ModelConfig& config = loaded.checkpoint->config();
  PromptRequest request;
  request.text = kText;
  if (config.type == ModelType::kCustomVoice) request.speaker = config.talker.speakers.front().name;
  std::string problem;
  Prompt prompt;
  if (!BuildPrompt(config, loaded.checkpoint->tokenizer(), request, &prompt, &problem)) throw std::runtime_error(problem);
  DrawRules rules = DefaultRules(loaded.checkpoint->generation());
  rules.max_new_tokens = rules.min_new_tokens = frames + kWarmFrames + 1;
  const auto groups = static_cast<size_t>(config.talker.code_groups), length = loaded.codec->frame_samples();
  std::vector<std::unique_ptr<SpeechStream>> streams;
  std::vector<std::unique_ptr<CodecState>> states;
  std::vector<SpeechStream*> pointers;
  std::vector<StepResult> results(count);
  std::vector<int32_t> codes(count * groups);
  std::vector<float> samples(count * length);
  std::vector<CodecDecoder::Job> jobs;
  for (size_t n = 0; n < count; n++) {
    streams.push_back(loaded.speech->BeginStream(prompt, nullptr, rules, &problem));
    if (!streams.back()) throw std::runtime_error(problem);
    pointers.push_back(streams.back().get());
    states.push_back(loaded.codec->NewState());
    jobs.push_back({states.back().get(), codes.data() + n * groups, 1, samples.data() + n * length});
  }
  loaded.speech->Prefill(pointers.data(), count);
  std::vector<double> steps, decodes;
  uint64_t nodes = 0;
  BackendFigures before;
  for (size_t n = 0; n < kWarmFrames + frames; n++) {
    if (n == kWarmFrames) nodes = loaded.kernels->TheRecorder().Counters().nodes, before = loaded.kernels->Figures();
    const double step = Microseconds([&] { loaded.speech->Step(pointers.data(), count, results.data(), codes.data()); });
    const double decode = Microseconds([&] { loaded.codec->Decode(jobs.data(), count); });
    if (n >= kWarmFrames) steps.push_back(step), decodes.push_back(decode);
  }
  std::printf("| %zu | %.0f | %.0f | %llu | %llu |\n", count, Median(steps), Median(decodes),
              static_cast<unsigned long long>((loaded.kernels->TheRecorder().Counters().nodes - nodes) / frames),
              static_cast<unsigned long long>(loaded.kernels->Figures().eager - before.eager));
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
    std::printf("| streams | step us | codec us | grids | eager |\n| --- | --- | --- | --- | --- |\n");
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
