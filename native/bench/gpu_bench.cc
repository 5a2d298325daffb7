// Measures a frame of speech on a GPU by the number of streams, the time to first sound, and how many
// streams stay ahead.
//
//   gpu_bench <parley_cuda.so> <directory of a checkpoint> [batches: 1,8,16,64,128,256,512] [frames: 50]
//             [int8|int8-talker|fp8] [grids|traced]
//
// For profilers, which need some of the GPU's memory: with "grids" every grid is started for itself, not as a
// part of a graph.
//
// A stream of a given number always asks for the same speech. The bench fails if a stream's codes or
// samples change with the number of streams.
//
// The checkpoint may be of random weights (native/tools/write_checkpoint): the end token is forbidden, so
// that every row makes the same number of frames. A row's figures are medians over its frames, after as many
// as the graphs need to be made. "live" is how many streams of this step time fit into 80 ms.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/reading.h"
#include "kernels/cuda/plugin.h"
#include "model/shared/codec_state.h"
#include "model/shared/weights.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/speech_model.h"

namespace parley::bench {
namespace {

using namespace model;

// Reads the level of 8-bit weights by name; false if no level has it.
bool ReadQuantize(const std::string& name, model::Quantize* quantize) {
  const std::pair<const char*, Quantize> levels[] = {{"none", Quantize::kNone},
                                                     {"int8", Quantize::kAll},
                                                     {"int8-talker", Quantize::kTalker},
                                                     {"fp8", Quantize::kFp8}};
  for (const auto& [known, level] : levels) {
    if (name == known) return *quantize = level, true;
  }
  return false;
}

constexpr size_t kWarmFrames = 4;
constexpr size_t kCompared = 9;  // frames
constexpr size_t kFirstSounds = 20;
constexpr size_t kProfiled = size_t{16} << 30;  // bytes of the GPU: profilers need some too
constexpr const char* kText = "Your order has shipped and should be with you on Tuesday before noon.";

double PercentileOf(std::vector<double> values, double share) {
  const auto place = static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

struct Loaded {
  std::unique_ptr<const SpeechCheckpoint> checkpoint;
  std::unique_ptr<SpeechKernels> kernels;
  std::unique_ptr<SpeechModel> speech;
  std::unique_ptr<CodecDecoder> codec;

  Loaded(const std::string& file, const std::string& directory, Quantize quantize,
         const std::string& profiled) {
    std::string problem;
    checkpoint = SpeechCheckpoint::Open(directory, PieceRule::kNative, &problem);
    if (checkpoint)
      kernels =
          cuda::OpenPlugin(file, {0, profiled != "grids", profiled.empty() ? 0 : kProfiled, false}, &problem);
    if (!checkpoint || !kernels) throw std::runtime_error(problem);
    const double began = Now();
    speech = std::make_unique<SpeechModel>(*kernels, *checkpoint, quantize, Format::kBf16);
    codec = std::make_unique<CodecDecoder>(*kernels, *checkpoint, Format::kBf16);
    std::printf("%s; weights %.2f GB in %.1f s\n\n", kernels->Name(),
                static_cast<double>(speech->WeightBytes() + codec->WeightBytes()) / 1e9, Now() - began);
  }
};

// Sums of what each stream spoke, by the stream's number.
class Known {
 public:
  template <class Value>
  static void Add(uint64_t* sum, const Value* values, size_t count) {
    for (size_t i = 0; i < count; i++) {
      uint32_t bits;
      static_assert(sizeof(Value) == sizeof bits);
      std::memcpy(&bits, values + i, sizeof bits);
      *sum = (*sum ^ bits) * 0x9E3779B97F4A7C15u;
    }
  }
  // Counts the sums that differ from those of the first run.
  size_t Compare(const std::vector<uint64_t>& sums) {
    size_t others = 0;
    for (size_t n = 0; n < sums.size(); n++) {
      if (n >= sums_.size()) sums_.push_back(sums[n]);
      else if (sums_[n] != sums[n]) others++;
    }
    differs = differs || others > 0;
    return others;
  }

  bool differs = false;

 private:
  std::vector<uint64_t> sums_;
};

// Streams that speak together.
class Speakers {
 public:
  Speakers(const Loaded& loaded, size_t count, size_t frames)
      : loaded_(loaded), groups_(static_cast<size_t>(loaded.checkpoint->config().talker.code_groups)) {
    const ModelConfig& config = loaded.checkpoint->config();
    PromptRequest request;
    request.text = kText;
    if (config.type == ModelType::kCustomVoice) request.speaker = config.talker.speakers.front().name;
    std::string problem;
    Prompt prompt;
    if (!BuildPrompt(config, loaded.checkpoint->tokenizer(), request, &prompt, &problem))
      throw std::runtime_error(problem);
    DrawRules rules = DefaultRules(loaded.checkpoint->generation());
    rules.max_new_tokens = rules.min_new_tokens = frames + 1;
    for (size_t n = 0; n < count; n++) {
      rules.seed = n;
      streams_.push_back(loaded.speech->BeginStream(prompt, nullptr, rules, &problem));
      if (!streams_.back()) throw std::runtime_error(problem);
      pointers_.push_back(streams_.back().get());
      states_.push_back(loaded.codec->NewState());
    }
    results_.resize(count);
    codes_.resize(count * groups_);
    samples_.resize(count * loaded.codec->frame_samples());
    spoken.resize(count);
  }

  double Prefill() {
    return Timed([&] { loaded_.speech->Prefill(pointers_.data(), pointers_.size()); });
  }
  double Step() {
    return Timed(
        [&] { loaded_.speech->Step(pointers_.data(), pointers_.size(), results_.data(), codes_.data()); });
  }
  double Decode() {
    std::vector<CodecDecoder::Job> jobs;
    const size_t length = loaded_.codec->frame_samples();
    for (size_t n = 0; n < pointers_.size(); n++) {
      if (results_[n] != StepResult::kFrame) throw std::runtime_error("a stream ended before its last frame");
      jobs.push_back({states_[n].get(), codes_.data() + n * groups_, 1, samples_.data() + n * length});
    }
    const double ms = Timed([&] { loaded_.codec->Decode(jobs.data(), jobs.size()); });
    for (const float sample : samples_) loudest = std::fmax(loudest, std::fabs(sample));
    for (size_t n = 0; decoded_ < kCompared && n < pointers_.size(); n++) {
      Known::Add(&spoken[n], codes_.data() + n * groups_, groups_);
      Known::Add(&spoken[n], samples_.data() + n * length, length);
    }
    decoded_++;
    return ms;
  }

  float loudest = 0;
  std::vector<uint64_t> spoken;  // of each stream, its first frames

 private:
  template <class Work>
  static double Timed(const Work& work) {
    const double began = Now();
    work();
    return (Now() - began) * 1e3;
  }

  const Loaded& loaded_;
  const size_t groups_;
  std::vector<std::unique_ptr<SpeechStream>> streams_;
  std::vector<SpeechStream*> pointers_;
  std::vector<std::unique_ptr<CodecState>> states_;
  std::vector<StepResult> results_;
  std::vector<int32_t> codes_;
  std::vector<float> samples_;
  size_t decoded_ = 0;
};

void Row(const Loaded& loaded, size_t count, size_t frames, Known* known) {
  Speakers speakers(loaded, count, kWarmFrames + frames);
  const double prefill = speakers.Prefill();
  std::vector<double> steps, codecs, alls;
  BackendFigures before;
  for (size_t n = 0; n < kWarmFrames + frames; n++) {
    if (n == kWarmFrames) before = loaded.kernels->Figures();
    const double step = speakers.Step(), codec = speakers.Decode();
    if (n < kWarmFrames) continue;
    steps.push_back(step);
    codecs.push_back(codec);
    alls.push_back(step + codec);
  }
  const BackendFigures after = loaded.kernels->Figures();
  const double all = PercentileOf(alls, 0.5);
  std::printf("| %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f | %llu | %.2f |\n", count, prefill,
              PercentileOf(steps, 0.5), PercentileOf(codecs, 0.5), all, PercentileOf(alls, 0.95),
              80.0 * static_cast<double>(count) / all,
              static_cast<unsigned long long>(after.eager - before.eager),
              static_cast<double>(after.memory_in_use) / 1e9);
  if (const size_t others = known->Compare(speakers.spoken))
    std::printf("%zu of these streams do not speak as they did with others\n", others);
  std::fflush(stdout);
  if (!(speakers.loudest > 0 && speakers.loudest <= 1))
    std::printf("the waveform's peak is %g\n", static_cast<double>(speakers.loudest));
}

// From the request to the first frame's samples on the host, one stream at a time.
void FirstSounds(const Loaded& loaded) {
  std::vector<double> times;
  for (size_t n = 0; n < kFirstSounds + kWarmFrames; n++) {
    const double began = Now();
    Speakers speakers(loaded, 1, 2);
    speakers.Prefill();
    speakers.Step();
    speakers.Decode();
    if (n >= kWarmFrames) times.push_back((Now() - began) * 1e3);
  }
  std::printf("\nfirst sound: p50 %.2f ms, p95 %.2f ms\n", PercentileOf(times, 0.5),
              PercentileOf(times, 0.95));
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(
        stderr,
        "gpu_bench <parley_cuda.so> <directory> [1,8,16,64,128,256,512] [frames] [int8|int8-talker|fp8] [grids|traced]\n");
    return 2;
  }
  try {
    std::string profiled;
    parley::model::Quantize quantize = parley::model::Quantize::kNone;
    for (int i = 5; i < count; i++) {
      if (!parley::bench::ReadQuantize(arguments[i], &quantize)) profiled = arguments[i];
    }
    const parley::bench::Loaded loaded(arguments[1], arguments[2], quantize, profiled);
    const std::string batches = count > 3 ? arguments[3] : "1,8,16,64,128,256,512";
    const int frames = count > 4 ? std::atoi(arguments[4]) : 50;
    std::printf("| streams | prompt ms | step ms | codec ms | frame ms | p95 | live | eager | GB |\n");
    std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    parley::bench::Known known;
    for (const char* at = batches.c_str(); *at != 0;) {
      char* end = nullptr;
      const unsigned long streams = std::strtoul(at, &end, 10);
      if (end == at || streams == 0) throw std::runtime_error("batches are numbers with commas between them");
      parley::bench::Row(loaded, streams, static_cast<size_t>(frames < 5 ? 5 : frames), &known);
      at = *end == ',' ? end + 1 : end;
    }
    if (profiled.empty()) parley::bench::FirstSounds(loaded);
    return known.differs ? 1 : 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gpu_bench: %s\n", problem.what());
    return 1;
  }
}
