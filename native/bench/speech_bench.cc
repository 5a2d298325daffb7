// Measures a frame of speech on a checkpoint of full size, by stage, beside reading the memory, and the
// time to load it.
//
//   speech_bench <directory> [frames] [codec weights: f32 | f16] [row: bf16 | int8, threads, streams]
//
// All rows, or the one that is named: "speech_bench DIR 48 f32 int8 2 1".
//
// The checkpoint may be of random weights (native/tools/write_checkpoint): the end token is forbidden, so
// that every row makes the same number of frames. The codec is measured a frame at a time, as a stream
// begins, and twelve at a time, as it goes on; the real-time factor is that of going on. Other programs share
// the machine: a stage's figure is the 10th percentile over the frames, the reading's the 90th over turns
// between them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/reading.h"
#include "kernels/cpu/cpu_kernels.h"
#include "model/shared/codec_state.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/speech_model.h"

namespace parley::bench {
namespace {

using namespace model;

constexpr size_t kMostStreams = 8;
constexpr size_t kReadTurns = 4;   // after each frame
constexpr size_t kLongChunk = 12;  // frames: where the ramp of a stream's chunks ends
constexpr const char* kText = "Your order has shipped and should be with you on Tuesday before noon.";

// Bytes of this process in memory, by what the system says.
double ResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) * 1024;
  }
  throw std::runtime_error("/proc/self/status does not say VmRSS");
}

double Percentile10(std::vector<double> values) {
  for (double& value : values) value = -value;
  return -Percentile90(values);
}

struct Setup {
  Quantize quantize;
  Format codec;
  unsigned threads;
};

// A model, ready to speak, and what it took to get there.
struct Loaded {
  std::unique_ptr<const SpeechCheckpoint> checkpoint;
  std::unique_ptr<SpeechKernels> kernels;
  std::unique_ptr<SpeechModel> speech;
  std::unique_ptr<CodecDecoder> codec;
  double seconds = 0;

  Loaded(const std::string& directory, const Setup& setup) {
    cpu::ThreadPoolOptions options;
    options.threads = setup.threads;
    options.nice = 0;  // a figure, not a server
    const double start = Now();
    std::string problem;
    checkpoint = SpeechCheckpoint::Open(directory, PieceRule::kNative, &problem);
    if (!checkpoint) throw std::runtime_error(problem);
    kernels = std::make_unique<cpu::CpuKernels>(options);
    speech = std::make_unique<SpeechModel>(*kernels, *checkpoint, setup.quantize, Format::kF32);
    codec = std::make_unique<CodecDecoder>(*kernels, *checkpoint, setup.codec);
    seconds = Now() - start;
  }

  size_t WeightBytes() const { return speech->WeightBytes() + codec->WeightBytes(); }
};

size_t MatrixWeights(const TransformerConfig& c) {
  return static_cast<size_t>(c.layers * c.hidden *
                             (2 * c.query_width() + 2 * c.kv_width() + 3 * c.intermediate));
}

// Weights that the memory delivers for a frame, whatever the number of streams.
struct FrameWeights {
  size_t talker, predictor;

  explicit FrameWeights(const ModelConfig& config) {
    const PredictorConfig& p = config.predictor;
    const auto passes = static_cast<size_t>(config.talker.code_groups - 1);
    talker = MatrixWeights(config.talker.transformer) +
             static_cast<size_t>(config.talker.vocabulary * config.talker.transformer.hidden);
    predictor =
        passes * (MatrixWeights(p.transformer) + static_cast<size_t>(p.vocabulary * p.transformer.hidden));
  }
};

// Streams that speak together, a frame at a time.
class Speakers {
 public:
  Speakers(const Loaded& loaded, size_t count, size_t frames) : loaded_(loaded) {
    PromptRequest request;
    request.text = kText;
    const ModelConfig& config = loaded.checkpoint->config();
    if (config.type == ModelType::kCustomVoice) request.speaker = config.talker.speakers.front().name;
    if (config.type == ModelType::kBase) {
      const std::vector<float> speaker(static_cast<size_t>(config.talker.transformer.hidden), 0.5f);
      voice_ = std::make_shared<VoicePrompt>(VoicePrompt{speaker, {}, ""});
    }
    std::string problem;
    if (!BuildPrompt(config, loaded.checkpoint->tokenizer(), request, &prompt_, &problem)) {
      throw std::runtime_error(problem);
    }
    DrawRules rules = DefaultRules(loaded.checkpoint->generation());
    rules.max_new_tokens = frames + 1;
    rules.min_new_tokens = frames + 1;  // no end before
    for (size_t n = 0; n < count; n++) {
      rules.seed = n;
      streams_.push_back(loaded.speech->BeginStream(prompt_, voice_, rules, &problem));
      if (!streams_.back()) throw std::runtime_error(problem);
      pointers_.push_back(streams_.back().get());
      single_.push_back(loaded.codec->NewState());
      chunked_.push_back(loaded.codec->NewState());
    }
    step_codes_.resize(count * static_cast<size_t>(config.talker.code_groups));
    codes_.resize(count);
    samples_.resize(count * loaded.codec->frame_samples() * kLongChunk);
    const double start = Now();
    loaded.speech->Prefill(pointers_.data(), count);
    prefill_ms = (Now() - start) * 1e3;
  }

  // Talker, predictor, and the codec for this frame alone; after every twelfth also for all of them.
  void Frame() {
    const size_t count = pointers_.size(), groups = step_codes_.size() / count;
    StepResult results[kMostStreams];
    loaded_.speech->Step(pointers_.data(), count, results, step_codes_.data());
    talker_ms.push_back(loaded_.speech->last_step().talker);
    predictor_ms.push_back(loaded_.speech->last_step().predictor);
    step_ms.push_back(talker_ms.back() + predictor_ms.back());
    for (size_t n = 0; n < count; n++) {
      if (results[n] != StepResult::kFrame) throw std::runtime_error("a stream ended before its last frame");
      codes_[n].insert(codes_[n].end(), step_codes_.data() + n * groups,
                       step_codes_.data() + (n + 1) * groups);
    }
    codec_ms.push_back(Decode(single_, 1));
    if (codes_[0].size() % (kLongChunk * groups) == 0)
      chunk_ms.push_back(Decode(chunked_, kLongChunk) / kLongChunk);
  }

  std::vector<double> talker_ms, predictor_ms, step_ms, codec_ms;
  std::vector<double> chunk_ms;  // of the codec, for a frame
  double prefill_ms = 0;
  float loudest = 0;

 private:
  // Milliseconds for the last `frames` of every stream.
  double Decode(const std::vector<std::unique_ptr<CodecState>>& states, size_t frames) {
    const size_t count = pointers_.size(), length = samples_.size() / count,
                 groups = step_codes_.size() / count;
    std::vector<CodecDecoder::Job> jobs;
    for (size_t n = 0; n < count; n++) {
      const int32_t* const codes = codes_[n].data() + codes_[n].size() - frames * groups;
      jobs.push_back({states[n].get(), codes, frames, samples_.data() + n * length});
    }
    const double start = Now();
    loaded_.codec->Decode(jobs.data(), count);
    const double elapsed = Now() - start;
    for (const float sample : samples_) loudest = std::max(loudest, std::fabs(sample));
    return elapsed * 1e3;
  }

  const Loaded& loaded_;
  Prompt prompt_;
  std::shared_ptr<const VoicePrompt> voice_;
  std::vector<std::unique_ptr<SpeechStream>> streams_;
  std::vector<SpeechStream*> pointers_;
  std::vector<std::unique_ptr<CodecState>> single_, chunked_;
  std::vector<int32_t> step_codes_;
  std::vector<std::vector<int32_t>> codes_;  // of each stream
  std::vector<float> samples_;
};

const char* NameOf(Quantize quantize) { return quantize == Quantize::kNone ? "bf16" : "int8"; }

class Bench {
 public:
  Bench(std::string directory, size_t frames, Format codec)
      : directory_(std::move(directory)), frames_(frames), codec_(codec) {}

  // The second time, when the files are in the system's memory; then a frame, so that the weights are
  // touched.
  void Loading() {
    std::printf(
        "| weights | load s | weights used MB | resident MB | ratio |\n| --- | --- | --- | --- | --- |\n");
    for (const Quantize quantize : {Quantize::kNone, Quantize::kAll}) {
      const Setup setup = {quantize, codec_, 2};
      Loaded(directory_, setup);
      const double before = ResidentBytes();
      const Loaded loaded(directory_, setup);
      Speakers speakers(loaded, 1, 2);
      speakers.Frame();
      const double resident = ResidentBytes() - before, used = static_cast<double>(loaded.WeightBytes());
      std::printf("| %s | %.2f | %.0f | %.0f | %.2f |\n", NameOf(quantize), loaded.seconds, used / 1e6,
                  resident / 1e6, resident / used);
      std::fflush(stdout);
    }
  }

  void Frames() {
    Head();
    for (const unsigned threads : {1u, 2u}) {
      for (const Quantize quantize : {Quantize::kNone, Quantize::kAll}) Rows(quantize, threads, {1, 2, 4, 8});
    }
  }

  void OneRow(bool bf16, int threads, int streams) {
    Head();
    const size_t count = static_cast<size_t>(std::max(1, std::min(streams, static_cast<int>(kMostStreams))));
    Rows(bf16 ? Quantize::kNone : Quantize::kAll, static_cast<unsigned>(std::max(1, threads)), {count});
  }

 private:
  static void Head() {
    std::printf(
        "\n| weights | threads | streams | prompt ms | talker ms | predictor ms | codec ms, of 1 | of 12 | frame ms "
        "| RTF | GB/s | reading GB/s | ratio |\n");
    std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  }

  void Rows(Quantize quantize, unsigned threads, std::initializer_list<size_t> streams) {
    cpu::ThreadPoolOptions options;
    options.threads = threads;
    options.nice = 0;
    Reading reading(options);
    const Loaded loaded(directory_, {quantize, codec_, threads});
    for (const size_t count : streams) Row(loaded, quantize, threads, count, &reading);
  }

  void Row(const Loaded& loaded, Quantize quantize, unsigned threads, size_t streams, Reading* reading) {
    Speakers speakers(loaded, streams, frames_);
    std::vector<double> readings;
    for (size_t n = 0; n < frames_; n++) {
      speakers.Frame();
      for (size_t turn = 0; turn < kReadTurns; turn++) readings.push_back(reading->Turn());
    }
    const FrameWeights weights(loaded.checkpoint->config());
    const double bytes = quantize == Quantize::kNone ? 2 : 1, ceiling = Percentile90(readings);
    const double step = Percentile10(speakers.step_ms), chunk = Percentile10(speakers.chunk_ms),
                 all = step + chunk;
    const double frame_ms = 1e3 * static_cast<double>(loaded.codec->frame_samples()) /
                            static_cast<double>(loaded.codec->sample_rate());
    const double speed = bytes * static_cast<double>(weights.talker + weights.predictor) / step / 1e6;
    std::printf("| %s | %u | %zu | %.0f | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f | %.1f | %.1f | %.2f |\n",
                NameOf(quantize), threads, streams, speakers.prefill_ms, Percentile10(speakers.talker_ms),
                Percentile10(speakers.predictor_ms), Percentile10(speakers.codec_ms), chunk, all,
                all / frame_ms, speed, ceiling, speed / ceiling);
    std::fflush(stdout);
    if (!(speakers.loudest > 0 && speakers.loudest < 1)) {
      std::printf("the waveform's peak is %g\n", static_cast<double>(speakers.loudest));
    }
  }

  const std::string directory_;
  const size_t frames_;
  const Format codec_;
};

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  const std::string codec = count > 3 ? arguments[3] : "f32";
  const bool row =
      count == 7 && (std::strcmp(arguments[4], "bf16") == 0 || std::strcmp(arguments[4], "int8") == 0);
  if (count < 2 || (count > 4 && !row) || (codec != "f32" && codec != "f16")) {
    std::fprintf(stderr, "speech_bench <directory> [frames] [f32 | f16] [bf16 | int8 <threads> <streams>]\n");
    return 2;
  }
  const int frames = count > 2 ? std::atoi(arguments[2]) : 24;
  try {
    parley::bench::Bench bench(arguments[1], static_cast<size_t>(frames < 12 ? 12 : frames),
                               codec == "f32" ? parley::Format::kF32 : parley::Format::kF16);
    std::printf("%s; codec weights %s\n\n", parley::cpu::ChooseVariant().name, codec.c_str());
    if (row) {
      bench.OneRow(std::strcmp(arguments[4], "bf16") == 0, std::atoi(arguments[5]), std::atoi(arguments[6]));
      return 0;
    }
    bench.Loading();
    bench.Frames();
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "speech_bench: %s\n", problem.what());
    return 1;
  }
}
